package framework

import corev1 "k8s.io/api/core/v1"

// Change is a set of things that can happen in a cluster and change a plugin's mind.
type Change uint32

// What can happen.
const (
	NodeAdded Change = 1 << iota
	NodeAllocatable
	NodeLabels
	NodeTaints
	NodeConditions
	NodeDeleted
	// PodAssigned: a pod got or already has a node.
	PodAssigned
	// PodGone: an assigned pod was deleted or finished.
	PodGone
	// PodLabels and PodShrunk are of assigned pods.
	PodLabels
	PodShrunk
	// Of storage: claims, volumes, classes, what nodes and drivers say of CSI, capacities.
	ClaimAdded
	ClaimUpdated
	VolumeAdded
	VolumeUpdated
	ClassAdded
	ClassUpdated
	CSINodeAdded
	CSINodeUpdated
	CSIDriverUpdated
	CapacityAdded
	CapacityUpdated
	AttachmentDeleted
	// Of the waiting pod itself: its labels, more tolerations, its last gate taken away, a
	// smaller demand.
	SelfLabels
	SelfTolerations
	SelfGates
	SelfShrunk
	// NodeFeatures: what a node declares that its kubelet can do.
	NodeFeatures
	// Activated: the waiting pod itself is to be tried again, whatever refused it.
	Activated

	// Self is all that concerns one waiting pod alone.
	Self = SelfLabels | SelfTolerations | SelfGates | SelfShrunk | Activated
)

// Event is something that has happened. Before is nil for what is new, After for what is
// gone.
type Event struct {
	Change                Change
	NodeBefore, NodeAfter *corev1.Node
	PodBefore, PodAfter   *corev1.Pod
	// Before and After are objects of storage, of the type that the change names.
	Before, After any
}

// Interest says which changes may let a plugin accept a pod that it refused. Helps looks
// closer; nil means that every such change may.
type Interest struct {
	Changes Change
	Helps   func(pod *corev1.Pod, event Event) bool
}

// Interested are plugins that say what may change their mind. Of others every event is
// taken to help.
type Interested interface {
	Plugin
	Interests() []Interest
}
