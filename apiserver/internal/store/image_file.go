package store

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// imageFormat is what a written image begins with, before the compressed rest.
const imageFormat = "kogge image 1\n"

// maxValue bounds a key or value that is read, in bytes: more than any that is stored.
const maxValue = 64 << 20

// WriteTo writes the image: the format's name, then compressed the revision, and for each key in order the key, the value, the
// revision and the time to live. Numbers are varints, bytes have their length before them.
func (i *Image) WriteTo(w io.Writer) (int64, error) {
	count := &counter{to: w}
	if _, err := io.WriteString(count, imageFormat); err != nil {
		return count.n, err
	}
	packed, err := gzip.NewWriterLevel(count, gzip.BestSpeed)
	if err != nil {
		return count.n, err
	}
	out := bufio.NewWriter(packed)
	line := binary.AppendUvarint(nil, uint64(i.Revision))
	tree := i.copied()
	line = binary.AppendUvarint(line, uint64(tree.Len()))
	_, err = out.Write(line)
	tree.Scan(func(_ string, r *record) bool {
		line = binary.AppendUvarint(line[:0], uint64(len(r.Key)))
		line = append(line, r.Key...)
		line = binary.AppendUvarint(line, uint64(len(r.Value)))
		line = append(line, r.Value...)
		line = binary.AppendUvarint(line, uint64(r.Revision))
		line = binary.AppendUvarint(line, uint64(r.ttl))
		_, err = out.Write(line)
		return err == nil
	})
	return count.n, errors.Join(err, out.Flush(), packed.Close())
}

type counter struct {
	to io.Writer
	n  int64
}

// Write passes on and counts.
func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}

// ReadImage reads what WriteTo wrote.
func ReadImage(r io.Reader) (*Image, error) {
	format := make([]byte, len(imageFormat))
	if _, err := io.ReadFull(r, format); err != nil || string(format) != imageFormat {
		return nil, errors.Join(errors.New("this is no image of a store"), err)
	}
	packed, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	in := imageReader{from: bufio.NewReader(packed)}
	image := newImage()
	image.Revision = in.number()
	for n := in.number(); n > 0 && in.err == nil; n-- {
		key, value, revision, ttl := in.bytes(), in.bytes(), in.number(), in.number()
		image.tree.Load(string(key), newRecord(string(key), value, revision, ttl))
	}
	if in.err != nil {
		return nil, in.err
	}
	// Reading to the end checks the sum.
	if _, err := io.Copy(io.Discard, in.from); err != nil {
		return nil, err
	}
	return image, packed.Close()
}

// imageReader reads until its first error.
type imageReader struct {
	from *bufio.Reader
	err  error
}

func (r *imageReader) number() int64 {
	if r.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(r.from)
	r.err = err
	return int64(n)
}

func (r *imageReader) bytes() []byte {
	n := r.number()
	if r.err == nil && (n < 0 || n > maxValue) {
		r.err = fmt.Errorf("a value of %d bytes", n)
	}
	if r.err != nil {
		return nil
	}
	b := make([]byte, n)
	_, r.err = io.ReadFull(r.from, b)
	return b
}
