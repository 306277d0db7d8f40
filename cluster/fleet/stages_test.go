package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	template := NodeTemplate{Prefix: "gpu-"}
	for name, want := range map[string]string{"gpu-4": "198.18.0.5 10250 10.128.4.0/24", "gpu-04": "", "gpu--1": "", "gpu-32768": "", "node-4": "", "": ""} {
		n, ours := template.Find(name)
		got := ""
		if ours {
			got = strings.Join([]string{n.Address.String(), "10250", n.PodRange.String()}, " ")
		}
		if got != want || ours && n.Port != 10250 {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

const withStages = `
nodes: 1
stages:
- apiVersion: kwok.x-k8s.io/v1alpha1
  kind: Stage
  metadata: {name: goes}
  spec:
    resourceRef: {kind: Pod}
    selector: {matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]}
    next: {delete: true}
`

func TestStagesAreKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "simulation")
	if err := os.WriteFile(file, []byte(withStages), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // as YAML, and as it is written
		c, err := ReadConfiguration(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Stages) != 1 || c.Stages[0].Name != "goes" || c.Stages[0].Spec.Selector.MatchExpressions[0].Operator != "Exists" || !c.Stages[0].Spec.Next.Delete {
			t.Errorf("%+v", c.Stages)
		}
		if err := c.Write(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(withStages, "operator: Exists", "operator: Is")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadConfiguration(file); err == nil || !strings.Contains(err.Error(), "matchExpressions[0].operator") {
		t.Errorf("a wrong stage: %v", err)
	}
}
