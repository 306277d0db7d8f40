package containerlog

import (
	"bytes"
	"errors"
	"time"
)

// record is one line of a log file.
type record struct {
	time   time.Time
	stdout bool
	// text ends with a newline unless the record is a part of a line.
	text []byte
}

var (
	errMalformed = errors.New("malformed log line")
	space        = []byte(" ")
)

// parse reads a line, with its newline if it has one.
func parse(line []byte) (record, error) {
	stamp, rest, found := bytes.Cut(line, space)
	stream, rest, found2 := bytes.Cut(rest, space)
	tags, text, found3 := bytes.Cut(rest, space)
	if !found || !found2 || !found3 {
		return record{}, errMalformed
	}
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		return record{}, errMalformed
	}
	r := record{time: at, text: text}
	switch string(stream) {
	case "stdout":
		r.stdout = true
	case "stderr":
	default:
		return record{}, errMalformed
	}
	// The first of the tags, which colons separate, says whether the line is whole.
	if tag, _, _ := bytes.Cut(tags, []byte(":")); string(tag) == "P" {
		r.text = bytes.TrimSuffix(text, []byte("\n"))
	}
	return r, nil
}
