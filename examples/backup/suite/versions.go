package suite

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
	"github.com/kogge-dev/kogge/examples/backup/api/v1beta1"
)

// versions are converted by the operator, both ways, in lists too.
func versions(t *testing.T, s *Suite) {
	ctx, namespace := t.Context(), s.Namespace(t)
	old := &v1beta1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "early"},
		Spec: v1beta1.BackupSpec{Volume: "data", At: &v1beta1.Time{Hour: 4, Minute: 30, Weekday: ptr.To[int32](0)}}}
	if err := s.Create(ctx, old); err != nil {
		t.Fatal(err)
	}
	if ptr.Deref(old.Spec.Keep, 0) != 7 {
		t.Errorf("the webhook of v1 has not defaulted what was v1beta1: %+v", old.Spec)
	}
	b := &v1.Backup{}
	if err := s.Get(ctx, client.ObjectKeyFromObject(old), b); err != nil {
		t.Fatal(err)
	}
	if b.Spec.Claim != "data" || b.Spec.Schedule != "30 4 * * 0" {
		t.Errorf("v1: %+v", b.Spec)
	}
	often := Backup(namespace, "often")
	often.Spec.Schedule = "*/5 * * * *"
	if err := s.Create(ctx, often); err != nil {
		t.Fatal(err)
	}
	list := &v1beta1.BackupList{}
	if err := s.List(ctx, list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 2 || list.Items[0].Spec.At == nil || list.Items[1].Spec.At != nil || list.Items[1].Spec.Volume != "data" {
		t.Errorf("v1beta1: %+v", list.Items)
	}
	// A schedule that the old version can't tell outlives a change in the old version.
	Eventually(t, "a change in the old version", func() error {
		b := &v1beta1.Backup{}
		if err := s.Get(ctx, client.ObjectKeyFromObject(often), b); err != nil {
			return err
		}
		b.Spec.Suspend = true
		return s.Update(ctx, b)
	})
	if err := s.Get(ctx, client.ObjectKeyFromObject(often), often); err != nil {
		t.Fatal(err)
	}
	if !often.Spec.Suspend || often.Spec.Schedule != "*/5 * * * *" {
		t.Errorf("%+v", often.Spec)
	}
}
