package apiserver

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/handlers"
	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// objects reads the server's own objects, for what stands before the handlers.
type objects struct{ handlers *handlers.Handlers }

// Get reads an object as the cache has it now; only what seems missing is asked for afresh. Nobody changes it, and it may lack managedFields.
func (o objects) Get(group, plural, namespace, name string) (resource.Object, error) {
	reg, err := o.registry(group, plural)
	if err != nil {
		return nil, err
	}
	res, err := reg.Get(context.Background(), namespace, name, "0")
	if apierrors.IsNotFound(err) {
		res, err = reg.Get(context.Background(), namespace, name, "")
	}
	if err != nil {
		return nil, err
	}
	return reg.Shown(res)
}

// List reads all objects of a namespace, or of all of them.
func (o objects) List(group, plural, namespace string) ([]resource.Object, error) {
	reg, err := o.registry(group, plural)
	if err != nil {
		return nil, err
	}
	return reg.All(context.Background(), namespace)
}

func (o objects) registry(group, plural string) (*registry.Registry, error) {
	reg := o.handlers.RegistryOf(schema.GroupResource{Group: group, Resource: plural})
	if reg == nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("%s.%s is not served", plural, group))
	}
	return reg, nil
}
