package podspec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// fill sets a field that is at its zero value.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// fillPtr points a nil field at a value.
func fillPtr[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// Default sets what a pod's spec leaves out, in a Pod or in a template.
func Default(s *corev1.PodSpec) {
	fill(&s.DNSPolicy, corev1.DNSClusterFirst)
	fill(&s.RestartPolicy, corev1.RestartPolicyAlways)
	fillPtr(&s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	fill(&s.SchedulerName, corev1.DefaultSchedulerName)
	fillPtr(&s.SecurityContext, corev1.PodSecurityContext{})
	// serviceAccount is the old name of serviceAccountName; both are always shown.
	fill(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
	for i := range s.InitContainers {
		defaultContainer(&s.InitContainers[i])
	}
	for i := range s.Containers {
		defaultContainer(&s.Containers[i])
	}
	for i := range s.EphemeralContainers {
		c := corev1.Container(s.EphemeralContainers[i].EphemeralContainerCommon)
		defaultContainer(&c)
		s.EphemeralContainers[i].EphemeralContainerCommon = corev1.EphemeralContainerCommon(c)
	}
	RoundUp(s.Overhead)
	if s.Resources != nil {
		RoundUp(s.Resources.Limits)
		RoundUp(s.Resources.Requests)
	}
}

// DefaultPod sets what only a Pod of its own has, not a template: requests that follow limits, service links, and the host's ports.
func DefaultPod(s *corev1.PodSpec) {
	if t := s.TerminationGracePeriodSeconds; t != nil && *t < 0 {
		*t = 1
	}
	if s.HostNetwork {
		hostPorts(s.Containers)
		hostPorts(s.InitContainers)
	}
	for i := range s.Containers {
		requestLimits(&s.Containers[i].Resources)
	}
	for i := range s.InitContainers {
		requestLimits(&s.InitContainers[i].Resources)
	}
	fillPtr(&s.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
}

// hostPorts: on the host's network a container's port is the host's.
func hostPorts(cs []corev1.Container) {
	for i := range cs {
		for j := range cs[i].Ports {
			fill(&cs[i].Ports[j].HostPort, cs[i].Ports[j].ContainerPort)
		}
	}
}

// requestLimits requests what is limited and not requested.
func requestLimits(r *corev1.ResourceRequirements) {
	if r.Limits == nil {
		return
	}
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	for name, q := range r.Limits {
		if _, ok := r.Requests[name]; !ok {
			r.Requests[name] = q.DeepCopy()
		}
	}
}

// RoundUp makes every quantity a whole number of thousandths, the least that is counted.
func RoundUp(l corev1.ResourceList) {
	for name, q := range l {
		q.RoundUp(resource.Milli)
		l[name] = q
	}
}

func defaultContainer(c *corev1.Container) {
	fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = pullPolicy(c.Image)
	}
	for i := range c.Ports {
		fill(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			defaultEnvSource(from)
		}
	}
	RoundUp(c.Resources.Limits)
	RoundUp(c.Resources.Requests)
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if p != nil {
			defaultProbe(p)
		}
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil && h.HTTPGet != nil {
				defaultHTTPGet(h.HTTPGet)
			}
		}
	}
}

func defaultEnvSource(from *corev1.EnvVarSource) {
	if from.FieldRef != nil {
		fill(&from.FieldRef.APIVersion, "v1")
	}
	if from.FileKeyRef != nil {
		fillPtr(&from.FileKeyRef.Optional, false)
	}
}

// pullPolicy: an image of the tag latest, or of none, may change under its name.
func pullPolicy(image string) corev1.PullPolicy {
	name := image[strings.LastIndexByte(image, '/')+1:]
	if strings.ContainsRune(name, '@') {
		return corev1.PullIfNotPresent
	}
	_, tag, tagged := strings.Cut(name, ":")
	if !tagged || tag == "latest" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}

func defaultProbe(p *corev1.Probe) {
	fill(&p.TimeoutSeconds, 1)
	fill(&p.PeriodSeconds, 10)
	fill(&p.SuccessThreshold, 1)
	fill(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		defaultHTTPGet(p.HTTPGet)
	}
	if p.GRPC != nil {
		fillPtr(&p.GRPC.Service, "")
	}
}

func defaultHTTPGet(h *corev1.HTTPGetAction) {
	fill(&h.Path, "/")
	fill(&h.Scheme, corev1.URISchemeHTTP)
}

func defaultVolume(v *corev1.Volume) {
	s := &v.VolumeSource
	if *s == (corev1.VolumeSource{}) {
		s.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	switch {
	case s.Secret != nil:
		fillPtr(&s.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case s.ConfigMap != nil:
		fillPtr(&s.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case s.DownwardAPI != nil:
		fillPtr(&s.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultDownward(s.DownwardAPI.Items)
	case s.HostPath != nil:
		fillPtr(&s.HostPath.Type, corev1.HostPathUnset)
	case s.Projected != nil:
		defaultProjected(s.Projected)
	case s.Image != nil:
		if s.Image.PullPolicy == "" {
			s.Image.PullPolicy = pullPolicy(s.Image.Reference)
		}
	case s.Ephemeral != nil && s.Ephemeral.VolumeClaimTemplate != nil:
		fillPtr(&s.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	default:
		defaultNetworkVolume(s)
	}
}

func defaultProjected(p *corev1.ProjectedVolumeSource) {
	fillPtr(&p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range p.Sources {
		if d := p.Sources[i].DownwardAPI; d != nil {
			defaultDownward(d.Items)
		}
		if t := p.Sources[i].ServiceAccountToken; t != nil {
			fillPtr(&t.ExpirationSeconds, 60*60)
		}
	}
}

func defaultDownward(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		if items[i].FieldRef != nil {
			fill(&items[i].FieldRef.APIVersion, "v1")
		}
	}
}

// defaultNetworkVolume covers sources that are other machines' disks.
func defaultNetworkVolume(s *corev1.VolumeSource) {
	switch {
	case s.ISCSI != nil:
		fill(&s.ISCSI.ISCSIInterface, "default")
	case s.RBD != nil:
		fill(&s.RBD.RBDPool, "rbd")
		fill(&s.RBD.RadosUser, "admin")
		fill(&s.RBD.Keyring, "/etc/ceph/keyring")
	case s.AzureDisk != nil:
		fillPtr(&s.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		fillPtr(&s.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
		fillPtr(&s.AzureDisk.FSType, "ext4")
		fillPtr(&s.AzureDisk.ReadOnly, false)
	case s.ScaleIO != nil:
		fill(&s.ScaleIO.StorageMode, "ThinProvisioned")
		fill(&s.ScaleIO.FSType, "xfs")
	}
}

// DefaultTemplate sets what a template leaves out.
func DefaultTemplate(t *corev1.PodTemplateSpec) { Default(&t.Spec) }

// QOS is the class of a pod by its requests and limits (https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/).
func QOS(s *corev1.PodSpec) corev1.PodQOSClass {
	if r := s.Resources; r != nil && (len(r.Requests) > 0 || len(r.Limits) > 0) {
		return qos([]corev1.ResourceRequirements{*r})
	}
	var all []corev1.ResourceRequirements
	for _, c := range append(append([]corev1.Container(nil), s.InitContainers...), s.Containers...) {
		all = append(all, c.Resources)
	}
	return qos(all)
}

// counted are the resources that a class looks at.
var counted = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

func qos(all []corev1.ResourceRequirements) corev1.PodQOSClass {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	guaranteed := true
	for _, r := range all {
		limited := 0
		for _, name := range counted {
			add(requests, name, r.Requests[name])
			if q := r.Limits[name]; !q.IsZero() {
				add(limits, name, q)
				limited++
			}
		}
		guaranteed = guaranteed && limited == len(counted)
	}
	if len(requests) == 0 && len(limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	if guaranteed && len(requests) == len(limits) {
		for name, q := range requests {
			if l := limits[name]; l.Cmp(q) != 0 {
				return corev1.PodQOSBurstable
			}
		}
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func add(l corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if q.IsZero() {
		return
	}
	sum := l[name]
	sum.Add(q)
	l[name] = sum
}
