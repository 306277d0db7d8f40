package registry

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Seed stores a new object as it is, with the managers that it names: what comes from the server itself is neither judged nor changed. It
// fails with AlreadyExists if there is one of the name.
func (r *Registry) Seed(ctx context.Context, obj resource.Object) error {
	r.fillSystemFields(obj)
	fields := obj.GetManagedFields()
	for i := range fields {
		now := metav1.NewTime(r.Now())
		fields[i].Time = &now
	}
	obj.SetManagedFields(fields)
	key, err := r.key(obj.GetNamespace(), obj.GetName())
	if err != nil {
		return err
	}
	if _, err := r.insert(ctx, key, obj, WriteOptions{}); err != nil {
		return r.createError(ctx, err, key, obj)
	}
	return nil
}
