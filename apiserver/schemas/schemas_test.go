package schemas

import (
	"flag"
	"os"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

var update = flag.Bool("update", false, "embed client-go's schema as it is now")

// TestClientGo: what is embedded is client-go's schema.
func TestClientGo(t *testing.T) {
	t.Parallel()
	// Any object leads to the schema of all.
	object := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}}
	configMap, err := applyconfigurations.NewTypeConverter(scheme.Scheme).ObjectToTyped(object)
	if err != nil {
		t.Fatal(err)
	}
	want := configMap.Schema()
	content := embedded
	if *update {
		if content, err = encode(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("schemas.gob.zst", content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got schema.Schema
	if err := decode(content, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Types) != len(want.Types) {
		t.Fatalf("%d types instead of %d; go test ./apiserver/schemas -update takes over those of client-go", len(got.Types), len(want.Types))
	}
	for i := range want.Types {
		if !sameAtom(got.Types[i].Atom, want.Types[i].Atom) || got.Types[i].Name != want.Types[i].Name {
			t.Errorf("%s differs; go test ./apiserver/schemas -update takes over what client-go has", want.Types[i].Name)
		}
	}
}

// sameAtom compares what a schema says, not what was looked up in it.
func sameAtom(a, b schema.Atom) bool {
	if !reflect.DeepEqual(a.Scalar, b.Scalar) || (a.List == nil) != (b.List == nil) || (a.Map == nil) != (b.Map == nil) {
		return false
	}
	if a.List != nil && (a.List.ElementRelationship != b.List.ElementRelationship || !reflect.DeepEqual(a.Keys, b.Keys) || !sameRef(a.List.ElementType, b.List.ElementType)) {
		return false
	}
	return a.Map == nil || sameMap(a.Map, b.Map)
}

func sameMap(a, b *schema.Map) bool {
	if a.ElementRelationship != b.ElementRelationship || !reflect.DeepEqual(a.Unions, b.Unions) || !sameRef(a.ElementType, b.ElementType) || len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		if g := b.Fields[i]; f.Name != g.Name || !reflect.DeepEqual(f.Default, g.Default) || !sameRef(f.Type, g.Type) {
			return false
		}
	}
	return true
}

func sameRef(a, b schema.TypeRef) bool {
	return reflect.DeepEqual(a.NamedType, b.NamedType) && reflect.DeepEqual(a.ElementRelationship, b.ElementRelationship) && a.Nullable == b.Nullable && sameAtom(a.Inlined, b.Inlined)
}

// BenchmarkParser is what the first write in a process waits for.
func BenchmarkParser(b *testing.B) {
	for b.Loop() {
		if _, err := Parser(); err != nil {
			b.Fatal(err)
		}
	}
}
