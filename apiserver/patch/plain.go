package patch

import (
	"strings"

	kjson "sigs.k8s.io/json"
)

const (
	// plainDepth bounds the nesting of a plain configuration.
	plainDepth = 100
	// plainKey bounds its keys, in bytes: YAML knows no keys of more than 1024 characters.
	plainKey = 500
)

// plain reads an applied configuration that is JSON and means the same as YAML, without the detour that is ten times as long. False:
// it is something else, or may be, and YAML's reader is to judge. Clients that are programs send plain ones.
func plain(body []byte) (map[string]any, bool) {
	if len(body) == 0 || body[0] != '{' || !plainText(body) {
		return nil, false
	}
	var tree map[string]any
	if found, err := kjson.UnmarshalStrict(body, &tree); err != nil || len(found) > 0 || !plainTree(tree, plainDepth) {
		return nil, false
	}
	return tree, true
}

// plainText says whether a text is of printable ASCII, and has nothing that JSON and YAML read each in their own way.
func plainText(body []byte) bool {
	for i, b := range body {
		switch {
		case b == '\\' && i+1 < len(body) && strings.IndexByte(`u/`, body[i+1]) >= 0,
			b == '<' && i+1 < len(body) && body[i+1] == '<',
			(b < ' ' && b != '\n') || b > '~':
			return false
		}
	}
	return true
}

// plainTree says whether all numbers of a tree are whole, and its keys and depth are moderate.
func plainTree(v any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case float64:
		return false
	case map[string]any:
		for key, value := range v {
			if len(key) > plainKey || !plainTree(value, depth-1) {
				return false
			}
		}
	case []any:
		for _, value := range v {
			if !plainTree(value, depth-1) {
				return false
			}
		}
	}
	return true
}
