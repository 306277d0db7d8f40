package stages

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
	"sigs.k8s.io/yaml"
)

// objectOf reads an object as a watch would bring it.
func objectOf(t testing.TB, content string) object {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(content), &o); err != nil {
		t.Fatal(err)
	}
	return whole(o).(object)
}

// whole turns the whole numbers that YAML gives into those that objects have.
func whole(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = whole(v[name])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int(v)) {
			return int(v)
		}
	}
	return value
}

// testClock always shows the same.
func testClock() time.Time { return time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC) }

const actor = `
kind: Pod
metadata:
  name: actor
  uid: a
  labels: {role: king, example.com/part: "1"}
  annotations: {note: aside}
  ownerReferences: [{kind: Play, controller: true}, {kind: Job}]
spec: {nodeName: stage-0, containers: [{name: c, image: i}], priority: 7, share: 0.5}
status:
  phase: Running
  conditions: [{type: Initialized, status: "True"}, {type: Ready, status: "False"}]
`

func TestMatch(t *testing.T) {
	t.Parallel()
	for selector, want := range map[string]bool{
		`{}`:                              true,
		`matchLabels: {role: king}`:       true,
		`matchLabels: {role: queen}`:      false,
		`matchLabels: {absent: ""}`:       false,
		`matchAnnotations: {note: aside}`: true,
		`{matchLabels: {role: king}, matchAnnotations: {note: other}}`: false,

		`matchExpressions: [{key: .status.phase, operator: In, values: [Pending, Running]}]`:                                            true,
		`matchExpressions: [{key: .status.phase, operator: NotIn, values: [Running]}]`:                                                  false,
		`matchExpressions: [{key: .status.absent, operator: In, values: [""]}]`:                                                         false,
		`matchExpressions: [{key: .status.absent, operator: NotIn, values: [x]}]`:                                                       true,
		`matchExpressions: [{key: .metadata.deletionTimestamp, operator: DoesNotExist}]`:                                                true,
		`matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]`:                                                      false,
		`matchExpressions: [{key: '.metadata.labels["example.com/part"]', operator: In, values: ["1"]}]`:                                true,
		`matchExpressions: [{key: '.metadata.ownerReferences.[].kind', operator: In, values: [Job]}]`:                                   true,
		`matchExpressions: [{key: '.metadata.ownerReferences[].controller', operator: In, values: ["true"]}]`:                           true,
		`matchExpressions: [{key: .spec.priority, operator: In, values: ["7"]}]`:                                                        true,
		`matchExpressions: [{key: .spec.share, operator: In, values: ["0.5"]}]`:                                                         false,
		`matchExpressions: [{key: .spec.containers, operator: Exists}]`:                                                                 true,
		`matchExpressions: [{key: '.spec.volumes.[].name', operator: DoesNotExist}]`:                                                    true,
		`matchExpressions: [{key: '.status.conditions.[] | select(.type == "Ready") | .status', operator: In, values: ["False"]}]`:      true,
		`matchExpressions: [{key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: NotIn, values: ["True"]}]`:  true,
		`matchExpressions: [{key: '.status.conditions | length', operator: In, values: ["2"]}]`:                                         true,
		`matchExpressions: [{key: '.status.phase.deeper', operator: Exists}]`:                                                           false,
		`matchExpressions: [{key: .status.phase, operator: In, values: [Running]}, {key: .spec.priority, operator: In, values: ["8"]}]`: false,
		`matchExpressions: [{jq: {key: .status.phase, operator: In, values: [Running]}}]`:                                               true,
		`matchExpressions: [{cel: {expression: "self.status.phase in ['Running']"}}]`:                                                   true,
		`matchExpressions: [{cel: {expression: "has(self.metadata.deletionTimestamp)"}}]`:                                               false,
		`matchExpressions: [{cel: {expression: "self.spec.absent == 'x'"}}]`:                                                            false,
		`matchExpressions: [{cel: {expression: "self.spec.priority > 6 && Now() == timestamp('2030-01-01T12:00:00Z')"}}]`:               true,
	} {
		t.Run(selector, func(t *testing.T) {
			t.Parallel()
			made := stageOf(t, "resourceRef: {kind: Pod}\nselector: "+flow(selector))
			if got := made.matches(objectOf(t, actor)); got != want {
				t.Errorf("%v", got)
			}
		})
	}
}

// flow puts a selector into braces, unless it has them.
func flow(selector string) string {
	if strings.HasPrefix(selector, "{") {
		return selector
	}
	return "{" + selector + "}"
}

// stageOf compiles a Stage with this spec.
func stageOf(t testing.TB, spec string) *stage {
	t.Helper()
	var s Stage
	if err := yaml.UnmarshalStrict([]byte("spec:\n  "+strings.ReplaceAll(spec, "\n", "\n  ")), &s); err != nil {
		t.Fatal(err)
	}
	made, failures := compile(&s, testClock)
	if len(failures) > 0 {
		t.Fatal(failures.ToAggregate())
	}
	return made
}

// TestPlainPathsAreJQ: what is followed by hand finds what jq does.
func TestPlainPathsAreJQ(t *testing.T) {
	t.Parallel()
	o := objectOf(t, actor)
	for _, expression := range []string{
		".", ".status", ".status.phase", ".a.b.c", `.metadata["labels"].role`, `.metadata.labels["example.com/part"]`, `."status".phase`,
		".metadata.ownerReferences[].kind", ".metadata.ownerReferences.[].kind", ".metadata.ownerReferences[].a.b", ".status.conditions[]",
		".status.phase.a", ".status.phase[]", ".a[]", ".spec.containers[].name[]", ".spec.containers.name", ".spec.priority",
	} {
		parsed, err := gojq.Parse(expression)
		if err != nil {
			t.Fatal(err)
		}
		plain, ok := plainPath(parsed)
		if !ok {
			t.Errorf("%s is not followed by hand", expression)
		}
		got, _ := plain.find(o, nil)
		var want []any
		for all := parsed.Run(o); ; {
			value, more := all.Next()
			if _, failed := value.(error); failed {
				want = nil
				break
			}
			if !more {
				break
			}
			if value != nil {
				want = append(want, value)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", expression, got, want)
		}
	}
	for _, expression := range []string{".a?", ".a[0]", ".a[1:]", ".a | .b", `.a["\(.b)"]`, ".a, .b", "select(.a)", ".a // .b", "..", "[.a]"} {
		parsed, err := gojq.Parse(expression)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := plainPath(parsed); ok {
			t.Errorf("%s is followed by hand", expression)
		}
	}
}
