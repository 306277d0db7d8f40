package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// immortal namespaces can't be deleted.
var immortal = map[string]bool{metav1.NamespaceDefault: true, metav1.NamespaceSystem: true, metav1.NamespacePublic: true}

// namespaceLifecycle refuses objects in namespaces that are not there, or are on their way out.
func namespaceLifecycle(objects Objects) plugin {
	return plugin{name: "NamespaceLifecycle", mutate: func(_ context.Context, a *registry.Attributes) error {
		if isCore(a, "namespaces") {
			if a.Operation == registry.Delete && immortal[a.Name] {
				return apierrors.NewForbidden(a.Resource.GR(), a.Name, fmt.Errorf("this namespace may not be deleted"))
			}
			return nil
		}
		if a.Operation != registry.Create || !a.Resource.Namespaced {
			return nil
		}
		if bad := content.IsPathSegmentName(a.Namespace); len(bad) > 0 {
			return apierrors.NewInternalError(fmt.Errorf("invalid resource name %q: %v", a.Namespace, bad))
		}
		obj, err := objects.Get("", "namespaces", "", a.Namespace)
		if err != nil {
			return err
		}
		ns := obj.(*corev1.Namespace)
		if ns.Status.Phase != corev1.NamespaceTerminating {
			return nil
		}
		refused := apierrors.NewForbidden(a.Resource.GR(), a.Name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.Namespace))
		refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
			Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", a.Namespace), Field: "metadata.namespace",
		})
		return refused
	}}
}
