package status

import (
	"encoding/json"
	"unicode/utf8"
)

// writer writes JSON. Every item and member is followed by next, whose comma close takes back.
type writer struct {
	json []byte
	// unusual: there is something that only the library can compare, and what was written is of no use.
	unusual bool
}

func (w *writer) open(bracket byte) { w.json = append(w.json, bracket) }
func (w *writer) next()             { w.json = append(w.json, ',') }
func (w *writer) null()             { w.json = append(w.json, "null"...) }

func (w *writer) close(bracket byte) {
	if last := len(w.json) - 1; w.json[last] == ',' {
		w.json = w.json[:last]
	}
	w.json = append(w.json, bracket)
}

// name begins a member.
func (w *writer) name(prefix, name string) {
	w.text(prefix + name)
	w.json = append(w.json, ':')
}

func (w *writer) text(s string) {
	if plain(s) {
		w.json = append(append(append(w.json, '"'), s...), '"')
		return
	}
	w.check(s)
	quoted, err := json.Marshal(s)
	w.unusual = w.unusual || err != nil
	w.json = append(w.json, quoted...)
}

// plain tells whether a text is in JSON as it is.
func plain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// check looks for what is no UTF-8: it is replaced in JSON, so that different texts may be the same there.
func (w *writer) check(s string) { w.unusual = w.unusual || !utf8.ValidString(s) }
