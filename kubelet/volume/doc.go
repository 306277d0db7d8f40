// Package volume gives pods their volumes.
//
// SetUp makes the volumes of a pod what its specification and the API say, and may be called as often as something
// may have changed: it writes only what differs. Files of ConfigMaps, Secrets, projections and the downward API
// change all at once, by a link that is renamed (package atomicfile); Secrets and what may hold some lie in memory.
// TearDown takes everything back, whatever a kubelet before this one left. The folders are upstream's
// (pods/UID/volumes/kubernetes.io~KIND/NAME), since monitoring tools know them.
//
//	volumes := volume.New(volume.Options{Root: "/var/lib/kubelet", Objects: store, Tokens: tokens, Clock: clock})
//	mounted, err := volumes.SetUp(ctx, pod, facts)
//	mounts, err := volumes.Mounts(pod, container, variables, mounted)
//	err = volumes.TearDown(pod.UID)
//
// Next: kubelet/runtime
package volume
