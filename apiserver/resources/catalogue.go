package resources

import (
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/admissionregistration"
	"github.com/kogge-dev/kogge/apiserver/resources/apiextensions"
	"github.com/kogge-dev/kogge/apiserver/resources/apiregistration"
	"github.com/kogge-dev/kogge/apiserver/resources/apps"
	"github.com/kogge-dev/kogge/apiserver/resources/authentication"
	"github.com/kogge-dev/kogge/apiserver/resources/authorization"
	"github.com/kogge-dev/kogge/apiserver/resources/autoscaling"
	"github.com/kogge-dev/kogge/apiserver/resources/batch"
	"github.com/kogge-dev/kogge/apiserver/resources/certificates"
	"github.com/kogge-dev/kogge/apiserver/resources/coordination"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/devices"
	"github.com/kogge-dev/kogge/apiserver/resources/discovery"
	"github.com/kogge-dev/kogge/apiserver/resources/events"
	"github.com/kogge-dev/kogge/apiserver/resources/flowcontrol"
	"github.com/kogge-dev/kogge/apiserver/resources/networking"
	"github.com/kogge-dev/kogge/apiserver/resources/node"
	"github.com/kogge-dev/kogge/apiserver/resources/policy"
	"github.com/kogge-dev/kogge/apiserver/resources/rbac"
	"github.com/kogge-dev/kogge/apiserver/resources/scheduling"
	"github.com/kogge-dev/kogge/apiserver/resources/storage"
	"github.com/kogge-dev/kogge/apiserver/resources/storagemigration"
)

// All lists the catalogue, group by group.
func All() []*resource.Resource {
	return []*resource.Resource{
		core.Binding, core.ComponentStatus, core.ConfigMap, core.Endpoints, core.Event, core.Namespace, core.Node, core.LimitRange, core.PersistentVolume, core.PersistentVolumeClaim, core.Pod, core.PodTemplate, core.ReplicationController, core.ResourceQuota, core.Secret, core.Service, core.ServiceAccount,
		admissionregistration.MutatingAdmissionPolicy, admissionregistration.MutatingAdmissionPolicyBinding, admissionregistration.MutatingWebhookConfiguration,
		admissionregistration.ValidatingAdmissionPolicy, admissionregistration.ValidatingAdmissionPolicyBinding, admissionregistration.ValidatingWebhookConfiguration,
		authentication.SelfSubjectReview, authentication.TokenReview,
		authorization.LocalSubjectAccessReview, authorization.SelfSubjectAccessReview, authorization.SelfSubjectRulesReview, authorization.SubjectAccessReview,
		apiextensions.Definition,
		apiregistration.APIService,
		apps.ControllerRevision, apps.DaemonSet, apps.Deployment, apps.ReplicaSet, apps.StatefulSet,
		autoscaling.V1, autoscaling.HorizontalPodAutoscaler,
		batch.CronJob, batch.Job,
		certificates.CertificateSigningRequest, certificates.ClusterTrustBundle, certificates.PodCertificateRequest,
		coordination.Lease,
		devices.DeviceClass, devices.DeviceTaintRule, devices.ResourceClaim, devices.ResourceClaimTemplate, devices.ResourceSlice,
		discovery.EndpointSlice,
		events.Event,
		flowcontrol.FlowSchema, flowcontrol.PriorityLevelConfiguration,
		networking.Ingress, networking.IngressClass, networking.IPAddress, networking.NetworkPolicy, networking.ServiceCIDR,
		node.RuntimeClass,
		policy.PodDisruptionBudget,
		rbac.ClusterRole, rbac.ClusterRoleBinding, rbac.Role, rbac.RoleBinding,
		scheduling.PriorityClass,
		storage.CSIDriver, storage.CSINode, storage.CSIStorageCapacity, storage.StorageClass, storage.VolumeAttachment, storage.VolumeAttributesClass,
		storagemigration.StorageVersionMigration,
	}
}
