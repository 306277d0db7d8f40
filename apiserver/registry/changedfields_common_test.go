package registry

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/apps"
	"github.com/kogge-dev/kogge/apiserver/resources/coordination"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// write is one of the changes that a cluster makes over and over.
type write struct {
	name, manager, subresource string
	kind                       *resource.Resource
	live, obj                  resource.Object
}

// step makes an object of another as someone would have, a while ago.
func step[T resource.Object](t testing.TB, kind *resource.Resource, live T, subresource, manager string, change func(T)) T {
	obj := live.DeepCopyObject().(T)
	change(obj)
	obj = of(t, kind, subresource).library.manage(live.DeepCopyObject().(resource.Object), obj, WriteOptions{Manager: manager, Subresource: subresource}).(T)
	for i := range obj.GetManagedFields() {
		if e := &obj.GetManagedFields()[i]; recent(e.Time) {
			e.Time = &metav1.Time{Time: time.Unix(1e9, 0).UTC()}
		}
	}
	return obj
}

func condition(typ corev1.PodConditionType, status corev1.ConditionStatus) corev1.PodCondition {
	return corev1.PodCondition{Type: typ, Status: status, ObservedGeneration: 1, LastTransitionTime: metav1.Unix(1e9, 0)}
}

// podWrites are those that see a Pod from its creation to its running.
func podWrites(t testing.TB) []write {
	created := container(func(c *corev1.Container) {
		c.Env = []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: "C", Value: "d"}}
		c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 80, Protocol: "TCP"}}
		c.Resources.Requests = corev1.ResourceList{"cpu": quantity.MustParse("10m"), "memory": quantity.MustParse("16Mi")}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		c.TerminationMessagePath, c.TerminationMessagePolicy, c.ImagePullPolicy = "/dev/termination-log", "File", "Always"
	})
	created.UID, created.Labels = "u", map[string]string{"app": "a", "pod-template-hash": "h"}
	created.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	created.Spec.Tolerations = []corev1.Toleration{{Operator: "Exists"}}
	created.Spec.RestartPolicy, created.Spec.DNSPolicy, created.Spec.SchedulerName, created.Spec.SecurityContext = "Always", "ClusterFirst", "default-scheduler", &corev1.PodSecurityContext{}
	created.Status.Phase = "Pending"
	created = step(t, core.Pod, &corev1.Pod{}, "", "kube-controller-manager", func(p *corev1.Pod) { *p = *created })
	bind := func(p *corev1.Pod) {
		p.Spec.NodeName = "n"
		p.Status.Conditions = []corev1.PodCondition{condition("PodScheduled", "True")}
	}
	bound := step(t, core.Pod, created, "", "kube-scheduler", bind)
	pending := step(t, core.Pod, bound, "status", "kubelet", func(p *corev1.Pod) {
		p.Status.HostIP, p.Status.HostIPs, p.Status.StartTime, p.Status.QOSClass = "10.0.0.1", []corev1.HostIP{{IP: "10.0.0.1"}}, &metav1.Time{Time: time.Unix(1e9, 0)}, "Burstable"
		p.Status.Conditions = append(p.Status.Conditions, condition("PodReadyToStartContainers", "False"), condition("Initialized", "True"), condition("Ready", "False"), condition("ContainersReady", "False"))
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Image: "i", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}
	})
	running := pending.DeepCopy()
	running.Status.Phase, running.Status.PodIP, running.Status.PodIPs = "Running", "10.1.0.1", []corev1.PodIP{{IP: "10.1.0.1"}}
	for i := range running.Status.Conditions {
		c := &running.Status.Conditions[i]
		c.Status, c.LastTransitionTime = "True", metav1.Unix(1e9+1, 0)
	}
	running.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "c", Image: "i", ImageID: "sha256:i", ContainerID: "c://1", Ready: true, Started: new(true),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Unix(1e9+1, 0)}},
	}}
	labelled := running.DeepCopy()
	labelled.Labels["pod-template-hash"], labelled.Labels["release"] = "i", "r"
	toBind := created.DeepCopy()
	bind(toBind)
	return []write{
		{name: "status", manager: "kubelet", subresource: "status", kind: core.Pod, live: pending, obj: running},
		{name: "bind", manager: "kube-scheduler", kind: core.Pod, live: created, obj: toBind},
		{name: "label", manager: "kubectl", kind: core.Pod, live: running, obj: labelled},
	}
}

func deploymentWrites(t testing.TB) []write {
	created := step(t, apps.Deployment, &appsv1.Deployment{}, "", "kubectl-create", func(d *appsv1.Deployment) {
		d.UID, d.Labels, d.Annotations = "u", map[string]string{"app": "a"}, map[string]string{"deployment.kubernetes.io/revision": "1"}
		d.Spec.Replicas, d.Spec.Selector = new(int32(1)), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
		d.Spec.Template.Labels = map[string]string{"app": "a"}
		d.Spec.Template.Spec = container(func(c *corev1.Container) { c.Ports = []corev1.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}} }).Spec
	})
	status := func(n int32, available corev1.ConditionStatus) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			d.Status = appsv1.DeploymentStatus{ObservedGeneration: int64(n), Replicas: n, UpdatedReplicas: n, ReadyReplicas: n - 1, AvailableReplicas: n - 1, UnavailableReplicas: 1,
				Conditions: []appsv1.DeploymentCondition{{Type: "Available", Status: available, Reason: "r"}, {Type: "Progressing", Status: "True", LastUpdateTime: metav1.Unix(1e9+int64(n), 0)}}}
		}
	}
	live := step(t, apps.Deployment, created, "status", "kube-controller-manager", status(1, "False"))
	progressed, scaled := live.DeepCopy(), live.DeepCopy()
	status(2, "True")(progressed)
	scaled.Spec.Replicas = new(int32(5))
	return []write{
		{name: "deployment status", manager: "kube-controller-manager", subresource: "status", kind: apps.Deployment, live: live, obj: progressed},
		{name: "deployment scale", manager: "kubectl", kind: apps.Deployment, live: live, obj: scaled},
	}
}

// heartbeats are those of a node.
func heartbeats(t testing.TB) []write {
	size := corev1.ResourceList{"cpu": quantity.MustParse("4"), "memory": quantity.MustParse("16Gi"), "pods": quantity.MustParse("110")}
	beat := func(at int64) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Status.Conditions = nil
			for _, typ := range []corev1.NodeConditionType{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"} {
				n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: typ, Status: "False", Reason: "r", Message: "m", LastHeartbeatTime: metav1.Unix(1e9+at, 0), LastTransitionTime: metav1.Unix(1e9, 0)})
			}
		}
	}
	node := step(t, core.Node, &corev1.Node{}, "", "kubelet", func(n *corev1.Node) { n.UID, n.Labels = "u", map[string]string{"kubernetes.io/os": "linux"} })
	node = step(t, core.Node, node, "status", "kubelet", func(n *corev1.Node) {
		n.Status.Capacity, n.Status.Allocatable = size, size
		n.Status.Addresses = []corev1.NodeAddress{{Type: "InternalIP", Address: "10.0.0.1"}, {Type: "Hostname", Address: "n"}}
		n.Status.Images = []corev1.ContainerImage{{Names: []string{"i"}, SizeBytes: 1}, {Names: []string{"j"}, SizeBytes: 2}}
		beat(0)(n)
	})
	alive := node.DeepCopy()
	beat(10)(alive)
	lease := step(t, coordination.Lease, &coordinationv1.Lease{}, "", "kubelet", func(l *coordinationv1.Lease) {
		l.UID = "u"
		l.Spec = coordinationv1.LeaseSpec{HolderIdentity: new("n"), LeaseDurationSeconds: new(int32(40)), RenewTime: &metav1.MicroTime{Time: time.Unix(1e9, 0)}}
	})
	renewed := lease.DeepCopy()
	renewed.Spec.RenewTime = &metav1.MicroTime{Time: time.Unix(1e9+10, 0)}
	return []write{
		{name: "node status", manager: "kubelet", subresource: "status", kind: core.Node, live: node, obj: alive},
		{name: "lease", manager: "kubelet", kind: coordination.Lease, live: lease, obj: renewed},
	}
}

func commonWrites(t testing.TB) []write {
	return slices.Concat(podWrites(t), deploymentWrites(t), heartbeats(t))
}

// TestCommonChanges: what a cluster writes over and over is of the ordinary.
func TestCommonChanges(t *testing.T) {
	t.Parallel()
	for _, w := range commonWrites(t) {
		if _, ok := of(t, w.kind, w.subresource).compareChange(t, w.live, w.obj, w.manager); !ok {
			t.Errorf("%s: left to the library", w.name)
		}
	}
}

// BenchmarkManageChanged says what it costs to record who changed an object, by a plan and by the library.
func BenchmarkManageChanged(b *testing.B) {
	for _, w := range commonWrites(b) {
		e := of(b, w.kind, w.subresource)
		brought := w.obj.GetManagedFields()
		for name, r := range map[string]*Registry{"plan": e.Registry, "library": e.library} {
			b.Run(w.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.obj.SetManagedFields(brought)
					r.manage(w.live, w.obj, WriteOptions{Manager: w.manager, Subresource: w.subresource})
				}
			})
		}
	}
}
