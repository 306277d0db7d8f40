package apiserver_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTheServiceComesBack: who deletes all Services of the default namespace leaves pods a way to the API server.
func TestTheServiceComesBack(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	before, err := c.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.CoreV1().Services("default").Watch(ctx, metav1.ListOptions{ResourceVersion: before.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := c.CoreV1().Services("default").Delete(ctx, "kubernetes", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for e := range w.ResultChan() {
		if e.Type == "ADDED" {
			break
		}
	}
	after, err := c.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil || after.UID == before.UID || after.Spec.ClusterIP != before.Spec.ClusterIP {
		t.Errorf("%+v, %v", after.Spec, err)
	}
}
