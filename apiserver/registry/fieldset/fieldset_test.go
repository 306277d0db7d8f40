package fieldset

import (
	"math"
	"reflect"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// thing has fields of the shapes that kinds have seldom or never.
type thing struct {
	Base `json:",inline"`
	base
	Named      Base              `json:"named"`
	Null       *Base             `json:"null"`
	NullTime   *metav1.Time      `json:"nullTime"`
	Number     *int32            `json:"number"`
	Float      float64           `json:"float"`
	Deep       deep              `json:"deep,omitempty"`
	Zero       deep              `json:"zero,omitzero"`
	List       []Base            `json:"list"`
	Map        map[string]deep   `json:"map"`
	Lists      map[string][]Base `json:"lists,omitempty"`
	Pointers   map[string]*int32 `json:"pointers,omitempty"`
	Numbers    []int32           `json:"numbers,omitempty"`
	Floats     []float64         `json:"floats,omitempty"`
	Keyless    []Base            `json:"keyless,omitempty"`
	PointerKey []pointerKey      `json:"pointerKey,omitempty"`
	Any        any               `json:"any,omitempty"`
	Wide       uint64            `json:"wide,omitempty"`
	Untagged   string
	Skipped    string `json:"-"`
	Unlisted   string `json:"unlisted,omitempty"`
	Itself     *thing `json:"itself,omitempty"`
	hidden     string
}

type Base struct {
	Key  string `json:"key"`
	Rank int64  `json:"rank,omitempty"`
}

type base struct {
	Inner string `json:"inner,omitempty"`
}

type deep struct {
	On   bool   `json:"on,omitempty"`
	Blob []byte `json:"blob"`
}

type pointerKey struct {
	Key *string `json:"key"`
}

const things = `types:
- name: thing
  map:
    fields:
    - {name: key, type: {scalar: string}}
    - {name: rank, type: {scalar: numeric}}
    - {name: inner, type: {scalar: string}}
    - {name: named, type: {namedType: base}}
    - {name: "null", type: {namedType: base}}
    - {name: nullTime, type: {scalar: string}}
    - {name: number, type: {scalar: numeric}}
    - {name: float, type: {scalar: numeric}}
    - {name: deep, type: {namedType: deep}}
    - {name: zero, type: {namedType: deep}}
    - {name: list, type: {list: {elementType: {namedType: base}, elementRelationship: associative, keys: [rank, key]}}}
    - {name: map, type: {map: {elementType: {namedType: deep}}}}
    - {name: lists, type: {map: {elementType: {list: {elementType: {namedType: base}, elementRelationship: associative, keys: [key]}}}}}
    - {name: pointers, type: {map: {elementType: {scalar: numeric}}}}
    - {name: numbers, type: {list: {elementType: {scalar: numeric}, elementRelationship: associative}}}
    - {name: floats, type: {list: {elementType: {scalar: numeric}, elementRelationship: associative}}}
    - {name: keyless, type: {list: {elementType: {namedType: base}, elementRelationship: associative, keys: [id]}}}
    - {name: pointerKey, type: {list: {elementType: {namedType: base}, elementRelationship: associative, keys: [key]}}}
    - {name: any, type: {scalar: untyped}}
    - {name: wide, type: {scalar: numeric}}
    - {name: Untagged, type: {scalar: string}}
    - {name: itself, type: {namedType: thing}}
- name: base
  map:
    fields:
    - {name: key, type: {scalar: string}}
    - {name: rank, type: {scalar: numeric}, default: 7}
- name: deep
  map:
    fields:
    - {name: "on", type: {scalar: boolean}}
    - {name: blob, type: {scalar: string}}
`

// typ gives things the type of their schema.
func typ(t testing.TB, o *thing) *typed.TypedValue {
	t.Helper()
	parser, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.NewValueReflect(o)
	if err != nil {
		t.Fatal(err)
	}
	as := parser.Type("thing")
	return typed.AsTypedUnvalidated(v, as.Schema, as.TypeRef)
}

var parsed = sync.OnceValues(func() (*typed.Parser, error) { return typed.NewParser(things) })

// sample is a thing, and whether it is left to the library.
type sample struct {
	thing thing
	left  bool
}

func samples() map[string]sample {
	n, key := int32(0), ""
	return map[string]sample{
		"nothing":               {},
		"inlined":               {thing: thing{Base: Base{Key: "k", Rank: -1}, base: base{Inner: "i"}}},
		"in a struct":           {thing: thing{Named: Base{Rank: 1}}},
		"behind null":           {thing: thing{Null: &Base{Key: "k"}}},
		"a zero behind null":    {thing: thing{Null: &Base{}}},
		"a zero time":           {thing: thing{NullTime: &metav1.Time{}}},
		"a time":                {thing: thing{NullTime: &metav1.Time{Time: metav1.Unix(1, 0).Time}}},
		"a zero number":         {thing: thing{Number: &n}},
		"minus zero":            {thing: thing{Float: math.Copysign(0, -1)}},
		"a float":               {thing: thing{Float: .5}},
		"an empty blob":         {thing: thing{Deep: deep{Blob: []byte{}}}},
		"a flag":                {thing: thing{Deep: deep{On: true}}},
		"no zero":               {thing: thing{Zero: deep{On: true}}},
		"no zero, if empty":     {thing: thing{Zero: deep{Blob: []byte{}}}},
		"an empty list":         {thing: thing{List: []Base{}}},
		"keys":                  {thing: thing{List: []Base{{Key: "b", Rank: 10}, {Key: "a", Rank: 9}, {Key: "b"}, {}}}},
		"a default and its own": {thing: thing{List: []Base{{Key: "b", Rank: 7}, {Key: "b"}}}, left: true},
		"an empty map":          {thing: thing{Map: map[string]deep{}}},
		"structs in a map":      {thing: thing{Map: map[string]deep{"b": {}, "a": {On: true}}}},
		"lists in a map":        {thing: thing{Lists: map[string][]Base{"n": nil, "e": {}, "k": {{Key: "z"}, {Key: "a", Rank: 5}}}}},
		"nulls in a map":        {thing: thing{Pointers: map[string]*int32{"n": nil, "z": &n}}},
		"numbers":               {thing: thing{Numbers: []int32{10, -1, 9}}},
		"floats":                {thing: thing{Floats: []float64{.5}}, left: true},
		"no keys":               {thing: thing{Keyless: []Base{{}}}, left: true},
		"a null key":            {thing: thing{PointerKey: []pointerKey{{}}}, left: true},
		"a pointed key":         {thing: thing{PointerKey: []pointerKey{{&key}}}},
		"anything":              {thing: thing{Any: 1}, left: true},
		"a wide number":         {thing: thing{Wide: 1}, left: true},
		"untagged":              {thing: thing{Untagged: "u", Skipped: "s", hidden: "h"}},
		"no schema":             {thing: thing{Unlisted: "u"}, left: true},
		"a thing":               {thing: thing{Itself: &thing{Numbers: []int32{1}, Itself: &thing{}}}},
	}
}

// TestOf compares with what the library says of a thing that was not there before.
func TestOf(t *testing.T) {
	t.Parallel()
	plan := For(reflect.TypeFor[thing](), typ(t, &thing{}), nil)
	for name, c := range samples() {
		got, ok := plan.Of(&c.thing)
		if ok == c.left {
			t.Errorf("%s: left to the library: %v", name, !ok)
		}
		if !ok {
			continue
		}
		diff, err := typ(t, &thing{}).Compare(typ(t, &c.thing))
		if err != nil {
			t.Errorf("%s: the library refuses: %v", name, err)
			continue
		}
		want, err := diff.Added.Union(diff.Modified).ToJSON()
		if err != nil {
			t.Fatal(err)
		}
		raw := "{}"
		if got != nil {
			raw = got.GetRawString()
		}
		if raw != string(want) {
			t.Errorf("%s: %s; the library says %s", name, raw, want)
		}
	}
	if _, ok := plan.Of(&corev1.Pod{}); ok {
		t.Error("an object of another type was taken")
	}
}

// TestNamesOf: a struct that no plan can be made of has no names.
func TestNamesOf(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]any{
		"an embedded pointer": struct{ *Base }{},
		"a text to escape": struct {
			A string `json:"a<b"`
		}{},
		"the same name twice": struct {
			Base
			Key string `json:"key"`
		}{},
	} {
		if got, ok := namesOf(reflect.TypeOf(of)); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	names, ok := namesOf(reflect.TypeFor[thing]())
	if !ok {
		t.Fatal("a thing has no names")
	}
	var got, want []string
	for _, n := range names {
		got = append(got, n.json)
	}
	for _, f := range value.TypeReflectEntryOf(reflect.TypeFor[thing]()).OrderedFields() {
		want = append(want, f.JsonName)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v; the library says %v", got, want)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	p := paths{}
	for _, path := range [][]string{{"a", "b"}, {"a", "c", "d"}, {"e"}, {"e", "f"}, {"g", "h"}, {"g"}} {
		p.add(path)
	}
	if want := (paths{"a": {"b": nil, "c": {"d": nil}}, "e": nil, "g": nil}); !reflect.DeepEqual(p, want) {
		t.Errorf("%v; want %v", p, want)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"": true, "a b/~c.d'": true, `"`: false, `\`: false, "<": false, "é": false, "\n": false, "\x7f": false} {
		if plain(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
}
