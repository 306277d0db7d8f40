package quota

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

var volumeClaimCount = CountName(schema.GroupResource{Resource: "persistentvolumeclaims"})

// volumeClaimNames may each be bound to a storage class: gold.storageclass.storage.k8s.io/requests.storage.
var volumeClaimNames = []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage}

const ofStorageClass = ".storageclass.storage.k8s.io/"

var volumeClaims = Evaluator{
	Resource: schema.GroupResource{Resource: "persistentvolumeclaims"},
	counts: func(name corev1.ResourceName) bool {
		return name == volumeClaimCount || slices.ContainsFunc(volumeClaimNames, func(known corev1.ResourceName) bool {
			return name == known || strings.HasSuffix(string(name), ofStorageClass+string(known))
		})
	},
	usage: func(object runtime.Object, _ time.Time) corev1.ResourceList {
		return volumeClaimUsage(object.(*corev1.PersistentVolumeClaim))
	},
	inScope: func(selector corev1.ScopedResourceSelectorRequirement, object runtime.Object) (bool, error) {
		if selector.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
			return false, nil
		}
		return matches(selector, attributesClasses(object.(*corev1.PersistentVolumeClaim))...)
	},
	updates: func(subresource string, _, _ runtime.Object) bool {
		return subresource == "" || subresource == "status"
	},
}

func volumeClaimUsage(claim *corev1.PersistentVolumeClaim) corev1.ResourceList {
	used := corev1.ResourceList{volumeClaimCount: number(1), corev1.ResourcePersistentVolumeClaims: number(1)}
	if amount, ok := storage(claim); ok {
		used[corev1.ResourceRequestsStorage] = amount
	}
	class, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]
	if !ok {
		class = ptr.Deref(claim.Spec.StorageClassName, "")
	}
	if class != "" {
		for _, name := range volumeClaimNames {
			if amount, ok := used[name]; ok {
				used[corev1.ResourceName(class+ofStorageClass)+name] = amount
			}
		}
	}
	return used
}

// storage is what the claim asks for or, while it is being enlarged, may have been given,
// in whole bytes.
func storage(claim *corev1.PersistentVolumeClaim) (resource.Quantity, bool) {
	asked, ok := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if !ok {
		return asked, false
	}
	asked = asked.DeepCopy()
	if given, ok := claim.Status.AllocatedResources[corev1.ResourceStorage]; ok && given.Cmp(asked) > 0 {
		asked = given.DeepCopy()
	}
	asked.RoundUp(0)
	return asked, true
}

// attributesClasses gives the class that the claim wants, has, and is on the way to.
func attributesClasses(claim *corev1.PersistentVolumeClaim) []string {
	classes := []string{ptr.Deref(claim.Spec.VolumeAttributesClassName, ""), ptr.Deref(claim.Status.CurrentVolumeAttributesClassName, "")}
	if claim.Status.ModifyVolumeStatus != nil {
		classes = append(classes, claim.Status.ModifyVolumeStatus.TargetVolumeAttributesClassName)
	}
	slices.Sort(classes)
	return slices.DeleteFunc(slices.Compact(classes), func(class string) bool { return class == "" })
}
