package serviceaccount

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestNeeded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		phase corev1.NamespacePhase
		found bool
		want  bool
	}{
		"new namespace":           {corev1.NamespaceActive, false, true},
		"already there":           {corev1.NamespaceActive, true, false},
		"namespace being deleted": {corev1.NamespaceTerminating, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: c.phase}}
			if got := Needed(namespace, c.found); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
