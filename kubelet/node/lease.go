package node

import (
	"context"
	"time"

	coordinationv1api "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// leaseDuration in seconds: so long after the last renewal others take the kubelet for dead.
const leaseDuration = 40

// renew renews the lease, or makes it, and returns when to do so again.
func (a *Agent) renew(ctx context.Context) time.Duration {
	node := a.node.Load()
	if node == nil {
		return a.options.LeaseInterval // a lease belongs to its node, whose registration calls again
	}
	err := a.tryRenew(ctx, node)
	if err != nil && ctx.Err() == nil {
		a.lease = nil // another may have changed it: read it afresh
		a.options.Logger.Error("renew the node's lease", "err", err)
		return min(time.Second, a.options.LeaseInterval)
	}
	a.notice()
	return a.options.LeaseInterval
}

// notice looks whether the lease had run out: then the node was taken for lost, or will be within moments by a controller that looks just now.
// Nobody tells the node, so its status is read for a while. It is so after a machine slept, and after a step of a test's clock.
func (a *Agent) notice() {
	now := a.options.Clock.Now()
	if !a.renewed.IsZero() && now.Sub(a.renewed) > leaseDuration*time.Second {
		a.returned.Store(true)
		a.Touch()
	}
	a.renewed = now
}

func (a *Agent) tryRenew(ctx context.Context, node *v1.Node) error {
	if a.lease == nil {
		made, err := a.takeLease(ctx, node)
		if err != nil || made {
			return err
		}
	}
	lease := a.lease.DeepCopy()
	lease.Spec = a.newLease(node).Spec
	renewed, err := a.options.Leases.Update(ctx, lease, metav1.UpdateOptions{})
	if err == nil {
		renewed.ManagedFields = nil
		a.lease = renewed
	}
	return err
}

// takeLease makes the lease, which is then as good as renewed, or learns the one that is there.
func (a *Agent) takeLease(ctx context.Context, node *v1.Node) (made bool, err error) {
	lease, err := a.options.Leases.Create(ctx, a.newLease(node), metav1.CreateOptions{})
	made = err == nil
	if apierrors.IsAlreadyExists(err) {
		lease, err = a.options.Leases.Get(ctx, a.options.Name, metav1.GetOptions{})
	}
	if err == nil {
		lease.ManagedFields = nil
		a.lease = lease
	}
	return made, err
}

func (a *Agent) newLease(node *v1.Node) *coordinationv1api.Lease {
	now, duration := metav1.NewMicroTime(a.options.Clock.Now()), int32(leaseDuration)
	return &coordinationv1api.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: a.options.Name, Namespace: v1.NamespaceNodeLease,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
		},
		Spec: coordinationv1api.LeaseSpec{HolderIdentity: &a.options.Name, LeaseDurationSeconds: &duration, RenewTime: &now},
	}
}
