package podgc

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// quarantine is how long a node may be missing before its pods are taken as lost: it may
// just be registering anew. Upstream's period.
const quarantine = 40 * time.Second

// Wait is how much longer a node that has been missing for that long is waited for.
func Wait(missing time.Duration) time.Duration { return max(0, quarantine-missing) }

// Fail marks a lost pod as failed, with the condition that tells why. A pod that has
// finished keeps its end. It says whether that changed anything.
func Fail(pod *corev1.Pod, now time.Time) (changed bool) {
	if podstate.Finished(pod) {
		return false
	}
	component.Disrupt(pod, "DeletionByPodGC", "PodGC: node no longer exists", now)
	pod.Status.Phase = corev1.PodFailed
	return true
}
