package stages

import (
	"encoding/json"
	"slices"
)

// change gives the finalizers that an object has afterwards.
func (f *Finalizers) change(has []string) []string {
	var left []string
	for _, one := range has {
		if !f.Empty && !slices.Contains(f.Remove, Finalizer{one}) {
			left = append(left, one)
		}
	}
	for _, one := range f.Add {
		if !slices.Contains(left, one.Value) {
			left = append(left, one.Value)
		}
	}
	return left
}

// patch is the JSON patch that makes the change; nil when there is nothing to change. It fails if the finalizers were changed meanwhile.
func (f *Finalizers) patch(o object) ([]byte, error) {
	const where = "/metadata/finalizers"
	has := finalizersOf(o)
	wanted := f.change(has)
	if slices.Equal(has, wanted) {
		return nil, nil
	}
	type operation struct {
		Op    string   `json:"op"`
		Path  string   `json:"path"`
		Value []string `json:"value,omitempty"`
	}
	var all []operation
	if len(has) > 0 {
		all = append(all, operation{"test", where, has})
	}
	if len(wanted) > 0 {
		all = append(all, operation{"add", where, wanted}) // replaces
	} else {
		all = append(all, operation{Op: "remove", Path: where})
	}
	return json.Marshal(all)
}

func finalizersOf(o object) []string {
	metadata, _ := o["metadata"].(map[string]any)
	list, _ := metadata["finalizers"].([]any)
	var out []string
	for _, one := range list {
		if name, ok := one.(string); ok {
			out = append(out, name)
		}
	}
	return out
}
