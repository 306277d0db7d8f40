package suite

import (
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
	"github.com/kogge-dev/kogge/examples/backup/controller"
)

// Owned are the objects that a Backup owns, by their names alone.
func Owned(b *v1.Backup) []client.Object {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: b.Namespace, Name: name} }
	return []client.Object{
		&appsv1.Deployment{ObjectMeta: named(controller.StoreName(b))},
		&batchv1.Job{ObjectMeta: named(controller.FirstName(b))},
		&batchv1.CronJob{ObjectMeta: named(b.Name)},
	}
}

// Reconciled creates a Backup and waits until all is there that it owns.
func (s *Suite) Reconciled(t *testing.T, b *v1.Backup) {
	t.Helper()
	if err := s.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, o := range Owned(b) {
		Eventually(t, fmt.Sprintf("%T %s is there", o, o.GetName()), func() error { return s.Get(t.Context(), client.ObjectKeyFromObject(o), o) })
		if !metav1.IsControlledBy(o, b) {
			t.Errorf("%T %s has the owners %+v", o, o.GetName(), o.GetOwnerReferences())
		}
	}
}

// owned follows what the Backup says.
func owned(t *testing.T, s *Suite) {
	b := Backup(s.Namespace(t), "daily")
	s.Reconciled(t, b)
	Eventually(t, "the Backup is suspended", func() error {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		b.Spec.Suspend = true
		return s.Update(t.Context(), b)
	})
	Eventually(t, "its CronJob is suspended", func() error {
		c := &batchv1.CronJob{}
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(b), c); err != nil {
			return err
		}
		if !ptr.Deref(c.Spec.Suspend, false) {
			return errors.New("it is not")
		}
		return nil
	})
}

// conditions follow those of what is owned.
func conditions(t *testing.T, s *Suite) {
	b := Backup(s.Namespace(t), "watched")
	b.Spec.PodAnnotations = EndsAtOnce
	s.Reconciled(t, b)
	if s.bare {
		s.playStore(t, b)
		s.playFirst(t, b)
	}
	s.Condition(t, b, v1.ConditionAvailable, metav1.ConditionTrue)
	s.Condition(t, b, v1.ConditionCopied, metav1.ConditionTrue)
	if b.Status.FirstCopy == nil || b.Status.ObservedGeneration != b.Generation {
		t.Errorf("%+v", b.Status)
	}
}

// finalizer holds the Backup until its copies are forgotten.
func finalizer(t *testing.T, s *Suite) {
	b := Backup(s.Namespace(t), "short")
	s.Reconciled(t, b)
	if err := s.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	s.Gone(t, b)
	if !s.Vault.Forgot(b.Namespace, b.Name) {
		t.Error("it went, and its copies were not forgotten")
	}
}

// playStore does what the Deployment's controller would do. On a bare API server the pods would never run.
func (s *Suite) playStore(t *testing.T, b *v1.Backup) {
	t.Helper()
	store := &appsv1.Deployment{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: controller.StoreName(b)}, store); err != nil {
		t.Fatal(err)
	}
	store.Status = appsv1.DeploymentStatus{ObservedGeneration: store.Generation, Replicas: 1, ReadyReplicas: 1, AvailableReplicas: 1, UpdatedReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"}}}
	if err := s.Status().Update(t.Context(), store); err != nil {
		t.Fatal(err)
	}
}

// playFirst does what the Job's controller would do, in the steps that the API server asks for.
func (s *Suite) playFirst(t *testing.T, b *v1.Backup) {
	t.Helper()
	first := &batchv1.Job{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: controller.FirstName(b)}, first); err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	first.Status = batchv1.JobStatus{StartTime: &now, Succeeded: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
		Conditions: []batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}}}
	if err := s.Status().Update(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	first.Status.CompletionTime = &now
	first.Status.Conditions = append(first.Status.Conditions, batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue})
	if err := s.Status().Update(t.Context(), first); err != nil {
		t.Fatal(err)
	}
}
