package core

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/goform"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

// ephemeralContainers is the endpoint by which containers are added to a pod that runs, to look at it.
func ephemeralContainers() resource.Subresource {
	h := resource.Erase(resource.Strategy[*corev1.Pod]{
		PrepareForUpdate: func(_ context.Context, p, old *corev1.Pod) {
			added := p.Spec.EphemeralContainers
			p.Spec, p.Status = *old.Spec.DeepCopy(), old.Status
			metav1.ResetObjectMetaForStatus(&p.ObjectMeta, &old.ObjectMeta)
			p.Spec.EphemeralContainers = added
			if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
		},
		ValidateUpdate: func(_ context.Context, p, old *corev1.Pod) field.ErrorList { return validateEphemeralUpdate(p, old) },
	})
	return resource.Subresource{Name: "ephemeralcontainers", Verbs: []string{"get", "patch", "update"}, Hooks: &h}
}

// validateEphemeralUpdate: what was added once stays as it is.
func validateEphemeralUpdate(p, old *corev1.Pod) field.ErrorList {
	errs := podspec.ValidatePod(&p.Spec, &p.ObjectMeta, podSpecPath)
	path := podSpecPath.Child("ephemeralContainers")
	now := map[string]*corev1.EphemeralContainer{}
	for i := range p.Spec.EphemeralContainers {
		now[p.Spec.EphemeralContainers[i].Name] = &p.Spec.EphemeralContainers[i]
	}
	for _, was := range old.Spec.EphemeralContainers {
		switch kept := now[was.Name]; {
		case kept == nil:
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name)))
		case !equality.Semantic.DeepEqual(was, *kept):
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v", was.Name, goform.Diff(was, *kept))))
		}
	}
	return errs
}
