package handlers

import (
	"bytes"
	"testing"
)

// sized counts writes and keeps what was written.
type sized struct {
	bytes.Buffer
	writes int
}

func (s *sized) Write(b []byte) (int, error) {
	s.writes++
	return s.Buffer.Write(b)
}

func TestListBody(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("b"), 3*pieceSize)
	for _, tt := range []struct {
		name   string
		items  [][]byte
		writes int
	}{
		{"none", nil, 1},
		{"one", [][]byte{[]byte("1")}, 1},
		{"two", [][]byte{[]byte("1"), []byte("2")}, 1},
		{"one larger than a piece", [][]byte{[]byte("1"), big, []byte("2")}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := jsonList([]byte("["), tt.items, []byte("]\n"))
			want := "[" + string(bytes.Join(tt.items, []byte(","))) + "]\n"
			var out sized
			if err := l.writeTo(&out); err != nil || out.String() != want {
				t.Errorf("written other than it is: %d bytes, %v", out.Len(), err)
			}
			if out.writes != tt.writes {
				t.Errorf("%d writes, not %d", out.writes, tt.writes)
			}
			if whole, err := l.bytes(); err != nil || string(whole) != want || l.size != len(want) {
				t.Errorf("%d bytes, said to be %d, are %d, %v", len(whole), l.size, len(want), err)
			}
		})
	}
}
