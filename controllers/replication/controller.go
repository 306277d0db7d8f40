package replication

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/replicaset"
)

const (
	name = "replicationcontroller-controller"
	// source is what its events name as their source.
	source = "replication-controller"
)

// Component is the controller of ReplicationControllers.
var Component = component.Component{
	Name:    name,
	Watches: []string{"replicationcontrollers", "pods"},
	Writes: []string{
		"replicationcontrollers:status", "pods:create for replicationcontrollers",
		"pods:delete for replicationcontrollers", "pods:ownerReferences for replicationcontrollers",
	},
	Add: replicaset.Shell[*corev1.ReplicationController]{
		Name: name, Source: source, Kind: corev1.SchemeGroupVersion.WithKind("ReplicationController"),
		New:       func() *corev1.ReplicationController { return &corev1.ReplicationController{} },
		List:      func() client.ObjectList { return &corev1.ReplicationControllerList{} },
		Set:       AsReplicaSet,
		SetStatus: func(rc *corev1.ReplicationController, status appsv1.ReplicaSetStatus) { rc.Status = Status(status) },
	}.Add,
}
