package stages

import (
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	all, err := Load("testdata/pods.yaml", "testdata/crash.yaml", "testdata/shows.yaml", "testdata/nodes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	if got := strings.Join(names, " "); got != "starts ends is-released goes crashes opens closes overheats" {
		t.Error(got)
	}
	if !OwnPods(all) || OwnPods(all[5:]) {
		t.Error("stages of pods are not known as such")
	}
	if _, err := Load("testdata/show-definition.yaml"); err == nil || !strings.Contains(err.Error(), "no object of kind Stage") {
		t.Errorf("a file without stages: %v", err)
	}
}

func TestStagesAreRefused(t *testing.T) {
	t.Parallel()
	const ok = `resourceRef: {kind: Pod}, selector: {}, `
	for spec, want := range map[string]string{
		`{resourceRef: {}}`:                           `Stage.kwok.x-k8s.io "x" is invalid: spec.resourceRef.kind: Required value`,
		`{resourceRef: {apiGroup: a/b/c, kind: Pod}}`: `spec.resourceRef.apiGroup: Invalid value: "a/b/c"`,
		`{` + ok + `weights: 1}`:                      `Stage x: unknown field "spec.weights"`,
		`{` + ok + `delay: {jitterDurationMilliseconds: 9223372036854775807}}`: `spec.delay.jitterDurationMilliseconds: Invalid value: 9223372036854775807: is longer than 292 years`,
		`{` + ok + `weight: -1}`:                                                                               `spec.weight: Invalid value: -1: must be greater than or equal to 0`,
		`{` + ok + `weight: much}`:                                                                             `Stage x: json: cannot unmarshal`,
		`{` + ok + `weightFrom: {expressionFrom: ".a["}}`:                                                      `spec.weightFrom: Invalid value: ".a["`,
		`{` + ok + `delay: {durationMilliseconds: -1}}`:                                                        `spec.delay.durationMilliseconds: Invalid value: -1`,
		`{` + ok + `delay: {jitterDurationFrom: {cel: {expression: "self."}}}}`:                                `spec.delay.jitterDurationFrom: Invalid value: "self."`,
		`{resourceRef: {kind: Pod}, selector: {matchExpressions: [{key: a b, operator: In}]}}`:                 `spec.selector.matchExpressions[0].key: Invalid value: "a b"`,
		`{resourceRef: {kind: Pod}, selector: {matchExpressions: [{key: .a, operator: In}]}}`:                  `spec.selector.matchExpressions[0].values: Required value`,
		`{resourceRef: {kind: Pod}, selector: {matchExpressions: [{key: .a, operator: Exists, values: [b]}]}}`: `spec.selector.matchExpressions[0].values: Forbidden`,
		`{resourceRef: {kind: Pod}, selector: {matchExpressions: [{jq: {key: .a, operator: Is}}]}}`:            `spec.selector.matchExpressions[0].jq.operator: Unsupported value: "Is": supported values: "In", "NotIn", "Exists", "DoesNotExist"`,
		`{resourceRef: {kind: Pod}, selector: {matchExpressions: [{}]}}`:                                       `spec.selector.matchExpressions[0].key: Required value`,
		`{resourceRef: {kind: Pod}, selector: {matchExpressions: [{cel: {expression: other}}]}}`:               `spec.selector.matchExpressions[0].cel.expression: Invalid value: "other"`,
		`{` + ok + `next: {statusTemplate: "{{ Nothing }}"}}`:                                                  `spec.next.statusTemplate: Invalid value`,
		`{` + ok + `steps: [{delete: true}, {patch: {type: best}}]}`:                                           `spec.steps[1].patch.type: Unsupported value: "best"`,
		`{` + ok + `steps: [{apply: {type: json}}]}`:                                                           `spec.steps[0].apply.type: Unsupported value: "json"`,
	} {
		_, err := Decode(strings.NewReader("apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: x}\nspec: " + spec))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v\nwant %s", spec, err, want)
		}
	}
	if _, err := Decode(strings.NewReader("apiVersion: kwok.x-k8s.io/v2\nkind: Stage\nmetadata: {name: x}")); err == nil || !strings.Contains(err.Error(), "version v2 is not known") {
		t.Errorf("another version: %v", err)
	}
}
