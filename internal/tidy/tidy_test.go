package tidy

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kogge-dev/kogge/"

// root of the repository.
const root = "../.."

// file is a Go file with what it imports.
type file struct {
	path    string // below the root
	imports []string
	test    bool
}

func goFiles(t *testing.T) []file {
	t.Helper()
	var out []file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel == "bin" || rel == ".git" || isOtherModule(rel) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		g := file{path: filepath.ToSlash(rel), test: strings.HasSuffix(p, "_test.go")}
		for _, i := range f.Imports {
			g.imports = append(g.imports, strings.Trim(i.Path.Value, `"`))
		}
		out = append(out, g)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// isOtherModule tells whether a folder below the root is a module of its own: those build others' programs.
func isOtherModule(rel string) bool {
	_, err := os.Stat(filepath.Join(root, rel, "go.mod"))
	return rel != "." && err == nil
}

// component is the top folder of a path, if it is one of the parts that know each other only through the API.
func component(p string) string {
	top, _, _ := strings.Cut(p, "/")
	switch top {
	case "apiserver", "controllers", "scheduler", "kubelet", "proxy":
		return top
	}
	return ""
}

// TestTheAPIServerIsTheOnlyDoor: components import neither each other nor the API server; only cluster and cli put them together.
// Tests outside a component's packages may start a cluster.
func TestTheAPIServerIsTheOnlyDoor(t *testing.T) {
	t.Parallel()
	for _, f := range goFiles(t) {
		own := component(f.path)
		if own == "" {
			continue
		}
		for _, i := range f.imports {
			rel, ours := strings.CutPrefix(i, module)
			if !ours {
				continue
			}
			other := component(rel)
			if other != "" && other != own {
				t.Errorf("%s imports %s: a %s knows nothing of the %s but its API", f.path, i, own, other)
			}
			if top, _, _ := strings.Cut(rel, "/"); (top == "cluster" || top == "cli") && !f.test {
				t.Errorf("%s imports %s, which puts the components together", f.path, i)
			}
		}
	}
}

// isEtcd is the program of etcd, whole: to be it is not to speak to it.
const isEtcd = "go.etcd.io/etcd/server/v3/etcdmain"

// TestOnlyTheStoreSpeaksToEtcd and nothing is taken from upstream's programs.
func TestOnlyTheStoreSpeaksToEtcd(t *testing.T) {
	t.Parallel()
	for _, f := range goFiles(t) {
		for _, i := range f.imports {
			if strings.HasPrefix(i, "go.etcd.io/") && !strings.HasPrefix(f.path, "apiserver/internal/store/") && (i != isEtcd || component(f.path) != "") {
				t.Errorf("%s imports %s: only the API server's store speaks to etcd", f.path, i)
			}
			if i == "k8s.io/kubernetes" || strings.HasPrefix(i, "k8s.io/kubernetes/") {
				t.Errorf("%s imports %s: what is in k8s.io/kubernetes is written here by hand", f.path, i)
			}
		}
	}
}

// fromAPIServer are the packages of k8s.io/apiserver and its kin that do not drag a server in.
var fromAPIServer = []string{
	"k8s.io/apiserver/pkg/cel", "k8s.io/apiserver/pkg/apis/audit/v1", "k8s.io/apiserver/pkg/util/proxy",
	"k8s.io/apiserver/pkg/authorization/authorizer", // types alone, in which CEL's library asks
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions", "k8s.io/apiextensions-apiserver/pkg/apiserver/schema", "k8s.io/apiextensions-apiserver/pkg/apiserver/validation",
	"k8s.io/kube-aggregator/pkg/apis",
}

func TestNoServerIsDraggedIn(t *testing.T) {
	t.Parallel()
	for _, f := range goFiles(t) {
		for _, i := range f.imports {
			if !strings.HasPrefix(i, "k8s.io/apiserver/") && !strings.HasPrefix(i, "k8s.io/apiextensions-apiserver/") && !strings.HasPrefix(i, "k8s.io/kube-aggregator/") {
				continue
			}
			allowed := false
			for _, a := range fromAPIServer {
				allowed = allowed || i == a || strings.HasPrefix(i, a+"/")
			}
			if !allowed {
				t.Errorf("%s imports %s, which is not on the list of what may be", f.path, i)
			}
		}
	}
}

// TestEveryPackageSaysWhatItIs in a doc.go.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	for _, f := range goFiles(t) {
		if strings.Contains(f.path, "/testdata/") {
			continue
		}
		dir := path.Dir(f.path)
		if name := packageName(t, f.path); strings.TrimSuffix(name, "_test") == "main" {
			continue // a command's comment stands above its package clause
		}
		if _, err := os.Stat(filepath.Join(root, dir, "doc.go")); err != nil {
			t.Errorf("%s has no doc.go", dir)
		}
	}
}

func packageName(t *testing.T, p string) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, p), nil, parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	return f.Name.Name
}

var named = regexp.MustCompile("`([a-z][a-zA-Z0-9_./-]*/[a-zA-Z0-9_./-]*)`")

// made are paths that exist only once something was built.
var made = []string{"bin/"}

// TestDocumentsNameWhatExists: every path in a document is there.
func TestDocumentsNameWhatExists(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	documents = append(documents, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"))
	tops := map[string]bool{}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		tops[e.Name()] = true
	}
	for _, d := range documents {
		b, err := os.ReadFile(d)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range named.FindAllSubmatch(b, -1) {
			p := string(m[1])
			if top, _, _ := strings.Cut(p, "/"); !tops[top] || strings.HasPrefix(p, made[0]) {
				continue // an API path, an import path or something built
			}
			if _, err := os.Stat(filepath.Join(root, p)); err != nil {
				t.Errorf("%s names %s, which is not there", filepath.Base(d), p)
			}
		}
	}
}

// shown is a block of Go in a document, goNamed a Go file's name.
var (
	shown   = regexp.MustCompile("(?s)```go\n(.*?)```")
	goNamed = regexp.MustCompile("`([a-z][a-zA-Z0-9_./-]*\\.go)`")
)

// TestShownCodeIsTested: the Go that docs/testing.md shows is that of a file which the document names, so that it compiles and runs.
func TestShownCodeIsTested(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join(root, "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, m := range goNamed.FindAllSubmatch(document, -1) {
		content, err := os.ReadFile(filepath.Join(root, string(m[1])))
		if err != nil {
			t.Error(err)
			continue
		}
		files = append(files, string(content))
	}
	for _, m := range shown.FindAllSubmatch(document, -1) {
		if !slices.ContainsFunc(files, func(f string) bool { return strings.Contains(f, string(m[1])) }) {
			t.Errorf("none of the files that the document names has\n%s", m[1])
		}
	}
}

// banned are calls that have a better way here.
var banned = []struct{ pattern, instead string }{
	{"time" + ".Sleep(", "wait for an event, or use testing/synctest"},
	{"t" + ".Skip(", "a test that does not run proves nothing"},
}

func TestBannedCalls(t *testing.T) {
	t.Parallel()
	for _, f := range goFiles(t) {
		b, err := os.ReadFile(filepath.Join(root, f.path))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range banned {
			if strings.Contains(string(b), x.pattern) {
				t.Errorf("%s calls %s…): %s", f.path, x.pattern, x.instead)
			}
		}
	}
}

var direct = regexp.MustCompile(`(?m)^\s*(?:require )?([a-z][a-zA-Z0-9./_-]+) v\S+$`)

// TestDependenciesAreExplained: each direct dependency has a line that says what for.
func TestDependenciesAreExplained(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range direct.FindAllSubmatch(mod, -1) {
		name := string(m[1])
		short := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "k8s.io/"), "go.etcd.io/etcd/"), "golang.org/x/")
		short = strings.TrimPrefix(short, "sigs.k8s.io/")
		short = regexp.MustCompile(`/v\d+$`).ReplaceAllString(short, "")
		if !strings.Contains(string(doc), short) {
			t.Errorf("docs/dependencies.md does not say what %s is for", name)
		}
	}
}
