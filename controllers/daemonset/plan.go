package daemonset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/controllers/internal/podcontrol"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Observed is everything that a decision about one DaemonSet rests on.
type Observed struct {
	Set   *appsv1.DaemonSet
	Nodes []*corev1.Node
	// Pods are those that the DaemonSet owns, whatever state they are in.
	Pods []*corev1.Pod
	// Hash is the label of pods of the present template.
	Hash string
	// HeldBack says for how long pods that failed on a node may not be replaced yet.
	HeldBack map[string]time.Duration
	Now      time.Time
}

// Plan is what to do about one DaemonSet in one pass.
type Plan struct {
	// Create names the nodes that get a pod.
	Create []string
	Delete []*corev1.Pod
	// Failed names the nodes whose failed pod is replaced: the next one waits longer.
	Failed  []string
	Reports []Report
	// CheckAfter is when time alone changes something; zero: never.
	CheckAfter time.Duration
}

// Report is an event.
type Report struct{ Type, Reason, Message string }

// pass is one decision in the making.
type pass struct {
	Observed
	Plan
	fit    fit
	byNode map[string][]*corev1.Pod
}

func newPass(observed Observed) *pass {
	p := &pass{Observed: observed, fit: newFit(observed.Set), byNode: map[string][]*corev1.Pod{}}
	for _, pod := range observed.Pods {
		if podstate.Finished(pod) && pod.DeletionTimestamp != nil {
			continue // only a finalizer or its kubelet still holds it
		}
		if node := nodeOf(pod); node != "" {
			p.byNode[node] = append(p.byNode[node], pod)
		}
	}
	for _, pods := range p.byNode {
		slices.SortFunc(pods, byAge)
	}
	return p
}

// byAge puts pods that have a node before those that wait for one, then the older first.
func byAge(a, b *corev1.Pod) int {
	if (a.Spec.NodeName != "") != (b.Spec.NodeName != "") {
		if a.Spec.NodeName != "" {
			return -1
		}
		return 1
	}
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// Decide works out one pass: first every node gets the pod that it shall have, and only
// when that is so, an update goes on. It changes nothing that it is given.
func Decide(observed Observed) Plan {
	p := newPass(observed)
	for _, node := range observed.Nodes {
		p.settle(node)
	}
	p.dropHomeless()
	if len(p.Create)+len(p.Delete) == 0 && observed.Set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		p.roll()
	}
	p.Create = p.Create[:min(len(p.Create), podcontrol.Burst)]
	p.Delete = p.Delete[:min(len(p.Delete), podcontrol.Burst)]
	p.checkAvailability()
	return p.Plan
}

// settle decides about one node.
func (p *pass) settle(node *corev1.Node) {
	run, stay := p.fit.on(node)
	pods, exists := p.byNode[node.Name]
	switch {
	case run && !exists:
		p.Create = append(p.Create, node.Name)
	case stay:
		running := p.replaceFinished(node.Name, pods)
		if p.surges() {
			p.settleSurge(node.Name, run, running)
		} else if len(running) > 1 {
			p.Delete = append(p.Delete, running[1:]...) // the oldest stays
		}
	case exists:
		for _, pod := range pods {
			p.remove(pod)
		}
	}
}

// replaceFinished deletes pods that have ended, so that the next pass makes new ones, and
// gives those that haven't.
func (p *pass) replaceFinished(node string, pods []*corev1.Pod) (running []*corev1.Pod) {
	for _, pod := range pods {
		switch {
		case pod.DeletionTimestamp != nil:
		case pod.Status.Phase == corev1.PodFailed && p.HeldBack[node] > 0:
			p.checkIn(p.HeldBack[node])
		case pod.Status.Phase == corev1.PodFailed:
			p.Failed = append(p.Failed, node)
			p.report(corev1.EventTypeWarning, "FailedDaemonPod", "Found failed daemon pod %s/%s on node %s, will try to kill it", pod.Namespace, pod.Name, node)
			p.remove(pod)
		case pod.Status.Phase == corev1.PodSucceeded:
			p.report(corev1.EventTypeNormal, "SucceededDaemonPod", "Found succeeded daemon pod %s/%s on node %s, will try to delete it", pod.Namespace, pod.Name, node)
			p.remove(pod)
		default:
			running = append(running, pod)
		}
	}
	return running
}

// settleSurge allows two pods on a node while an update is under way: the old one goes when
// it isn't ready any more or the new one is available.
func (p *pass) settleSurge(node string, run bool, running []*corev1.Pod) {
	if len(running) == 0 && run {
		p.Create = append(p.Create, node)
	}
	if len(running) <= 1 {
		return
	}
	var fresh, old *corev1.Pod
	for _, pod := range running {
		switch current := pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == p.Hash; {
		case current && fresh == nil:
			fresh = pod
		case !current && old == nil:
			old = pod
		default:
			p.remove(pod)
		}
	}
	if fresh != nil && old != nil && (!podstate.Ready(old) || p.available(fresh)) {
		p.remove(old)
	}
}

// dropHomeless deletes pods that wait for a node which is gone: no collector of lost pods
// sees them, since they were never bound.
func (p *pass) dropHomeless() {
	present := map[string]bool{}
	for _, node := range p.Nodes {
		present[node.Name] = true
	}
	for _, node := range slices.Sorted(maps.Keys(p.byNode)) {
		if present[node] {
			continue
		}
		for _, pod := range p.byNode[node] {
			if pod.Spec.NodeName == "" {
				p.remove(pod)
			}
		}
	}
}

func (p *pass) remove(pod *corev1.Pod) {
	if pod.DeletionTimestamp == nil {
		p.Delete = append(p.Delete, pod)
	}
}

func (p *pass) report(kind, reason, format string, args ...any) {
	p.Reports = append(p.Reports, Report{kind, reason, fmt.Sprintf(format, args...)})
}

func (p *pass) available(pod *corev1.Pod) bool {
	return podstate.Available(pod, p.Set.Spec.MinReadySeconds, p.Now)
}

// checkAvailability asks for another pass when the next ready pod becomes available.
func (p *pass) checkAvailability() {
	for _, pod := range p.Pods {
		if pod.DeletionTimestamp == nil && podstate.Ready(pod) && !p.available(pod) {
			p.checkIn(podstate.AvailableAt(pod, p.Set.Spec.MinReadySeconds).Sub(p.Now))
		}
	}
}

func (p *pass) checkIn(wait time.Duration) {
	if wait > 0 && (p.CheckAfter == 0 || wait < p.CheckAfter) {
		p.CheckAfter = wait
	}
}

// Status is what the DaemonSet shall show.
func Status(observed Observed) appsv1.DaemonSetStatus {
	p := newPass(observed)
	status := *observed.Set.Status.DeepCopy()
	status.ObservedGeneration = observed.Set.Generation
	status.DesiredNumberScheduled, status.CurrentNumberScheduled, status.NumberMisscheduled = 0, 0, 0
	status.NumberReady, status.UpdatedNumberScheduled, status.NumberAvailable = 0, 0, 0
	for _, node := range observed.Nodes {
		run, _ := p.fit.on(node)
		pods := p.byNode[node.Name]
		switch {
		case !run && len(pods) > 0:
			status.NumberMisscheduled++
		case run:
			status.DesiredNumberScheduled++
			if len(pods) > 0 {
				p.count(&status, pods[0])
			}
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	return status
}

// count adds the oldest pod of a node.
func (p *pass) count(status *appsv1.DaemonSetStatus, pod *corev1.Pod) {
	status.CurrentNumberScheduled++
	if podstate.Ready(pod) {
		status.NumberReady++
		if p.available(pod) {
			status.NumberAvailable++
		}
	}
	if updated(p.Set, p.Hash, pod) {
		status.UpdatedNumberScheduled++
	}
}
