package wire

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FuzzAppendWithRevision: a message that the generated code writes gets its version and nothing else; others are refused or end
// somewhere, but never beyond.
func FuzzAppendWithRevision(f *testing.F) {
	for _, c := range []corev1.ConfigMap{
		{},
		{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "c", Labels: map[string]string{"x": "y"}}, Data: map[string]string{"k": "v"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "12", Generation: 3, Finalizers: []string{"f"}}},
	} {
		raw, err := c.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, int64(7))
	}
	f.Fuzz(func(t *testing.T, raw []byte, revision int64) {
		revision &= 1<<62 - 1
		spliced, err := AppendWithRevision(nil, raw, revision)
		size, sizeErr := SizeWithRevision(raw, revision)
		if (err == nil) != (sizeErr == nil) || err == nil && size != len(spliced) {
			t.Errorf("%d bytes, %v; said to be %d, %v", len(spliced), err, size, sizeErr)
		}
		var c corev1.ConfigMap
		if c.Unmarshal(raw) != nil {
			return
		}
		if written, err := c.Marshal(); err != nil || !bytes.Equal(written, raw) {
			return // not as the generated code writes it
		}
		var got corev1.ConfigMap
		if err != nil {
			t.Fatalf("%x: %v", raw, err)
		}
		if err := got.Unmarshal(spliced); err != nil {
			t.Fatalf("%x: %v", spliced, err)
		}
		got.ResourceVersion, c.ResourceVersion = "", ""
		if !equality.Semantic.DeepEqual(got, c) {
			t.Errorf("%v became %v", c, got)
		}
	})
}

// FuzzProtobufBody: what an envelope is put around comes out again, and rubbish is refused.
func FuzzProtobufBody(f *testing.F) {
	f.Add([]byte("body"), "v1", "Pod")
	f.Add(Envelope(schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, []byte("x")), "", "")
	f.Fuzz(func(t *testing.T, body []byte, version, kind string) {
		got, err := ProtobufBody(Envelope(schema.GroupVersionKind{Version: version, Kind: kind}, body))
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%x became %x, %v", body, got, err)
		}
		if inner, err := ProtobufBody(body); err == nil && len(inner) > len(body) {
			t.Errorf("%x has more inside than it is", body)
		}
	})
}
