package podspec

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// surroundings are what a container's rules must know of its pod.
type surroundings struct {
	volumes   map[string]*corev1.Volume
	claims    sets.Set[string]
	grace     *int64
	os        *corev1.PodOS
	restart   corev1.RestartPolicy
	hostUsers bool
}

func surround(s *corev1.PodSpec, volumes map[string]*corev1.Volume) *surroundings {
	claims := sets.Set[string]{}
	for _, c := range s.ResourceClaims {
		if c.Name != "" {
			claims.Insert(c.Name)
		}
	}
	return &surroundings{
		volumes: volumes, claims: claims, grace: s.TerminationGracePeriodSeconds, os: s.OS, restart: s.RestartPolicy,
		hostUsers: s.HostUsers == nil || *s.HostUsers,
	}
}

// validateContainers judges the main containers.
func validateContainers(s *corev1.PodSpec, in *surroundings, names sets.Set[string], p *field.Path) field.ErrorList {
	if len(s.Containers) == 0 {
		return field.ErrorList{field.Required(p.Child("containers"), "")}
	}
	var errs field.ErrorList
	for i := range s.Containers {
		c, at := &s.Containers[i], p.Child("containers").Index(i)
		errs = append(errs, validateContainer(c, in, at)...)
		errs = append(errs, uniqueName(c.Name, names, at)...)
		errs = append(errs, validateHandlers(c, in, at)...)
		errs = append(errs, validateRestart(c, at)...)
	}
	return append(errs, validateHostPorts(s.Containers, p.Child("containers"))...)
}

func uniqueName(name string, names sets.Set[string], at *field.Path) field.ErrorList {
	if names.Has(name) {
		return field.ErrorList{field.Duplicate(at.Child("name"), name)}
	}
	names.Insert(name)
	return nil
}

// validateInitContainers: only those that restart always, sidecars, may have probes and hooks.
func validateInitContainers(s *corev1.PodSpec, in *surroundings, names sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range s.InitContainers {
		c, at := &s.InitContainers[i], p.Index(i)
		errs = append(errs, validateContainer(c, in, at)...)
		errs = append(errs, validateRestart(c, at)...)
		errs = append(errs, uniqueName(c.Name, names, at)...)
		errs = append(errs, validateHostPorts(s.InitContainers[i:i+1], p)...)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			errs = append(errs, validateHandlers(c, in, at)...)
			continue
		}
		errs = append(errs, validateOnceOnly(c, at)...)
	}
	return errs
}

// validateOnceOnly forbids an init container that ends what only containers that go on can have.
func validateOnceOnly(c *corev1.Container, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, x := range []struct {
		name string
		set  bool
	}{{"lifecycle", c.Lifecycle != nil}, {"livenessProbe", c.LivenessProbe != nil}, {"readinessProbe", c.ReadinessProbe != nil}, {"startupProbe", c.StartupProbe != nil}} {
		if x.set {
			errs = append(errs, field.Forbidden(at.Child(x.name), "may not be set for init containers without restartPolicy=Always"))
		}
	}
	for j, r := range c.ResizePolicy {
		if r.RestartPolicy == corev1.RestartContainer {
			errs = append(errs, field.Invalid(at.Child("resizePolicy").Index(j).Child("restartPolicy"), r.RestartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers"))
		}
	}
	return errs
}

// lasting are the fields that only a container which is there from the start can have.
var lasting = sets.New("Ports", "Resources", "ResizePolicy", "RestartPolicy", "RestartPolicyRules", "LivenessProbe", "ReadinessProbe", "StartupProbe", "Lifecycle")

func validateEphemeral(s *corev1.PodSpec, in *surroundings, names sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	others := names.Clone()
	for i := range s.EphemeralContainers {
		e, at := &s.EphemeralContainers[i], p.Index(i)
		c := corev1.Container(e.EphemeralContainerCommon)
		errs = append(errs, validateContainer(&c, in, at)...)
		errs = append(errs, trimmedImage(&c, at)...)
		errs = append(errs, uniqueName(c.Name, names, at)...)
		if t := e.TargetContainerName; t != "" && !others.Has(t) {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), t))
		}
		errs = append(errs, forbidLasting(&c, at)...)
	}
	return errs
}

func forbidLasting(c *corev1.Container, at *field.Path) field.ErrorList {
	const text = "cannot be set for an Ephemeral Container"
	var errs field.ErrorList
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if lasting.Has(f.Name) && !v.Field(i).IsZero() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			errs = append(errs, field.Forbidden(at.Child(name), text))
		}
	}
	for i, m := range c.VolumeMounts {
		mount := at.Child("volumeMounts").Index(i)
		if m.SubPath != "" {
			errs = append(errs, field.Forbidden(mount.Child("subPath"), text))
		}
		if m.SubPathExpr != "" {
			errs = append(errs, field.Forbidden(mount.Child("subPathExpr"), text))
		}
	}
	return errs
}

// trimmedImage is asked of a pod's images alone: those of templates were accepted with spaces once.
func trimmedImage(c *corev1.Container, p *field.Path) field.ErrorList {
	if strings.TrimSpace(c.Image) != c.Image {
		return field.ErrorList{field.Invalid(p.Child("image"), c.Image, "must not have leading or trailing whitespace")}
	}
	return nil
}

// validateContainer judges what all sorts of containers have.
func validateContainer(c *corev1.Container, in *surroundings, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Name == "" {
		errs = append(errs, field.Required(p.Child("name"), ""))
	} else {
		errs = append(errs, invalid(p.Child("name"), c.Name, validation.IsDNS1123Label(c.Name))...)
	}
	if c.Image == "" {
		errs = append(errs, field.Required(p.Child("image"), ""))
	}
	errs = append(errs, supported(p.Child("terminationMessagePolicy"), c.TerminationMessagePolicy, corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, validatePorts(c.Ports, p.Child("ports"))...)
	errs = append(errs, validateEnv(c.Env, p.Child("env"))...)
	errs = append(errs, validateEnvFrom(c.EnvFrom, p.Child("envFrom"))...)
	errs = append(errs, validateMounts(c, in.volumes, p.Child("volumeMounts"))...)
	errs = append(errs, validateDevices(c, in.volumes, p.Child("volumeDevices"))...)
	errs = append(errs, supported(p.Child("imagePullPolicy"), c.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, ValidateResources(&c.Resources, p.Child("resources"))...)
	errs = append(errs, validateUsedClaims(c.Resources.Claims, in.claims, p.Child("resources", "claims"))...)
	errs = append(errs, validateResizePolicy(c.ResizePolicy, in.restart, p.Child("resizePolicy"))...)
	return append(errs, validateSecurity(c.SecurityContext, in.hostUsers, p.Child("securityContext"))...)
}

func validatePorts(ports []corev1.ContainerPort, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sets.Set[string]{}
	for i, port := range ports {
		at := p.Index(i)
		if port.Name != "" {
			if texts := validation.IsValidPortName(port.Name); len(texts) > 0 {
				errs = append(errs, invalid(at.Child("name"), port.Name, texts)...)
			} else {
				errs = append(errs, uniqueName(port.Name, names, at)...)
			}
		}
		if port.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), ""))
		} else {
			errs = append(errs, invalid(at.Child("containerPort"), port.ContainerPort, validation.IsValidPortNum(int(port.ContainerPort)))...)
		}
		if port.HostPort != 0 {
			errs = append(errs, invalid(at.Child("hostPort"), port.HostPort, validation.IsValidPortNum(int(port.HostPort)))...)
		}
		errs = append(errs, supported(at.Child("protocol"), port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)...)
	}
	return errs
}

// validateHostPorts: a port of the host can be had once in a pod.
func validateHostPorts(cs []corev1.Container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.Set[string]{}
	for i, c := range cs {
		for j, port := range c.Ports {
			if port.HostPort == 0 {
				continue
			}
			key := fmt.Sprintf("%s/%s/%d", port.Protocol, port.HostIP, port.HostPort)
			if seen.Has(key) {
				errs = append(errs, field.Duplicate(p.Index(i).Child("ports").Index(j).Child("hostPort"), key))
			}
			seen.Insert(key)
		}
	}
	return errs
}
