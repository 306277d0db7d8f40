package kubeconfig

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kogge-dev/kogge/cluster/pki"
)

const foreign = `apiVersion: v1
kind: Config
clusters:
- name: work
  cluster: {server: "https://work.example:6443"}
users:
- name: me
  user: {token: secret}
contexts:
- name: work
  context: {cluster: work, user: me, namespace: team}
current-context: work
`

func entry(name, server string) Entry {
	return Entry{Name: name, Server: server, CA: []byte("ca"), Client: pki.Pair{Certificate: []byte("crt"), Key: []byte("key")}}
}

func load(t *testing.T, file string) *clientcmdapi.Config {
	t.Helper()
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestMergeAndRemoveLeaveTheRestAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(foreign), 0o644); err != nil {
		t.Fatal(err)
	}
	before := load(t, file)

	if _, err := Merge(file, entry("kogge-dev", "https://127.0.0.1:1")); err != nil {
		t.Fatal(err)
	}
	merged := load(t, file)
	if merged.CurrentContext != "kogge-dev" || merged.Clusters["kogge-dev"].Server != "https://127.0.0.1:1" {
		t.Errorf("merged: context %q, clusters %v", merged.CurrentContext, merged.Clusters)
	}
	if diff := cmp.Diff(before.Contexts["work"], merged.Contexts["work"]); diff != "" {
		t.Errorf("a foreign context changed (-want +got):\n%s", diff)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600: the file holds a key now", info.Mode())
	}

	if err := Remove(file, "kogge-dev"); err != nil {
		t.Fatal(err)
	}
	before.CurrentContext = ""
	if diff := cmp.Diff(before, load(t, file)); diff != "" {
		t.Errorf("after removal (-want +got):\n%s", diff)
	}
}

func TestMergeAgainReplacesAndKeepsTheNamespace(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new", "config")
	for _, server := range []string{"https://127.0.0.1:1", "https://127.0.0.1:2"} {
		if _, err := Merge(file, entry("kogge", server)); err != nil {
			t.Fatal(err)
		}
		config := load(t, file)
		config.Contexts["kogge"].Namespace = "mine"
		if err := clientcmd.WriteToFile(*config, file); err != nil {
			t.Fatal(err)
		}
	}
	config := load(t, file)
	if len(config.Clusters) != 1 || config.Clusters["kogge"].Server != "https://127.0.0.1:2" || config.Contexts["kogge"].Namespace != "mine" {
		t.Errorf("clusters %v, contexts %v", config.Clusters, config.Contexts)
	}
}

func TestRemoveKeepsAnotherSelectedContext(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config")
	for _, name := range []string{"kogge-a", "kogge-b"} {
		if _, err := Merge(file, entry(name, "https://127.0.0.1:1")); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(file, "kogge-a"); err != nil {
		t.Fatal(err)
	}
	if got := load(t, file).CurrentContext; got != "kogge-b" {
		t.Errorf("selected %q, want kogge-b", got)
	}
	if err := Remove(filepath.Join(t.TempDir(), "none"), "kogge-a"); err != nil {
		t.Errorf("a missing file: %v", err)
	}
}

func TestRemovingTheOnlyEntryRemovesTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config")
	if _, err := Merge(file, entry("kogge", "https://127.0.0.1:1")); err != nil {
		t.Fatal(err)
	}
	if err := Remove(file, "kogge"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is left: %v", err)
	}
}

func TestLockedFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(file, entry("kogge", "https://127.0.0.1:1")); err == nil {
		t.Error("wrote although the file is locked")
	}
}

// Not parallel: it sets the environment.
func TestFileIsTheOneThatKubectlWouldWrite(t *testing.T) {
	dir := t.TempDir()
	existing := filepath.Join(dir, "existing")
	if err := os.WriteFile(existing, []byte(foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir)
	for _, test := range []struct {
		name, explicit, variable, want string
	}{
		{"explicit wins", "/x/y", existing, "/x/y"},
		{"home", "", "", filepath.Join(dir, ".kube", "config")},
		{"the first that exists", "", filepath.Join(dir, "no") + ":" + existing, existing},
		{"or the last", "", "/none/a:/none/b", "/none/b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.variable)
			got, err := target(test.explicit)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}
