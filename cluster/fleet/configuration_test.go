package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const example = `
nodes: 3
template:
  capacity: {cpu: "64", example.com/gpu: "8"}
  labels: {pool: gpu}
  taints: [{key: gpu, effect: NoSchedule}]
  region: eu
  zones: [a, b]
  prefix: gpu-
rules:
- namespace: shop
  selector: {matchLabels: {app: web}}
  annotations: {simulated.kogge.dev/start-delay: 2s}
`

func TestConfigurationIsReadAndWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "simulation")
	if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // as YAML, and as it is written
		c, err := ReadConfiguration(file)
		if err != nil {
			t.Fatal(err)
		}
		node := c.Template.node(1)
		gpu := node.capacity["example.com/gpu"]
		rules, err := c.PodRules()
		if err != nil || c.Nodes != 3 || node.name != "gpu-1" || gpu.Value() != 8 || len(node.taints) != 1 || rules[0].Selector.String() != "app=web" {
			t.Errorf("%+v, %v", c, err)
		}
		if err := c.Write(file); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, want string }{
		"unknown field": {"node: 3", "node"},
		"too many":      {"nodes: 40000", "40000 simulated nodes: must be 0 to 32768"},
		"selector":      {"rules: [{selector: {matchExpressions: [{key: a, operator: Is}]}}]", "rules[0].selector"},
		"label":         {"template: {labels: {pool: a b}}", `template.labels: Invalid value: "a b"`},
		"capacity":      {`template: {capacity: {cpu: "-1"}}`, `template.capacity[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		"resource":      {"template: {capacity: {a b: 1}}", `template.capacity[a b]: Invalid value: "a b"`},
		"taint":         {"template: {taints: [{key: a, effect: Never}]}", `template.taints[0].effect: Unsupported value: "Never"`},
		"taint's key":   {"template: {taints: [{effect: NoSchedule}]}", `template.taints[0].key: Invalid value: ""`},
		"taint twice":   {"template: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}", `template.taints[1]: Duplicate value: "a:NoSchedule"`},
		"hostname":      {"template: {labels: {kubernetes.io/hostname: x}}", `template.labels[kubernetes.io/hostname]: Forbidden`},
		"no domain":     {"template: {capacity: {gpu: 1}}", `template.capacity[gpu]: Invalid value: "gpu": must be a standard resource`},
		"a part":        {`template: {capacity: {example.com/gpu: "1.5"}}`, `template.capacity[example.com/gpu]: Invalid value: "1500m": must be an integer`},
		"long prefix":   {"template: {prefix: " + strings.Repeat("n", 70) + "-}", `template.prefix: Invalid value`},
		"region":        {"template: {region: -eu}", `template.region: Invalid value: "-eu"`},
		"zone":          {"template: {zones: [a, b_]}", `template.zones[1]: Invalid value: "b_"`},
		"prefix":        {"template: {prefix: Node-}", `template.prefix: Invalid value: "Node-"`},
		"annotation":    {"rules: [{annotations: {simulated.kogge.dev/start: 1s}}]", `rules[0].annotations[simulated.kogge.dev/start]: Unsupported value`},
		"its value":     {"rules: [{annotations: {simulated.kogge.dev/exit-after.main: soon}}]", `rules[0].annotations[simulated.kogge.dev/exit-after.main]: Invalid value: "soon": can't be read`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "simulation")
			if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadConfiguration(file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
