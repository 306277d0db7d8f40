package nodettl

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
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
	r := &reconciler{client: env.Manager.GetClient(), nodes: map[string]bool{}}
	if err := env.Controller(name, 5).For(&corev1.Node{}, builder.WithPredicates(r.concerned())).Complete(component.Quietly(r)); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client

	mu      sync.Mutex
	nodes   map[string]bool // that there are
	seconds int
}

// concerned counts Nodes as they come and go, and lets through what is about one whose annotation is not right: heartbeats
// of thousands are looked at and no more.
func (r *reconciler) concerned() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			return e.Object.GetAnnotations()[corev1.ObjectTTLAnnotationKey] != r.count(e.Object.GetName(), true)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectNew.GetAnnotations()[corev1.ObjectTTLAnnotationKey] != r.wanted()
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			r.count(e.Object.GetName(), false)
			return false
		},
	}
}

// count notes that a Node is there or is gone, and gives what the annotation is to be from now on.
func (r *reconciler) count(node string, there bool) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if there {
		r.nodes[node] = true
	} else {
		delete(r.nodes, node)
	}
	r.seconds = Seconds(len(r.nodes), r.seconds)
	return strconv.Itoa(r.seconds)
}

// wanted is what the annotation is to be.
func (r *reconciler) wanted() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strconv.Itoa(r.seconds)
}

// Reconcile annotates one Node.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := r.client.Get(ctx, request.NamespacedName, node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	wanted := r.wanted()
	if node.Annotations[corev1.ObjectTTLAnnotationKey] == wanted {
		return reconcile.Result{}, nil
	}
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, corev1.ObjectTTLAnnotationKey, wanted)
	if err := r.client.Patch(ctx, node, client.RawPatch(types.StrategicMergePatchType, []byte(body))); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("annotate node: %w", err)
	}
	return reconcile.Result{}, nil
}
