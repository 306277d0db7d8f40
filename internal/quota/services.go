package quota

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

var serviceCount = CountName(schema.GroupResource{Resource: "services"})

var serviceNames = []corev1.ResourceName{
	serviceCount, corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers,
}

var services = Evaluator{
	Resource: schema.GroupResource{Resource: "services"},
	counts:   func(name corev1.ResourceName) bool { return slices.Contains(serviceNames, name) },
	usage: func(object runtime.Object, _ time.Time) corev1.ResourceList {
		return serviceUsage(object.(*corev1.Service))
	},
	// The type can change.
	updates: func(subresource string, _, _ runtime.Object) bool { return subresource == "" },
}

// serviceUsage counts the node ports that the Service will get: it may not have them yet.
func serviceUsage(service *corev1.Service) corev1.ResourceList {
	nodePorts, balancers := 0, 0
	switch service.Spec.Type {
	case corev1.ServiceTypeNodePort:
		nodePorts = len(service.Spec.Ports)
	case corev1.ServiceTypeLoadBalancer:
		balancers = 1
		for i := range service.Spec.Ports {
			if ptr.Deref(service.Spec.AllocateLoadBalancerNodePorts, true) || service.Spec.Ports[i].NodePort != 0 {
				nodePorts++
			}
		}
	}
	return corev1.ResourceList{
		serviceCount: number(1), corev1.ResourceServices: number(1),
		corev1.ResourceServicesNodePorts:     number(int64(nodePorts)),
		corev1.ResourceServicesLoadBalancers: number(int64(balancers)),
	}
}
