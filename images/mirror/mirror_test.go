package mirror_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/kogge-dev/kogge/images"
	"github.com/kogge-dev/kogge/images/mirror"
)

func write(t *testing.T, file, content string, names ...string) {
	t.Helper()
	layer := images.NewLayer()
	layer.File("/file", 0o644, []byte(content))
	if err := images.WriteArchive(file, &images.Image{Names: names, Layers: []*images.Layer{layer}}); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, server *httptest.Server, path string) (int, []byte, http.Header) {
	t.Helper()
	response, err := server.Client().Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body, response.Header
}

// A pull, request by request, as the distribution specification describes it.
func TestPull(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	server := httptest.NewServer(mirror.New(directory, slog.New(slog.DiscardHandler)))
	defer server.Close()
	const manifest = "/v2/library/web/manifests/1.0?ns=docker.io"
	if status, _, _ := get(t, server, manifest); status != http.StatusNotFound {
		t.Errorf("nothing is there: status %d", status)
	}
	// Noticed without a restart.
	write(t, filepath.Join(directory, "web.tar"), "first", "docker.io/library/web:1.0")
	if status, _, _ := get(t, server, "/v2/"); status != http.StatusOK {
		t.Errorf("/v2/: status %d", status)
	}
	status, body, header := get(t, server, manifest)
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(body))
	if status != http.StatusOK || header.Get("Docker-Content-Digest") != digest {
		t.Fatalf("manifest: status %d, digest %q, want %q", status, header.Get("Docker-Content-Digest"), digest)
	}
	var parts struct {
		MediaType string
		Config    struct{ Digest string }
		Layers    []struct{ Digest string }
	}
	if err := json.Unmarshal(body, &parts); err != nil {
		t.Fatal(err)
	}
	if header.Get("Content-Type") != parts.MediaType {
		t.Errorf("content type %q, want %q", header.Get("Content-Type"), parts.MediaType)
	}
	for _, blob := range []string{parts.Config.Digest, parts.Layers[0].Digest} {
		status, body, _ := get(t, server, "/v2/library/web/blobs/"+blob)
		if got := fmt.Sprintf("sha256:%x", sha256.Sum256(body)); status != http.StatusOK || got != blob {
			t.Errorf("blob %s: status %d, content of digest %s", blob, status, got)
		}
	}
	if status, _, _ := get(t, server, "/v2/library/web/manifests/"+digest); status != http.StatusOK {
		t.Errorf("manifest by digest: status %d", status)
	}
	write(t, filepath.Join(directory, "web.tar"), "second", "docker.io/library/web:1.0")
	if _, changed, _ := get(t, server, manifest); string(changed) == string(body) {
		t.Error("the archive changed, its manifest did not")
	}
}

func TestWhatIsNotHere(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, filepath.Join(directory, "web.tar"), "content", "docker.io/library/web:1.0")
	server := httptest.NewServer(mirror.New(directory, slog.New(slog.DiscardHandler)))
	defer server.Close()
	for _, path := range []string{
		"/v2/library/web/manifests/2.0?ns=docker.io",
		"/v2/library/web/manifests/1.0?ns=registry.k8s.io",
		"/v2/library/other/manifests/1.0?ns=docker.io",
		"/v2/library/web/blobs/sha256:00",
		"/v2/library/web/manifests/sha256:00",
		"/v2/manifests/1.0", "/etc/passwd", "/v2/library/web/tags/list",
	} {
		if status, _, _ := get(t, server, path); status != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, status)
		}
	}
	response, err := server.Client().Post(server.URL+"/v2/library/web/blobs/uploads/", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("upload: status %d, want 405", response.StatusCode)
	}
}
