// Package volumes decides which persistent volumes go with a pod on a node, and has them
// bound.
//
//	Sort     the pod's claims: bound, to be bound when a node is chosen, not bound in time
//	Find     for one node: do bound volumes reach it, which free volumes match, what may be
//	         provisioned there
//	Assume   once a node is chosen: others must not choose the same volumes (Revert)
//	Bind     write the choice into volumes and claims, and wait until others have done their
//	         part: the volume binder for volumes that are there, a provisioner for new ones
//
// Promises: Sort and Find write nothing; no volume is chosen for two claims at once; what
// was chosen is a wish until Bind wrote it, and conflicts with what others write end in an
// error, upon which the pod is tried again.
//
//	store := volumes.NewStore(factory)
//	claims, err := store.Sort(pod)
//	choice, reasons, err := store.Find(claims, node)
//
// Not there: in-tree volumes of clouds are not translated to their CSI drivers, which only
// nodes with that annotation ask for.
//
// Next: scheduler/plugins (VolumeBinding), controllers/volumebinder.
package volumes
