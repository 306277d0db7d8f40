package node

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Facts is all that a node's status depends on.
type Facts struct {
	Machine  Machine
	Hostname string
	Address  netip.Addr
	Port     int32
	MaxPods  int
	// KubeletVersion and RuntimeVersion (containerd://2.4.2) are reported as they are.
	KubeletVersion string
	RuntimeVersion string
	// Problems are why the node is not ready.
	Problems []error
	Images   []*runtimeapi.Image
	Handlers []*runtimeapi.RuntimeHandler
	Features *runtimeapi.RuntimeFeatures
	Now      time.Time
}

// Status derives the node's status from the facts and the status as it is. What others added, it keeps.
func Status(current *v1.NodeStatus, facts Facts) v1.NodeStatus {
	s := *current.DeepCopy()
	setResources(&s, facts)
	s.Addresses = []v1.NodeAddress{
		{Type: v1.NodeInternalIP, Address: facts.Address.String()},
		{Type: v1.NodeHostName, Address: facts.Hostname},
	}
	s.DaemonEndpoints.KubeletEndpoint.Port = facts.Port
	s.NodeInfo = facts.Machine.Info
	s.NodeInfo.KubeletVersion, s.NodeInfo.ContainerRuntimeVersion = facts.KubeletVersion, facts.RuntimeVersion
	s.Images = images(facts.Images)
	setHandlers(&s, facts)
	for _, condition := range conditions(facts) {
		setCondition(&s, condition, facts.Now)
	}
	return s
}

// setResources merges the machine's capacity into what is there. Extended resources, which others patch in, are
// allocatable as far as there are any.
func setResources(s *v1.NodeStatus, facts Facts) {
	if s.Capacity == nil {
		s.Capacity = v1.ResourceList{}
	}
	maps.Copy(s.Capacity, facts.Machine.Capacity)
	if _, set := facts.Machine.Capacity[v1.ResourcePods]; !set {
		s.Capacity[v1.ResourcePods] = *resource.NewQuantity(int64(facts.MaxPods), resource.DecimalSI)
	}
	allocatable := v1.ResourceList{}
	for name, quantity := range s.Capacity {
		free := quantity.DeepCopy()
		if reserved, set := facts.Machine.Reserved[name]; set {
			free.Sub(reserved)
			if free.Sign() < 0 {
				free.Set(0)
			}
		}
		if name == v1.ResourceEphemeralStorage {
			// Without a unit, as upstream reports what is left of a disk.
			free = *resource.NewQuantity(free.Value(), resource.DecimalSI)
		}
		allocatable[name] = free
	}
	// Huge pages can't serve as ordinary memory.
	if memory, set := allocatable[v1.ResourceMemory]; set {
		for name, quantity := range s.Capacity {
			if strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix) {
				memory.Sub(quantity)
			}
		}
		allocatable[v1.ResourceMemory] = memory
	}
	s.Allocatable = allocatable
}

func conditions(facts Facts) []v1.NodeCondition {
	ready := v1.NodeCondition{Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}
	if len(facts.Problems) > 0 {
		ready.Status, ready.Reason, ready.Message = v1.ConditionFalse, "KubeletNotReady", join(facts.Problems)
	}
	return []v1.NodeCondition{
		{Type: v1.NodeMemoryPressure, Status: v1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: v1.NodeDiskPressure, Status: v1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: v1.NodePIDPressure, Status: v1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		ready,
	}
}

// join writes several problems as upstream's aggregates do: [first, second].
func join(problems []error) string {
	if len(problems) == 1 {
		return problems[0].Error()
	}
	texts := make([]string, len(problems))
	for i, problem := range problems {
		texts[i] = problem.Error()
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func setCondition(s *v1.NodeStatus, condition v1.NodeCondition, now time.Time) {
	condition.LastHeartbeatTime = metav1.NewTime(now)
	condition.LastTransitionTime = metav1.NewTime(now)
	for i := range s.Conditions {
		if s.Conditions[i].Type == condition.Type {
			if s.Conditions[i].Status == condition.Status {
				condition.LastTransitionTime = s.Conditions[i].LastTransitionTime
			}
			s.Conditions[i] = condition
			return
		}
	}
	s.Conditions = append(s.Conditions, condition)
}

// The most images that a status lists, and the most names of one.
const (
	maxImages     = 50
	maxImageNames = 5
)

// images lists the largest images: they are what the scheduler weighs.
func images(all []*runtimeapi.Image) []v1.ContainerImage {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b *runtimeapi.Image) int {
		if a.Size != b.Size {
			if a.Size > b.Size {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Id, b.Id)
	})
	var list []v1.ContainerImage
	for _, image := range sorted {
		names := append(slices.Clone(image.RepoDigests), image.RepoTags...)
		if len(names) == 0 || len(list) == maxImages {
			continue
		}
		if len(names) > maxImageNames {
			names = names[:maxImageNames]
		}
		list = append(list, v1.ContainerImage{Names: names, SizeBytes: int64(image.Size)})
	}
	return list
}

func setHandlers(s *v1.NodeStatus, facts Facts) {
	s.RuntimeHandlers = nil
	for _, handler := range facts.Handlers {
		readOnly, users := handler.GetFeatures().GetRecursiveReadOnlyMounts(), handler.GetFeatures().GetUserNamespaces()
		s.RuntimeHandlers = append(s.RuntimeHandlers, v1.NodeRuntimeHandler{
			Name: handler.Name, Features: &v1.NodeRuntimeHandlerFeatures{RecursiveReadOnlyMounts: &readOnly, UserNamespaces: &users},
		})
	}
	slices.SortFunc(s.RuntimeHandlers, func(a, b v1.NodeRuntimeHandler) int { return strings.Compare(a.Name, b.Name) })
	s.Features = nil
	if facts.Features != nil {
		policy := facts.Features.SupplementalGroupsPolicy
		s.Features = &v1.NodeFeatures{SupplementalGroupsPolicy: &policy}
	}
}

// Changed tells whether two statuses differ in more than their heartbeats.
func Changed(a, b *v1.NodeStatus) bool {
	x, y := a.DeepCopy(), b.DeepCopy()
	for _, s := range []*v1.NodeStatus{x, y} {
		for i := range s.Conditions {
			s.Conditions[i].LastHeartbeatTime = metav1.Time{}
		}
	}
	return !equal(x, y)
}

// Problems turns what the runtime says of itself into the reasons why the node is not ready.
func Problems(status *runtimeapi.RuntimeStatus) []error {
	var problems []error
	find := func(name string) *runtimeapi.RuntimeCondition {
		for _, condition := range status.GetConditions() {
			if condition.Type == name {
				return condition
			}
		}
		return nil
	}
	if c := find(runtimeapi.RuntimeReady); c == nil || !c.Status {
		problems = append(problems, errors.New("container runtime not ready: "+describe(runtimeapi.RuntimeReady, c)))
	}
	if c := find(runtimeapi.NetworkReady); c == nil || !c.Status {
		problems = append(problems, errors.New("container runtime network not ready: "+describe(runtimeapi.NetworkReady, c)))
	}
	return problems
}

func describe(name string, c *runtimeapi.RuntimeCondition) string {
	if c == nil {
		return name + "=false reason:Missing message:the runtime doesn't say"
	}
	return name + "=false reason:" + c.Reason + " message:" + c.Message
}
