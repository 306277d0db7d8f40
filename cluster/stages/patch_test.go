package stages

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPatches(t *testing.T) {
	t.Parallel()
	w := worldOf(time.Unix(0, 0))
	for patch, want := range map[string]string{
		`{subresource: status, root: status, template: "phase: Failed"}`:          `{"metadata":{"uid":"a"},"status":{"phase":"Failed"}}`,
		`{root: status, template: "phase: {{ .status.phase }}"}`:                  ``, // changes nothing
		`{root: status, template: "reason: null"}`:                                ``,
		`{root: status, template: "phase: null"}`:                                 `{"metadata":{"uid":"a"},"status":{"phase":null}}`,
		`{root: metadata, template: "labels: {role: fool}"}`:                      `{"metadata":{"labels":{"role":"fool"},"uid":"a"}}`,
		`{template: "metadata: {labels: {role: king}}"}`:                          ``,
		`{template: "spec: {priority: 8}"}`:                                       `{"metadata":{"uid":"a"},"spec":{"priority":8}}`,
		`{template: "spec: {priority: 7}"}`:                                       ``,
		`{root: status, template: "conditions: [{type: Ready, status: 'True'}]"}`: `{"metadata":{"uid":"a"},"status":{"conditions":[{"status":"True","type":"Ready"}]}}`,
		`{template: ""}`: ``,
		`{type: json, template: "[{op: add, path: /metadata/labels/a, value: b}]"}`:    `[{"op":"add","path":"/metadata/labels/a","value":"b"}]`,
		`{type: json, root: status, template: "[{op: move, path: /a, from: /phase}]"}`: `[{"op":"move","path":"/status/a","from":"/status/phase"}]`,
		`{type: json, template: "[]"}`:   ``,
		`{template: "- a"}`:              `error: a patch must be a map`,
		`{type: json, template: "a: b"}`: `error: json`,
	} {
		made := stageOf(t, "resourceRef: {kind: Pod}\nselector: {}\nsteps: [{patch: "+patch+"}]").steps[0]
		got, err := made.body(w, objectOf(t, actor))
		if failure, wanted := strings.CutPrefix(want, "error: "); wanted {
			if err == nil || !strings.Contains(err.Error(), failure) {
				t.Errorf("%s: %v, want %s", patch, err, failure)
			}
		} else if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", patch, got, err, want)
		}
	}
}

func TestFinalizers(t *testing.T) {
	t.Parallel()
	of := func(names ...string) (all []Finalizer) {
		for _, name := range names {
			all = append(all, Finalizer{name})
		}
		return all
	}
	for _, c := range []struct {
		has    []string
		change Finalizers
		want   []string
		patch  string
	}{
		{nil, Finalizers{}, nil, ``},
		{nil, Finalizers{Empty: true, Remove: of("a")}, nil, ``},
		{nil, Finalizers{Add: of("a", "b")}, []string{"a", "b"}, `[{"op":"add","path":"/metadata/finalizers","value":["a","b"]}]`},
		{[]string{"a"}, Finalizers{Add: of("a")}, []string{"a"}, ``},
		{[]string{"a", "b"}, Finalizers{Remove: of("a", "c"), Add: of("d")}, []string{"b", "d"},
			`[{"op":"test","path":"/metadata/finalizers","value":["a","b"]},{"op":"add","path":"/metadata/finalizers","value":["b","d"]}]`},
		{[]string{"a", "b"}, Finalizers{Empty: true}, nil,
			`[{"op":"test","path":"/metadata/finalizers","value":["a","b"]},{"op":"remove","path":"/metadata/finalizers"}]`},
		{[]string{"a"}, Finalizers{Empty: true, Add: of("b")}, []string{"b"},
			`[{"op":"test","path":"/metadata/finalizers","value":["a"]},{"op":"add","path":"/metadata/finalizers","value":["b"]}]`},
	} {
		if got := c.change.change(c.has); !slices.Equal(got, c.want) {
			t.Errorf("%v %+v: %v, want %v", c.has, c.change, got, c.want)
		}
		var list []any
		for _, name := range c.has {
			list = append(list, name)
		}
		if got, err := c.change.patch(object{"metadata": map[string]any{"finalizers": list}}); err != nil || string(got) != c.patch {
			t.Errorf("%v %+v: %s, %v; want %s", c.has, c.change, got, err, c.patch)
		}
	}
}
