package cache

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// IndexedField is the field by which watchers are told apart, and objects found, before any filter runs: every kubelet
// lists and watches the pods of its node.
const IndexedField = "spec.nodeName"

// Filter says which objects a list or watch is about. The zero value takes all.
type Filter struct {
	Namespace string // empty: all
	Name      string // empty: all
	Labels    labels.Selector
	Fields    fields.Selector
}

// Matches says whether the entry is selected. A nil entry is not.
func (f *Filter) Matches(e *Entry) bool {
	return e != nil &&
		(f.Namespace == "" || f.Namespace == e.Namespace) &&
		(f.Name == "" || f.Name == e.Name) &&
		(f.Fields == nil || f.Fields.Matches(e.Fields)) &&
		(f.Labels == nil || f.Labels.Matches(e.Labels))
}

// All says whether every object of the collection is selected.
func (f *Filter) All() bool {
	return f.Namespace == "" && f.Name == "" &&
		(f.Labels == nil || f.Labels.Empty()) && (f.Fields == nil || f.Fields.Empty())
}

// bucket is the coarsest thing that a filter pins; a watcher stands in the bucket of its filter.
type bucket struct{ namespace, name, field string }

func (f *Filter) bucket() bucket {
	if f.Name != "" {
		return bucket{name: f.Name}
	}
	if v, ok := f.indexed(); ok {
		return bucket{field: v}
	}
	return bucket{namespace: f.Namespace}
}

// indexed is the value of the indexed field that a filter pins.
func (f *Filter) indexed() (string, bool) {
	if f.Fields == nil {
		return "", false
	}
	v, ok := f.Fields.RequiresExactMatch(IndexedField)
	return v, ok && v != ""
}

// buckets lists where the watchers stand whom a change of the entry may concern.
func (e *Entry) buckets(to []bucket) []bucket {
	to = append(to, bucket{name: e.Name})
	if v := e.Fields.Get(IndexedField); v != "" {
		to = append(to, bucket{field: v})
	}
	if e.Namespace != "" {
		to = append(to, bucket{namespace: e.Namespace})
	}
	return to
}
