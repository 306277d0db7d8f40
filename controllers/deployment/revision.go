package deployment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// The annotations that kubectl rollout and other clients read.
const (
	revisionAnnotation        = "deployment.kubernetes.io/revision"
	revisionHistoryAnnotation = "deployment.kubernetes.io/revision-history"
	desiredReplicasAnnotation = "deployment.kubernetes.io/desired-replicas"
	maxReplicasAnnotation     = "deployment.kubernetes.io/max-replicas"
)

// historyAnnotationLimit bounds the revision-history annotation, in characters.
const historyAnnotationLimit = 2000

// notCopied are annotations of a Deployment that its ReplicaSets don't inherit.
var notCopied = map[string]bool{
	corev1.LastAppliedConfigAnnotation: true,
	revisionAnnotation:                 true,
	revisionHistoryAnnotation:          true,
	desiredReplicasAnnotation:          true,
	maxReplicasAnnotation:              true,
	appsv1.DeprecatedRollbackTo:        true,
}

// revisionOf is the revision number of a ReplicaSet; 0 when it has none or nonsense.
func revisionOf(rs *appsv1.ReplicaSet) int64 {
	revision, err := strconv.ParseInt(rs.Annotations[revisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

// syncRevision makes the new ReplicaSet the latest revision: one more than the
// greatest of the old ones, unless it is greater already. Going back to an earlier
// template so gives that ReplicaSet a new number, and notes the number it had.
func (p *pass) syncRevision() {
	if p.newSet == nil {
		return
	}
	var latest int64
	for _, rs := range p.oldSets {
		latest = max(latest, revisionOf(rs))
	}
	p.newSet.Spec.MinReadySeconds = p.deployment.Spec.MinReadySeconds
	copyAnnotations(p.deployment, p.newSet)
	raiseRevision(p.newSet, latest+1)
	p.revision = p.newSet.Annotations[revisionAnnotation]
	if d := p.deployment; hasDeadline(d) && condition(&d.Status, appsv1.DeploymentProgressing) == nil {
		// Adopted, or made before anybody asked for a deadline: measure from here.
		setCondition(&d.Status, newCondition(appsv1.DeploymentProgressing, corev1.ConditionTrue,
			reasonFound, fmt.Sprintf("Found new replica set %q", p.newSet.Name), p.now))
	}
}

func copyAnnotations(d *appsv1.Deployment, rs *appsv1.ReplicaSet) {
	if rs.Annotations == nil {
		rs.Annotations = map[string]string{}
	}
	for key, value := range d.Annotations {
		if !notCopied[key] {
			rs.Annotations[key] = value
		}
	}
}

func raiseRevision(rs *appsv1.ReplicaSet, to int64) {
	previous, had := rs.Annotations[revisionAnnotation]
	before, err := strconv.ParseInt(previous, 10, 64)
	if err != nil && previous != "" {
		return // not ours to understand, so not ours to overwrite
	}
	if before >= to {
		return
	}
	rs.Annotations[revisionAnnotation] = strconv.FormatInt(to, 10)
	if had {
		appendHistory(rs, previous)
	}
}

// appendHistory adds a revision at the end of the list, dropping the first ones when
// it would get too long.
func appendHistory(rs *appsv1.ReplicaSet, revision string) {
	history := rs.Annotations[revisionHistoryAnnotation]
	if history == "" {
		rs.Annotations[revisionHistoryAnnotation] = revision
		return
	}
	revisions := strings.Split(history, ",")
	length := len(history) + len(",") + len(revision)
	for length > historyAnnotationLimit && len(revisions) > 0 {
		length -= len(revisions[0]) + len(",")
		revisions = revisions[1:]
	}
	if length <= historyAnnotationLimit {
		rs.Annotations[revisionHistoryAnnotation] = strings.Join(append(revisions, revision), ",")
	}
}

func setSizeAnnotations(rs *appsv1.ReplicaSet, desired, most int32) {
	if rs.Annotations == nil {
		rs.Annotations = map[string]string{}
	}
	rs.Annotations[desiredReplicasAnnotation] = strconv.Itoa(int(desired))
	rs.Annotations[maxReplicasAnnotation] = strconv.Itoa(int(most))
}

// sizeAnnotation reads one of the two; ok is false when it is absent or no size.
func sizeAnnotation(rs *appsv1.ReplicaSet, key string) (size int32, ok bool) {
	parsed, err := strconv.ParseUint(rs.Annotations[key], 10, 32)
	if err != nil || parsed > math.MaxInt32 {
		return 0, false
	}
	return int32(parsed), true
}

// cleanUp plans the deletion of old revisions beyond the history limit, the lowest
// numbers first. A ReplicaSet that still has or wants pods stays.
func (p *pass) cleanUp() {
	limit, limited := historyLimit(p.deployment)
	if !limited {
		return
	}
	var old []*appsv1.ReplicaSet
	for _, rs := range p.oldSets {
		if rs.DeletionTimestamp == nil {
			old = append(old, rs)
		}
	}
	slices.SortStableFunc(old, func(a, b *appsv1.ReplicaSet) int {
		if c := cmp.Compare(revisionOf(a), revisionOf(b)); c != 0 {
			return c
		}
		return byAge(a, b)
	})
	for i := 0; i < len(old)-limit; i++ {
		rs := old[i]
		if rs.Status.Replicas == 0 && *rs.Spec.Replicas == 0 && rs.Generation <= rs.Status.ObservedGeneration {
			p.deletes = append(p.deletes, rs)
		}
	}
}
