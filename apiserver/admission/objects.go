package admission

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Objects reads what plugins need to know besides the object that is written. Objects that it gives are not to be changed.
type Objects interface {
	// Get reads one object as the cache has it; what seems missing is asked for afresh. The object is not to be changed, and may lack its
	// managedFields. Its error is a Status.
	Get(group, plural, namespace, name string) (resource.Object, error)
	// List reads all objects of a namespace, or of all with the empty one, as of all that was acknowledged before.
	List(group, plural, namespace string) ([]resource.Object, error)
}

// listOf lists objects of one Go type.
func listOf[T resource.Object](objects Objects, group, plural, namespace string) ([]T, error) {
	list, err := objects.List(group, plural, namespace)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(list))
	for _, o := range list {
		out = append(out, o.(T))
	}
	return out, nil
}

// forbidden refuses a write.
func forbidden(a *registry.Attributes, err error) error {
	if apierrors.IsForbidden(err) {
		return err
	}
	name := a.Name
	if name == "" && a.Object != nil {
		if name = a.Object.GetName(); name == "" {
			name = a.Object.GetGenerateName()
		}
	}
	if name == "" {
		name = "Unknown"
	}
	return apierrors.NewForbidden(a.Resource.GR(), name, err)
}

func forbiddenf(a *registry.Attributes, format string, args ...any) error {
	return forbidden(a, fmt.Errorf(format, args...))
}
