package backup_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kogge-dev/kogge/cluster"
	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
	"github.com/kogge-dev/kogge/examples/backup/controller"
	"github.com/kogge-dev/kogge/examples/backup/suite"
)

// TestThingsHappen that on a bare API server never do.
func TestThingsHappen(t *testing.T) {
	t.Parallel()
	s := suite.Start(t, start(t, cluster.Options{}))
	t.Run("all", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *suite.Suite){
			"pods run and end": podsRunAndEnd, "a copy fails": copyFails, "namespace goes": namespaceGoes,
			"background": background, "foreground": foreground, "orphan": orphan, "what is owned comes back": comesBack,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, s)
			})
		}
	})
}

// podsRunAndEnd: the store's pod runs, the first copy's ends, and the Backup says so.
func podsRunAndEnd(t *testing.T, s *suite.Suite) {
	b := suite.Backup(s.Namespace(t), "real")
	b.Spec.PodAnnotations = suite.EndsAtOnce
	s.Reconciled(t, b)
	s.Condition(t, b, v1.ConditionAvailable, metav1.ConditionTrue)
	s.Condition(t, b, v1.ConditionCopied, metav1.ConditionTrue)
	pods := &corev1.PodList{}
	if err := s.List(t.Context(), pods, client.InNamespace(b.Namespace)); err != nil {
		t.Fatal(err)
	}
	phases := map[corev1.PodPhase]int{}
	for _, p := range pods.Items {
		phases[p.Status.Phase]++
	}
	if len(pods.Items) != 2 || phases[corev1.PodRunning] != 1 || phases[corev1.PodSucceeded] != 1 {
		t.Errorf("pods are %v", phases)
	}
}

// copyFails: the pod ends with a code, time and again, until the Job gives up.
func copyFails(t *testing.T, s *suite.Suite) {
	b := suite.Backup(s.Namespace(t), "doomed")
	b.Spec.PodAnnotations = suite.Fails
	s.Reconciled(t, b)
	s.Condition(t, b, v1.ConditionCopied, metav1.ConditionFalse)
	if c := meta.FindStatusCondition(b.Status.Conditions, v1.ConditionCopied); c.Reason != batchv1.JobReasonBackoffLimitExceeded {
		t.Errorf("%+v", c)
	}
}

// namespaceGoes with all that is in it; the finalizer has its turn.
func namespaceGoes(t *testing.T, s *suite.Suite) {
	b := suite.Backup(s.Namespace(t), "moving")
	s.Reconciled(t, b)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.Namespace}}
	if err := s.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	s.Gone(t, namespace)
	if !s.Vault.Forgot(b.Namespace, b.Name) {
		t.Error("the copies were not forgotten")
	}
}

// background: the Backup goes first, what it owned follows.
func background(t *testing.T, s *suite.Suite) {
	b := suite.Backup(s.Namespace(t), "owner")
	s.Reconciled(t, b)
	if err := s.Delete(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	s.Gone(t, b)
	for _, o := range suite.Owned(b) {
		s.Gone(t, o)
	}
	suite.Eventually(t, "no pod is left", func() error {
		pods := &corev1.PodList{}
		if err := s.List(t.Context(), pods, client.InNamespace(b.Namespace)); err != nil {
			return err
		}
		if n := len(pods.Items); n > 0 {
			return fmt.Errorf("%d are there", n)
		}
		return nil
	})
}

// foreground: what is owned goes first. SetControllerReference asks that the owner waits for it.
func foreground(t *testing.T, s *suite.Suite) {
	b := suite.Backup(s.Namespace(t), "last")
	atRest(t, s, b)
	// Something that doesn't go of itself, so that the order shows.
	store := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: b.Namespace, Name: controller.StoreName(b)}
	hold(t, s, key, store, "example.com/held")
	if err := s.Delete(t.Context(), b, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the store is on its way", func() error {
		if err := s.Get(t.Context(), key, store); err != nil {
			return err
		}
		if store.DeletionTimestamp.IsZero() {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
		t.Errorf("the Backup went before what it owns: %v", err)
	}
	hold(t, s, key, store)
	s.Gone(t, b)
	for _, o := range suite.Owned(b) {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(o), o); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%T %s outlived its owner: %v", o, o.GetName(), err)
		}
	}
}

// atRest creates a Backup and waits until the operator has nothing more to do for it: else it could make anew what goes, or take back what was
// given up, before it sees that the Backup goes.
func atRest(t *testing.T, s *suite.Suite, b *v1.Backup) {
	t.Helper()
	b.Spec.PodAnnotations = suite.EndsAtOnce
	s.Reconciled(t, b)
	s.Condition(t, b, v1.ConditionAvailable, metav1.ConditionTrue)
	s.Condition(t, b, v1.ConditionCopied, metav1.ConditionTrue)
}

// hold gives an object these finalizers.
func hold(t *testing.T, s *suite.Suite, key client.ObjectKey, o client.Object, finalizers ...string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("%s has the finalizers %v", key.Name, finalizers), func() error {
		if err := s.Get(t.Context(), key, o); err != nil {
			return err
		}
		kept := []string{}
		for _, f := range o.GetFinalizers() {
			if f == metav1.FinalizerDeleteDependents {
				kept = append(kept, f)
			}
		}
		o.SetFinalizers(append(kept, finalizers...))
		return s.Update(t.Context(), o)
	})
}

// orphan: what was owned stays, and belongs to nobody.
func orphan(t *testing.T, s *suite.Suite) {
	b := suite.Backup(s.Namespace(t), "parent")
	atRest(t, s, b)
	if err := s.Delete(t.Context(), b, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	s.Gone(t, b)
	for _, o := range suite.Owned(b) {
		if err := s.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil || len(o.GetOwnerReferences()) > 0 {
			t.Errorf("%T %s: %v, owners %+v", o, o.GetName(), err, o.GetOwnerReferences())
		}
	}
}

// comesBack: somebody deletes the store, the operator makes another.
func comesBack(t *testing.T, s *suite.Suite) {
	b := suite.Backup(s.Namespace(t), "stubborn")
	s.Reconciled(t, b)
	store := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: b.Namespace, Name: controller.StoreName(b)}
	if err := s.Get(t.Context(), key, store); err != nil {
		t.Fatal(err)
	}
	uid := store.UID
	if err := s.Delete(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "another store is there", func() error {
		store := &appsv1.Deployment{}
		if err := s.Get(t.Context(), key, store); err != nil {
			return err
		}
		if store.UID == uid {
			return fmt.Errorf("the old one is")
		}
		return nil
	})
}
