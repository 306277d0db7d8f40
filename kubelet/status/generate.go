package status

import (
	"net/netip"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kogge-dev/kogge/kubelet/plan"
	"github.com/kogge-dev/kogge/kubelet/podspec"
	"github.com/kogge-dev/kogge/kubelet/runtime"
)

// Reason is why a container that should run does not: a reason in CamelCase and a text.
type Reason struct {
	Reason  string
	Message string
}

// Verdict ends a pod from the node's side: rejected, past its deadline, evicted.
type Verdict struct {
	Reason  string
	Message string
	// Condition is added when the verdict is a disruption; nil otherwise.
	Condition *v1.PodCondition
}

// Input is all that a status depends on.
type Input struct {
	Pod *v1.Pod
	// Old is the status that was written last, or the API's.
	Old      *v1.PodStatus
	Observed *runtime.Pod
	// RuntimeName prefixes container ids: containerd://….
	RuntimeName string
	// Reasons are by container name.
	Reasons map[string]Reason
	// Probes returns the results for a container by its id.
	Probes func(containerID string) plan.Probes
	// Terminal: the pod is ending for good, whatever its restart policy.
	Terminal bool
	// Finished: nothing of the pod runs any more, and nothing will.
	Finished bool
	// Verdict of the node; nil for none.
	Verdict *Verdict
	// HostIPs are the node's addresses, the primary one first.
	HostIPs []netip.Addr
	Now     time.Time
}

// Generate derives the pod's status.
func Generate(in Input) v1.PodStatus {
	pod := in.Pod
	s := v1.PodStatus{
		ObservedGeneration:          pod.Generation,
		QOSClass:                    podspec.QOS(pod),
		NominatedNodeName:           in.Old.NominatedNodeName,
		ResourceClaimStatuses:       pod.Status.ResourceClaimStatuses,
		ExtendedResourceClaimStatus: pod.Status.ExtendedResourceClaimStatus,
	}
	s.NodeAllocatableResourceClaimStatuses = pod.Status.NodeAllocatableResourceClaimStatuses
	setAddresses(in, &s)
	s.ContainerStatuses = mainStatuses(in)
	s.InitContainerStatuses = initStatuses(in)
	s.EphemeralContainerStatuses = ephemeralStatuses(in)
	if in.Finished {
		terminateLost(&s, in)
	}
	s.Resources, s.AllocatedResources = podResources(pod)
	setPhase(in, &s)
	s.Conditions = conditions(in, &s)
	setStartTime(in, &s)
	normalize(pod, &s)
	return s
}

// setPhase derives the phase, keeps a terminal one, and holds a new terminal one back while containers run: other
// parts of the cluster take a terminal phase as leave to use what the pod used.
func setPhase(in Input, s *v1.PodStatus) {
	phase := Phase(in.Pod, s, in.Terminal, plan.Initialized(in.Pod, in.Observed))
	if in.Finished && phase != v1.PodSucceeded {
		phase = v1.PodFailed
	}
	verdict := in.Verdict
	if verdict != nil {
		phase, s.Reason, s.Message = v1.PodFailed, verdict.Reason, verdict.Message
	}
	if IsTerminal(in.Old.Phase) {
		phase, verdict = in.Old.Phase, nil
		s.Reason, s.Message = in.Old.Reason, in.Old.Message
	}
	if IsTerminal(phase) && !IsTerminal(in.Old.Phase) && in.Observed.Alive() {
		phase, verdict = in.Old.Phase, nil
		s.Reason, s.Message = in.Old.Reason, in.Old.Message
	}
	if verdict == nil && phase == in.Old.Phase {
		s.Reason, s.Message = in.Old.Reason, in.Old.Message
	}
	s.Phase = phase
}

// IsTerminal tells whether a pod never leaves the phase.
func IsTerminal(phase v1.PodPhase) bool { return phase == v1.PodSucceeded || phase == v1.PodFailed }

func setAddresses(in Input, s *v1.PodStatus) {
	for _, ip := range in.HostIPs {
		s.HostIPs = append(s.HostIPs, v1.HostIP{IP: ip.String()})
	}
	ips := sortIPs(in.Observed.IPs(), in.HostIPs)
	switch {
	case in.Pod.Spec.HostNetwork && len(in.Old.PodIPs) > 0:
		s.PodIPs = in.Old.PodIPs
	case in.Pod.Spec.HostNetwork:
		for _, ip := range in.HostIPs {
			s.PodIPs = append(s.PodIPs, v1.PodIP{IP: ip.String()})
		}
	case len(ips) > 0:
		for _, ip := range ips {
			s.PodIPs = append(s.PodIPs, v1.PodIP{IP: ip})
		}
	case in.Observed.ReadySandbox() == nil:
		s.PodIPs = in.Old.PodIPs // what it was stays to be seen after the sandbox is gone
	}
	if len(s.HostIPs) > 0 {
		s.HostIP = s.HostIPs[0].IP
	}
	if len(s.PodIPs) > 0 {
		s.PodIP = s.PodIPs[0].IP
	}
}

// sortIPs puts the address of the node's family first, and keeps one of each family.
func sortIPs(ips []string, host []netip.Addr) []string {
	var v4, v6 string
	for _, text := range ips {
		ip, err := netip.ParseAddr(text)
		switch {
		case err != nil:
		case ip.Unmap().Is4() && v4 == "":
			v4 = ip.Unmap().String()
		case !ip.Unmap().Is4() && v6 == "":
			v6 = ip.String()
		}
	}
	first, second := v4, v6
	if len(host) > 0 && !host[0].Unmap().Is4() {
		first, second = v6, v4
	}
	var sorted []string
	for _, ip := range []string{first, second} {
		if ip != "" {
			sorted = append(sorted, ip)
		}
	}
	return sorted
}

func setStartTime(in Input, s *v1.PodStatus) {
	if old := in.Old.StartTime; old != nil && !old.IsZero() {
		s.StartTime = old
		return
	}
	now := metav1.NewTime(in.Now)
	s.StartTime = &now
}

// podResources are the pod's resources as a whole: what it specifies, or the sum of its containers'.
func podResources(pod *v1.Pod) (*v1.ResourceRequirements, v1.ResourceList) {
	options := resourcehelper.PodResourcesOptions{}
	requests, limits := resourcehelper.PodRequests(pod, options), resourcehelper.PodLimits(pod, options)
	resources := &v1.ResourceRequirements{}
	if len(requests) > 0 {
		resources.Requests = requests
	}
	if len(limits) > 0 {
		resources.Limits = limits
	}
	if len(requests) == 0 {
		requests = nil
	}
	return resources, requests
}
