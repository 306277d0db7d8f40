package images

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"
)

// Media types of the OCI image specification.
const (
	mediaTypeIndex    = "application/vnd.oci.image.index.v1+json"
	mediaTypeManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaTypeConfig   = "application/vnd.oci.image.config.v1+json"
	mediaTypeLayer    = "application/vnd.oci.image.layer.v1.tar"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Platform    *platform         `json:"platform,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type config struct {
	Created      string `json:"created"`
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
	Config       Run    `json:"config"`
	RootFS       rootFS `json:"rootfs"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

// WriteArchive writes images to a file, as a tar of an OCI image layout. The file appears whole or not at all.
func WriteArchive(file string, images ...*Image) error {
	content, err := Archive(images...)
	if err != nil {
		return err
	}
	partial := file + ".partial"
	if err := os.WriteFile(partial, content, 0o644); err != nil {
		return fmt.Errorf("write image archive: %w", err)
	}
	if err := os.Rename(partial, file); err != nil {
		return fmt.Errorf("put image archive in place: %w", err)
	}
	return nil
}

// Archive is the images as a tar of an OCI image layout. Its index has one entry for each name of each image; what
// images have in common is in it once.
func Archive(images ...*Image) ([]byte, error) {
	layout := layout{}
	top := index{SchemaVersion: 2, MediaType: mediaTypeIndex}
	for _, image := range images {
		main, err := layout.image(image)
		if err != nil {
			return nil, err
		}
		for _, name := range image.Names {
			named := main
			// The first annotation is what containerd reads, the second is the specification's.
			named.Annotations = map[string]string{
				"io.containerd.image.name":          name,
				"org.opencontainers.image.ref.name": name[strings.LastIndex(name, ":")+1:],
			}
			top.Manifests = append(top.Manifests, named)
		}
	}
	var err error
	if layout["index.json"], err = json.Marshal(top); err != nil {
		return nil, fmt.Errorf("encode image index: %w", err)
	}
	layout["oci-layout"] = []byte(`{"imageLayoutVersion":"1.0.0"}`)
	return layout.tar()
}

// layout is an image layout's files by name.
type layout map[string][]byte

func (l layout) image(image *Image) (descriptor, error) {
	described := config{
		Created: time.Unix(0, 0).UTC().Format(time.RFC3339), Architecture: architecture, OS: "linux",
		Config: image.Run, RootFS: rootFS{Type: "layers"},
	}
	parts := manifest{SchemaVersion: 2, MediaType: mediaTypeManifest}
	for _, layer := range image.Layers {
		content, err := layer.Tar()
		if err != nil {
			return descriptor{}, err
		}
		blob := l.blob(mediaTypeLayer, content)
		parts.Layers = append(parts.Layers, blob)
		described.RootFS.DiffIDs = append(described.RootFS.DiffIDs, blob.Digest)
	}
	encoded, err := json.Marshal(described)
	if err != nil {
		return descriptor{}, fmt.Errorf("encode image config: %w", err)
	}
	parts.Config = l.blob(mediaTypeConfig, encoded)
	if encoded, err = json.Marshal(parts); err != nil {
		return descriptor{}, fmt.Errorf("encode image manifest: %w", err)
	}
	main := l.blob(mediaTypeManifest, encoded)
	main.Platform = &platform{Architecture: architecture, OS: "linux"}
	return main, nil
}

func (l layout) blob(mediaType string, content []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	l["blobs/sha256/"+sum] = content
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(content)}
}

func (l layout) tar() ([]byte, error) {
	names := make([]string, 0, len(l))
	for name := range l {
		names = append(names, name)
	}
	sort.Strings(names)
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	for _, name := range names {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(l[name])), ModTime: time.Unix(0, 0).UTC()}
		if err := writer.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("image archive: %w", err)
		}
		if _, err := writer.Write(l[name]); err != nil {
			return nil, fmt.Errorf("image archive: %w", err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("end image archive: %w", err)
	}
	return buffer.Bytes(), nil
}
