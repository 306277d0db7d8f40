package registry

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// scaleKind is what a scale endpoint speaks, as far as its field manager needs to know.
var scaleKind = &resource.Resource{
	Name: resource.Name{Group: resource.ScaleGVK.Group, Version: resource.ScaleGVK.Version, Kind: resource.ScaleGVK.Kind},
	New:  func() resource.Object { return &autoscalingv1.Scale{} },
}

// scaleSchema is a Scale's structure: apply configurations, from which the other kinds' come, leave it out.
const scaleSchema = `types:
- name: io.k8s.api.autoscaling.v1.Scale
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: metadata, type: {namedType: meta}}
    - {name: spec, type: {namedType: spec}}
    - {name: status, type: {namedType: status}}
- name: spec
  map:
    fields:
    - {name: replicas, type: {scalar: numeric}}
- name: status
  map:
    fields:
    - {name: replicas, type: {scalar: numeric}}
    - {name: selector, type: {scalar: string}}
- name: meta
  map:
    elementType: {namedType: any}
- name: any
  scalar: untyped
  list: {elementType: {namedType: any}, elementRelationship: atomic}
  map: {elementType: {namedType: any}, elementRelationship: separable}
`

func scaleTypes(scheme *runtime.Scheme) (managedfields.TypeConverter, error) {
	parser, err := typed.NewParser(scaleSchema)
	if err != nil {
		return nil, err
	}
	return managedfields.NewSchemeTypeConverter(scheme, parser), nil
}

// replicas translates between who owns the replicas of an object and of its Scale.
func (r *Registry) replicas(obj resource.Object) *managedfields.ScaleHandler {
	path := make(fieldpath.Path, 0, 2)
	if s := r.Resource.Sub("scale"); s != nil && s.Scale != nil {
		for _, part := range s.Scale.ReplicasPath {
			path = append(path, fieldpath.PathElement{FieldName: &part})
		}
	}
	gv := r.Resource.GVK().GroupVersion()
	return managedfields.NewScaleHandler(obj.GetManagedFields(), gv, managedfields.ResourcePathMappings{gv.String(): path})
}

// ReplicasOwners gives the managed fields of an object's Scale.
func (r *Registry) ReplicasOwners(obj resource.Object) ([]metav1.ManagedFieldsEntry, error) {
	return r.replicas(obj).ToSubresource()
}

// OwnReplicas puts the managed fields of a Scale back into its object.
func (r *Registry) OwnReplicas(obj resource.Object, scale []metav1.ManagedFieldsEntry) error {
	fields, err := r.replicas(obj).ToParent(scale)
	if err == nil {
		obj.SetManagedFields(fields)
	}
	return err
}

// ApplyScale merges an applied configuration of a Scale.
func (r *Registry) ApplyScale(live *autoscalingv1.Scale, patch runtime.Object, manager string, force bool) (*autoscalingv1.Scale, error) {
	types, err := scaleTypes(r.Managers.Scheme)
	if err != nil {
		return nil, err
	}
	m, err := (&Managers{Types: types}).new(scaleKind, "scale", &resource.Hooks{})
	if err != nil {
		return nil, err
	}
	live.SetGroupVersionKind(resource.ScaleGVK)
	out, err := m.Apply(live, patch, manager, force)
	if err != nil {
		return nil, err
	}
	sc := out.(*autoscalingv1.Scale)
	sc.TypeMeta = metav1.TypeMeta{}
	return sc, nil
}
