package stages

import (
	"net/netip"
	"strings"
	"testing"
	"time"
)

// worldOf has one node, stage-0.
func worldOf(now time.Time) *world {
	return &world{now: func() time.Time { return now }, started: now.Add(-time.Hour), addresses: newAddresses(), node: func(name string) (Node, bool) {
		return Node{Address: netip.MustParseAddr("198.18.0.1"), Port: 10250, PodRange: netip.MustParsePrefix("10.128.0.0/24")}, name == "stage-0"
	}}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	w := worldOf(time.Date(2030, 1, 1, 12, 0, 0, 500, time.UTC))
	for template, want := range map[string]string{
		"a: {{ .metadata.name }}":                                                                                   `{"a":"actor"}`,
		"a: {{ Now | Quote }}\nb: {{ StartTime | Quote }}":                                                          `{"a":"2030-01-01T12:00:00.0000005Z","b":"2030-01-01T11:00:00.0000005Z"}`,
		`a: {{ Quote "say \"hi\"" }}`:                                                                               `{"a":"say \"hi\""}`,
		"a: {{ .spec.priority }}\nb: {{ .spec.priority | Quote }}":                                                  `{"a":7,"b":"7"}`,
		"a: {{ .metadata.labels | Quote }}":                                                                         `{"a":"{\"example.com/part\":\"1\",\"role\":\"king\"}"}`,
		"a:\n  {{ YAML .metadata.labels 1 }}":                                                                       `{"a":{"example.com/part":"1","role":"king"}}`,
		"{{ YAML .status.phase }}":                                                                                  `"Running"`,
		"a: {{ NodeName }} {{ NodeIP }} {{ NodePort }}":                                                             `{"a":"stage-0 198.18.0.1 10250"}`,
		"a: {{ NodeIPWith .spec.nodeName }}\nb: {{ NodeIPWith \"other\" | Quote }}":                                 `{"a":"198.18.0.1","b":""}`,
		"a: {{ NodeIPsWith .spec.nodeName | len }}{{ NodeIPsWith \"other\" | len }}":                                `{"a":10}`,
		`a: {{ PodIPWith .spec.nodeName false .metadata.uid "" "" }}`:                                               `{"a":"10.128.0.2"}`,
		`a: {{ PodIP }} {{ index (PodIPsWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid "" "") 0 }}`: `{"a":"10.128.0.2 10.128.0.2"}`,
		`a: {{ PodIPWith .spec.nodeName true "b" "" "" }}`:                                                          `{"a":"198.18.0.1"}`,
		`{{ range NodeConditions }}{{ .type }}: {{ .status | Quote }}{{ "\n" }}{{ end }}`:                           `{"DiskPressure":"False","MemoryPressure":"False","NetworkUnavailable":"False","PIDPressure":"False","Ready":"True"}`,
		`a: {{ printf "x-%s" Version }}`:                                                                            `{"a":"x-kogge"}`,
		`{{ $a := or .metadata.nothing dict }}a: {{ or ( index $a "b" ) "c" }}`:                                     `{"a":"c"}`,
		`a: {{ list "b" .metadata.name | join "-" | upper }}`:                                                       `{"a":"B-ACTOR"}`,
		`a: {{ default "d" .spec.nothing | trunc 1 }}`:                                                              `{"a":"d"}`,
		"":                                     `null`,
		"\n  {{ if .nothing }}a: b{{ end }}\n": `null`,
	} {
		made, err := compileText(template)
		if err != nil {
			t.Errorf("%s: %v", template, err)
			continue
		}
		for range 2 { // the second is one that was used before
			if got, err := made.render(w, objectOf(t, actor)); err != nil || string(got) != want {
				t.Errorf("%s: %s, %v; want %s", template, got, err, want)
			}
		}
	}
}

func TestTemplatesAreRefused(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{"{{ env \"HOME\" }}": "env", "{{ if }}": "missing value", "{{ Nothing }}": "Nothing"} {
		if _, err := compileText(template); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", template, err)
		}
	}
	made, err := compileText("a: [{{ .metadata.name }}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := made.render(worldOf(time.Time{}), objectOf(t, actor)); err == nil || !strings.Contains(err.Error(), "a: [actor") {
		t.Errorf("no YAML: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	a, small := newAddresses(), netip.MustParsePrefix("10.0.0.0/30")
	take := func(uid, want string) {
		t.Helper()
		got, err := a.take(uid, small)
		if err != nil {
			got = netip.Addr{}
		}
		if want == "" && err == nil || want != "" && got.String() != want {
			t.Errorf("%s has %s, %v; want %q", uid, got, err, want)
		}
	}
	a.note("known", "10.0.0.2")
	take("known", "10.0.0.2")
	take("new", "10.0.0.3")
	take("new", "10.0.0.3")
	take("late", "")
	a.free("known")
	a.free("nobody")
	take("late", "10.0.0.2")
	a.free("new")
	take("last", "10.0.0.3")
}
