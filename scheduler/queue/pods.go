package queue

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// Set takes in a pod that needs a node, new or changed. A change that may help it brings a
// refused pod forward; one of its status, which may be our own, doesn't.
func (q *Queue) Set(pod *corev1.Pod) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.notify()
	if tried, busy := q.trying[pod.UID]; busy {
		if change := framework.SelfChange(tried.pod, pod); change != 0 {
			q.log(framework.Event{Change: change, PodBefore: tried.pod, PodAfter: pod})
		}
		return
	}
	if entry := q.active.get(pod.UID); entry != nil {
		q.active.remove(pod.UID) // its priority may be another
		entry.Pod = pod
		q.enter(entry)
		return
	}
	if entry := q.backoff.get(pod.UID); entry != nil {
		entry.Pod = pod
		return
	}
	if entry := q.unschedulable[pod.UID]; entry != nil {
		before := entry.Pod
		entry.Pod = pod
		event := framework.Event{Change: framework.SelfChange(before, pod), PodBefore: before, PodAfter: pod}
		if event.Change != 0 && q.helps(pod, entry.refused, event) {
			delete(q.unschedulable, pod.UID)
			q.retry(entry)
		}
		return
	}
	entry := q.gated[pod.UID]
	if entry == nil {
		entry = &Entry{Added: q.clock.Now()}
	}
	delete(q.gated, pod.UID)
	entry.Pod = pod
	q.enter(entry)
}

// enter puts a pod among the active ones, or the gated.
func (q *Queue) enter(entry *Entry) {
	if status := q.preEnqueue(entry.Pod); !status.IsSuccess() {
		q.gated[entry.Pod.UID] = entry
		return
	}
	q.active.push(entry)
}

// retry puts a refused pod where it will be tried again.
func (q *Queue) retry(entry *Entry) {
	now := q.clock.Now()
	entry.ready = entry.waiting.Add(Backoff(entry.Attempts, q.minBackoff, q.maxBackoff))
	if entry.ready.After(now) {
		q.backoff.push(entry)
		return
	}
	q.enter(entry)
}

// Remove drops a pod that is gone or has a node.
func (q *Queue) Remove(pod *corev1.Pod) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.active.remove(pod.UID)
	q.backoff.remove(pod.UID)
	delete(q.unschedulable, pod.UID)
	delete(q.gated, pod.UID)
}

// Done ends the try of a pod that was placed or is gone.
func (q *Queue) Done(uid types.UID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done(uid)
}

func (q *Queue) done(uid types.UID) {
	delete(q.trying, uid)
	if len(q.trying) == 0 {
		q.firstEvent += len(q.events)
		q.events = nil
	}
}

// Refuse puts back a pod that was tried and that these plugins refused; pod is its present
// state. Did something happen meanwhile that may help, it backs off only.
func (q *Queue) Refuse(entry *Entry, pod *corev1.Pod, refused map[string]bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.notify()
	missed := q.missed(pod.UID)
	q.done(pod.UID)
	if q.has(pod.UID) {
		return // the watch has brought it back already
	}
	entry.Pod, entry.refused, entry.patient = pod, refused, false
	entry.waiting = q.clock.Now()
	for _, event := range missed {
		if q.concerns(event, pod) && q.helps(pod, refused, event) {
			q.retry(entry)
			return
		}
	}
	q.unschedulable[pod.UID] = entry
}

// Fail puts back a pod whose try ended in an error: it backs off and is tried again.
func (q *Queue) Fail(entry *Entry, pod *corev1.Pod) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.notify()
	q.done(pod.UID)
	if q.has(pod.UID) {
		return // the watch has brought it back already
	}
	entry.Pod, entry.refused, entry.patient = pod, nil, true
	entry.waiting = q.clock.Now()
	q.retry(entry)
}

// has says that a pod stands in the queue.
func (q *Queue) has(uid types.UID) bool {
	return q.active.get(uid) != nil || q.backoff.get(uid) != nil || q.unschedulable[uid] != nil || q.gated[uid] != nil
}

// missed are the events since a pod was taken out.
func (q *Queue) missed(uid types.UID) []framework.Event {
	tried, ok := q.trying[uid]
	if !ok {
		return nil
	}
	return q.events[tried.from-q.firstEvent:]
}

// concerns leaves out what happened to other waiting pods.
func (q *Queue) concerns(event framework.Event, pod *corev1.Pod) bool {
	return event.Change&framework.Self == 0 || event.PodAfter.UID == pod.UID
}

func (q *Queue) log(event framework.Event) {
	if len(q.trying) > 0 {
		q.events = append(q.events, event)
	}
}

// Activate brings a refused pod forward, or lets one that is being tried only back off.
func (q *Queue) Activate(pod *corev1.Pod) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.log(framework.Event{Change: framework.Activated, PodAfter: pod})
	if entry := q.unschedulable[pod.UID]; entry != nil {
		delete(q.unschedulable, pod.UID)
		q.retry(entry)
		q.notify()
	}
}

// Happened tells of something in the cluster. Refused pods that it may help are brought
// forward.
func (q *Queue) Happened(event framework.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.log(event)
	moved := false
	for uid, entry := range q.unschedulable {
		if q.helps(entry.Pod, entry.refused, event) {
			delete(q.unschedulable, uid)
			q.retry(entry)
			moved = true
		}
	}
	if moved {
		q.notify()
	}
}
