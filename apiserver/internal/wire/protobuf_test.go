package wire

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	}
}

func TestAppendWithRevisionRefusesRubbish(t *testing.T) {
	t.Parallel()
	for _, b := range [][]byte{nil, {0x0a}, {0x0a, 0xff}, {0x12, 0x00}, {0x0a, 0x05, 1, 2}, {0x0a, 0x02, 0x12, 0x7f}} {
		if _, err := AppendWithRevision(nil, b, 1); err == nil {
			t.Errorf("%v: no error", b)
		}
	}
}
