package server

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// metrics tells the few figures that the kubelet keeps of itself.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	pods := s.options.Host.Pods()
	uids, err := s.options.Runtime.UIDs(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	name := ""
	if node := s.options.Host.Node(); node != nil {
		name = node.Name
	}
	w.Header().Set("Content-Type", metricsType)
	var out strings.Builder
	gauge(&out, "kubelet_node_name", "The node's name. The count is always 1.", `node="`+name+`"`, 1)
	gauge(&out, "kubelet_desired_pods", "Pods that are assigned to the node.", "", float64(len(pods)))
	gauge(&out, "kubelet_running_pods", "Pods that have a sandbox in the container runtime.", "", float64(len(uids)))
	s.write(w, []byte(out.String()))
}

func gauge(w io.Writer, name, help, labels string, value float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	// The writer is a string in memory.
	_, _ = fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s%s %s\n", name, help, name, name, labels, strconv.FormatFloat(value, 'g', -1, 64))
}

// resourceMetrics is what metrics-server reads: usage of cpu and memory by container, pod and node.
func (s *Server) resourceMetrics(w http.ResponseWriter, r *http.Request) {
	summary, err := s.usage(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	m := resources{}
	m.add("node_cpu_usage_seconds_total", "node_memory_working_set_bytes", "", summary.Node.CPU, summary.Node.Memory)
	for i := range summary.Pods {
		pod := &summary.Pods[i]
		labels := fmt.Sprintf("namespace=%q,pod=%q", pod.PodRef.Namespace, pod.PodRef.Name)
		m.add("pod_cpu_usage_seconds_total", "pod_memory_working_set_bytes", labels, pod.CPU, pod.Memory)
		for j := range pod.Containers {
			c := &pod.Containers[j]
			m.add("container_cpu_usage_seconds_total", "container_memory_working_set_bytes",
				fmt.Sprintf("container=%q,%s", c.Name, labels), c.CPU, c.Memory)
		}
	}
	for _, pod := range s.options.Host.Pods() {
		for i := range pod.Status.ContainerStatuses {
			if running := pod.Status.ContainerStatuses[i].State.Running; running != nil {
				m.sample("container_start_time_seconds", "gauge", fmt.Sprintf("container=%q,namespace=%q,pod=%q",
					pod.Status.ContainerStatuses[i].Name, pod.Namespace, pod.Name), float64(running.StartedAt.Unix()), time.Time{})
			}
		}
	}
	m.sample("resource_scrape_error", "gauge", "", 0, time.Time{})
	w.Header().Set("Content-Type", metricsType)
	s.write(w, []byte(m.text()))
}

// resources collects samples by the name of their metric: the format wants those of one together.
type resources struct {
	names []string
	lines map[string]*strings.Builder
}

func (m *resources) add(cpuName, memoryName, labels string, cpu *statsapi.CPUStats, memory *statsapi.MemoryStats) {
	if cpu != nil && cpu.UsageCoreNanoSeconds != nil {
		m.sample(cpuName, "counter", labels, float64(*cpu.UsageCoreNanoSeconds)/float64(time.Second), cpu.Time.Time)
	}
	if memory != nil && memory.WorkingSetBytes != nil {
		m.sample(memoryName, "gauge", labels, float64(*memory.WorkingSetBytes), memory.Time.Time)
	}
}

func (m *resources) sample(name, kind, labels string, value float64, at time.Time) {
	if m.lines == nil {
		m.lines = map[string]*strings.Builder{}
	}
	out := m.lines[name]
	if out == nil {
		out = &strings.Builder{}
		m.lines[name], m.names = out, append(m.names, name)
		_, _ = fmt.Fprintf(out, "# HELP %s [STABLE] Usage as the container runtime measures it.\n# TYPE %s %s\n", name, name, kind)
	}
	if labels != "" {
		labels = "{" + labels + "}"
	}
	_, _ = fmt.Fprintf(out, "%s%s %s", name, labels, strconv.FormatFloat(value, 'g', -1, 64))
	if !at.IsZero() {
		_, _ = fmt.Fprintf(out, " %d", at.UnixMilli())
	}
	out.WriteByte('\n')
}

func (m *resources) text() string {
	var out strings.Builder
	for _, name := range m.names {
		out.WriteString(m.lines[name].String())
	}
	return out.String()
}
