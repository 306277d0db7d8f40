package images

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ingredients are where `make bin` unpacks the packages, then this machine.
var ingredients = Files{Roots: []string{"../bin/debian", "/"}}

func TestArchivesAreDeterministic(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]func(Files) (*Image, error){"busybox": Busybox, "nginx": Nginx} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := archive(t, build), archive(t, build)
			if !bytes.Equal(first, second) {
				t.Error("two builds from the same files differ")
			}
		})
	}
}

func TestNginxHoldsWhatItNeeds(t *testing.T) {
	t.Parallel()
	image, err := Nginx(ingredients)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, layer := range image.Layers {
		for name := range layer.entries {
			found["/"+name] = true
		}
	}
	for _, want := range []string{
		"/usr/sbin/nginx", "/etc/nginx/nginx.conf", "/usr/share/nginx/html/index.html", "/bin/sh", "/bin/tar", "/tmp", "/usr/lib/libc.so.6",
	} {
		if !found[want] {
			t.Errorf("%s is missing", want)
		}
	}
}

// What the OCI image layout asks of an archive: each descriptor names a blob that is there, of that size.
func TestArchiveIsAnImageLayout(t *testing.T) {
	t.Parallel()
	layer := NewLayer()
	layer.File("/pause", 0o755, []byte("program"))
	image := &Image{Names: []string{"example.com/a/b:1", "example.com:5000/a/b:2"}, Layers: []*Layer{layer}, Run: Run{Cmd: []string{"/pause"}}}
	content, err := Archive(image)
	if err != nil {
		t.Fatal(err)
	}
	files := readTar(t, content)
	var top index
	decode(t, files["index.json"], &top)
	var tags []string
	for _, named := range top.Manifests {
		tags = append(tags, named.Annotations["io.containerd.image.name"]+" "+named.Annotations["org.opencontainers.image.ref.name"])
		var parts manifest
		decode(t, blob(t, files, named), &parts)
		var described config
		decode(t, blob(t, files, parts.Config), &described)
		if diff := cmp.Diff([]string{parts.Layers[0].Digest}, described.RootFS.DiffIDs); diff != "" {
			t.Errorf("a plain layer's digest is its diff id (-want +got):\n%s", diff)
		}
		inside := readTar(t, blob(t, files, parts.Layers[0]))
		if string(inside["pause"]) != "program" {
			t.Errorf("layer holds %v", inside)
		}
	}
	if diff := cmp.Diff([]string{"example.com/a/b:1 1", "example.com:5000/a/b:2 2"}, tags); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestLayerOrder(t *testing.T) {
	t.Parallel()
	layer := NewLayer()
	layer.Symlink("/bin/sh", "busybox")
	layer.File("/bin/busybox", 0o755, []byte("x"))
	layer.Directory("/tmp", 0o1777)
	content, err := layer.Tar()
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Name, Link string
		Mode       int64
	}
	var rows []row
	reader := tar.NewReader(bytes.NewReader(content))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row{header.Name, header.Linkname, header.Mode})
	}
	want := []row{{"bin/", "", 0o755}, {"bin/busybox", "", 0o755}, {"bin/sh", "busybox", 0o777}, {"tmp/", "", 0o1777}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestProgramsBringTheirLibraries(t *testing.T) {
	t.Parallel()
	layer := NewLayer()
	if err := (Files{Roots: []string{t.TempDir(), "/"}}).AddProgram(layer, "/bin/list", "/bin/ls"); err != nil {
		t.Fatal(err)
	}
	if !layer.Has("/usr/lib/libc.so.6") {
		t.Error("libc is missing beside a program that needs it")
	}
	err := Files{Roots: []string{t.TempDir()}}.AddProgram(NewLayer(), "/bin/ls")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that the program does not exist", err)
	}
}

func TestEarlierRootsWin(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	for root, content := range map[string]string{first: "first", second: "second"} {
		if err := os.WriteFile(filepath.Join(root, "file"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Files{Roots: []string{first, second}}.Read("/none", "/file")
	if err != nil || string(got) != "first" {
		t.Errorf("read %q, %v", got, err)
	}
}

func archive(t *testing.T, build func(Files) (*Image, error)) []byte {
	t.Helper()
	image, err := build(ingredients)
	if err != nil {
		t.Fatalf("%v (`make bin` fetches what images are made of)", err)
	}
	content, err := Archive(image)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func readTar(t *testing.T, content []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	reader := tar.NewReader(bytes.NewReader(content))
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
	}
}

func blob(t *testing.T, files map[string][]byte, named descriptor) []byte {
	t.Helper()
	content, found := files["blobs/sha256/"+strings.TrimPrefix(named.Digest, "sha256:")]
	if !found || len(content) != named.Size {
		t.Fatalf("blob %s: found %v, %d bytes, want %d", named.Digest, found, len(content), named.Size)
	}
	return content
}

func decode(t *testing.T, content []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}
