package volumes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAssumed: an assumption holds until the watch shows another version, and is taken back
// by who made it alone.
func TestAssumed(t *testing.T) {
	t.Parallel()
	pv := func(version, class string) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", ResourceVersion: version}, Spec: corev1.PersistentVolumeSpec{StorageClassName: class}}
	}
	seen := pv("1", "seen")
	a := newAssumed(func(_, _ string) (*corev1.PersistentVolume, error) { return seen, nil })
	holds := func(when, want string) {
		t.Helper()
		if got, err := a.Get("", "v"); err != nil || got.Spec.StorageClassName != want {
			t.Errorf("%s: got %s, error %v", when, got.Spec.StorageClassName, err)
		}
	}
	if err := a.Assume(pv("0", "stale")); err == nil {
		t.Error("a stale object was assumed")
	}
	holds("at first", "seen")
	ours := pv("1", "ours")
	if err := a.Assume(ours); err != nil {
		t.Fatal(err)
	}
	holds("assumed", "ours")
	a.Revert(pv("0", "another"))
	holds("another was reverted", "ours")
	a.Revert(ours)
	holds("reverted", "seen")
	if err := a.Assume(ours); err != nil {
		t.Fatal(err)
	}
	seen = pv("2", "written")
	holds("written", "written")
}

func TestAllowedTopologies(t *testing.T) {
	t.Parallel()
	zone := func(values ...string) corev1.TopologySelectorTerm {
		return corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: values}}}
	}
	node := map[string]string{"zone": "a"}
	for name, c := range map[string]struct {
		terms []corev1.TopologySelectorTerm
		want  bool
	}{
		"none":           {nil, true},
		"its zone":       {[]corev1.TopologySelectorTerm{zone("b", "a")}, true},
		"another zone":   {[]corev1.TopologySelectorTerm{zone("b")}, false},
		"one of several": {[]corev1.TopologySelectorTerm{zone("b"), zone("a")}, true},
		"an empty term":  {[]corev1.TopologySelectorTerm{{}}, false},
	} {
		if got := allows(c.terms, node); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
