package endpoints

import (
	"maps"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/controllers/internal/backends"
	"github.com/kogge-dev/kogge/controllers/internal/podstate"
)

const (
	// managedByLabel says who keeps the object; upstream's mirroring of Endpoints into
	// slices leaves those alone that have it.
	managedByLabel = "endpoints.kubernetes.io/managed-by"
	managedBy      = "endpoint-controller"
	// capacity is how many addresses an object holds at most.
	capacity = 1000
	// truncated is what the over-capacity annotation says when addresses were left out.
	truncated = "truncated"
)

// Observed is everything that a decision about one Service rests on.
type Observed struct {
	Service *corev1.Service
	// Pods are those that the Service selects.
	Pods []corev1.Pod
	// Current is the present object; nil when there is none.
	Current *corev1.Endpoints
	// Triggered is when the change happened that this is about; zero: unknown.
	Triggered time.Time
}

// Decide gives the object as it shall be, and whether that is a change. It changes
// nothing that it is given.
func Decide(observed Observed) (wanted *corev1.Endpoints, change bool) {
	service := observed.Service
	subsets := backends.Repack(rawSubsets(service, observed.Pods))
	labels := objectLabels(service)
	current := observed.Current
	if current == nil {
		wanted = &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Name: service.Name}}
	} else {
		_, over := current.Annotations[corev1.EndpointsOverCapacity]
		if sameSubsets(current.Subsets, subsets) && !over && count(subsets) <= capacity &&
			sameLabels(current.Labels, labels) {
			return current, false
		}
		wanted = current.DeepCopy()
	}
	wanted.Labels = labels
	wanted.Subsets = subsets
	annotate(wanted, corev1.EndpointsLastChangeTriggerTime, "", observed.Triggered.IsZero())
	if !observed.Triggered.IsZero() {
		annotate(wanted, corev1.EndpointsLastChangeTriggerTime, observed.Triggered.UTC().Format(time.RFC3339Nano), false)
	}
	annotate(wanted, corev1.EndpointsOverCapacity, truncated, !truncate(wanted.Subsets))
	return wanted, current == nil || !apiequality.Semantic.DeepEqual(current, wanted)
}

// annotate sets an annotation or takes it away.
func annotate(object *corev1.Endpoints, key, value string, remove bool) {
	if remove {
		delete(object.Annotations, key)
		return
	}
	metav1.SetMetaDataAnnotation(&object.ObjectMeta, key, value)
}

func objectLabels(service *corev1.Service) map[string]string {
	labels := maps.Clone(service.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	delete(labels, corev1.IsHeadlessService)
	if backends.Headless(service) {
		labels[corev1.IsHeadlessService] = ""
	}
	labels[managedByLabel] = managedBy
	return labels
}

func sameLabels(a, b map[string]string) bool { return maps.Equal(a, b) }

// sameSubsets compares without the versions of the pods referred to.
func sameSubsets(a, b []corev1.EndpointSubset) bool {
	return apiequality.Semantic.DeepEqual(withoutVersions(a), withoutVersions(b))
}

func withoutVersions(subsets []corev1.EndpointSubset) []corev1.EndpointSubset {
	plain := make([]corev1.EndpointSubset, 0, len(subsets))
	for i := range subsets {
		subset := subsets[i].DeepCopy()
		for _, addresses := range [][]corev1.EndpointAddress{subset.Addresses, subset.NotReadyAddresses} {
			for j := range addresses {
				if addresses[j].TargetRef != nil {
					addresses[j].TargetRef.ResourceVersion = ""
				}
			}
		}
		plain = append(plain, *subset)
	}
	return backends.Repack(plain)
}

// rawSubsets lists one subset for each pod and port.
func rawSubsets(service *corev1.Service, pods []corev1.Pod) []corev1.EndpointSubset {
	var subsets []corev1.EndpointSubset
	for i := range pods {
		pod := &pods[i]
		if !backends.Serves(pod, service.Spec.PublishNotReadyAddresses) {
			continue
		}
		address := newAddress(service, pod)
		if address == nil {
			continue
		}
		ready := service.Spec.PublishNotReadyAddresses || podstate.Ready(pod)
		if len(service.Spec.Ports) == 0 && service.Spec.ClusterIP == corev1.ClusterIPNone {
			subsets = append(subsets, newSubset(*address, ready, nil))
		}
		for j := range service.Spec.Ports {
			port := &service.Spec.Ports[j]
			if number, ok := backends.Port(pod, port); ok {
				subsets = append(subsets, newSubset(*address, ready, []corev1.EndpointPort{{
					Name: port.Name, Port: number, Protocol: port.Protocol, AppProtocol: port.AppProtocol,
				}}))
			}
		}
	}
	return subsets
}

func newSubset(address corev1.EndpointAddress, ready bool, ports []corev1.EndpointPort) corev1.EndpointSubset {
	if ready {
		return corev1.EndpointSubset{Addresses: []corev1.EndpointAddress{address}, Ports: ports}
	}
	return corev1.EndpointSubset{NotReadyAddresses: []corev1.EndpointAddress{address}, Ports: ports}
}

// newAddress is the pod's address of the Service's first family; nil when it has none.
func newAddress(service *corev1.Service, pod *corev1.Pod) *corev1.EndpointAddress {
	addresses := backends.Addresses(pod, backends.Families(service)[0])
	if len(addresses) == 0 {
		return nil
	}
	return &corev1.EndpointAddress{
		IP: addresses[0], NodeName: ptr.To(pod.Spec.NodeName), Hostname: backends.Hostname(pod, service),
		TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
	}
}

func count(subsets []corev1.EndpointSubset) (addresses int) {
	for i := range subsets {
		addresses += len(subsets[i].Addresses) + len(subsets[i].NotReadyAddresses)
	}
	return addresses
}

// truncate cuts the subsets down to capacity, in proportion to their sizes, rounding up,
// so that the last one may get less. Ready addresses go before others: 900 ready and 300
// not ready keep 900 and 100.
func truncate(subsets []corev1.EndpointSubset) (cut bool) {
	if count(subsets) <= capacity {
		return false
	}
	ready := 0
	for i := range subsets {
		ready += len(subsets[i].Addresses)
	}
	readyOnly := ready > capacity
	room, total := capacity-ready, count(subsets)-ready
	if readyOnly {
		room, total = capacity, ready
	}
	left := room
	for i := range subsets {
		addresses := &subsets[i].NotReadyAddresses
		if readyOnly {
			subsets[i].NotReadyAddresses = nil
			addresses = &subsets[i].Addresses
		}
		share := int(math.Ceil(float64(len(*addresses)) / float64(total) * float64(room)))
		*addresses = (*addresses)[:min(share, left, len(*addresses))]
		left -= len(*addresses)
	}
	return true
}
