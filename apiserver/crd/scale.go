package crd

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// scaleTable is how a custom resource's Scale looks.
var scaleTable = &resource.Table{
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Desired", "integer", "Number of desired replicas"),
		resource.Column("Available", "integer", "Number of actual replicas"),
		resource.Column("Age", "date", resource.AgeColumn.Description),
	},
	Row: func(o resource.Object) ([]any, []metav1.TableRowCondition) {
		sc := o.(*autoscalingv1.Scale)
		return []any{sc.Name, int64(sc.Spec.Replicas), int64(sc.Status.Replicas), resource.AgeOf(sc)}, nil
	},
}

// scaleOf reads and writes the replicas where the definition says they are.
func scaleOf(s *apiextensionsv1.CustomResourceSubresourceScale) *resource.Scale {
	number := func(o resource.Object, path string) int32 {
		n, _, err := unstructured.NestedInt64(o.(tree).Object, steps(path)...)
		if err != nil {
			return 0
		}
		return int32(n)
	}
	return &resource.Scale{
		Replicas:       func(o resource.Object) int32 { return number(o, s.SpecReplicasPath) },
		StatusReplicas: func(o resource.Object) int32 { return number(o, s.StatusReplicasPath) },
		SelectorText: func(o resource.Object) (string, error) {
			path := ptr.Deref(s.LabelSelectorPath, "")
			if path == "" {
				return "", nil
			}
			text, _, err := unstructured.NestedString(o.(tree).Object, steps(path)...)
			return text, err
		},
		Unset: func(o resource.Object) bool {
			_, found, err := unstructured.NestedInt64(o.(tree).Object, steps(s.SpecReplicasPath)...)
			return err == nil && !found
		},
		UnsetError: func(write bool) error {
			if write {
				return apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", s.SpecReplicasPath))
			}
			return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", s.SpecReplicasPath))
		},
		SetReplicasErr: func(o resource.Object, n int32) error {
			return unstructured.SetNestedField(o.(tree).Object, int64(n), steps(s.SpecReplicasPath)...)
		},
		Table:        scaleTable,
		ReplicasPath: steps(s.SpecReplicasPath),
	}
}
