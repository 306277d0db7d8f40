package quota

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var deviceClaimCount = CountName(schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"})

var deviceClaims = Evaluator{
	Resource: schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"},
	counts: func(name corev1.ResourceName) bool {
		return name == deviceClaimCount || strings.HasSuffix(string(name), corev1.ResourceClaimsPerClass)
	},
	usage: func(object runtime.Object, _ time.Time) corev1.ResourceList {
		claim, ok := object.(*resourcev1.ResourceClaim)
		if !ok { // a version of which only the number can be told
			return corev1.ResourceList{deviceClaimCount: number(1)}
		}
		return deviceClaimUsage(claim)
	},
	updates: func(subresource string, _, _ runtime.Object) bool { return subresource == "" },
}

// deviceClaimUsage counts devices by class. Of alternatives the worst counts, class by
// class; "all" counts as the most that an allocation can hold.
func deviceClaimUsage(claim *resourcev1.ResourceClaim) corev1.ResourceList {
	used := corev1.ResourceList{deviceClaimCount: number(1)}
	for _, request := range claim.Spec.Devices.Requests {
		devices := map[string]int64{}
		worst := func(class string, mode resourcev1.DeviceAllocationMode, count int64) {
			devices[class] = max(devices[class], deviceNumber(mode, count))
		}
		for _, alternative := range request.FirstAvailable {
			worst(alternative.DeviceClassName, alternative.AllocationMode, alternative.Count)
		}
		if exactly := request.Exactly; len(request.FirstAvailable) == 0 && exactly != nil {
			worst(exactly.DeviceClassName, exactly.AllocationMode, exactly.Count)
		}
		for class, count := range devices {
			used = Add(used, corev1.ResourceList{corev1.ResourceName(class + corev1.ResourceClaimsPerClass): number(count)})
		}
	}
	return used
}

func deviceNumber(mode resourcev1.DeviceAllocationMode, count int64) int64 {
	switch mode {
	case resourcev1.DeviceAllocationModeExactCount:
		return count
	case resourcev1.DeviceAllocationModeAll:
		return resourcev1.AllocationResultsMaxSize
	}
	return 0 // a mode of a later version
}
