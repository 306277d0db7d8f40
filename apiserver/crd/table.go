package crd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// finder evaluates a path. It has a state of its own, so one goes at a time.
type finder struct {
	mu   sync.Mutex
	path *jsonpath.JSONPath
}

func newFinder(text string) (*finder, error) {
	p := jsonpath.New("").AllowMissingKeys(true)
	return &finder{path: p}, p.Parse("{" + text + "}")
}

// find gives the first value; nil if there is none.
func (f *finder) find(tree map[string]any) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, err := f.path.FindResults(tree)
	if err != nil || len(found) == 0 || len(found[0]) == 0 || !found[0][0].IsValid() {
		return nil
	}
	return found[0][0].Interface()
}

// text shows a value as jsonpath does.
func (f *finder) text(value any) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b bytes.Buffer
	if err := f.path.PrintResults(&b, []reflect.Value{reflect.ValueOf(value)}); err != nil {
		return nil
	}
	return b.String()
}

// table shows the definition's columns; one without any shows the age.
func (v *version) table() *resource.Table {
	columns := v.spec.AdditionalPrinterColumns
	if len(columns) == 0 {
		columns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp", Description: resource.AgeColumn.Description}}
	}
	t := &resource.Table{Columns: []metav1.TableColumnDefinition{resource.NameColumn}}
	var finders []*finder
	for _, c := range columns {
		f, err := newFinder(c.JSONPath)
		if err != nil {
			break // as upstream: the columns before it are shown
		}
		finders = append(finders, f)
		t.Columns = append(t.Columns, metav1.TableColumnDefinition{Name: c.Name, Type: c.Type, Format: c.Format, Priority: c.Priority,
			Description: cmp.Or(c.Description, "Custom resource definition column (in JSONPath format): "+c.JSONPath)})
	}
	t.Row = func(o resource.Object) ([]any, []metav1.TableRowCondition) {
		cells := []any{o.GetName()}
		for i, f := range finders {
			value := f.find(o.(tree).Object)
			if t.Columns[i+1].Type == "string" && value != nil {
				cells = append(cells, f.text(value))
			} else {
				cells = append(cells, cell(t.Columns[i+1].Type, value))
			}
		}
		return cells, nil
	}
	return t
}

// cell is a value as its column's type shows it; nil if it is of another type.
func cell(kind string, value any) any {
	switch kind {
	case "integer":
		switch n := value.(type) {
		case int64:
			return n
		case float64:
			return int64(n)
		case json.Number:
			if i, err := n.Int64(); err == nil {
				return i
			}
		}
	case "number":
		switch n := value.(type) {
		case int64:
			return float64(n)
		case float64:
			return n
		}
	case "boolean":
		if b, ok := value.(bool); ok {
			return b
		}
	case "date":
		if s, ok := value.(string); ok {
			var t metav1.Time
			if err := t.UnmarshalQueryParameter(s); err != nil {
				return "<invalid>"
			}
			return resource.Age(t)
		}
	}
	return nil
}

// selectable gives the values of all versions' selectable fields; nil if there are none.
func (d *definition) selectable() func(o resource.Object) fields.Set {
	type selected struct {
		v    *version
		name string
		f    *finder
	}
	var all []selected
	for _, v := range d.versions {
		for _, f := range v.spec.SelectableFields {
			if find, err := newFinder(f.JSONPath); err == nil {
				all = append(all, selected{v, v.fieldName(f), find})
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func(o resource.Object) fields.Set {
		set := make(fields.Set, len(all)+2)
		in := map[*version]map[string]any{}
		for _, s := range all {
			if in[s.v] == nil {
				in[s.v] = map[string]any{}
				if _, remote := d.convert.(*webhook); remote {
					// Who waits for a webhook here would hold up every watch: the fields are those of the object as it is stored.
					in[s.v] = o.(tree).Object
				} else if u, err := s.v.to(o.(tree).DeepCopy()); err == nil {
					in[s.v] = u.Object
				}
			}
			set[s.name] = ""
			if value := s.f.find(in[s.v]); value != nil {
				set[s.name] = fmt.Sprint(value)
			}
		}
		return set
	}
}

// aliases are the names by which clients of a version select.
func (v *version) aliases() map[string]string {
	out := map[string]string{}
	for _, f := range v.spec.SelectableFields {
		out[strings.TrimPrefix(f.JSONPath, ".")] = v.fieldName(f)
	}
	return out
}
