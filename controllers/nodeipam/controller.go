package nodeipam

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "node-ipam-controller"

// eventSource is what upstream's allocator calls itself in events.
const eventSource = "cidrAllocator"

// Upstream's defaults of --node-cidr-mask-size-ipv4 and -ipv6.
const (
	defaultBits4 = 24
	defaultBits6 = 64
)

// Component is the allocator of pod ranges.
var Component = component.Component{
	Name:    name,
	Watches: []string{"nodes"},
	Writes:  []string{"nodes:spec.podCIDR", "nodes:spec.podCIDRs"},
	Add:     add,
}

func add(env component.Environment) error {
	if !env.ClusterCIDR.IsValid() {
		return nil // nothing to allocate, as upstream without --allocate-node-cidrs
	}
	bits := env.NodeCIDRMaskSize
	if bits == 0 && env.ClusterCIDR.Addr().Is4() {
		bits = defaultBits4
	} else if bits == 0 {
		bits = defaultBits6
	}
	if parts(env.ClusterCIDR, bits) == 0 {
		return fmt.Errorf("%s: a node's prefix of %d bits doesn't fit into %s", name, bits, env.ClusterCIDR)
	}
	r := &reconciler{
		client: env.Manager.GetClient(), events: env.Events(eventSource),
		cluster: env.ClusterCIDR.Masked(), bits: bits,
	}
	// One worker: two at the same time could give the same part to two nodes.
	if err := env.Controller(name, 1).For(&corev1.Node{}).Complete(component.Quietly(r)); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client  client.Client
	events  record.EventRecorder
	cluster netip.Prefix
	bits    int
	// from is the part to try first. Losing it in a restart costs nothing but order.
	from uint64
}

// Reconcile gives one node its part, if it has none.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := r.client.Get(ctx, request.NamespacedName, node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if len(node.Spec.PodCIDRs) > 0 || node.Spec.PodCIDR != "" {
		return reconcile.Result{}, nil
	}
	taken, err := r.taken(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	free, next, ok := Next(r.cluster, r.bits, taken, r.from)
	if !ok {
		r.report(node, "CIDRNotAvailable")
		return reconcile.Result{}, fmt.Errorf("no part of %s is left for node %s", r.cluster, node.Name)
	}
	patched := node.DeepCopy()
	patched.Spec.PodCIDR = free.String()
	patched.Spec.PodCIDRs = []string{free.String()}
	// Locked: the API server refuses to change a part that is set, and so do we.
	patch := client.MergeFromWithOptions(node, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, patched, patch); err != nil {
		return reconcile.Result{}, fmt.Errorf("set pod CIDR of node %s: %w", node.Name, err)
	}
	r.from = next
	return reconcile.Result{}, nil
}

// taken lists what the nodes have. The client reads its own writes, so the part given
// out a moment ago is among them.
func (r *reconciler) taken(ctx context.Context) ([]netip.Prefix, error) {
	var nodes corev1.NodeList
	if err := r.client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	var taken []netip.Prefix
	for i := range nodes.Items {
		for _, text := range nodes.Items[i].Spec.PodCIDRs {
			if prefix, err := netip.ParsePrefix(text); err == nil {
				taken = append(taken, prefix)
			}
		}
	}
	return taken, nil
}

func (r *reconciler) report(node *corev1.Node, reason string) {
	reference := &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}
	r.events.Eventf(reference, corev1.EventTypeNormal, reason, "Node %s status is now: %s", node.Name, reason)
}
