package fieldset

import (
	"bytes"
	"cmp"
)

// order compares the names of two elements as the library sorts them. The names have been read once, so that they are well-formed.
func order(a, b []byte) int {
	switch {
	case bytes.Equal(a, b):
		return 0
	case a[0] != b[0]:
		return cmp.Compare(a[0], b[0])
	case a[0] == 'f':
		return bytes.Compare(a[2:], b[2:])
	case a[0] == 'v':
		return orderWords(a[2:], b[2:])
	}
	return orderKeys(a[3:], b[3:])
}

// orderKeys compares the keys of two items: \"name\":\"x\",\"port\":80}
func orderKeys(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		nameA, wordA, restA := cutKey(a)
		nameB, wordB, restB := cutKey(b)
		if c := cmp.Or(bytes.Compare(nameA, nameB), orderWords(wordA, wordB)); c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// cutKey parts the first key from those behind it.
func cutKey(keys []byte) (name, word, rest []byte) {
	keys = keys[len(`\"`):]
	i := bytes.IndexByte(keys, '\\')
	name, keys = keys[:i], keys[i+len(`\":`):]
	end := 0
	if keys[0] == '\\' {
		end = len(`\"`) + bytes.IndexByte(keys[len(`\"`):], '\\') + len(`\"`)
	} else {
		end = bytes.IndexAny(keys, `,}`)
	}
	return name, keys[:end], keys[end+1:]
}

// orderWords compares words as they stand in a name: numbers come before texts.
func orderWords(a, b []byte) int {
	textA, textB := a[0] == '\\', b[0] == '\\'
	switch {
	case textA && textB:
		return bytes.Compare(a[2:len(a)-2], b[2:len(b)-2])
	case textA:
		return 1
	case textB:
		return -1
	}
	return cmp.Compare(number(a), number(b))
}

// number is what the digits of a word say.
func number(text []byte) int64 {
	sign, n := int64(1), int64(0)
	if text[0] == '-' {
		sign, text = -1, text[1:]
	}
	for _, c := range text {
		n = 10*n + int64(c-'0')
	}
	return sign * n
}
