package servicecidr

import (
	"net/netip"
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Finalizer holds a ServiceCIDR.
	Finalizer = "networking.k8s.io/service-cidr-finalizer"
	// deletionGrace is how long API servers may take to hear of a deletion.
	deletionGrace = 10 * time.Second
	// addressKeeper is the label value of addresses that Services have.
	addressKeeper = "ipallocator.k8s.io"
)

// Decision is what is to be done about a ServiceCIDR.
type Decision struct {
	// Hold adds the finalizer, Free takes it away.
	Hold, Free bool
	// Ready is the condition to be written; nil when it stands there already.
	Ready *metav1.Condition
	// Again is when to look again; 0: when something changes.
	Again time.Duration
}

// Decide looks at one ServiceCIDR among all, and at the addresses.
func Decide(cidr *networkingv1.ServiceCIDR, all []networkingv1.ServiceCIDR, addresses []networkingv1.IPAddress, now time.Time) Decision {
	held := slices.Contains(cidr.Finalizers, Finalizer)
	if cidr.DeletionTimestamp == nil {
		return Decision{Hold: !held, Ready: changed(cidr, metav1.Condition{Type: networkingv1.ServiceCIDRConditionReady, Status: metav1.ConditionTrue,
			Message: "Kubernetes Service CIDR is ready"}, now)}
	}
	if needed(cidr, all, addresses) {
		return Decision{Ready: changed(cidr, metav1.Condition{Type: networkingv1.ServiceCIDRConditionReady, Status: metav1.ConditionFalse,
			Reason:  networkingv1.ServiceCIDRReasonTerminating,
			Message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"}, now)}
	}
	if left := deletionGrace - now.Sub(cidr.DeletionTimestamp.Time); left > 0 {
		return Decision{Again: left}
	}
	return Decision{Free: held}
}

// changed is the condition unless it stands there already.
func changed(cidr *networkingv1.ServiceCIDR, want metav1.Condition, now time.Time) *metav1.Condition {
	have := meta.FindStatusCondition(cidr.Status.Conditions, want.Type)
	if have != nil && have.Status == want.Status && have.Reason == want.Reason && have.Message == want.Message {
		return nil
	}
	want.LastTransitionTime = metav1.NewTime(now)
	return &want
}

// needed says that addresses would be in no range without the one.
func needed(cidr *networkingv1.ServiceCIDR, all []networkingv1.ServiceCIDR, addresses []networkingv1.IPAddress) bool {
	var others []netip.Prefix
	for i := range all {
		if all[i].Name != cidr.Name {
			others = append(others, prefixes(&all[i])...)
		}
	}
	own := prefixes(cidr)
	for i := range addresses {
		ip, err := netip.ParseAddr(addresses[i].Name)
		if err != nil || addresses[i].Labels[networkingv1.LabelManagedBy] != addressKeeper {
			continue
		}
		if within(ip, own) && !within(ip, others) {
			return true
		}
	}
	return false
}

// prefixes are the ranges of a ServiceCIDR.
func prefixes(cidr *networkingv1.ServiceCIDR) (out []netip.Prefix) {
	for _, text := range cidr.Spec.CIDRs {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func within(ip netip.Addr, ranges []netip.Prefix) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(ip) })
}
