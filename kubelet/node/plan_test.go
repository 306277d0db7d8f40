package node

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func facts() Facts {
	return Facts{
		Machine: Machine{
			Capacity: v1.ResourceList{v1.ResourceCPU: resource.MustParse("4"), v1.ResourceMemory: resource.MustParse("8Gi"), "hugepages-2Mi": resource.MustParse("1Gi"), v1.ResourceEphemeralStorage: resource.MustParse("10Gi")},
			Reserved: v1.ResourceList{v1.ResourceMemory: resource.MustParse("100Mi"), v1.ResourceEphemeralStorage: resource.MustParse("1Gi")},
		},
		Hostname: "n", Address: netip.MustParseAddr("192.0.2.1"), Port: 10250, MaxPods: 110, Now: time.Unix(1000, 0),
	}
}

func TestStatusMergesResources(t *testing.T) {
	t.Parallel()
	current := &v1.NodeStatus{Capacity: v1.ResourceList{"example.com/thing": resource.MustParse("3"), v1.ResourceCPU: resource.MustParse("1")}}
	s := Status(current, facts())
	for name, want := range map[v1.ResourceName][2]string{
		v1.ResourceCPU: {"4", "4"}, v1.ResourceMemory: {"8Gi", "7068Mi"}, v1.ResourcePods: {"110", "110"}, "example.com/thing": {"3", "3"},
		v1.ResourceEphemeralStorage: {"10Gi", "9663676416"}, "hugepages-2Mi": {"1Gi", "1Gi"},
	} {
		capacity, allocatable := s.Capacity[name], s.Allocatable[name]
		if capacity.String() != want[0] || allocatable.String() != want[1] {
			t.Errorf("%s: capacity %s, allocatable %s, want %v", name, capacity.String(), allocatable.String(), want)
		}
	}
}

func TestReadyCondition(t *testing.T) {
	t.Parallel()
	f := facts()
	s := Status(&v1.NodeStatus{}, f)
	ready := s.Conditions[3]
	if ready.Type != v1.NodeReady || ready.Status != v1.ConditionTrue || ready.Reason != "KubeletReady" || ready.Message != "kubelet is posting ready status" {
		t.Errorf("ready = %+v", ready)
	}
	later := f
	later.Now = f.Now.Add(time.Minute)
	again := Status(&s, later)
	if Changed(&s, &again) || !again.Conditions[3].LastTransitionTime.Equal(&ready.LastTransitionTime) || again.Conditions[3].LastHeartbeatTime.Equal(&ready.LastHeartbeatTime) {
		t.Errorf("a heartbeat is a change, or none: %+v", again.Conditions[3])
	}
	later.Problems = []error{errors.New("one"), errors.New("two")}
	failed := Status(&s, later)
	if got := failed.Conditions[3]; got.Status != v1.ConditionFalse || got.Reason != "KubeletNotReady" || got.Message != "[one, two]" || got.LastTransitionTime.Equal(&ready.LastTransitionTime) {
		t.Errorf("ready = %+v", got)
	}
	if !Changed(&s, &failed) {
		t.Error("a failure is no change")
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	status := &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		{Type: runtimeapi.RuntimeReady, Status: true},
		{Type: runtimeapi.NetworkReady, Reason: "NetworkPluginNotReady", Message: "Network plugin returns error: cni plugin not initialized"},
	}}
	got := Problems(status)
	want := "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
	if len(got) != 1 || got[0].Error() != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestLargestImagesFirst(t *testing.T) {
	t.Parallel()
	all := []*runtimeapi.Image{{Id: "a", Size: 1, RepoTags: []string{"a:1"}}, {Id: "none", Size: 9}}
	for range 60 {
		all = append(all, &runtimeapi.Image{Id: "b", Size: 5, RepoTags: []string{"b:1"}, RepoDigests: []string{"b@1", "b@2", "b@3", "b@4", "b@5"}})
	}
	got := images(all)
	if len(got) != 50 || got[0].SizeBytes != 5 || len(got[0].Names) != 5 {
		t.Errorf("%d images, first %+v", len(got), got[0])
	}
}
