package podspec

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// At most so many rules of a container, and exit codes of a rule.
const maxRestartRules, maxExitCodes = 20, 255

// validateRestart judges when a container of its own is started again.
func validateRestart(c *corev1.Container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch r := c.RestartPolicy; {
	case r == nil && len(c.RestartPolicyRules) == 0:
		return nil
	case r == nil:
		errs = append(errs, field.Required(p.Child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
	default:
		errs = append(errs, amongPtr(p.Child("restartPolicy"), r, corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)...)
	}
	at := p.Child("restartPolicyRules")
	if n := len(c.RestartPolicyRules); n > maxRestartRules {
		errs = append(errs, field.TooMany(at, n, maxRestartRules))
	}
	for i, r := range c.RestartPolicyRules {
		errs = append(errs, validateRestartRule(&r, at.Index(i))...)
	}
	return errs
}

func validateRestartRule(r *corev1.ContainerRestartRule, p *field.Path) field.ErrorList {
	errs := amongPtr(p.Child("action"), &r.Action, corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)
	if r.ExitCodes == nil {
		return append(errs, field.Required(p.Child("exitCodes"), "must be specified"))
	}
	at := p.Child("exitCodes")
	errs = append(errs, amongPtr(at.Child("operator"), &r.ExitCodes.Operator, corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
	if n := len(r.ExitCodes.Values); n > maxExitCodes {
		errs = append(errs, field.TooMany(at.Child("values"), n, maxExitCodes))
	}
	return errs
}

// validateResizePolicy judges what a change of a resource does to a container that runs. Upstream speaks of the list as a whole.
func validateResizePolicy(policies []corev1.ContainerResizePolicy, ofPod corev1.RestartPolicy, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.Set[corev1.ResourceName]{}
	for i, r := range policies {
		if seen.Has(r.ResourceName) {
			errs = append(errs, field.Duplicate(p.Index(i), r.ResourceName))
		}
		seen.Insert(r.ResourceName)
		errs = append(errs, supported(p, r.ResourceName, corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, supported(p, r.RestartPolicy, corev1.NotRequired, corev1.RestartContainer)...)
		if ofPod == corev1.RestartPolicyNever && r.RestartPolicy != corev1.NotRequired {
			errs = append(errs, field.Invalid(p, r.RestartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
	return errs
}

// validateStopSignal: which signals there are depends on the system, so it must be told.
func validateStopSignal(signal corev1.Signal, os *corev1.PodOS, p *field.Path) field.ErrorList {
	switch {
	case os == nil:
		return field.ErrorList{field.Forbidden(p, "may not be set for containers with empty `spec.os.name`")}
	case os.Name == corev1.Windows && !slices.Contains(windowsSignals, signal):
		return field.ErrorList{field.NotSupported(p, signal, windowsSignals)}
	case os.Name == corev1.Linux && !slices.Contains(linuxSignals, signal):
		return field.ErrorList{field.NotSupported(p, signal, linuxSignals)}
	}
	return nil
}

// windowsSignals and linuxSignals are what a container can be ended with, by the system, in the order of messages.
var (
	windowsSignals = []corev1.Signal{corev1.SIGKILL, corev1.SIGTERM}
	linuxSignals   = signals()
)

func signals() []corev1.Signal {
	all := []corev1.Signal{
		corev1.SIGABRT, corev1.SIGALRM, corev1.SIGBUS, corev1.SIGCHLD, corev1.SIGCLD, corev1.SIGCONT, corev1.SIGFPE, corev1.SIGHUP, corev1.SIGILL,
		corev1.SIGINT, corev1.SIGIO, corev1.SIGIOT, corev1.SIGKILL, corev1.SIGPIPE, corev1.SIGPOLL, corev1.SIGPROF, corev1.SIGPWR, corev1.SIGQUIT,
		corev1.SIGRTMAX, corev1.SIGRTMIN, corev1.SIGSEGV, corev1.SIGSTKFLT, corev1.SIGSTOP, corev1.SIGSYS, corev1.SIGTERM, corev1.SIGTRAP,
		corev1.SIGTSTP, corev1.SIGTTIN, corev1.SIGTTOU, corev1.SIGURG, corev1.SIGUSR1, corev1.SIGUSR2, corev1.SIGVTALRM, corev1.SIGWINCH,
		corev1.SIGXCPU, corev1.SIGXFSZ,
	}
	for i := 1; i <= 15; i++ {
		all = append(all, corev1.Signal(fmt.Sprintf("%s+%d", corev1.SIGRTMIN, i)))
	}
	for i := 1; i <= 14; i++ {
		all = append(all, corev1.Signal(fmt.Sprintf("%s-%d", corev1.SIGRTMAX, i)))
	}
	slices.Sort(all)
	return all
}
