package nodettl

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "ttl-controller"

// Component keeps the annotation node.alpha.kubernetes.io/ttl of Nodes.
var Component = component.Component{
	Name:    name,
	Watches: []string{"nodes"},
	Writes:  []string{"nodes:annotation node.alpha.kubernetes.io/ttl"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{client: env.Manager.GetClient()}
	if err := env.Controller(name, 5).For(&corev1.Node{}).Complete(component.Quietly(r)); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client

	mu      sync.Mutex
	seconds int
}

// Reconcile annotates one Node.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var list corev1.NodeList
	if err := r.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list nodes: %w", err)
	}
	r.mu.Lock()
	r.seconds = Seconds(len(list.Items), r.seconds)
	wanted := strconv.Itoa(r.seconds)
	r.mu.Unlock()
	node := &corev1.Node{}
	if err := r.client.Get(ctx, request.NamespacedName, node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if node.Annotations[corev1.ObjectTTLAnnotationKey] == wanted {
		return reconcile.Result{}, nil
	}
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, corev1.ObjectTTLAnnotationKey, wanted)
	if err := r.client.Patch(ctx, node, client.RawPatch(types.StrategicMergePatchType, []byte(body))); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("annotate node: %w", err)
	}
	return reconcile.Result{}, nil
}
