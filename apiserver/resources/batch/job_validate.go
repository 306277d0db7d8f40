package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Bounds of indexed jobs: what a status can still hold.
const (
	maxParallelism   = 100_000
	maxFailedIndexes = 100_000
	softCompletions  = 100_000
	softParallelism  = 10_000
	softFailed       = 10_000
	maxManagedBy     = 63
)

func validateJob(j *batchv1.Job) field.ErrorList {
	errs := validateGenerated(j)
	errs = append(errs, validateJobSpec(&j.Spec)...)
	return append(errs, validateIndexNames(j)...)
}

// validateGenerated demands the labels and the selector that the server made, unless the client says that it chose its own.
func validateGenerated(j *batchv1.Job) field.ErrorList {
	if ptr.Deref(j.Spec.ManualSelector, false) || j.Spec.Selector == nil {
		return nil
	}
	path := specPath.Child("template", "metadata")
	var errs field.ErrorList
	if j.UID == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "uid"), ""))
	}
	want := labels.Set{}
	for _, l := range [][2]string{{oldControllerUID, string(j.UID)}, {oldJobName, j.Name}, {batchv1.ControllerUidLabel, string(j.UID)}, {batchv1.JobNameLabel, j.Name}} {
		want[l[0]] = l[1]
		errs = append(errs, demandLabel(j.Spec.Template.Labels, l[0], l[1], path)...)
	}
	if s, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && !s.Matches(want) {
		errs = append(errs, field.Invalid(specPath.Child("selector"), j.Spec.Selector, "`selector` not auto-generated"))
	}
	return errs
}

func demandLabel(l map[string]string, key, value string, path *field.Path) field.ErrorList {
	is, ok := l[key]
	switch {
	case !ok:
		return field.ErrorList{field.Required(path.Child("labels").Key(key), fmt.Sprintf("must be '%s'", value))}
	case is != value:
		return field.ErrorList{field.Invalid(path.Child("labels").Key(key), l, fmt.Sprintf("must be '%s'", value))}
	}
	return nil
}

// validateIndexNames: the last index's pod needs a hostname.
func validateIndexNames(j *batchv1.Job) field.ErrorList {
	if ptr.Deref(j.Spec.CompletionMode, "") != batchv1.IndexedCompletion || ptr.Deref(j.Spec.Completions, 0) <= 0 {
		return nil
	}
	last := fmt.Sprintf("%s-%d", j.Name, *j.Spec.Completions-1)
	if len(validation.IsDNS1123Label(last)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), j.Name, "will not able to create pod with invalid DNS label: "+last)}
}

func validateJobSpec(s *batchv1.JobSpec) field.ErrorList {
	errs := validateTemplateSpec(s, specPath)
	path := specPath.Child("selector")
	if s.Selector == nil {
		errs = append(errs, field.Required(path, ""))
	} else {
		errs = append(errs, rules.Selector(path, s.Selector)...)
	}
	if selector, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !selector.Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(specPath.Child("template", "metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
	}
	return errs
}

// validateTemplateSpec judges what a job and the template of one have alike.
func validateTemplateSpec(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	errs := rules.NotNegativePtr(path.Child("parallelism"), s.Parallelism)
	errs = append(errs, rules.NotNegativePtr(path.Child("completions"), s.Completions)...)
	errs = append(errs, rules.NotNegativePtr(path.Child("activeDeadlineSeconds"), s.ActiveDeadlineSeconds)...)
	errs = append(errs, rules.NotNegativePtr(path.Child("backoffLimit"), s.BackoffLimit)...)
	errs = append(errs, rules.NotNegativePtr(path.Child("ttlSecondsAfterFinished"), s.TTLSecondsAfterFinished)...)
	errs = append(errs, rules.NotNegativePtr(path.Child("backoffLimitPerIndex"), s.BackoffLimitPerIndex)...)
	errs = append(errs, rules.NotNegativePtr(path.Child("maxFailedIndexes"), s.MaxFailedIndexes)...)
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(path.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	if m := s.ManagedBy; m != nil {
		errs = append(errs, validation.IsDomainPrefixedPath(path.Child("managedBy"), *m)...)
		if len(*m) > maxManagedBy {
			errs = append(errs, field.TooLong(path.Child("managedBy"), "", maxManagedBy))
		}
	}
	errs = append(errs, validateIndexed(s, path)...)
	if s.PodFailurePolicy != nil {
		errs = append(errs, validateFailurePolicy(s, path.Child("podFailurePolicy"))...)
	}
	if s.SuccessPolicy != nil {
		errs = append(errs, validateSuccessPolicy(s, path.Child("successPolicy"))...)
	}
	errs = append(errs, validateReplacement(s, path.Child("podReplacementPolicy"))...)
	errs = append(errs, podspec.ValidateTemplate(&s.Template, path.Child("template"))...)
	return append(errs, validateRestart(s, path.Child("template", "spec", "restartPolicy"))...)
}

// validateIndexed: what counts indexes needs them, and there are bounds to what can be counted.
func validateIndexed(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	mode := ptr.Deref(s.CompletionMode, batchv1.NonIndexedCompletion)
	switch mode {
	case batchv1.IndexedCompletion:
		return validateIndexCounts(s, path)
	case batchv1.NonIndexedCompletion:
	default:
		return field.ErrorList{field.NotSupported(path.Child("completionMode"), mode, []batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion})}
	}
	var errs field.ErrorList
	if n := s.BackoffLimitPerIndex; n != nil {
		errs = append(errs, field.Invalid(path.Child("backoffLimitPerIndex"), *n, "requires indexed completion mode"))
	}
	if n := s.MaxFailedIndexes; n != nil {
		errs = append(errs, field.Invalid(path.Child("maxFailedIndexes"), *n, "requires indexed completion mode"))
	}
	return errs
}

func validateIndexCounts(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	parallelism, failed := path.Child("parallelism"), path.Child("maxFailedIndexes")
	if s.Completions == nil {
		errs = append(errs, field.Required(path.Child("completions"), fmt.Sprintf("when completion mode is %s", batchv1.IndexedCompletion)))
	}
	if p := s.Parallelism; p != nil && *p > maxParallelism {
		errs = append(errs, field.Invalid(parallelism, *p, fmt.Sprintf("must be less than or equal to %d when completion mode is %s", maxParallelism, batchv1.IndexedCompletion)))
	}
	if n := s.MaxFailedIndexes; n != nil {
		if s.Completions != nil && *n > *s.Completions {
			errs = append(errs, field.Invalid(failed, *n, "must be less than or equal to completions"))
		}
		if *n > maxFailedIndexes {
			errs = append(errs, field.Invalid(failed, *n, fmt.Sprintf("must be less than or equal to %d", maxFailedIndexes)))
		}
	}
	if ptr.Deref(s.Completions, 0) <= softCompletions || s.BackoffLimitPerIndex == nil {
		return errs
	}
	const text = "must be less than or equal to %d when completions are above %d and used with backoff limit per index"
	if s.MaxFailedIndexes == nil {
		errs = append(errs, field.Required(failed, fmt.Sprintf("must be specified when completions is above %d", softCompletions)))
	}
	if p := s.Parallelism; p != nil && *p > softParallelism {
		errs = append(errs, field.Invalid(parallelism, *p, fmt.Sprintf(text, softParallelism, softCompletions)))
	}
	if n := s.MaxFailedIndexes; n != nil && *n > softFailed {
		errs = append(errs, field.Invalid(failed, *n, fmt.Sprintf(text, softFailed, softCompletions)))
	}
	return errs
}

func validateReplacement(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	switch {
	case s.PodReplacementPolicy == nil:
		return nil
	case s.PodFailurePolicy != nil:
		return rules.Among(path, *s.PodReplacementPolicy, batchv1.Failed)
	}
	return rules.Among(path, *s.PodReplacementPolicy, batchv1.Failed, batchv1.TerminatingOrFailed)
}

// validateRestart: a job's pod ends; who judges how it failed must not have it restarted.
func validateRestart(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	switch p := s.Template.Spec.RestartPolicy; {
	case p == corev1.RestartPolicyAlways || p == "":
		return field.ErrorList{field.Required(path, fmt.Sprintf("valid values: %q, %q", corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever))}
	case p != corev1.RestartPolicyOnFailure && p != corev1.RestartPolicyNever:
		return field.ErrorList{field.NotSupported(path, p, []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever})}
	case s.PodFailurePolicy != nil && p != corev1.RestartPolicyNever:
		return field.ErrorList{field.Invalid(path, p, fmt.Sprintf("only %q is supported when podFailurePolicy is specified", corev1.RestartPolicyNever))}
	}
	return nil
}

func validateJobUpdate(j, old *batchv1.Job) field.ErrorList {
	s, was := &j.Spec, &old.Spec
	errs := validateJobSpec(s)
	errs = append(errs, validateCompletions(s, was, specPath.Child("completions"))...)
	errs = append(errs, rules.Immutable(specPath.Child("selector"), s.Selector, was.Selector)...)
	errs = append(errs, validateTemplateChange(s, old)...)
	errs = append(errs, rules.Immutable(specPath.Child("completionMode"), s.CompletionMode, was.CompletionMode)...)
	errs = append(errs, rules.Immutable(specPath.Child("podFailurePolicy"), s.PodFailurePolicy, was.PodFailurePolicy)...)
	errs = append(errs, rules.Immutable(specPath.Child("backoffLimitPerIndex"), s.BackoffLimitPerIndex, was.BackoffLimitPerIndex)...)
	errs = append(errs, rules.Immutable(specPath.Child("managedBy"), s.ManagedBy, was.ManagedBy)...)
	errs = append(errs, rules.Immutable(specPath.Child("successPolicy"), s.SuccessPolicy, was.SuccessPolicy)...)
	return append(errs, validateIndexNames(j)...)
}

// validateCompletions: only an indexed job may change how often it must succeed, and its parallelism with it.
func validateCompletions(s, was *batchv1.JobSpec, path *field.Path) field.ErrorList {
	switch {
	case ptr.Deref(s.CompletionMode, "") != batchv1.IndexedCompletion:
		return rules.Immutable(path, s.Completions, was.Completions)
	case ptr.Equal(s.Completions, was.Completions) || s.Completions == nil || *s.Completions == ptr.Deref(s.Parallelism, 0):
		return nil
	}
	return field.ErrorList{field.Invalid(path, s.Completions, "can only be modified in tandem with "+path.Root().Child("parallelism").String())}
}

// validateTemplateChange: while a job is suspended and has no pods, it may be told where and with what they run.
func validateTemplateChange(s *batchv1.JobSpec, old *batchv1.Job) field.ErrorList {
	path := specPath.Child("template")
	suspended := ptr.Deref(old.Spec.Suspend, false)
	idle := suspended && (old.Status.StartTime == nil || isTrue(&old.Status, batchv1.JobSuspended)) && old.Status.Active == 0
	was := old.Spec.Template.DeepCopy()
	if idle {
		allowPlacement(was, &s.Template)
	}
	if !suspended || !idle {
		return rules.Immutable(path, &s.Template, was)
	}
	allowResources(was.Spec.Containers, s.Template.Spec.Containers)
	allowResources(was.Spec.InitContainers, s.Template.Spec.InitContainers)
	return rules.Immutable(specPath.Child("template.spec"), s.Template.Spec, was.Spec)
}

func allowPlacement(was, now *corev1.PodTemplateSpec) {
	switch a, b := was.Spec.Affinity, now.Spec.Affinity; {
	case a != nil && b == nil:
		a.NodeAffinity = nil
		if equality.Semantic.DeepEqual(*a, corev1.Affinity{}) {
			was.Spec.Affinity = nil
		}
	case a == nil && b != nil:
		was.Spec.Affinity = &corev1.Affinity{NodeAffinity: b.NodeAffinity}
	case a != nil && b != nil:
		a.NodeAffinity = b.NodeAffinity
	}
	was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates = now.Spec.NodeSelector, now.Spec.Tolerations, now.Spec.SchedulingGates
	was.Annotations, was.Labels = now.Annotations, now.Labels
}

func allowResources(was, now []corev1.Container) {
	if len(was) != len(now) {
		return
	}
	for i := range was {
		if was[i].Name == now[i].Name {
			was[i].Resources = now[i].Resources
		}
	}
}
