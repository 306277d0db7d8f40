package garbagecollector

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Item is what the collector knows of one object.
type Item struct {
	Resource  schema.GroupVersionResource
	Kind      schema.GroupVersionKind
	Namespace string
	Name      string
	UID       types.UID
	Version   string
	Owners    []metav1.OwnerReference
	Deleting  bool
	// Finalizers of which only the collector's two matter to it.
	Finalizers []string
}

// NewItem takes from an object's metadata what matters here.
func NewItem(resource schema.GroupVersionResource, kind schema.GroupVersionKind, object metav1.Object) *Item {
	return &Item{
		Resource: resource, Kind: kind,
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
		Version: object.GetResourceVersion(), Owners: object.GetOwnerReferences(),
		Deleting: object.GetDeletionTimestamp() != nil, Finalizers: object.GetFinalizers(),
	}
}

// Foreground says that the object waits for its dependents to be deleted.
func (i *Item) Foreground() bool {
	return i.Deleting && slices.Contains(i.Finalizers, metav1.FinalizerDeleteDependents)
}

// Orphaning says that the object waits for its dependents to be let go.
func (i *Item) Orphaning() bool {
	return i.Deleting && slices.Contains(i.Finalizers, metav1.FinalizerOrphanDependents)
}

// Blocks says that the object's existence keeps owner from being finished.
func (i *Item) Blocks(owner types.UID) bool {
	return slices.ContainsFunc(i.Owners, func(reference metav1.OwnerReference) bool {
		return reference.UID == owner && reference.BlockOwnerDeletion != nil && *reference.BlockOwnerDeletion
	})
}

// Is says that a reference made in the given namespace means this object: kind and name
// must be right as well as the uid, and so must the namespace unless the object has none.
func (i *Item) Is(reference metav1.OwnerReference, namespace string) bool {
	gv, err := schema.ParseGroupVersion(reference.APIVersion)
	return err == nil && gv.Group == i.Kind.Group && reference.Kind == i.Kind.Kind &&
		reference.Name == i.Name && reference.UID == i.UID && (i.Namespace == "" || i.Namespace == namespace)
}

// String names the object in upstream's form, which events use.
func (i *Item) String() string {
	return describe(i.Kind.GroupVersion().String(), i.Kind.Kind, i.Namespace, i.Name, i.UID)
}

func describe(apiVersion, kind, namespace, name string, uid types.UID) string {
	return fmt.Sprintf("[%s/%s, namespace: %s, name: %s, uid: %s]", apiVersion, kind, namespace, name, uid)
}
