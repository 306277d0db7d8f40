package server

import (
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// summary tells what each container uses, as the runtime measures it.
func (s *Server) summary(w http.ResponseWriter, r *http.Request) {
	summary, err := s.usage(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.json(w, summary)
}

func (s *Server) usage(r *http.Request) (*statsapi.Summary, error) {
	summary := &statsapi.Summary{Pods: []statsapi.PodStats{}}
	if node := s.options.Host.Node(); node != nil {
		summary.Node.NodeName, summary.Node.StartTime = node.Name, node.CreationTimestamp
	}
	response, err := s.options.Runtime.CRI.ListContainerStats(r.Context(), &runtimeapi.ListContainerStatsRequest{})
	if err != nil {
		return nil, err
	}
	pods := map[string]*statsapi.PodStats{}
	for _, stats := range response.Stats {
		labels := stats.GetAttributes().GetLabels()
		uid := kubelettypes.GetPodUID(labels)
		pod := pods[uid]
		if pod == nil {
			pod = &statsapi.PodStats{PodRef: statsapi.PodReference{Name: kubelettypes.GetPodName(labels), Namespace: kubelettypes.GetPodNamespace(labels), UID: uid}}
			pods[uid] = pod
		}
		pod.Containers = append(pod.Containers, containerStats(labels, stats))
	}
	for _, pod := range pods {
		sum(pod)
		summary.Pods = append(summary.Pods, *pod)
		addTo(&summary.Node, pod)
	}
	slices.SortFunc(summary.Pods, func(a, b statsapi.PodStats) int {
		return strings.Compare(a.PodRef.Namespace+"/"+a.PodRef.Name, b.PodRef.Namespace+"/"+b.PodRef.Name)
	})
	return summary, nil
}

func containerStats(labels map[string]string, stats *runtimeapi.ContainerStats) statsapi.ContainerStats {
	container := statsapi.ContainerStats{Name: kubelettypes.GetContainerName(labels)}
	if cpu := stats.Cpu; cpu != nil {
		container.CPU = &statsapi.CPUStats{
			Time:                 metav1.NewTime(time.Unix(0, cpu.Timestamp)),
			UsageNanoCores:       value(cpu.UsageNanoCores),
			UsageCoreNanoSeconds: value(cpu.UsageCoreNanoSeconds),
		}
	}
	if memory := stats.Memory; memory != nil {
		container.Memory = &statsapi.MemoryStats{
			Time:            metav1.NewTime(time.Unix(0, memory.Timestamp)),
			WorkingSetBytes: value(memory.WorkingSetBytes), AvailableBytes: value(memory.AvailableBytes),
			UsageBytes: value(memory.UsageBytes), RSSBytes: value(memory.RssBytes),
			PageFaults: value(memory.PageFaults), MajorPageFaults: value(memory.MajorPageFaults),
		}
	}
	if layer := stats.WritableLayer; layer != nil {
		container.Rootfs = &statsapi.FsStats{
			Time:      metav1.NewTime(time.Unix(0, layer.Timestamp)),
			UsedBytes: value(layer.UsedBytes), InodesUsed: value(layer.InodesUsed),
		}
	}
	return container
}

// sum adds up a pod's containers.
func sum(pod *statsapi.PodStats) {
	pod.CPU, pod.Memory = &statsapi.CPUStats{}, &statsapi.MemoryStats{}
	for i := range pod.Containers {
		if cpu := pod.Containers[i].CPU; cpu != nil {
			pod.CPU.Time = cpu.Time
			add(&pod.CPU.UsageNanoCores, cpu.UsageNanoCores)
			add(&pod.CPU.UsageCoreNanoSeconds, cpu.UsageCoreNanoSeconds)
		}
		if memory := pod.Containers[i].Memory; memory != nil {
			pod.Memory.Time = memory.Time
			add(&pod.Memory.WorkingSetBytes, memory.WorkingSetBytes)
			add(&pod.Memory.UsageBytes, memory.UsageBytes)
			add(&pod.Memory.RSSBytes, memory.RSSBytes)
		}
	}
}

// addTo adds a pod to the node: what pods use, which on a node that is a container is all that is the node's own.
func addTo(node *statsapi.NodeStats, pod *statsapi.PodStats) {
	if node.CPU == nil {
		node.CPU, node.Memory = &statsapi.CPUStats{}, &statsapi.MemoryStats{}
	}
	node.CPU.Time, node.Memory.Time = pod.CPU.Time, pod.Memory.Time
	add(&node.CPU.UsageNanoCores, pod.CPU.UsageNanoCores)
	add(&node.CPU.UsageCoreNanoSeconds, pod.CPU.UsageCoreNanoSeconds)
	add(&node.Memory.WorkingSetBytes, pod.Memory.WorkingSetBytes)
	add(&node.Memory.UsageBytes, pod.Memory.UsageBytes)
	add(&node.Memory.RSSBytes, pod.Memory.RSSBytes)
}

func value(v *runtimeapi.UInt64Value) *uint64 {
	if v == nil {
		return nil
	}
	return &v.Value
}

func add(to **uint64, more *uint64) {
	if more == nil {
		return
	}
	total := *more
	if *to != nil {
		total += **to
	}
	*to = &total
}
