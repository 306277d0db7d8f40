package cluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kogge-dev/kogge/cluster"
)

// TestForTestIsUsable: a pod can be made at once.
func TestForTestIsUsable(t *testing.T) {
	t.Parallel()
	c := cluster.ForTest(t, cluster.Options{})
	clients, err := kubernetes.NewForConfig(c.InProcessConfig())
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "bare"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/i:1"}}}}
	if _, err := clients.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// TestForTestWithoutAccounts: nobody waits for what nobody makes.
func TestForTestWithoutAccounts(t *testing.T) {
	t.Parallel()
	for _, controllers := range [][]string{{}, {"*", "-serviceaccount-controller"}, {"namespace-controller"}} {
		cluster.ForTest(t, cluster.Options{Controllers: controllers})
	}
}
