package scheduler

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// nodeHandler takes nodes into the cache and tells the queue.
func (s *Scheduler) nodeHandler() toolscache.ResourceEventHandler {
	return handler[*corev1.Node]{
		wanted: func(*corev1.Node) bool { return true },
		add: func(node *corev1.Node) {
			s.cache.SetNode(node)
			s.queue.Happened(framework.Event{Change: framework.NodeAdded, NodeAfter: node})
		},
		update: func(before, after *corev1.Node) {
			s.cache.SetNode(after)
			if change := nodeChange(before, after); change != 0 {
				s.queue.Happened(framework.Event{Change: change, NodeBefore: before, NodeAfter: after})
			}
		},
		remove: func(node *corev1.Node) {
			s.cache.RemoveNode(node.Name)
			s.queue.Happened(framework.Event{Change: framework.NodeDeleted, NodeBefore: node})
		},
	}
}

// nodeChange says what has changed of a node that a rule may look at. A heartbeat is no
// change.
func nodeChange(before, after *corev1.Node) (change framework.Change) {
	if !apiequality.Semantic.DeepEqual(before.Status.Allocatable, after.Status.Allocatable) {
		change |= framework.NodeAllocatable
	}
	if !apiequality.Semantic.DeepEqual(before.Labels, after.Labels) {
		change |= framework.NodeLabels
	}
	if before.Spec.Unschedulable != after.Spec.Unschedulable ||
		!apiequality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) {
		change |= framework.NodeTaints
	}
	if !slices.Equal(before.Status.DeclaredFeatures, after.Status.DeclaredFeatures) {
		change |= framework.NodeFeatures
	}
	return change
}

// assignedHandler takes pods that have a node into the cache.
func (s *Scheduler) assignedHandler() toolscache.ResourceEventHandler {
	return handler[*corev1.Pod]{
		wanted: func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" && !finished(pod) },
		add: func(pod *corev1.Pod) {
			s.cache.SetPod(pod)
			s.queue.Happened(framework.Event{Change: framework.PodAssigned, PodAfter: pod})
		},
		update: func(before, after *corev1.Pod) {
			s.cache.SetPod(after)
			if change := podChange(before, after); change != 0 {
				s.queue.Happened(framework.Event{Change: change, PodBefore: before, PodAfter: after})
			}
		},
		remove: func(pod *corev1.Pod) {
			s.cache.RemovePod(pod)
			s.queue.Happened(framework.Event{Change: framework.PodGone, PodBefore: pod})
		},
	}
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func podChange(before, after *corev1.Pod) (change framework.Change) {
	if !apiequality.Semantic.DeepEqual(before.Labels, after.Labels) {
		change |= framework.PodLabels
	}
	if !apiequality.Semantic.DeepEqual(before.Spec.Containers, after.Spec.Containers) ||
		!apiequality.Semantic.DeepEqual(before.Status.ContainerStatuses, after.Status.ContainerStatuses) {
		was, is := framework.NewPodInfo(before).Requests, framework.NewPodInfo(after).Requests
		if is.LessThan(&was) {
			change |= framework.PodShrunk
		}
	}
	return change
}

// waitingHandler takes pods that need a node into the queue.
func (s *Scheduler) waitingHandler() toolscache.ResourceEventHandler {
	return handler[*corev1.Pod]{
		wanted: func(pod *corev1.Pod) bool {
			return pod.Spec.NodeName == "" && s.profiles[pod.Spec.SchedulerName] != nil && !finished(pod)
		},
		add: func(pod *corev1.Pod) {
			s.nominate(pod, pod.Status.NominatedNodeName)
			s.queueUp(pod)
		},
		update: func(before, after *corev1.Pod) {
			// Was it nominated in neither, the watch may not know yet.
			if before.Status.NominatedNodeName != "" || after.Status.NominatedNodeName != "" {
				s.nominate(after, after.Status.NominatedNodeName)
			}
			s.queueUp(after)
		},
		remove: func(pod *corev1.Pod) {
			s.nominated.Remove(pod.UID)
			s.queue.Remove(pod)
			// A pod that is gone before its binding took effect holds no room any more.
			if s.isGone(pod) {
				s.cache.Forget(pod)
			}
		},
	}
}

// nominate notes the node on which room is made for a pod. Of one that has been placed
// already the watch merely doesn't know yet.
func (s *Scheduler) nominate(pod *corev1.Pod, node string) {
	if node == "" || s.isOver(pod) {
		s.nominated.Remove(pod.UID)
		return
	}
	s.nominated.Set(framework.NewPodInfo(pod), node)
}

func (s *Scheduler) queueUp(pod *corev1.Pod) {
	if !s.isOver(pod) {
		s.queue.Set(pod)
	}
}

// isGone says that the pod isn't merely no longer waiting.
func (s *Scheduler) isGone(pod *corev1.Pod) bool {
	present, err := s.pods.Pods(pod.Namespace).Get(pod.Name)
	return err != nil || present.UID != pod.UID
}
