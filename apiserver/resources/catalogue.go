package resources

import (
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/apps"
	"github.com/kogge-dev/kogge/apiserver/resources/autoscaling"
	"github.com/kogge-dev/kogge/apiserver/resources/batch"
	"github.com/kogge-dev/kogge/apiserver/resources/coordination"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/discovery"
	"github.com/kogge-dev/kogge/apiserver/resources/events"
	"github.com/kogge-dev/kogge/apiserver/resources/policy"
)

// All lists the catalogue, group by group.
func All() []*resource.Resource {
	return []*resource.Resource{
		core.ConfigMap, core.Endpoints, core.Event, core.Namespace, core.Node, core.LimitRange, core.PersistentVolume, core.PersistentVolumeClaim, core.Pod, core.PodTemplate, core.ReplicationController, core.ResourceQuota, core.Secret, core.Service, core.ServiceAccount,
		apps.ControllerRevision, apps.DaemonSet, apps.Deployment, apps.ReplicaSet, apps.StatefulSet,
		autoscaling.V1, autoscaling.HorizontalPodAutoscaler,
		batch.CronJob, batch.Job,
		coordination.Lease,
		discovery.EndpointSlice,
		events.Event,
		policy.PodDisruptionBudget,
	}
}
