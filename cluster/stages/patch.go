package stages

import (
	"encoding/json"
	"fmt"
	"reflect"

	strictjson "sigs.k8s.io/json"
)

// body gives the patch that a step's template makes of an object; nil when it plainly changes nothing. A patch of another object that has
// come in its place fails: the uid is a part of what is sent.
func (s *step) body(w *world, o object) ([]byte, error) {
	content, err := s.text.render(w, o)
	if err != nil {
		return nil, err
	}
	if s.patchType == "json" {
		return below(s.Patch.Root, content)
	}
	var made any
	if err := strictjson.UnmarshalCaseSensitivePreserveInts(content, &made); err != nil {
		return nil, err
	}
	if made == nil {
		return nil, nil
	}
	whole, ok := made.(map[string]any)
	if root := s.Patch.Root; root != "" {
		whole = map[string]any{root: made}
	} else if !ok {
		return nil, fmt.Errorf("a patch must be a map, not %s", content)
	}
	if !changes(plain(whole), o) {
		return nil, nil
	}
	metadata, ok := whole["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		whole["metadata"] = metadata
	}
	if uid := textAt(o, "metadata", "uid"); uid != "" {
		metadata["uid"] = uid
	}
	return json.Marshal(whole)
}

// below moves the paths of a JSON patch below a field of the object.
func below(root string, content []byte) ([]byte, error) {
	var operations []struct {
		Op    string          `json:"op"`
		Path  string          `json:"path"`
		From  string          `json:"from,omitempty"`
		Value json.RawMessage `json:"value,omitempty"`
	}
	if err := json.Unmarshal(content, &operations); err != nil {
		return nil, err
	}
	if len(operations) == 0 {
		return nil, nil
	}
	if root == "" {
		return content, nil
	}
	for i := range operations {
		operations[i].Path = "/" + root + operations[i].Path
		if operations[i].From != "" {
			operations[i].From = "/" + root + operations[i].From
		}
	}
	return json.Marshal(operations)
}

// changes tells whether a merge patch changes what is there. Of a list it says so unless it is the same: whether a strategic one does
// is for the server to find out, which writes nothing then.
func changes(patch, there any) bool {
	wanted, ok := patch.(map[string]any)
	if !ok {
		return !reflect.DeepEqual(patch, there)
	}
	has, ok := there.(map[string]any)
	if !ok {
		return true
	}
	for name, value := range wanted {
		if changes(value, has[name]) {
			return true
		}
	}
	return false
}

// plain turns whole numbers into int, in place: jq takes no others.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, below := range v {
			switch b := below.(type) {
			case int64:
				v[name] = int(b)
			case map[string]any, []any:
				plain(b)
			}
		}
	case []any:
		for i, below := range v {
			switch b := below.(type) {
			case int64:
				v[i] = int(b)
			case map[string]any, []any:
				plain(b)
			}
		}
	case int64:
		return int(v)
	}
	return value
}
