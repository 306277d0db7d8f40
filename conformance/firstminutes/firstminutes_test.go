package firstminutes_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// clients are the kubectls that people have: the server's minor version, and the one before.
var clients = []struct{ program, version string }{
	{"kubectl", `Client Version: v1\.37\.2\n`},
	{"kubectl-1.36", `Client Version: v1\.36\.\d+\n`},
}

// Not parallel: it looks at the whole machine before and after.
func TestFirstMinutes(t *testing.T) {
	checkout, cluster := prepare(t)
	readme := readmeSteps(t, checkout)
	last := len(readme) - 1 // which deletes the cluster
	scratch := t.TempDir()
	before := lookAt(t, cluster, scratch)
	shells := make([]*shell, len(clients))
	for i, client := range clients {
		shells[i] = newShell(t, checkout, scratch, cluster, client.program)
	}
	t.Cleanup(func() {
		shells[0].run(context.WithoutCancel(t.Context()), "kogge delete cluster --name $CLUSTER")
	})
	// Registries are left out: the test needs no network.
	shells[0].follow(t, []step{{line: "kogge create cluster --name $CLUSTER --nodes 2 --wait 100s --registries=false", check: shows(
		`(?m)^ ✓ Starting the control plane`, `(?m)^ ✓ Waiting for 2 nodes to be ready`, `context "kogge-minutes-\d+" is selected`)}})
	shells[0].follow(t, startPods)

	for i, client := range clients {
		passed := t.Run(client.program, func(t *testing.T) {
			shells[i].follow(t, []step{{line: "kubectl version", check: shows(client.version)}})
			shells[i].follow(t, readme[:last])
			if i == 0 {
				shells[i].follow(t, lookAtPods)
			}
			shells[i].follow(t, example)
			shells[i].follow(t, people)
		})
		if !passed {
			return
		}
	}
	shells[0].follow(t, readme[last:])
	shells[0].follow(t, []step{{line: "kogge delete cluster --name $CLUSTER", check: shows(`There is no cluster`)}})
	if after := lookAt(t, cluster, scratch); !reflect.DeepEqual(before, after) {
		t.Errorf("the host was\n%+v\nand is\n%+v", before, after)
	}
}

// prepare tells where the checkout is, and a name for a cluster that no other has.
func prepare(t *testing.T) (checkout, cluster string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("clusters of containers need root: run the tests as root")
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"kogge", "kubectl", "kubectl-1.36"} {
		if _, err := os.Stat(filepath.Join(checkout, "bin", program)); err != nil {
			t.Fatalf("%v: run `make bin build images` first, as `make test` does", err)
		}
	}
	return checkout, fmt.Sprintf("minutes-%d", os.Getpid())
}
