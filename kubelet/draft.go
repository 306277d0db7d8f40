package kubelet

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
)

// draftTime is how long a status that is about to be outdated is kept back.
const draftTime = 100 * time.Millisecond

// isDraft tells whether a status only says that the pod is on its way, on a runtime that brings it there in no time:
// writing it would cost more than all the rest. Upstream's statuses wait in a queue in which the latest wins; this is
// as much as is needed of it.
func isDraft(quick, ending bool, current, s *v1.PodStatus, reasons int) bool {
	return quick && !ending && reasons == 0 && s.Phase == v1.PodPending && (current.Phase == v1.PodPending || current.Phase == "")
}

// keepBack writes the status after draftTime, unless the pod is synced before.
func (k *Kubelet) keepBack(e *entry, pod *v1.Pod, current, s *v1.PodStatus) {
	e.draft = k.rounds.After(k.background, draftTime, func(ctx context.Context) {
		if err := k.publish(ctx, e, pod, current, s); err != nil && ctx.Err() == nil {
			k.logger.Error("write the status of a pod that starts", "uid", e.uid, "err", err)
			k.pool.TriggerAfter(e.uid, firstRetry)
		}
	})
}

// dropDraft takes back a status that was kept back, or waits until it has been written.
func (e *entry) dropDraft() {
	if e.draft != nil {
		e.draft.Remove()
		e.draft = nil
	}
}

// dropDrafts is for a kubelet whose workers have ended.
func (k *Kubelet) dropDrafts() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range k.pods {
		e.dropDraft()
	}
}
