package mirror

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// section is where a blob's bytes stand: in a file, behind a tar header.
type section struct {
	file         string
	offset, size int64
}

// image is what a name stands for.
type image struct {
	digest, mediaType string
}

// library is what is in a directory of archives.
type library struct {
	// blobs are by digest, images by full reference: "docker.io/library/nginx:latest".
	blobs  map[string]section
	images map[string]image
	// mediaTypes are those of manifests, by digest.
	mediaTypes map[string]string
}

func newLibrary() *library {
	return &library{blobs: map[string]section{}, images: map[string]image{}, mediaTypes: map[string]string{}}
}

// layoutIndex is the index.json of an OCI image layout, as far as it is needed here.
type layoutIndex struct {
	Manifests []struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Annotations map[string]string `json:"annotations"`
	} `json:"manifests"`
}

// add reads one archive's table of contents: where each blob is, and which names there are.
func (l *library) add(file string) error {
	opened, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("open image archive: %w", err)
	}
	defer opened.Close()
	reader := tar.NewReader(opened)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read image archive %s: %w", file, err)
		}
		name := path.Clean(header.Name)
		if sum, found := strings.CutPrefix(name, "blobs/sha256/"); found && header.Typeflag == tar.TypeReg {
			// The reader takes a file as it comes: after a header it stands at the content's begin.
			offset, err := opened.Seek(0, io.SeekCurrent)
			if err != nil {
				return fmt.Errorf("read image archive %s: %w", file, err)
			}
			l.blobs["sha256:"+sum] = section{file: file, offset: offset, size: header.Size}
			continue
		}
		if name != "index.json" {
			continue
		}
		var top layoutIndex
		if err := json.NewDecoder(reader).Decode(&top); err != nil {
			return fmt.Errorf("read index of image archive %s: %w", file, err)
		}
		for _, one := range top.Manifests {
			l.mediaTypes[one.Digest] = one.MediaType
			if reference := one.Annotations["io.containerd.image.name"]; reference != "" {
				l.images[reference] = image{digest: one.Digest, mediaType: one.MediaType}
			}
		}
	}
}
