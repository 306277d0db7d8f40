package podspec

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateContainers judges the main containers.
func validateContainers(s *corev1.PodSpec, volumes map[string]*corev1.Volume, names sets.Set[string], p *field.Path) field.ErrorList {
	if len(s.Containers) == 0 {
		return field.ErrorList{field.Required(p.Child("containers"), "")}
	}
	var errs field.ErrorList
	for i := range s.Containers {
		c, at := &s.Containers[i], p.Child("containers").Index(i)
		errs = append(errs, validateContainer(c, volumes, at)...)
		errs = append(errs, uniqueName(c.Name, names, at)...)
		errs = append(errs, validateHandlers(c, at)...)
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
func validateInitContainers(s *corev1.PodSpec, volumes map[string]*corev1.Volume, names sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range s.InitContainers {
		c, at := &s.InitContainers[i], p.Index(i)
		errs = append(errs, validateContainer(c, volumes, at)...)
		errs = append(errs, uniqueName(c.Name, names, at)...)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			errs = append(errs, validateHandlers(c, at)...)
			continue
		}
		if c.Lifecycle != nil {
			errs = append(errs, field.Forbidden(at.Child("lifecycle"), "may not be set for init containers without restartPolicy=Always"))
		}
		probes := []struct {
			name  string
			probe *corev1.Probe
		}{{"livenessProbe", c.LivenessProbe}, {"readinessProbe", c.ReadinessProbe}, {"startupProbe", c.StartupProbe}}
		for _, x := range probes {
			if x.probe != nil {
				errs = append(errs, field.Forbidden(at.Child(x.name), "may not be set for init containers without restartPolicy=Always"))
			}
		}
	}
	return append(errs, validateHostPorts(s.InitContainers, p)...)
}

func validateEphemeral(s *corev1.PodSpec, volumes map[string]*corev1.Volume, names sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range s.EphemeralContainers {
		c, at := corev1.Container(s.EphemeralContainers[i].EphemeralContainerCommon), p.Index(i)
		errs = append(errs, validateContainer(&c, volumes, at)...)
		errs = append(errs, uniqueName(c.Name, names, at)...)
		for field1, set := range map[string]bool{"ports": len(c.Ports) > 0, "livenessProbe": c.LivenessProbe != nil, "readinessProbe": c.ReadinessProbe != nil,
			"startupProbe": c.StartupProbe != nil, "lifecycle": c.Lifecycle != nil, "resources": len(c.Resources.Limits)+len(c.Resources.Requests) > 0} {
			if set {
				errs = append(errs, field.Forbidden(at.Child(field1), "cannot be set for an Ephemeral Container"))
			}
		}
	}
	return errs
}

// validateContainer judges what all sorts of containers have.
func validateContainer(c *corev1.Container, volumes map[string]*corev1.Volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Name == "" {
		errs = append(errs, field.Required(p.Child("name"), ""))
	} else {
		errs = append(errs, invalid(p.Child("name"), c.Name, validation.IsDNS1123Label(c.Name))...)
	}
	if c.Image == "" {
		errs = append(errs, field.Required(p.Child("image"), ""))
	} else if strings.TrimSpace(c.Image) != c.Image {
		errs = append(errs, field.Invalid(p.Child("image"), c.Image, "must not have leading or trailing whitespace"))
	}
	errs = append(errs, supported(p.Child("terminationMessagePolicy"), c.TerminationMessagePolicy, corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, validatePorts(c.Ports, p.Child("ports"))...)
	errs = append(errs, validateEnv(c, p)...)
	errs = append(errs, validateMounts(c, volumes, p.Child("volumeMounts"))...)
	errs = append(errs, supported(p.Child("imagePullPolicy"), c.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, ValidateResources(&c.Resources, p.Child("resources"))...)
	if c.RestartPolicy != nil {
		errs = append(errs, supported(p.Child("restartPolicy"), *c.RestartPolicy, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)...)
	}
	return append(errs, validateSecurity(c.SecurityContext, p.Child("securityContext"))...)
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
		errs = append(errs, supported(at.Child("protocol"), port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)...)
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

func validateEnv(c *corev1.Container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, e := range c.Env {
		at := p.Child("env").Index(i)
		if e.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, invalid(at.Child("name"), e.Name, validation.IsRelaxedEnvVarName(e.Name))...)
		}
		if e.ValueFrom != nil {
			errs = append(errs, validateEnvSource(&e, at.Child("valueFrom"))...)
		}
	}
	for i, e := range c.EnvFrom {
		at := p.Child("envFrom").Index(i)
		sources := 0
		if e.ConfigMapRef != nil {
			sources++
			if e.ConfigMapRef.Name == "" {
				errs = append(errs, field.Required(at.Child("configMapRef", "name"), ""))
			}
		}
		if e.SecretRef != nil {
			sources++
			if e.SecretRef.Name == "" {
				errs = append(errs, field.Required(at.Child("secretRef", "name"), ""))
			}
		}
		switch {
		case sources == 0:
			errs = append(errs, field.Invalid(at, "", "must specify one of: `configMapRef` or `secretRef`"))
		case sources > 1:
			errs = append(errs, field.Invalid(at, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

// envFields are the pod's fields that a variable may take.
var envFields = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}

func validateEnvSource(e *corev1.EnvVar, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	sources := 0
	if f := e.ValueFrom.FieldRef; f != nil {
		sources++
		errs = append(errs, validateFieldRef(f, envFields, p.Child("fieldRef"))...)
	}
	if r := e.ValueFrom.ResourceFieldRef; r != nil {
		sources++
		errs = append(errs, validateResourceFieldRef(r, false, p.Child("resourceFieldRef"))...)
	}
	if k := e.ValueFrom.ConfigMapKeyRef; k != nil {
		sources++
		errs = append(errs, validateKeyRef(k.Name, k.Key, p.Child("configMapKeyRef"))...)
	}
	if k := e.ValueFrom.SecretKeyRef; k != nil {
		sources++
		errs = append(errs, validateKeyRef(k.Name, k.Key, p.Child("secretKeyRef"))...)
	}
	if e.ValueFrom.FileKeyRef != nil {
		sources++
	}
	switch {
	case sources == 0:
		errs = append(errs, field.Invalid(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"))
	case e.Value != "":
		errs = append(errs, field.Invalid(p, "", "may not be specified when `value` is not empty"))
	case sources > 1:
		errs = append(errs, field.Invalid(p, "", "may not have more than one field specified at a time"))
	}
	return errs
}

func validateKeyRef(name, key string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if name == "" {
		errs = append(errs, field.Required(p.Child("name"), ""))
	}
	if key == "" {
		return append(errs, field.Required(p.Child("key"), ""))
	}
	return append(errs, invalid(p.Child("key"), key, validation.IsConfigMapKey(key))...)
}

func validateFieldRef(f *corev1.ObjectFieldSelector, allowed []string, p *field.Path) field.ErrorList {
	if f.APIVersion == "" {
		return field.ErrorList{field.Required(p.Child("apiVersion"), "")}
	}
	if f.FieldPath == "" {
		return field.ErrorList{field.Required(p.Child("fieldPath"), "")}
	}
	if base, key, ok := subscripted(f.FieldPath); ok {
		if base != "metadata.annotations" && base != "metadata.labels" {
			return field.ErrorList{field.Invalid(p.Child("fieldPath"), f.FieldPath, "does not support subscript")}
		}
		return invalid(p.Child("fieldPath"), key, validation.IsQualifiedName(strings.ToLower(key)))
	}
	if !slices.Contains(allowed, f.FieldPath) {
		return field.ErrorList{field.NotSupported(p.Child("fieldPath"), f.FieldPath, allowed)}
	}
	return nil
}

// subscripted splits a path such as metadata.labels['key'].
func subscripted(s string) (base, key string, ok bool) {
	if !strings.HasSuffix(s, "']") {
		return "", "", false
	}
	base, key, ok = strings.Cut(strings.TrimSuffix(s, "']"), "['")
	return base, key, ok && base != ""
}

// containerResources are the resources that a variable or a file may take.
var containerResources = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"}

func validateResourceFieldRef(r *corev1.ResourceFieldSelector, volume bool, p *field.Path) field.ErrorList {
	if volume && r.ContainerName == "" {
		return field.ErrorList{field.Required(p.Child("containerName"), "")}
	}
	if r.Resource == "" {
		return field.ErrorList{field.Required(p.Child("resource"), "")}
	}
	if !slices.Contains(containerResources, r.Resource) && !strings.HasPrefix(r.Resource, "limits.hugepages-") && !strings.HasPrefix(r.Resource, "requests.hugepages-") {
		return field.ErrorList{field.NotSupported(p.Child("resource"), r.Resource, containerResources)}
	}
	return nil
}

func validateMounts(c *corev1.Container, volumes map[string]*corev1.Volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.Set[string]{}
	for i, m := range c.VolumeMounts {
		at := p.Index(i)
		if m.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else if volumes[m.Name] == nil {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		if m.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
		if seen.Has(m.MountPath) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		seen.Insert(m.MountPath)
		if m.SubPath != "" && m.SubPathExpr != "" {
			errs = append(errs, field.Invalid(at.Child("subPathExpr"), m.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
		}
		for name, v := range map[string]string{"subPath": m.SubPath, "subPathExpr": m.SubPathExpr} {
			if v != "" {
				errs = append(errs, localPath(v, at.Child(name))...)
			}
		}
	}
	return errs
}

// localPath: relative, and never up.
func localPath(v string, p *field.Path) field.ErrorList {
	if path.IsAbs(v) {
		return field.ErrorList{field.Invalid(p, v, "must be a relative path")}
	}
	return noBackstep(v, p)
}

func noBackstep(v string, p *field.Path) field.ErrorList {
	if slices.Contains(strings.Split(v, "/"), "..") {
		return field.ErrorList{field.Invalid(p, v, "must not contain '..'")}
	}
	return nil
}

func validateSecurity(s *corev1.SecurityContext, p *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if s.RunAsUser != nil && *s.RunAsUser < 0 {
		errs = append(errs, field.Invalid(p.Child("runAsUser"), *s.RunAsUser, "must be between 0 and 2147483647, inclusive"))
	}
	if s.RunAsGroup != nil && *s.RunAsGroup < 0 {
		errs = append(errs, field.Invalid(p.Child("runAsGroup"), *s.RunAsGroup, "must be between 0 and 2147483647, inclusive"))
	}
	if s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
		if s.Privileged != nil && *s.Privileged {
			errs = append(errs, field.Invalid(p, s, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
		}
		if s.Capabilities != nil && slices.Contains(s.Capabilities.Add, "CAP_SYS_ADMIN") {
			errs = append(errs, field.Invalid(p, s, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
		}
	}
	return errs
}

// validateHandlers judges probes and hooks.
func validateHandlers(c *corev1.Container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Lifecycle != nil {
		at := p.Child("lifecycle")
		if h := c.Lifecycle.PostStart; h != nil {
			errs = append(errs, validateHandler(action{h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep}, at.Child("postStart"))...)
		}
		if h := c.Lifecycle.PreStop; h != nil {
			errs = append(errs, validateHandler(action{h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep}, at.Child("preStop"))...)
		}
	}
	errs = append(errs, validateProbe(c.LivenessProbe, p.Child("livenessProbe"), true)...)
	errs = append(errs, validateProbe(c.ReadinessProbe, p.Child("readinessProbe"), false)...)
	return append(errs, validateProbe(c.StartupProbe, p.Child("startupProbe"), true)...)
}

func validateProbe(pr *corev1.Probe, p *field.Path, once bool) field.ErrorList {
	if pr == nil {
		return nil
	}
	errs := validateHandler(action{pr.Exec, pr.HTTPGet, pr.TCPSocket, pr.GRPC, nil}, p)
	numbers := []struct {
		name string
		n    int32
	}{{"initialDelaySeconds", pr.InitialDelaySeconds}, {"timeoutSeconds", pr.TimeoutSeconds}, {"periodSeconds", pr.PeriodSeconds},
		{"successThreshold", pr.SuccessThreshold}, {"failureThreshold", pr.FailureThreshold}}
	for _, x := range numbers {
		errs = append(errs, notNegative(p.Child(x.name), int64(x.n))...)
	}
	if pr.TerminationGracePeriodSeconds != nil && *pr.TerminationGracePeriodSeconds <= 0 {
		errs = append(errs, field.Invalid(p.Child("terminationGracePeriodSeconds"), *pr.TerminationGracePeriodSeconds, "must be greater than 0"))
	}
	if once && pr.SuccessThreshold != 1 {
		errs = append(errs, field.Invalid(p.Child("successThreshold"), pr.SuccessThreshold, "must be 1"))
	}
	if !once && pr.TerminationGracePeriodSeconds != nil {
		errs = append(errs, field.Invalid(p.Child("terminationGracePeriodSeconds"), pr.TerminationGracePeriodSeconds, "must not be set for readinessProbes"))
	}
	return errs
}

// action is what a probe or hook does: one of these.
type action struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

func validateHandler(a action, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	n := 0
	one := func(name string) *field.Path {
		if n++; n > 1 {
			errs = append(errs, field.Forbidden(p.Child(name), "may not specify more than 1 handler type"))
		}
		return p.Child(name)
	}
	if a.exec != nil {
		if at := one("exec"); n == 1 && len(a.exec.Command) == 0 {
			errs = append(errs, field.Required(at.Child("command"), ""))
		}
	}
	if a.http != nil {
		if at := one("httpGet"); n == 1 {
			errs = append(errs, validateHTTP(a.http, at)...)
		}
	}
	if a.tcp != nil {
		if at := one("tcpSocket"); n == 1 {
			errs = append(errs, ValidatePort(a.tcp.Port, at.Child("port"))...)
		}
	}
	if a.grpc != nil {
		if at := one("grpc"); n == 1 {
			errs = append(errs, invalid(at.Child("port"), a.grpc.Port, validation.IsValidPortNum(int(a.grpc.Port)))...)
		}
	}
	if a.sleep != nil {
		one("sleep")
	}
	if n == 0 {
		errs = append(errs, field.Required(p, "must specify a handler type"))
	}
	return errs
}

func validateHTTP(h *corev1.HTTPGetAction, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if h.Path == "" {
		errs = append(errs, field.Required(p.Child("path"), ""))
	}
	errs = append(errs, ValidatePort(h.Port, p.Child("port"))...)
	if h.Scheme != corev1.URISchemeHTTP && h.Scheme != corev1.URISchemeHTTPS {
		errs = append(errs, field.NotSupported(p.Child("scheme"), h.Scheme, []corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS}))
	}
	for _, header := range h.HTTPHeaders {
		errs = append(errs, invalid(p.Child("httpHeaders"), header.Name, validation.IsHTTPHeaderName(header.Name))...)
	}
	return errs
}

// ValidatePort judges a port given by number or name.
func ValidatePort(port intstr.IntOrString, p *field.Path) field.ErrorList {
	if port.Type == intstr.String {
		return invalid(p, port.StrVal, validation.IsValidPortName(port.StrVal))
	}
	return invalid(p, port.IntValue(), validation.IsValidPortNum(port.IntValue()))
}
