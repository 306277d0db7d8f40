package mirror

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Mirror serves the archives of one directory. It is safe for concurrent use.
type Mirror struct {
	directory string
	logger    *slog.Logger

	mutex sync.Mutex
	// seen describes the directory as it was when the library was read.
	seen    string
	library *library
}

// New makes a Mirror of the archives (*.tar) in a directory, which may be missing.
func New(directory string, logger *slog.Logger) *Mirror {
	return &Mirror{directory: directory, logger: logger, library: newLibrary()}
}

// ServeHTTP answers what pulling asks for:
//
//	GET /v2/                              that this is a registry
//	GET /v2/NAME/manifests/TAG|DIGEST     with ?ns=REGISTRY
//	GET /v2/NAME/blobs/DIGEST
func (m *Mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		fail(w, http.StatusMethodNotAllowed, "UNSUPPORTED")
		return
	}
	if r.URL.Path == "/v2/" || r.URL.Path == "/v2" {
		w.WriteHeader(http.StatusOK)
		return
	}
	name, kind, reference, ok := split(r.URL.Path)
	if !ok {
		fail(w, http.StatusNotFound, "NAME_UNKNOWN")
		return
	}
	library, err := m.current()
	if err != nil {
		m.logger.Error("image archives can't be read", "error", err)
		fail(w, http.StatusInternalServerError, "UNKNOWN")
		return
	}
	digest, mediaType := reference, "application/octet-stream"
	if kind == "manifests" {
		if digest, mediaType, ok = library.manifest(r.URL.Query().Get("ns"), name, reference); !ok {
			fail(w, http.StatusNotFound, "MANIFEST_UNKNOWN")
			return
		}
	}
	m.serve(w, r, library, digest, mediaType)
}

// split takes a path apart at its last but one element: names have slashes themselves.
func split(path string) (name, kind, reference string, ok bool) {
	rest, found := strings.CutPrefix(path, "/v2/")
	if !found {
		return "", "", "", false
	}
	for _, kind := range []string{"manifests", "blobs"} {
		if at := strings.LastIndex(rest, "/"+kind+"/"); at > 0 {
			return rest[:at], kind, rest[at+len(kind)+2:], true
		}
	}
	return "", "", "", false
}

// manifest finds what a tag of a registry's name stands for, or a manifest by its digest.
func (l *library) manifest(registry, name, reference string) (digest, mediaType string, ok bool) {
	if strings.Contains(reference, ":") {
		mediaType, ok = l.mediaTypes[reference]
		return reference, mediaType, ok
	}
	found, ok := l.images[registry+"/"+name+":"+reference]
	return found.digest, found.mediaType, ok
}

func (m *Mirror) serve(w http.ResponseWriter, r *http.Request, library *library, digest, mediaType string) {
	blob, found := library.blobs[digest]
	if !found {
		fail(w, http.StatusNotFound, "BLOB_UNKNOWN")
		return
	}
	file, err := os.Open(blob.file)
	if err != nil {
		m.logger.Error("image archive can't be read", "error", err)
		fail(w, http.StatusInternalServerError, "UNKNOWN")
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Docker-Content-Digest", digest)
	// Content under a digest never changes, so there is no date to compare.
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(file, blob.offset, blob.size))
}

// current is the library as the directory is now.
func (m *Mirror) current() (*library, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	files, described, err := look(m.directory)
	if err != nil {
		return nil, err
	}
	if described == m.seen {
		return m.library, nil
	}
	read := newLibrary()
	for _, file := range files {
		if err := read.add(file); err != nil {
			return nil, err
		}
	}
	m.library, m.seen = read, described
	return read, nil
}

// look lists the archives in a directory, and describes them so that any change shows.
func look(directory string) (files []string, described string, err error) {
	files, err = filepath.Glob(filepath.Join(directory, "*.tar"))
	if err != nil {
		return nil, "", fmt.Errorf("look for image archives: %w", err)
	}
	var description strings.Builder
	for _, file := range files {
		about, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", fmt.Errorf("look at image archive: %w", err)
		}
		fmt.Fprintln(&description, file, about.Size(), about.ModTime().UnixNano())
	}
	return files, description.String(), nil
}

// fail answers with an error as the distribution specification words it.
func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Whoever hung up doesn't need the rest.
	_, _ = fmt.Fprintf(w, `{"errors":[{"code":%q}]}`, code)
}
