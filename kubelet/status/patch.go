package status

import (
	"encoding/json"
	"fmt"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// statusShape is how a pod's status is patched.
var statusShape = objectOf(reflect.TypeFor[v1.PodStatus]())

// Patch is the strategic merge patch from one status to another; nil when they say the same. It names the uid, so
// that it never hits a later pod of the same name.
//
// It is made of the structs, since a node makes one for everything that happens to a pod. Its bytes are those that
// the library would make of their JSON; what only the library knows how to compare is left to it.
func Patch(uid types.UID, from, to *v1.PodStatus) ([]byte, error) {
	if patch, ok := structPatch(uid, from, to); ok {
		return patch, nil
	}
	return libraryPatch(uid, from, to)
}

// structPatch makes the patch of the structs. False: the library is to make it.
func structPatch(uid types.UID, from, to *v1.PodStatus) ([]byte, bool) {
	before, after := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	w := writer{}
	if !statusShape.same(&w, before, after) {
		w.json = fmt.Appendf(make([]byte, 0, 2048), `{"metadata":{"uid":%q},"status":`, uid)
		statusShape.patch(&w, before, after)
		w.json = append(w.json, '}')
	}
	return w.json, !w.unusual
}

// libraryPatch is the same by the library, which compares what the statuses are as JSON.
func libraryPatch(uid types.UID, from, to *v1.PodStatus) ([]byte, error) {
	before, err := json.Marshal(v1.Pod{Status: *from})
	if err != nil {
		return nil, fmt.Errorf("encode pod status: %w", err)
	}
	after, err := json.Marshal(v1.Pod{Status: *to})
	if err != nil {
		return nil, fmt.Errorf("encode pod status: %w", err)
	}
	if string(before) == string(after) {
		return nil, nil
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, v1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("compare pod statuses: %w", err)
	}
	if string(patch) == "{}" {
		return nil, nil // they differ in what no patch can say
	}
	return append(fmt.Appendf(nil, `{"metadata":{"uid":%q},`, uid), patch[1:]...), nil
}
