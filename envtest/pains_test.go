package envtest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kogge-dev/kogge/envtest"
)

// What users of envtest have to live with, and here have not. Each test is one of their complaints.

// eventually asks until there is no error, and says how long that took.
func eventually(t *testing.T, what string, ask func(context.Context) error) {
	t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			t.Logf("%s after %v", what, time.Since(start).Round(time.Millisecond))
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: never: %v", what, err)
		case <-tick.C:
		}
	}
}

// gone asks whether something is not found.
func gone[T any](get func(context.Context, string, metav1.GetOptions) (T, error), name string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("%s is there", name)
		}
		return err
	}
}

// full starts an environment in which everything runs.
func full(t *testing.T) (*rest.Config, kubernetes.Interface) {
	t.Helper()
	env := &envtest.Environment{Controllers: []string{"*"}, Nodes: 1}
	return start(t, env)
}

// TestNamespacesGo with what is in them (controller-runtime#880).
func TestNamespacesGo(t *testing.T) {
	t.Parallel()
	_, c := full(t)
	ctx := t.Context()
	for i := range 3 {
		name := fmt.Sprintf("n%d", i)
		if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for j := range 10 {
			if _, err := c.CoreV1().ConfigMaps(name).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%d", j)}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "namespace "+name+" is gone", gone(c.CoreV1().Namespaces().Get, name))
		// The name can be had again: the next test's namespace.
		if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// workload is a Deployment and a StatefulSet.
func workload(labels map[string]string) (appsv1.DeploymentSpec, appsv1.StatefulSetSpec) {
	selector := &metav1.LabelSelector{MatchLabels: labels}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	return appsv1.DeploymentSpec{Replicas: ptr.To[int32](2), Selector: selector, Template: template},
		appsv1.StatefulSetSpec{Replicas: ptr.To[int32](2), Selector: selector, Template: template, ServiceName: "s"}
}

// TestWorkloadsBecomeReady without a status that is faked by hand (controller-runtime#1745, #1529).
func TestWorkloadsBecomeReady(t *testing.T) {
	t.Parallel()
	_, c := full(t)
	ctx := t.Context()
	deployment, _ := workload(map[string]string{"app": "d"})
	_, set := workload(map[string]string{"app": "s"})
	if _, err := c.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: deployment}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AppsV1().StatefulSets("default").Create(ctx, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: set}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Deployment is available", func(ctx context.Context) error {
		d, err := c.AppsV1().Deployments("default").Get(ctx, "d", metav1.GetOptions{})
		if err != nil || d.Status.AvailableReplicas == 2 {
			return err
		}
		return fmt.Errorf("%+v", d.Status)
	})
	eventually(t, "the StatefulSet is ready", func(ctx context.Context) error {
		s, err := c.AppsV1().StatefulSets("default").Get(ctx, "s", metav1.GetOptions{})
		if err != nil || s.Status.ReadyReplicas == 2 {
			return err
		}
		return fmt.Errorf("%+v", s.Status)
	})
}

// TestOwnedGoes in each of the three ways (controller-runtime#626, #3083).
func TestOwnedGoes(t *testing.T) {
	t.Parallel()
	_, c := start(t, &envtest.Environment{Controllers: []string{"garbage-collector-controller"}})
	for policy, stays := range map[metav1.DeletionPropagation]bool{
		metav1.DeletePropagationBackground: false, metav1.DeletePropagationForeground: false, metav1.DeletePropagationOrphan: true,
	} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			ctx, maps, name := t.Context(), c.CoreV1().ConfigMaps("default"), strings.ToLower(string(policy))
			owner, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name + "-owned", OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: ptr.To(true)}}}}
			if _, err := maps.Create(ctx, owned, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := maps.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the owner is gone", gone(maps.Get, name))
			if !stays {
				eventually(t, "what it owned is gone", gone(maps.Get, owned.Name))
				return
			}
			if o, err := maps.Get(ctx, owned.Name, metav1.GetOptions{}); err != nil || len(o.OwnerReferences) > 0 {
				t.Errorf("%v, owners %+v", err, o.OwnerReferences)
			}
		})
	}
}

// TestCoreFinalizersGo: a claim that no pod uses is not held (kubebuilder#494).
func TestCoreFinalizersGo(t *testing.T) {
	t.Parallel()
	_, c := full(t)
	claims := c.CoreV1().PersistentVolumeClaims("default")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}
	claim, err := claims.Create(t.Context(), claim, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(claim.Finalizers, "kubernetes.io/pvc-protection") {
		t.Errorf("finalizers %v", claim.Finalizers)
	}
	if err := claims.Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the claim is gone", gone(claims.Get, "data"))
}

// TestDefinitionsLeaveNothing: a definition that goes takes its objects along, and can come back (controller-runtime#420).
func TestDefinitionsLeaveNothing(t *testing.T) {
	t.Parallel()
	o := envtest.CRDInstallOptions{Paths: []string{filepath.Join("testdata", "crds")}, ErrorIfPathMissing: true}
	config, _ := start(t, &envtest.Environment{})
	dynamic, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := envtest.InstallCRDs(config, o); err != nil {
			t.Fatal(err)
		}
		if err := dynamic.Create(t.Context(), guestbook("a", 1)); err != nil {
			t.Fatalf("what went with its definition is there: %v", err)
		}
		if err := envtest.UninstallCRDs(config, o); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the definition is gone", func(ctx context.Context) error {
			err := dynamic.List(ctx, listOfGuestbooks())
			if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
				return nil
			}
			return fmt.Errorf("a list: %w", cmp.Or(err, errors.New("is served")))
		})
	}
}

func listOfGuestbooks() *unstructured.UnstructuredList {
	return &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "example.kogge.dev/v1", "kind": "GuestbookList"}}
}
