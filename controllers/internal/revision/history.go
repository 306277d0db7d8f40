package revision

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kogge-dev/kogge/controllers/internal/ownership"
)

// History lists the revisions that the claimer's owner has, oldest first, adopting and
// releasing on the way. They may be changed.
func History(ctx context.Context, claimer ownership.Claimer) ([]*appsv1.ControllerRevision, error) {
	var list appsv1.ControllerRevisionList
	if err := claimer.Client.List(ctx, &list, client.InNamespace(claimer.Owner.GetNamespace())); err != nil {
		return nil, fmt.Errorf("list controller revisions: %w", err)
	}
	revisions := make([]*appsv1.ControllerRevision, 0, len(list.Items))
	for i := range list.Items {
		revisions = append(revisions, &list.Items[i])
	}
	claimed, err := ownership.Claim(ctx, claimer, revisions)
	Sort(claimed)
	return claimed, err
}

// Sort puts the oldest revision first.
func Sort(revisions []*appsv1.ControllerRevision) {
	slices.SortStableFunc(revisions, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
}

// Latest is the greatest revision number; 0 when there is none.
func Latest(revisions []*appsv1.ControllerRevision) (latest int64) {
	for _, r := range revisions {
		latest = max(latest, r.Revision)
	}
	return latest
}
