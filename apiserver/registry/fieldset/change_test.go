package fieldset

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestCompare makes each thing of each other, and compares who owns what then with what the library says.
func TestCompare(t *testing.T) {
	t.Parallel()
	plan := For(reflect.TypeFor[thing](), typ(t, &thing{}), nil)
	for from, a := range samples() {
		for to, b := range samples() {
			if from == to && a.left {
				continue // what does not differ is not looked at
			}
			t.Run(from+" to "+to, func(t *testing.T) { compare(t, plan, a, b) })
		}
	}
	if _, ok := plan.Compare(&thing{}, &Base{}); ok {
		t.Error("an object of another type was taken")
	}
}

func compare(t *testing.T, plan *Plan, a, b sample) {
	t.Helper()
	change, ok := plan.Compare(&a.thing, &b.thing)
	if ok == (a.left || b.left) {
		t.Errorf("left to the library: %v", !ok)
	}
	if !ok {
		return
	}
	defer change.Release()
	diff, err := typ(t, &a.thing).Compare(typ(t, &b.thing))
	if err != nil {
		t.Fatalf("the library refuses: %v", err)
	}
	own := diff.Added.Union(diff.Modified)
	if change.Any() == own.Empty() {
		t.Errorf("something is owned: %v; the library says %s", change.Any(), own)
	}
	is(t, own)(change.Own(nil))
	before, err := typ(t, &a.thing).ToFieldSet()
	if err != nil {
		t.Fatal(err)
	}
	left := before.Difference(own).Difference(diff.Removed)
	is(t, left)(change.Left(encoded(t, before)))
	is(t, left.Union(own))(change.Own(encoded(t, before)))
}

// is compares fields with a set of the library's.
func is(t *testing.T, want *fieldpath.Set) func(got *metav1.FieldsV1, ok bool) {
	return func(got *metav1.FieldsV1, ok bool) {
		t.Helper()
		raw := "{}"
		if got != nil {
			raw = got.GetRawString()
		}
		if want := encoded(t, want).GetRawString(); !ok || raw != want {
			t.Errorf("%s, %v; the library says %s", raw, ok, want)
		}
	}
}

func encoded(t *testing.T, s *fieldpath.Set) *metav1.FieldsV1 {
	t.Helper()
	text, err := s.ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	fields := &metav1.FieldsV1{}
	fields.SetRawBytes(text)
	return fields
}

// TestParse: what the library would write in another way, or take for another, is left to it.
func TestParse(t *testing.T) {
	t.Parallel()
	plan := For(reflect.TypeFor[thing](), typ(t, &thing{}), nil)
	for text, want := range map[string]bool{
		`{}`: true,
		`{"f:key":{},"f:map":{".":{},"f:":{},"f:a":{"f:on":{}}}}`:                               true,
		`{"f:numbers":{"v:-2":{},"v:-1":{},"v:0":{},"v:10":{}}}`:                                true,
		`{"f:list":{"k:{\"key\":\"b\",\"rank\":9}":{},"k:{\"key\":\"b\",\"rank\":10}":{}}}`:     true,
		`{"f:list":{"k:{\"key\":\"a,}\",\"rank\":9}":{},"k:{\"key\":\"b\"}":{".":{},"f:x":{}}}`: false,
		`{"f:list":{"k:{\"key\":\"a,}\",\"rank\":9}":{},"k:{\"key\":\"b\"}":{"f:key":{}}}}`:     true,
		`{"f:list":{"k:{\"key\":\"b\"}":{},"k:{\"key\":\"b\",\"rank\":1}":{}}}`:                 true,

		``: false, `{`: false, `{}}`: false, `null`: false, ` {}`: false, `{"f:key":{}`: false, `{"f:key":{},}`: false,
		`{"f:key": {}}`:                                  false,
		`{"f:none":{}}`:                                  false, // of no field
		`{"f:wide":{}}`:                                  false, // of what no plan knows
		`{"f:key":{"f:a":{}}}`:                           false, // in a leaf
		`{"f:key":{".":{}}}`:                             false, // said in a longer way than need be
		`{"f:map":{"f:a":{},".":{}}}`:                    false,
		`{".":{},"f:key":{}}`:                            false,
		`{"f:rank":{},"f:key":{}}`:                       false, // out of order
		`{"f:key":{},"f:key":{}}`:                        false,
		`{"f:map":{"f:b":{},"f:a":{}}}`:                  false,
		`{"f:map":{"f:<":{}}}`:                           false,
		`{"f:map":{"k:{\"a\":1}":{}}}`:                   false, // of another shape
		`{"f:numbers":{"i:0":{}}}`:                       false,
		`{"f:numbers":{"v:1":{},"v:1":{}}}`:              false,
		`{"f:numbers":{"v:01":{}}}`:                      false, // no number as the library writes it
		`{"f:numbers":{"v:-0":{}}}`:                      false,
		`{"f:numbers":{"v:1.5":{}}}`:                     false,
		`{"f:numbers":{"v:":{}}}`:                        false,
		`{"f:numbers":{"v:12345678901234567`:             false,
		`{"f:numbers":{"v:1234567890123456":`:            false,
		`{"f:list":{"k:{}":{}}}`:                         false,
		`{"f:list":{"k:{\"rank\":1,\"key\":\"a\"}":{}}}`: false,
		`{"f:list":{"k:{\"key\":null}":{}}}`:             false,
		`{"f:list":{"k:{\"key\":\"\\\"\"}":{}}}`:         false,
	} {
		if _, ok := parse(nil, plan.whole, []byte(text)); ok != want {
			t.Errorf("%s: %v", text, ok)
		}
	}
}

// TestOrder: names are in the order of the library's.
func TestOrder(t *testing.T) {
	t.Parallel()
	names := []string{
		`f:`, `f:a`, `f:ab`, `f:b`,
		`k:{\"a\":-1}`, `k:{\"a\":2}`, `k:{\"a\":10}`, `k:{\"a\":10,\"b\":1}`, `k:{\"a\":\"\"}`, `k:{\"a\":\"x\"}`, `k:{\"a\":\"x\",\"b\":2}`, `k:{\"a\":\"x,\"}`, `k:{\"b\":0}`,
		`v:-3`, `v:-2`, `v:9`, `v:10`, `v:\"\"`, `v:\"a\"`, `v:\"ab\"`,
	}
	for i, a := range names {
		for j, b := range names {
			if got := order([]byte(a), []byte(b)); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
}
