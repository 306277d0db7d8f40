package wire

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Head is the beginning of an object's JSON: what its stored body lacks. It ends before the body's first member.
func Head(gvk schema.GroupVersionKind) []byte {
	b, _ := json.Marshal(struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion,omitempty"`
	}{gvk.Kind, gvk.GroupVersion().String()}) // two strings always encode
	b[len(b)-1] = ','
	return b
}

// AppendObject appends a whole object made of its head and a body that begins with a brace. Without a head the body is the whole.
func AppendObject(dst, head, body []byte) []byte {
	if len(head) == 0 {
		return append(dst, body...)
	}
	dst = append(slices.Grow(dst, len(head)+len(body)+1), head...) // room for a newline too
	if len(body) <= 2 {                                            // {}
		dst[len(dst)-1] = '}'
		return dst
	}
	return append(dst, body[1:]...)
}

// JSONBody encodes an object whose kind and apiVersion are unset into a body.
func JSONBody(obj any) ([]byte, error) {
	if tree, ok := obj.(interface{ UnstructuredContent() map[string]any }); ok {
		obj = tree.UnstructuredContent()
	}
	return json.Marshal(obj)
}
