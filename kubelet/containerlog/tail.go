package containerlog

import (
	"bytes"
	"errors"
	"io"
)

// block is how much is read at a time when looking for the last lines.
const block = 16 << 10

// tailOffset returns where the last n lines of a file begin. A last line without a newline counts.
func tailOffset(file io.ReaderAt, size, n int64) (int64, error) {
	if n <= 0 {
		return size, nil
	}
	buffer := make([]byte, block)
	end, seen := size, int64(0)
	for end > 0 {
		start := max(end-block, 0)
		read, err := file.ReadAt(buffer[:end-start], start)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		chunk := buffer[:read]
		for i := bytes.LastIndexByte(chunk, '\n'); i >= 0; i = bytes.LastIndexByte(chunk[:i], '\n') {
			if start+int64(i) == size-1 {
				continue // the newline at the end ends the last line
			}
			if seen++; seen == n {
				return start + int64(i) + 1, nil
			}
		}
		end = start
	}
	return 0, nil
}
