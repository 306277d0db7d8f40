package servicecidr

import (
	"context"
	"fmt"
	"net/netip"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "service-cidr-controller"

// Component looks after ServiceCIDRs.
var Component = component.Component{
	Name:    name,
	Watches: []string{"networking.k8s.io/servicecidrs", "networking.k8s.io/ipaddresses"},
	Writes:  []string{"networking.k8s.io/servicecidrs:status", "networking.k8s.io/servicecidrs:finalizer " + Finalizer},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{client: env.Manager.GetClient(), clock: env.Clock}
	err := env.Controller(name, 1).
		Watches(&networkingv1.ServiceCIDR{}, handler.EnqueueRequestsFromMapFunc(r.overlapping)).
		Watches(&networkingv1.IPAddress{}, handler.EnqueueRequestsFromMapFunc(r.holding)).
		Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client
	clock  clock.PassiveClock
}

// overlapping maps a range to all for which it may mean something.
func (r *reconciler) overlapping(ctx context.Context, object client.Object) []reconcile.Request {
	changed, ok := object.(*networkingv1.ServiceCIDR)
	if !ok {
		return nil
	}
	own := prefixes(changed)
	return r.requests(ctx, func(p netip.Prefix) bool {
		for _, o := range own {
			if o.Overlaps(p) {
				return true
			}
		}
		return false
	})
}

// holding maps an address to the ranges that it is in.
func (r *reconciler) holding(ctx context.Context, object client.Object) []reconcile.Request {
	ip, err := netip.ParseAddr(object.GetName())
	if err != nil || object.GetLabels()[networkingv1.LabelManagedBy] != addressKeeper {
		return nil
	}
	return r.requests(ctx, func(p netip.Prefix) bool { return p.Contains(ip) })
}

func (r *reconciler) requests(ctx context.Context, concerned func(netip.Prefix) bool) (requests []reconcile.Request) {
	var list networkingv1.ServiceCIDRList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache is closing; there is nobody left to wake
	}
	for i := range list.Items {
		for _, p := range prefixes(&list.Items[i]) {
			if concerned(p) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
				break
			}
		}
	}
	return requests
}

// Reconcile looks after one ServiceCIDR.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cidr := &networkingv1.ServiceCIDR{}
	if err := r.client.Get(ctx, request.NamespacedName, cidr); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var all networkingv1.ServiceCIDRList
	var addresses networkingv1.IPAddressList
	if cidr.DeletionTimestamp != nil { // else nobody asks who needs it
		if err := r.client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
			return reconcile.Result{}, fmt.Errorf("list ServiceCIDRs: %w", err)
		}
		if err := r.client.List(ctx, &addresses, client.UnsafeDisableDeepCopy); err != nil {
			return reconcile.Result{}, fmt.Errorf("list IPAddresses: %w", err)
		}
	}
	d := Decide(cidr, all.Items, addresses.Items, r.clock.Now())
	if err := r.setFinalizer(ctx, cidr, d); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if d.Ready != nil {
		if err := r.client.Status().Apply(ctx, applied(cidr.Name, d.Ready), client.FieldOwner(name), client.ForceOwnership); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("say whether ServiceCIDR %s is ready: %w", cidr.Name, err)
		}
	}
	return reconcile.Result{RequeueAfter: d.Again}, nil
}

func (r *reconciler) setFinalizer(ctx context.Context, cidr *networkingv1.ServiceCIDR, d Decision) error {
	if !d.Hold && !d.Free {
		return nil
	}
	patch := client.MergeFromWithOptions(cidr.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if d.Hold {
		controllerutil.AddFinalizer(cidr, Finalizer)
	} else {
		controllerutil.RemoveFinalizer(cidr, Finalizer)
	}
	if err := r.client.Patch(ctx, cidr, patch); err != nil {
		return fmt.Errorf("finalizer of ServiceCIDR %s: %w", cidr.Name, err)
	}
	return nil
}

func applied(name string, c *metav1.Condition) *networkingv1ac.ServiceCIDRApplyConfiguration {
	return networkingv1ac.ServiceCIDR(name).WithStatus(networkingv1ac.ServiceCIDRStatus().WithConditions(
		metav1ac.Condition().WithType(c.Type).WithStatus(c.Status).WithReason(c.Reason).WithMessage(c.Message).WithLastTransitionTime(c.LastTransitionTime)))
}
