package stages

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"sigs.k8s.io/yaml"
)

// text is a template of YAML. It is parsed once; several may be rendered at a time.
type text struct {
	parsed *template.Template
	ready  sync.Pool // of *rendering
}

// rendering is a template with functions that see the object which it is rendered for.
type rendering struct {
	template *template.Template
	scope    scope
	out      bytes.Buffer
}

func compileText(content string) (*text, error) {
	parsed, err := template.New("template").Funcs(generalFunctions()).Funcs((&scope{}).functions()).Parse(strings.TrimSpace(content))
	if err != nil {
		return nil, err
	}
	return &text{parsed: parsed}, nil
}

// render gives what the template says of an object, as JSON.
func (t *text) render(w *world, o object) ([]byte, error) {
	r, ok := t.ready.Get().(*rendering)
	if !ok {
		clone, err := t.parsed.Clone()
		if err != nil {
			return nil, err
		}
		r = &rendering{template: clone}
		clone.Funcs(r.scope.functions())
	}
	defer t.ready.Put(r)
	r.out.Reset()
	r.scope = scope{world: w, object: o}
	defer func() { r.scope = scope{} }()
	if err := r.template.Execute(&r.out, o); err != nil {
		return nil, err
	}
	content, err := yaml.YAMLToJSON(r.out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("what the template makes is no YAML: %w\n%s", err, r.out.String())
	}
	return content, nil
}
