package wire

import (
	"encoding/binary"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAppendWithRevision(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "7"} {
		in := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "c", ResourceVersion: version, Generation: 4,
				Labels: map[string]string{"x": "y"}, Finalizers: []string{"f"}},
			Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		raw, err := in.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		spliced, err := AppendWithRevision(nil, raw, 123456789012)
		if err != nil {
			t.Fatal(err)
		}
		var out corev1.Pod
		if err := out.Unmarshal(spliced); err != nil {
			t.Fatal(err)
		}
		in.ResourceVersion = "123456789012"
		want, err := in.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(spliced) {
			t.Errorf("spliced message differs from the encoded one")
		}
		if size, err := SizeWithRevision(raw, 123456789012); err != nil || size != len(want) {
			t.Errorf("said to be %d bytes, %v; are %d", size, err, len(want))
		}
	}
}

func TestAppendWithRevisionRefusesRubbish(t *testing.T) {
	t.Parallel()
	for _, b := range [][]byte{nil, {0x0a}, {0x0a, 0xff}, {0x12, 0x00}, {0x0a, 0x05, 1, 2}, {0x0a, 0x02, 0x12, 0x7f}} {
		if _, err := AppendWithRevision(nil, b, 1); err == nil {
			t.Errorf("%v: no error", b)
		}
		if _, err := SizeWithRevision(b, 1); err == nil {
			t.Errorf("size of %v: no error", b)
		}
	}
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	for _, gvk := range []schema.GroupVersionKind{{Version: "v1", Kind: "Pod"}, {Group: "apps", Version: "v1", Kind: "DeploymentList"}, {}} {
		for _, size := range []int{0, 1, 127, 128, 70_000} {
			u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind}, Raw: make([]byte, size)}
			want, err := u.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			got := Envelope(gvk, u.Raw)
			if string(got) != "k8s\x00"+string(want) || len(got) != EnvelopeSize(gvk, size) {
				t.Errorf("%v of %d bytes: not as the generated code writes it", gvk, size)
			}
			if body, err := ProtobufBody(got); err != nil || len(body) != size {
				t.Errorf("%v of %d bytes opens to %d, %v", gvk, size, len(body), err)
			}
		}
	}
}

func TestAppendItem(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", strings.Repeat("a", 200), strings.Repeat("a", 20_000)} {
		list := &corev1.PodList{Items: []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: name}}}}
		item, err := list.Items[0].Marshal()
		if err != nil {
			t.Fatal(err)
		}
		want, err := list.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		meta, err := list.ListMeta.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got := AppendListMeta(nil, meta)
		if size := len(got) + ItemSize(len(item)); size != len(want) {
			t.Errorf("said to be %d bytes; are %d", size, len(want))
		}
		if got = append(AppendItemHead(got, len(item)), item...); string(got) != string(want) {
			t.Errorf("list of %d bytes: not as the generated code writes it", len(want))
		}
	}
}

func TestAppendEvent(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 120, 126, 200, 70_000} {
		event := metav1.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: make([]byte, size)}}
		message, err := event.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		want := append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
		if got := AppendEvent(nil, event.Type, event.Object.Raw); string(got) != string(want) {
			t.Errorf("around %d bytes: not as the generated code writes it", size)
		}
	}
}
