package volumeprotection

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const volumesName = "persistentvolume-protection-controller"

// Volumes protects PersistentVolumes that are bound.
var Volumes = component.Component{
	Name:    volumesName,
	Watches: []string{"persistentvolumes"},
	Writes:  []string{"persistentvolumes:finalizer kubernetes.io/pv-protection"},
	Add:     addVolumes,
}

func addVolumes(env component.Environment) error {
	r := &volumes{client: env.Manager.GetClient()}
	if err := env.Controller(volumesName, 5).For(&corev1.PersistentVolume{}).Complete(component.Quietly(r)); err != nil {
		return fmt.Errorf("add %s: %w", volumesName, err)
	}
	return nil
}

type volumes struct{ client client.Client }

// Reconcile looks after one volume.
func (r *volumes) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	volume := &corev1.PersistentVolume{}
	if err := r.client.Get(ctx, request.NamespacedName, volume); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	verdict := Decide(volume, VolumeFinalizer, volume.Status.Phase == corev1.VolumeBound)
	return reconcile.Result{}, carryOut(ctx, r.client, volume, VolumeFinalizer, verdict)
}
