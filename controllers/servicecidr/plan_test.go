package servicecidr

import (
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func cidr(name string, ranges ...string) networkingv1.ServiceCIDR {
	return networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{Finalizer}}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: ranges}}
}

func address(ip, keeper string) networkingv1.IPAddress {
	return networkingv1.IPAddress{ObjectMeta: metav1.ObjectMeta{Name: ip, Labels: map[string]string{networkingv1.LabelManagedBy: keeper}}}
}

func TestANewRangeIsHeldAndReady(t *testing.T) {
	t.Parallel()
	c := cidr("a", "10.0.0.0/24")
	c.Finalizers = nil
	d := Decide(&c, []networkingv1.ServiceCIDR{c}, nil, noon)
	if !d.Hold || d.Free || d.Ready == nil || d.Ready.Status != metav1.ConditionTrue || !d.Ready.LastTransitionTime.Time.Equal(noon) {
		t.Errorf("decided %+v", d)
	}
	c.Finalizers, c.Status.Conditions = []string{Finalizer}, []metav1.Condition{*d.Ready}
	if d := Decide(&c, []networkingv1.ServiceCIDR{c}, nil, noon.Add(time.Hour)); d != (Decision{}) {
		t.Errorf("decided %+v about one that is as it should be", d)
	}
}

func TestARangeStaysWhileItIsNeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		others    []networkingv1.ServiceCIDR
		addresses []networkingv1.IPAddress
		since     time.Duration
		blocked   bool
		again     time.Duration
		free      bool
	}{
		{"no address", nil, nil, 11 * time.Second, false, 0, true},
		{"API servers may not know yet", nil, nil, 4 * time.Second, false, 6 * time.Second, false},
		{"an address", nil, []networkingv1.IPAddress{address("10.0.0.9", addressKeeper)}, time.Hour, true, 0, false},
		{"an address of the other family", nil, []networkingv1.IPAddress{address("fd00::9", addressKeeper)}, time.Hour, true, 0, false},
		{"an address of somebody else", nil, []networkingv1.IPAddress{address("10.0.0.9", "gateway")}, time.Hour, false, 0, true},
		{"an address elsewhere", nil, []networkingv1.IPAddress{address("10.1.0.9", addressKeeper)}, time.Hour, false, 0, true},
		{"an address that a wider one has", []networkingv1.ServiceCIDR{cidr("b", "10.0.0.0/16")}, []networkingv1.IPAddress{address("10.0.0.9", addressKeeper)}, time.Hour, false, 0, true},
		{"an address that a narrower one has", []networkingv1.ServiceCIDR{cidr("b", "10.0.0.0/28")}, []networkingv1.IPAddress{address("10.0.0.9", addressKeeper)}, time.Hour, false, 0, true},
		{"an address that a narrower one has not", []networkingv1.ServiceCIDR{cidr("b", "10.0.0.0/28")}, []networkingv1.IPAddress{address("10.0.0.99", addressKeeper)}, time.Hour, true, 0, false},
	} {
		own := cidr("a", "10.0.0.0/24", "fd00::/64")
		own.DeletionTimestamp = &metav1.Time{Time: noon.Add(-c.since)}
		d := Decide(&own, append(c.others, own), c.addresses, noon)
		blocked := d.Ready != nil && d.Ready.Status == metav1.ConditionFalse && d.Ready.Reason == "Terminating"
		if d.Hold || blocked != c.blocked || d.Again != c.again || d.Free != c.free {
			t.Errorf("%s: decided %+v", c.name, d)
		}
	}
}
