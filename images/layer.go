package images

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"time"
)

// Layer is a tree of files. The directories above each file come into being by themselves (root, 0755).
// Paths are absolute and those of the container.
type Layer struct {
	entries map[string]*entry
}

type entry struct {
	kind    byte
	mode    fs.FileMode
	target  string
	content []byte
}

// NewLayer makes a layer without files.
func NewLayer() *Layer { return &Layer{entries: map[string]*entry{}} }

// Directory adds a directory with these permission bits (0o1777 gives the sticky bit too).
func (l *Layer) Directory(name string, mode fs.FileMode) {
	l.add(name, &entry{kind: tar.TypeDir, mode: mode})
}

// File adds a regular file.
func (l *Layer) File(name string, mode fs.FileMode, content []byte) {
	l.add(name, &entry{kind: tar.TypeReg, mode: mode, content: content})
}

// Symlink adds a symbolic link at name that points to target.
func (l *Layer) Symlink(name, target string) {
	l.add(name, &entry{kind: tar.TypeSymlink, mode: 0o777, target: target})
}

// Has tells whether something stands at name already.
func (l *Layer) Has(name string) bool {
	_, found := l.entries[key(name)]
	return found
}

func (l *Layer) add(name string, added *entry) {
	name = key(name)
	for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
		if _, found := l.entries[parent]; !found {
			l.entries[parent] = &entry{kind: tar.TypeDir, mode: 0o755}
		}
	}
	l.entries[name] = added
}

func key(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// Tar writes the layer as a plain tar: sorted, so that a directory precedes what it holds and equal layers give
// equal bytes.
func (l *Layer) Tar() ([]byte, error) {
	names := make([]string, 0, len(l.entries))
	for name := range l.entries {
		names = append(names, name)
	}
	sort.Strings(names)
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	for _, name := range names {
		item := l.entries[name]
		header := &tar.Header{
			Typeflag: item.kind,
			Name:     name,
			Linkname: item.target,
			Mode:     int64(item.mode),
			Size:     int64(len(item.content)),
			ModTime:  time.Unix(0, 0).UTC(),
			Format:   tar.FormatPAX,
		}
		if item.kind == tar.TypeDir {
			header.Name += "/"
		}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("layer entry %s: %w", name, err)
		}
		if _, err := writer.Write(item.content); err != nil {
			return nil, fmt.Errorf("layer entry %s: %w", name, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("end layer: %w", err)
	}
	return buffer.Bytes(), nil
}
