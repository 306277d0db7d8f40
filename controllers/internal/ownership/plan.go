package ownership

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Verdict is what an owner does about one object.
type Verdict int

// The four verdicts on an object.
const (
	// Leave: not ours, and it stays so.
	Leave Verdict = iota
	// Keep: ours, and it stays so.
	Keep
	// Adopt: nobody's, and it becomes ours.
	Adopt
	// Release: ours, but it no longer matches.
	Release
)

// Judge decides what owner does about object.
func Judge(owner metav1.Object, selector labels.Selector, object metav1.Object) Verdict {
	matches := selector.Matches(labels.Set(object.GetLabels()))
	if reference := metav1.GetControllerOfNoCopy(object); reference != nil {
		switch {
		case reference.UID != owner.GetUID():
			return Leave
		case matches:
			return Keep
		case owner.GetDeletionTimestamp() != nil:
			return Leave
		}
		return Release
	}
	if !matches || owner.GetDeletionTimestamp() != nil || object.GetDeletionTimestamp() != nil {
		return Leave
	}
	return Adopt
}
