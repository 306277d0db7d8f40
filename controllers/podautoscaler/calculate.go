package podautoscaler

import (
	"errors"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

// Upstream's defaults.
const (
	// cpuInitialization is how long after its start a pod's CPU usage isn't trusted unless
	// the pod is ready and was so for the whole of the measurement.
	cpuInitialization = 5 * time.Minute
	// readinessDelay is how long after its start a pod that was never ready counts as such.
	readinessDelay = 30 * time.Second
	// defaultTolerance is how far usage may be off before the number changes.
	defaultTolerance = 0.1
)

// Sample is what one pod uses, in thousandths.
type Sample struct {
	Value  int64
	At     time.Time
	Window time.Duration
}

// Samples are the pods' samples by name.
type Samples map[string]Sample

// tolerance is how far a ratio may be off 1.
type tolerance struct{ down, up float64 }

func (t tolerance) holds(ratio float64) bool { return 1-t.down <= ratio && ratio <= 1+t.up }

// measure weighs samples against a target; assume is what a pod without a sample is taken
// to use while the ratio is below 1.
type measure struct {
	ratio  func(Samples) (float64, error)
	assume func(pod string) int64
}

var errNoPods = errors.New("no pods returned by selector while calculating replica count")

// replicasBy gives the number of pods by which the ratio would be 1. Pods whose samples can't
// be trusted are assumed to hold the number where it is.
func replicasBy(m measure, current int32, pods []*corev1.Pod, samples Samples, resource corev1.ResourceName, t tolerance, now time.Time) (int32, error) {
	if len(pods) == 0 {
		return 0, errNoPods
	}
	ready, unready, missing, trusted := group(pods, samples, resource, now)
	if len(trusted) == 0 {
		return 0, errors.New("did not receive metrics for targeted pods (pods might be unready)")
	}
	ratio, err := m.ratio(trusted)
	if err != nil {
		return 0, err
	}
	growing := len(unready) > 0 && ratio > 1
	if !growing && len(missing) == 0 {
		if t.holds(ratio) {
			return current, nil
		}
		return ceil(ratio * float64(ready)), nil
	}
	for _, pod := range missing {
		switch {
		case ratio < 1:
			trusted[pod] = Sample{Value: m.assume(pod)}
		case ratio > 1:
			trusted[pod] = Sample{}
		}
	}
	if growing {
		for _, pod := range unready {
			trusted[pod] = Sample{}
		}
	}
	careful, err := m.ratio(trusted)
	if err != nil {
		return 0, err
	}
	if t.holds(careful) || (ratio < 1) != (careful < 1) || (ratio > 1) != (careful > 1) {
		return current, nil
	}
	replicas := ceil(careful * float64(len(trusted)))
	if careful < 1 && replicas > current || careful > 1 && replicas < current {
		return current, nil
	}
	return replicas, nil
}

func ceil(f float64) int32 { return int32(min(math.Ceil(f), math.MaxInt32)) }

// group parts pods by whether their samples count: ready ones do; unready ones don't; missing
// have none. Pods that are on their way out or have failed are left out altogether.
func group(pods []*corev1.Pod, samples Samples, resource corev1.ResourceName, now time.Time) (ready int, unready, missing []string, trusted Samples) {
	trusted = Samples{}
	known := map[string]bool{}
	for _, pod := range pods {
		known[pod.Name] = true
		sample, sampled := samples[pod.Name]
		switch {
		case pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed:
		case pod.Status.Phase == corev1.PodPending:
			unready = append(unready, pod.Name)
		case !sampled:
			missing = append(missing, pod.Name)
		case resource == corev1.ResourceCPU && !settled(pod, sample, now):
			unready = append(unready, pod.Name)
		default:
			ready++
			trusted[pod.Name] = sample
		}
	}
	for name, sample := range samples {
		if !known[name] {
			trusted[name] = sample
		}
	}
	return ready, unready, missing, trusted
}

// settled says that a pod's CPU usage is that of its work, not that of its start.
func settled(pod *corev1.Pod, sample Sample, now time.Time) bool {
	condition := podstate.Condition(pod, corev1.PodReady)
	if condition == nil || pod.Status.StartTime == nil {
		return false
	}
	started, changed := pod.Status.StartTime.Time, condition.LastTransitionTime.Time
	unready := condition.Status == corev1.ConditionFalse
	if started.Add(cpuInitialization).After(now) {
		return !unready && !sample.At.Before(changed.Add(sample.Window))
	}
	return !unready || !started.Add(readinessDelay).After(changed)
}

// byUtilization weighs usage against what pods request.
func byUtilization(requests map[string]int64, target int32) measure {
	return measure{
		ratio: func(samples Samples) (float64, error) {
			utilization, _, err := utilizationOf(samples, requests)
			return float64(utilization) / float64(target), err
		},
		assume: func(pod string) int64 { return requests[pod] * int64(max(100, target)) / 100 },
	}
}

// utilizationOf gives usage in percent of the requests, and the average usage of a pod.
func utilizationOf(samples Samples, requests map[string]int64) (percent int32, average int64, err error) {
	var used, requested, count int64
	for pod, sample := range samples {
		if request, ok := requests[pod]; ok {
			used, requested, count = used+sample.Value, requested+request, count+1
		}
	}
	if requested == 0 {
		return 0, 0, errors.New("no metrics returned matched known pods")
	}
	return int32(used * 100 / requested), used / count, nil
}

// byUsage weighs the average usage of a pod against a target.
func byUsage(target int64) measure {
	return measure{
		ratio:  func(samples Samples) (float64, error) { return float64(averageOf(samples)) / float64(target), nil },
		assume: func(string) int64 { return target },
	}
}

func averageOf(samples Samples) int64 {
	var used int64
	for _, sample := range samples {
		used += sample.Value
	}
	return used / int64(max(1, len(samples)))
}

// requestsOf gives what each pod requests of a resource, in thousandths: in all, or by one
// container.
func requestsOf(pods []*corev1.Pod, container string, resource corev1.ResourceName) (map[string]int64, error) {
	requests := make(map[string]int64, len(pods))
	for _, pod := range pods {
		request, err := requestOf(pod, container, resource)
		if err != nil {
			return nil, err
		}
		requests[pod.Name] = request
	}
	return requests, nil
}

func requestOf(pod *corev1.Pod, container string, resource corev1.ResourceName) (int64, error) {
	if container == "" && resourcehelper.IsPodLevelRequestsSet(pod) {
		amount, ok := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})[resource]
		if !ok {
			return 0, fmt.Errorf("missing pod-level request for %s in Pod %s", resource, pod.Name)
		}
		return amount.MilliValue(), nil
	}
	containers := append([]corev1.Container{}, pod.Spec.Containers...)
	for _, c := range pod.Spec.InitContainers {
		if podstate.Sidecar(pod, c.Name) {
			containers = append(containers, c)
		}
	}
	sum := int64(0)
	for _, c := range containers {
		if container != "" && container != c.Name {
			continue
		}
		amount, ok := c.Resources.Requests[resource]
		if !ok {
			return 0, fmt.Errorf("missing request for %s in container %s of Pod %s", resource, c.Name, pod.Name)
		}
		sum += amount.MilliValue()
		if container == c.Name {
			return sum, nil
		}
	}
	if container != "" {
		return 0, fmt.Errorf("container %s not found in Pod %s", container, pod.Name)
	}
	return sum, nil
}

// replicasByRatio gives the number of pods by which a ratio that isn't about pods would be 1.
func replicasByRatio(ratio float64, current int32, pods []*corev1.Pod, t tolerance) (int32, error) {
	if current == 0 {
		return ceil(ratio), nil
	}
	if t.holds(ratio) {
		return current, nil
	}
	if len(pods) == 0 {
		return 0, fmt.Errorf("unable to calculate ready pods: %w", errNoPods)
	}
	ready := 0
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodRunning && podstate.Ready(pod) {
			ready++
		}
	}
	return ceil(ratio * float64(ready)), nil
}

// replicasByShare gives the number of pods by which each has its share of a sum.
func replicasByShare(sum, share int64, current int32, t tolerance) (replicas int32, average int64) {
	replicas = current
	if !t.holds(float64(sum) / (float64(share) * float64(current))) {
		replicas = ceil(float64(sum) / float64(share))
	}
	if each := math.Ceil(float64(sum) / float64(current)); each < math.MaxInt64 {
		return replicas, int64(each)
	}
	return replicas, math.MaxInt64
}
