package v1

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// DeepCopy shares nothing with the original.
func (b *Backup) DeepCopy() *Backup {
	if b == nil {
		return nil
	}
	out := *b
	b.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if b.Spec.Keep != nil {
		out.Spec.Keep = ptr.To(*b.Spec.Keep)
	}
	out.Spec.PodAnnotations = maps.Clone(b.Spec.PodAnnotations)
	out.Status.FirstCopy = b.Status.FirstCopy.DeepCopy()
	out.Status.Conditions = slices.Clone(b.Status.Conditions)
	return &out
}

// DeepCopyObject is DeepCopy.
func (b *Backup) DeepCopyObject() runtime.Object { return b.DeepCopy() }

// DeepCopyObject shares nothing with the original.
func (l *BackupList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Backup, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopy()
	}
	return &out
}
