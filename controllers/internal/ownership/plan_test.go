package ownership

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	object := func(owner types.UID, app string, deleted bool) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"app": app}}}
		if owner != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{UID: owner, Controller: ptr.To(true)}}
		}
		if deleted {
			pod.DeletionTimestamp = &now
		}
		return pod
	}
	for name, c := range map[string]struct {
		ownerDeleted bool
		object       *corev1.Pod
		want         Verdict
	}{
		"ours and matching":                      {false, object("me", "a", false), Keep},
		"ours and matching, owner leaving":       {true, object("me", "a", false), Keep},
		"ours, no longer matching":               {false, object("me", "b", false), Release},
		"ours, not matching, owner leaving":      {true, object("me", "b", false), Leave},
		"another's, matching":                    {false, object("you", "a", false), Leave},
		"orphan, matching":                       {false, object("", "a", false), Adopt},
		"orphan, matching, but being deleted":    {false, object("", "a", true), Leave},
		"orphan, matching, but owner is leaving": {true, object("", "a", false), Leave},
		"orphan, not matching":                   {false, object("", "b", false), Leave},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{UID: "me"}}
			if c.ownerDeleted {
				owner.DeletionTimestamp = &now
			}
			selector := labels.SelectorFromSet(labels.Set{"app": "a"})
			if got := Judge(owner, selector, c.object); got != c.want {
				t.Errorf("got verdict %d, want %d", got, c.want)
			}
		})
	}
}
