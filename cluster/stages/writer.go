package stages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// manager is the name under which fields are owned.
const manager = "stages"

// writer sends what stages change. It asks for no more than metadata in return. Safe for concurrent use.
type writer struct {
	config *rest.Config
	kinds  *kinds

	mu sync.Mutex
	as map[string]clients // by the user that is said to write; empty: the player
}

type clients struct {
	metadata metadata.Interface
	objects  dynamic.Interface
}

func newWriter(config *rest.Config, k *kinds) *writer {
	return &writer{config: config, kinds: k, as: map[string]clients{}}
}

// client gives the way to the server as a user.
func (w *writer) client(who *Impersonation) (clients, error) {
	name := ""
	if who != nil {
		name = who.Username
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.as[name]; ok {
		return known, nil
	}
	config := rest.CopyConfig(w.config)
	config.Impersonate.UserName = name
	var made clients
	var err, more error
	made.metadata, err = metadata.NewForConfig(config)
	made.objects, more = dynamic.NewForConfig(config)
	if err := errors.Join(err, more); err != nil {
		return clients{}, err
	}
	w.as[name] = made
	return made, nil
}

// patch sends a patch and gives the version that it made.
func (w *writer) patch(ctx context.Context, r resource, o object, kind types.PatchType, body []byte, subresource string, who *Impersonation) (uint64, error) {
	client, err := w.client(who)
	if err != nil {
		return 0, err
	}
	written, err := client.metadata.Resource(r.GroupVersionResource).Namespace(textAt(o, "metadata", "namespace")).
		Patch(ctx, textAt(o, "metadata", "name"), kind, body, metav1.PatchOptions{FieldManager: manager}, pathOf(subresource)...)
	if err != nil {
		return 0, err
	}
	return versionOf(written.ResourceVersion), nil
}

// pathOf is the path of a subresource, if there is one.
func pathOf(subresource string) []string {
	if subresource == "" {
		return nil
	}
	return []string{subresource}
}

// delete deletes an object at once, whatever grace it has left.
func (w *writer) delete(ctx context.Context, r resource, o object) error {
	client, err := w.client(nil)
	if err != nil {
		return err
	}
	options := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	if uid := types.UID(textAt(o, "metadata", "uid")); uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	return client.metadata.Resource(r.GroupVersionResource).Namespace(textAt(o, "metadata", "namespace")).Delete(ctx, textAt(o, "metadata", "name"), options)
}

// apply makes another object, or changes the one that is there.
func (w *writer) apply(ctx context.Context, namespace string, kind types.PatchType, body []byte, subresource string, who *Impersonation) error {
	var o unstructured.Unstructured
	if err := json.Unmarshal(body, &o.Object); err != nil {
		return errors.Join(errTemplate, err)
	}
	found, err := w.kinds.find(o.GroupVersionKind())
	if err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	if found.namespaced && o.GetNamespace() == "" {
		o.SetNamespace(namespace)
	}
	client, err := w.client(who)
	if err != nil {
		return err
	}
	objects := client.objects.Resource(found.GroupVersionResource).Namespace(o.GetNamespace())
	options := metav1.PatchOptions{FieldManager: manager}
	if kind == types.ApplyPatchType {
		options.Force = ptr.To(true)
	} else if subresource == "" {
		if _, err := objects.Create(ctx, &o, metav1.CreateOptions{FieldManager: manager}); !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	if body, err = json.Marshal(o.Object); err != nil {
		return err
	}
	_, err = objects.Patch(ctx, o.GetName(), kind, body, options, pathOf(subresource)...)
	return err
}
