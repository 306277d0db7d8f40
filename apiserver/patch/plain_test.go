package patch

import (
	"reflect"
	"strings"
	"testing"
)

// plainBodies are configurations, and whether they are plain.
var plainBodies = map[string]bool{
	`{"a":{"b":[1,"x",true,null,-5]},"c":"\n\t\"\\"}`: true, "{\n \"a\": {}\n}": true,
	`{"a":1.0}`: false, `{"a":1e3}`: false, `{"a":9223372036854775808}`: false, `{"a":1,"a":2}`: false,
	`{"a":"ü"}`: false, `{"a":"\u0041"}`: false, `{"a":"\/"}`: false, `{"<<":{}}`: false, "{\t}": false, `{a: 1}`: false, `[]`: false, ``: false, `{"a":1} x`: false,
	`{"` + strings.Repeat("k", 600) + `":1}`: false, `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`: false,
}

// TestPlain: what is read as JSON is what would be read as YAML.
func TestPlain(t *testing.T) {
	t.Parallel()
	for body, want := range plainBodies {
		tree, is := plain([]byte(body))
		if is != want {
			t.Errorf("%.40s: %v", body, is)
		}
		if !is {
			continue
		}
		u, err := fromYAML([]byte(body))
		if err != nil || !reflect.DeepEqual(tree, u) {
			t.Errorf("%.40s: %v as JSON, %v as YAML, %v", body, tree, u, err)
		}
	}
}

func FuzzPlain(f *testing.F) {
	for body := range plainBodies {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		tree, is := plain([]byte(body))
		if !is {
			return
		}
		u, err := fromYAML([]byte(body))
		if err != nil || !reflect.DeepEqual(tree, u) {
			t.Errorf("%v as JSON, %v as YAML, %v", tree, u, err)
		}
		if err := (&Patch{Body: []byte(body)}).checkYAML(); err != nil {
			t.Errorf("YAML finds %v", err)
		}
	})
}
