package fieldset

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
)

// word is a value by which an item of a list is told from the others.
type word struct {
	text   string
	number int64
	isText bool
}

// wordKind tells whether values of a kind are words.
func wordKind(k reflect.Kind) bool {
	switch k {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return true
	}
	return false
}

// read makes the word of a value of such a kind.
func read(v reflect.Value) word {
	if v.Kind() == reflect.String {
		return word{text: v.String(), isText: true}
	}
	return word{number: v.Int()}
}

// wordOf makes the word of a default.
func wordOf(of any) (word, bool) {
	v := reflect.ValueOf(of)
	if !wordKind(v.Kind()) {
		return word{}, false
	}
	return read(v), true
}

// compare orders words: numbers come before texts.
func (w word) compare(v word) int {
	switch {
	case w.isText && v.isText:
		return strings.Compare(w.text, v.text)
	case w.isText:
		return 1
	case v.isText:
		return -1
	}
	return cmp.Compare(w.number, v.number)
}

// append writes the word as JSON inside of a text. False: it would have to be escaped.
func (w word) append(buf []byte) ([]byte, bool) {
	if !w.isText {
		return strconv.AppendInt(buf, w.number, 10), true
	}
	buf = append(buf, `\"`...)
	buf = append(buf, w.text...)
	return append(buf, `\"`...), plain(w.text)
}
