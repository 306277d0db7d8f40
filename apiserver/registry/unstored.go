package registry

import (
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// OwnUnstored records that a manager set all of a new object of a kind that is answered and never stored, such as a review or the request
// of a token. The structure of such objects is plain, so that it can be deduced from them.
func OwnUnstored(kind *resource.Resource, subresource string, obj resource.Object, manager string) (resource.Object, error) {
	m, err := (&Managers{Types: managedfields.NewDeducedTypeConverter()}).new(kind, subresource, &resource.Hooks{})
	if err != nil {
		return nil, err
	}
	live := kind.New()
	live.GetObjectKind().SetGroupVersionKind(kind.GVK())
	obj.GetObjectKind().SetGroupVersionKind(kind.GVK())
	out := m.UpdateNoErrors(live, obj, manager).(resource.Object)
	resource.Untype(out)
	return out, nil
}
