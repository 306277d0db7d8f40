package kubelet

import (
	"maps"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/rounds"
	"github.com/kogge-dev/kogge/kubelet/status"
)

// entry is what the kubelet remembers of a pod between two syncs. All of it can be lost: then the next sync finds
// out again, and at worst a back-off starts anew.
type entry struct {
	uid types.UID

	mu sync.Mutex // guards this group, which the source of pods writes
	// pod is nil for a pod that only the runtime knows.
	pod *v1.Pod
	// gone: the API has the pod no more.
	gone bool
	// written is the status as the API has it, if the kubelet knows better than pod.Status; writtenVersion the
	// resource version that it was written with.
	written        *v1.PodStatus
	writtenVersion string
	// sent is the status that is being written: its echo may come before the answer does.
	sent *v1.PodStatus

	// The rest belongs to the worker.
	admitted bool
	verdict  *status.Verdict
	// reasons why containers could not be started, by name.
	reasons map[string]status.Reason
	// reasonsChanged since the status was last written.
	reasonsChanged bool
	// restarts are the back-offs by container name and image.
	restarts map[string]plan.Backoff
	// told is when a back-off was last told as an event, by container name.
	told map[string]time.Time
	// stops are the containers that are being stopped, by id; replacing those that were stopped to be replaced.
	stops     map[string]*stopping
	replacing map[string]bool
	// kill is the stop of the whole pod that is under way.
	kill *stopping
	// failures counts syncs that failed in a row.
	failures int
	// mountFailures counts attempts in a row at volumes that can't be had.
	mountFailures int
	// draft is a status that was kept back.
	draft *rounds.Task
	// finished: volumes and cgroups of a pod that ended have been cleared away.
	finished bool
}

// view returns the pod, its status as the API has it, and whether the API has lost it.
func (e *entry) view() (pod *v1.Pod, current *v1.PodStatus, gone bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pod == nil {
		return nil, nil, e.gone
	}
	if e.written != nil {
		return e.pod, e.written, e.gone
	}
	return e.pod, &e.pod.Status, e.gone
}

// update takes a pod as the source delivers it, and tells whether that is news, and whether what is being done
// about the older state should be broken off.
func (e *entry) update(pod *v1.Pod) (news, urgent bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.pod
	e.pod, e.gone = pod, false
	if old != nil && onlyStatusDiffers(old, pod) && e.isEcho(pod) {
		return false, false
	}
	if e.written != nil && newer(pod.ResourceVersion, e.writtenVersion) {
		e.written = nil
	}
	ending := pod.DeletionTimestamp != nil && (old == nil || old.DeletionTimestamp == nil ||
		graceOf(pod) < graceOf(old))
	return true, ending
}

// isEcho tells whether the pod carries the status that the kubelet itself wrote last.
func (e *entry) isEcho(pod *v1.Pod) bool {
	if e.written != nil && pod.ResourceVersion == e.writtenVersion {
		return true
	}
	return e.sent != nil && apiequality.Semantic.DeepEqual(e.sent, &pod.Status)
}

func onlyStatusDiffers(old, pod *v1.Pod) bool {
	return old.Generation == pod.Generation && old.DeletionTimestamp.Equal(pod.DeletionTimestamp) && graceOf(old) == graceOf(pod) &&
		maps.Equal(old.Labels, pod.Labels) && maps.Equal(old.Annotations, pod.Annotations)
}

func (e *entry) setSent(s *v1.PodStatus) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sent = s
}

func (e *entry) setGone() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone = true
}

func (e *entry) setWritten(pod *v1.Pod) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.written, e.writtenVersion = &pod.Status, pod.ResourceVersion
}

// newer compares resource versions. They are counters; ones that aren't are taken for news.
func newer(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX != nil || errY != nil || x > y
}

func graceOf(pod *v1.Pod) int64 {
	if pod.DeletionGracePeriodSeconds != nil {
		return *pod.DeletionGracePeriodSeconds
	}
	return defaultGrace
}

func (e *entry) setReason(container, reason, message string) {
	news := status.Reason{Reason: reason, Message: message}
	if e.reasons[container] == news {
		return
	}
	if e.reasons == nil {
		e.reasons = map[string]status.Reason{}
	}
	e.reasons[container], e.reasonsChanged = news, true
}
