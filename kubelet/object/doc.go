// Package object gives the kubelet the ConfigMaps and Secrets that its pods use.
//
// A Store watches each object that a registered pod names, one by one, since a node may read no others; so a change
// is seen at once, and the pods that use the object are synced. What no pod uses is not watched. An object that is
// immutable is read once. For pods that are not registered a Store reads from the API.
//
//	store := object.New(object.Options{Client: core, Changed: pool.Trigger})
//	store.Register(ctx, pod)
//	configMap, err := store.ConfigMap(ctx, namespace, name) // NotFound says: configmap "name" not found
//	store.Unregister(pod.UID)
package object
