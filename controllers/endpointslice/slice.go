package endpointslice

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kogge-dev/kogge/controllers/internal/backends"
)

// managedBy marks the slices that are this controller's.
const managedBy = "endpointslice-controller.k8s.io"

// newSlice is an empty slice of a Service.
func newSlice(service *corev1.Service, family corev1.IPFamily, ports []discoveryv1.EndpointPort) *discoveryv1.EndpointSlice {
	if ports == nil {
		ports = []discoveryv1.EndpointPort{}
	}
	prefix := service.Name + "-"
	if len(prefix) > validation.DNS1123SubdomainMaxLength {
		prefix = service.Name
	}
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    prefix,
			Namespace:       service.Namespace,
			Labels:          sliceLabels(service),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(service, corev1.SchemeGroupVersion.WithKind("Service"))},
		},
		AddressType: discoveryv1.AddressType(family),
		Endpoints:   []discoveryv1.Endpoint{},
		Ports:       ports,
	}
}

// sliceLabels are the Service's own and those by which its slices are found, which a
// label of the Service can't forge.
func sliceLabels(service *corev1.Service) map[string]string {
	labels := maps.Clone(service.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	delete(labels, corev1.IsHeadlessService)
	if backends.Headless(service) {
		labels[corev1.IsHeadlessService] = ""
	}
	labels[discoveryv1.LabelServiceName] = service.Name
	labels[discoveryv1.LabelManagedBy] = managedBy
	return labels
}

func ownedBy(slice *discoveryv1.EndpointSlice, service *corev1.Service) bool {
	for _, owner := range slice.OwnerReferences {
		if owner.UID == service.UID && owner.Kind == "Service" && owner.APIVersion == "v1" {
			return true
		}
	}
	return false
}
