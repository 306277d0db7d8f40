package core

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// podSummary is what a pod's containers come to.
type podSummary struct {
	ready, total int
	reason       string
	restarts     int32
	lastRestart  metav1.Time
}

// podRow shows a pod.
func podRow(p *corev1.Pod) []any {
	s := summarize(p)
	restarts := strconv.Itoa(int(s.restarts))
	if s.restarts != 0 && !s.lastRestart.IsZero() {
		restarts = fmt.Sprintf("%d (%s ago)", s.restarts, resource.Age(s.lastRestart))
	}
	return []any{
		p.Name, fmt.Sprintf("%d/%d", s.ready, s.total), s.reason, restarts, resource.AgeOf(p),
		orNone(firstIP(p)), orNone(p.Spec.NodeName), orNone(p.Status.NominatedNodeName), gates(p),
	}
}

func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

func firstIP(p *corev1.Pod) string {
	if len(p.Status.PodIPs) == 0 {
		return ""
	}
	return p.Status.PodIPs[0].IP
}

func gates(p *corev1.Pod) string {
	if len(p.Spec.ReadinessGates) == 0 {
		return "<none>"
	}
	open := 0
	for _, g := range p.Spec.ReadinessGates {
		if isTrue(p, g.ConditionType) {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, len(p.Spec.ReadinessGates))
}

func isTrue(p *corev1.Pod, t corev1.PodConditionType) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == t {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// podRowConditions marks pods that have ended.
func podRowConditions(p *corev1.Pod) []metav1.TableRowCondition {
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		return []metav1.TableRowCondition{{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(corev1.PodSucceeded), Message: "The pod has completed successfully."}}
	case corev1.PodFailed:
		return []metav1.TableRowCondition{{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(corev1.PodFailed), Message: "The pod failed."}}
	}
	return nil
}

// summarize finds the one word that tells best how a pod is.
func summarize(p *corev1.Pod) podSummary {
	s := podSummary{total: len(p.Spec.Containers), reason: string(p.Status.Phase)}
	if p.Status.Reason != "" {
		s.reason = p.Status.Reason
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			s.reason = corev1.PodReasonSchedulingGated
		}
	}
	sidecars := map[string]bool{}
	for _, c := range p.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars[c.Name] = true
			s.total++
		}
	}
	sidecarsOnly := podSummary{}
	if initializing := s.addInit(p, sidecars, &sidecarsOnly); !initializing || isTrue(p, corev1.PodInitialized) {
		s.restarts, s.lastRestart = sidecarsOnly.restarts, sidecarsOnly.lastRestart
		s.addMain(p)
	}
	switch {
	case p.DeletionTimestamp == nil:
	case p.Status.Reason == "NodeLost":
		s.reason = "Unknown"
	case p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed:
		s.reason = "Terminating"
	}
	return s
}

func (s *podSummary) count(c *corev1.ContainerStatus) {
	s.restarts += c.RestartCount
	if t := c.LastTerminationState.Terminated; t != nil && s.lastRestart.Before(&t.FinishedAt) {
		s.lastRestart = t.FinishedAt
	}
}

// addInit walks the init containers up to the one that the pod waits for, and says whether there is one.
func (s *podSummary) addInit(p *corev1.Pod, sidecars map[string]bool, sidecarsOnly *podSummary) bool {
	for i := range p.Status.InitContainerStatuses {
		c := &p.Status.InitContainerStatuses[i]
		s.count(c)
		if sidecars[c.Name] {
			sidecarsOnly.count(c)
		}
		t := c.State.Terminated
		switch {
		case t != nil && t.ExitCode == 0:
			continue
		case sidecars[c.Name] && c.Started != nil && *c.Started:
			if c.Ready {
				s.ready++
			}
			continue
		case t != nil:
			s.reason = "Init:" + ended(t)
		case c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing":
			s.reason = "Init:" + c.State.Waiting.Reason
		default:
			s.reason = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		return true
	}
	return false
}

func ended(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// addMain walks the main containers, the first having the last word.
func (s *podSummary) addMain(p *corev1.Pod) {
	running := false
	failure := ""
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &p.Status.ContainerStatuses[i]
		s.count(c)
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			s.reason = c.State.Waiting.Reason
		case c.State.Terminated != nil:
			s.reason = ended(c.State.Terminated)
			if c.State.Terminated.ExitCode != 0 {
				failure = s.reason
			}
		case c.Ready && c.State.Running != nil:
			running = true
			s.ready++
		}
	}
	if s.reason != "Completed" {
		return
	}
	switch {
	case running && isTrue(p, corev1.PodReady):
		s.reason = "Running"
	case failure != "":
		s.reason = failure
	case running:
		s.reason = "NotReady"
	}
}
