package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// The annotations by which a class is the default, and by which objects name their class in the old way.
const (
	defaultStorageClassAnnotation     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultStorageClassAnnotation = "storageclass.beta.kubernetes.io/is-default-class"
	ingressClassAnnotation            = "kubernetes.io/ingress.class"
)

// defaultStorageClass gives claims that name no class the default one.
func defaultStorageClass(objects Objects) plugin {
	return plugin{name: "DefaultStorageClass", mutate: func(_ context.Context, a *registry.Attributes) error {
		if !isCore(a, "persistentvolumeclaims") || a.Operation != registry.Create {
			return nil
		}
		claim := a.Object.(*corev1.PersistentVolumeClaim)
		if _, named := claim.Annotations[corev1.BetaStorageClassAnnotation]; named || claim.Spec.StorageClassName != nil {
			return nil
		}
		list, err := listOf[*storagev1.StorageClass](objects, storagev1.GroupName, "storageclasses", "")
		if err != nil {
			return forbidden(a, err)
		}
		class, ok := newest(list, func(c *storagev1.StorageClass) bool {
			return c.Annotations[defaultStorageClassAnnotation] == "true" || c.Annotations[betaDefaultStorageClassAnnotation] == "true"
		})
		if ok {
			claim.Spec.StorageClassName = ptr.To(class.Name)
		}
		return nil
	}}
}

// defaultIngressClass gives ingresses that name no class the default one.
func defaultIngressClass(objects Objects) plugin {
	return plugin{name: "DefaultIngressClass", mutate: func(_ context.Context, a *registry.Attributes) error {
		ingress, ok := a.Object.(*networkingv1.Ingress)
		if !ok || a.Operation != registry.Create || a.Subresource != "" || ingress.Spec.IngressClassName != nil {
			return nil
		}
		if _, named := ingress.Annotations[ingressClassAnnotation]; named {
			return nil
		}
		list, err := listOf[*networkingv1.IngressClass](objects, networkingv1.GroupName, "ingressclasses", "")
		if err != nil {
			return forbidden(a, err)
		}
		class, ok := newest(list, func(c *networkingv1.IngressClass) bool {
			return c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true"
		})
		if ok {
			ingress.Spec.IngressClassName = ptr.To(class.Name)
		}
		return nil
	}}
}

// newest gives the youngest object that is chosen, of equally old ones the first by name.
func newest[T resource.Object](list []T, chosen func(T) bool) (best T, found bool) {
	for _, o := range list {
		if !chosen(o) {
			continue
		}
		if !found || younger(o, best) {
			best, found = o, true
		}
	}
	return best, found
}

func younger(a, b resource.Object) bool {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return bt.Before(&at) || at.Equal(&bt) && a.GetName() < b.GetName()
}
