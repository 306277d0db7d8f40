package statefulset

import (
	"context"
	"errors"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kogge-dev/kogge/controllers/internal/revision"
)

// dataHashLabel tells the hash of what a revision stores.
const dataHashLabel = "controller.kubernetes.io/hash"

// revisions finds the revision that an update goes to, making it or giving it a new number
// if need be, and the one that it goes from; all is sorted, the oldest first.
func (r *reconciler) revisions(ctx context.Context, observed *Observed, all []*appsv1.ControllerRevision) error {
	set := observed.Set
	observed.Collisions = ptr.Deref(set.Status.CollisionCount, 0)
	update, err := r.updateRevision(ctx, observed, all)
	if err != nil {
		return err
	}
	current := update
	for _, one := range all {
		if one.Name == set.Status.CurrentRevision {
			current = one
		}
	}
	if observed.Update, err = asRevision(update); err != nil {
		return err
	}
	observed.Current, err = asRevision(current)
	return err
}

func asRevision(stored *appsv1.ControllerRevision) (Revision, error) {
	template, err := revision.Template(stored.Data.Raw)
	if err != nil {
		return Revision{}, fmt.Errorf("revision %s: %w", stored.Name, err)
	}
	return Revision{Name: stored.Name, Template: template}, nil
}

func (r *reconciler) updateRevision(ctx context.Context, observed *Observed, all []*appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	data, err := revision.Patch(&observed.Set.Spec.Template)
	if err != nil {
		return nil, err
	}
	next := revision.Latest(all) + 1
	for i := len(all) - 1; i >= 0; i-- {
		one := all[i]
		switch {
		case string(one.Data.Raw) != string(data):
			continue
		case i == len(all)-1:
			return one, nil
		}
		one.Revision = next // back to an earlier template
		if err := r.client.Update(ctx, one); err != nil {
			return nil, fmt.Errorf("renumber revision %s: %w", one.Name, err)
		}
		return one, nil
	}
	if len(all) > 0 && meansTheSame(all[len(all)-1], data) {
		return all[len(all)-1], nil
	}
	return r.snapshot(ctx, observed, data, next)
}

// meansTheSame says that a revision differs only in how it is written, as one may that
// another version has stored: that is no reason to restart anything.
func meansTheSame(stored *appsv1.ControllerRevision, data []byte) bool {
	template, err := revision.Template(stored.Data.Raw)
	if err != nil {
		return false
	}
	again, err := revision.Patch(template)
	return err == nil && string(again) == string(data)
}

// snapshot stores the present template, under another name while the name is taken.
func (r *reconciler) snapshot(ctx context.Context, observed *Observed, data []byte, number int64) (*appsv1.ControllerRevision, error) {
	set := observed.Set
	labels := maps.Clone(set.Spec.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[dataHashLabel] = revision.DataHash(data, &observed.Collisions)
	for {
		made := &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{
				Name: revisionName(set.Name, revision.DataHash(data, &observed.Collisions)), Namespace: set.Namespace,
				Labels: labels, Annotations: maps.Clone(set.Annotations),
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, statefulSetKind)},
			},
			Data: runtime.RawExtension{Raw: data}, Revision: number,
		}
		err := r.client.Create(ctx, made)
		if !apierrors.IsAlreadyExists(err) {
			return made, err
		}
		present := &appsv1.ControllerRevision{}
		if getErr := r.live.Get(ctx, client.ObjectKeyFromObject(made), present); getErr != nil {
			return nil, errors.Join(err, getErr)
		}
		if string(present.Data.Raw) == string(data) {
			return present, nil
		}
		observed.Collisions++
	}
}

// revisionName leaves room for the hash in what a name may have.
func revisionName(set, hash string) string {
	const room = 223
	return set[:min(len(set), room)] + "-" + hash
}

// expired are the revisions beyond the limit that nothing uses any more, oldest first.
func expired(observed Observed, all []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	live := map[string]bool{observed.Current.Name: true, observed.Update.Name: true}
	for _, pod := range observed.Pods {
		live[revisionOf(pod)] = true
	}
	var dead []*appsv1.ControllerRevision
	for _, one := range all {
		if !live[one.Name] {
			dead = append(dead, one)
		}
	}
	limit := int(ptr.Deref(observed.Set.Spec.RevisionHistoryLimit, 10))
	return dead[:max(0, len(dead)-limit)]
}
