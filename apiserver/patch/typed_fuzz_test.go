package patch

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func FuzzTyped(f *testing.F) {
	pod := text(f, running(pendingPod()))
	for _, c := range commonPatches(f) {
		f.Add(c.object == "node", text(f, commonObjects()[c.object]), c.body)
	}
	for _, body := range unusualPatches {
		f.Add(false, pod, body)
	}
	f.Fuzz(func(t *testing.T, node bool, object, body string) {
		var current runtime.Object = &corev1.Pod{}
		if node {
			current = &corev1.Node{}
		}
		if json.Unmarshal([]byte(object), current) == nil {
			holds(t, current, body)
		}
	})
}
