package apiserver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

func newService(name, ip string, nodePort int32) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{ClusterIP: ip, Ports: []corev1.ServicePort{{Port: 80, NodePort: nodePort}}}}
	if nodePort != 0 {
		s.Spec.Type = corev1.ServiceTypeNodePort
	}
	return s
}

func createService(t *testing.T, c kubernetes.Interface, s *corev1.Service) (*corev1.Service, error) {
	t.Helper()
	return c.CoreV1().Services("default").Create(t.Context(), s, metav1.CreateOptions{})
}

// An address is an object as long as a Service has it, and for no longer.
func TestServiceAddressesAreObjects(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	addresses := c.NetworkingV1().IPAddresses()
	svc, err := createService(t, c, newService("a", "", 30080))
	if err != nil {
		t.Fatal(err)
	}
	ip, err := addresses.Get(t.Context(), svc.Spec.ClusterIP, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p := ip.Spec.ParentRef; p.Resource != "services" || p.Namespace != "default" || p.Name != "a" || ip.Labels[networkingv1.LabelManagedBy] != "ipallocator.k8s.io" || ip.Labels[networkingv1.LabelIPAddressFamily] != "IPv4" {
		t.Errorf("parent %v, labels %v", p, ip.Labels)
	}
	for _, c2 := range []struct {
		service *corev1.Service
		text    string
	}{
		{newService("b", svc.Spec.ClusterIP, 0), "provided IP is already allocated"},
		{newService("b", "192.0.2.1", 0), "the provided network does not match the current range"},
		{newService("b", "", 30080), "provided port is already allocated"},
		{newService("b", "", 20000), "provided port is not in the valid range. The range of valid ports is 30000-32767"},
	} {
		if _, err := createService(t, c, c2.service); err == nil || !strings.Contains(err.Error(), c2.text) {
			t.Errorf("error %v, want %q", err, c2.text)
		}
	}
	list, err := addresses.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("%d addresses after failures, error %v", len(list.Items), err)
	}
	if err := c.CoreV1().Services("default").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := addresses.Get(t.Context(), svc.Spec.ClusterIP, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the address of what is gone: %v", err)
	}
	if _, err := createService(t, c, newService("c", svc.Spec.ClusterIP, 30080)); err != nil {
		t.Errorf("both are free again: %v", err)
	}
}

// Further ranges serve as soon as they are there, and not once they are about to go.
func TestSeveralServiceRanges(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	cidrs := c.NetworkingV1().ServiceCIDRs()
	if _, err := createService(t, c, newService("a", "10.77.0.1", 0)); err == nil {
		t.Fatal("an address of no range was given")
	}
	_, err := cidrs.Create(t.Context(), &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: "second", Finalizers: []string{"example.com/held"}},
		Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.77.0.0/29"}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := createService(t, c, newService("a", "10.77.0.1", 0)); err != nil {
		t.Error(err)
	}
	if err := cidrs.Delete(t.Context(), "second", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := createService(t, c, newService("b", "10.77.0.2", 0)); err == nil {
		t.Error("an address of a range that is about to go was given")
	}
}

// What somebody removed is there again, also for a server that starts on what another left.
func TestAddressesAreRepaired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, stop := startAt(t, dir)
	c := client(t, s, "application/json")
	svc, err := createService(t, c, newService("a", "", 30080))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.NetworkingV1().IPAddresses().Delete(t.Context(), svc.Spec.ClusterIP, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Services("default").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := c.NetworkingV1().IPAddresses().Get(ctx, svc.Spec.ClusterIP, metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		t.Errorf("not repaired: %v", err)
	}
	if err := c.NetworkingV1().IPAddresses().Delete(t.Context(), svc.Spec.ClusterIP, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	stop()
	s, stop = startAt(t, dir)
	defer stop()
	c = client(t, s, "application/json")
	if _, err := c.NetworkingV1().IPAddresses().Get(t.Context(), svc.Spec.ClusterIP, metav1.GetOptions{}); err != nil {
		t.Errorf("after a start: %v", err)
	}
	if _, err := createService(t, c, newService("b", "", 30080)); err == nil {
		t.Error("after a start a port was given twice")
	}
}
