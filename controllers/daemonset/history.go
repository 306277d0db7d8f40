package daemonset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kogge-dev/kogge/controllers/internal/ownership"
	"github.com/kogge-dev/kogge/controllers/internal/revision"
)

const hashLabel = appsv1.DefaultDaemonSetUniqueLabelKey

// history finds the revision of the present template, making it if there is none, and
// those of earlier ones.
func (r *reconciler) history(ctx context.Context, claimer ownership.Claimer, ds *appsv1.DaemonSet, pods []*corev1.Pod) (current *appsv1.ControllerRevision, old []*appsv1.ControllerRevision, err error) {
	revisions, err := revision.History(ctx, claimer)
	if err != nil {
		return nil, nil, err
	}
	data, err := revision.Patch(&ds.Spec.Template)
	if err != nil {
		return nil, nil, err
	}
	var same []*appsv1.ControllerRevision
	for _, one := range revisions {
		if one.Labels[hashLabel] == "" {
			metav1.SetMetaDataLabel(&one.ObjectMeta, hashLabel, one.Name)
			if err := r.client.Update(ctx, one); err != nil {
				return nil, nil, fmt.Errorf("label revision %s: %w", one.Name, err)
			}
		}
		if string(one.Data.Raw) == string(data) {
			same = append(same, one)
		} else {
			old = append(old, one)
		}
	}
	next := revision.Latest(old) + 1
	if len(same) == 0 {
		current, err = r.snapshot(ctx, ds, data, next)
		return current, old, err
	}
	current = same[len(same)-1]
	if err := r.merge(ctx, ds, pods, current, same[:len(same)-1]); err != nil {
		return nil, nil, err
	}
	if current.Revision < next {
		current.Revision = next
		if err := r.client.Update(ctx, current); err != nil {
			return nil, nil, fmt.Errorf("renumber revision %s: %w", current.Name, err)
		}
	}
	return current, old, nil
}

// merge makes pods of revisions that say the same as the one that stays pods of that one.
func (r *reconciler) merge(ctx context.Context, ds *appsv1.DaemonSet, pods []*corev1.Pod, stays *appsv1.ControllerRevision, doubles []*appsv1.ControllerRevision) error {
	if len(doubles) == 0 {
		return nil
	}
	hash := stays.Labels[hashLabel]
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{hashLabel: hash}}})
	if err != nil {
		return fmt.Errorf("encode label: %w", err)
	}
	for _, pod := range pods {
		if pod.Labels[hashLabel] == hash {
			continue
		}
		if err := r.client.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); err != nil {
			return fmt.Errorf("relabel pod %s/%s: %w", ds.Namespace, pod.Name, err)
		}
	}
	for _, double := range doubles {
		if err := r.client.Delete(ctx, double); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete revision %s: %w", double.Name, err)
		}
	}
	return nil
}

// snapshot stores the present template. A name that is taken by another template raises the
// collision count, and the next pass tries anew.
func (r *reconciler) snapshot(ctx context.Context, ds *appsv1.DaemonSet, data []byte, number int64) (*appsv1.ControllerRevision, error) {
	hash := revision.TemplateHash(&ds.Spec.Template, ds.Status.CollisionCount)
	labels := maps.Clone(ds.Spec.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[hashLabel] = hash
	made := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name: ds.Name + "-" + hash, Namespace: ds.Namespace, Labels: labels, Annotations: maps.Clone(ds.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(ds, daemonSetKind)},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: number,
	}
	err := r.client.Create(ctx, made)
	if !apierrors.IsAlreadyExists(err) {
		return made, err
	}
	present := &appsv1.ControllerRevision{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(made), present); err != nil {
		return nil, fmt.Errorf("look at the revision that has the name: %w", err)
	}
	if string(present.Data.Raw) == string(data) {
		return present, nil
	}
	next := ds.DeepCopy()
	if next.Status.CollisionCount == nil {
		next.Status.CollisionCount = new(int32)
	}
	*next.Status.CollisionCount++
	return nil, errors.Join(err, r.client.Status().Update(ctx, next))
}

// expired are the old revisions beyond the limit that no pod is of, oldest first.
func expired(ds *appsv1.DaemonSet, old []*appsv1.ControllerRevision, pods []*corev1.Pod) (drop []*appsv1.ControllerRevision) {
	live := map[string]bool{}
	for _, pod := range pods {
		live[pod.Labels[hashLabel]] = true
	}
	excess := len(old) - int(*ds.Spec.RevisionHistoryLimit)
	for _, one := range old {
		if len(drop) < excess && !live[one.Labels[hashLabel]] {
			drop = append(drop, one)
		}
	}
	return drop
}
