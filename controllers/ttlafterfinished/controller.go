package ttlafterfinished

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const name = "ttl-after-finished-controller"

// Component deletes Jobs that finished long enough ago.
var Component = component.Component{
	Name:    name,
	Watches: []string{"batch/jobs"},
	Writes:  []string{"batch/jobs:delete when their time is up"},
	Add:     add,
}

func add(env component.Environment) error {
	r := &reconciler{client: env.Manager.GetClient(), live: env.Manager.GetAPIReader(), clock: env.Clock}
	if err := env.Controller(name, 5).For(&batchv1.Job{}).Complete(component.Quietly(r)); err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type reconciler struct {
	client client.Client
	live   client.Reader
	clock  clock.PassiveClock
}

// Reconcile looks at one Job, and once more at the API server's own before it deletes it:
// its time may have been prolonged.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	for _, reader := range []client.Reader{r.client, r.live} {
		job := &batchv1.Job{}
		if err := reader.Get(ctx, request.NamespacedName, job); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		wait, limited := Decide(job, r.clock.Now())
		if !limited || wait > 0 {
			return reconcile.Result{RequeueAfter: wait}, nil
		}
		if reader == r.client {
			continue
		}
		err := r.client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationForeground), client.Preconditions{UID: &job.UID})
		if client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("delete job: %w", err)
		}
	}
	return reconcile.Result{}, nil
}
