package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateHandlers judges probes and hooks.
func validateHandlers(c *corev1.Container, in *surroundings, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Lifecycle != nil {
		at := p.Child("lifecycle")
		if h := c.Lifecycle.PostStart; h != nil {
			errs = append(errs, validateHandler(action{h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep}, in.grace, at.Child("postStart"))...)
		}
		if h := c.Lifecycle.PreStop; h != nil {
			errs = append(errs, validateHandler(action{h.Exec, h.HTTPGet, h.TCPSocket, nil, h.Sleep}, in.grace, at.Child("preStop"))...)
		}
		if c.Lifecycle.StopSignal != nil {
			errs = append(errs, validateStopSignal(*c.Lifecycle.StopSignal, in.os, at.Child("stopSignal"))...)
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
	errs := validateHandler(action{pr.Exec, pr.HTTPGet, pr.TCPSocket, pr.GRPC, nil}, nil, p)
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

func validateHandler(a action, grace *int64, p *field.Path) field.ErrorList {
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
			errs = append(errs, ValidatePort(intstr.FromInt32(a.grpc.Port), at.Child("port"))...)
			errs = append(errs, amongPtr(at.Child("mode"), a.grpc.Mode, corev1.GRPCProbeModePlaintext, corev1.GRPCProbeModeTLS)...)
		}
	}
	if a.sleep != nil {
		if at := one("sleep"); n == 1 && grace != nil && (a.sleep.Seconds < 0 || a.sleep.Seconds > *grace) {
			errs = append(errs, field.Invalid(at, a.sleep.Seconds, fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace)))
		}
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
	return append(errs, amongPtr(p.Child("protocol"), h.Protocol, corev1.HTTPProtocolHTTP1, corev1.HTTPProtocolHTTP2)...)
}

// ValidatePort judges a port given by number or name.
func ValidatePort(port intstr.IntOrString, p *field.Path) field.ErrorList {
	if port.Type == intstr.String {
		return invalid(p, port.StrVal, validation.IsValidPortName(port.StrVal))
	}
	return invalid(p, port.IntValue(), validation.IsValidPortNum(port.IntValue()))
}
