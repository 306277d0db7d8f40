package batch

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

var (
	specPath    = field.NewPath("spec")
	statusPath  = field.NewPath("status")
	jobSpecDocs = batchv1.JobSpec{}.SwaggerDoc()
)

// Labels that pods of a job carry, under their names of today and of old.
const (
	oldControllerUID = "controller-uid"
	oldJobName       = "job-name"
)

// Job runs pods until enough of them succeeded.
var Job = resource.Define(resource.Kind[*batchv1.Job]{
	Name:    resource.Name{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Categories: []string{"all"}, Namespaced: true},
	List:    &batchv1.JobList{},
	Store:   "jobs",
	Default: defaultJob,
	Strategy: resource.Strategy[*batchv1.Job]{
		PrepareForCreate: func(_ context.Context, j *batchv1.Job) {
			if !ptr.Deref(j.Spec.ManualSelector, false) {
				generateSelector(j)
			}
			j.Status = batchv1.JobStatus{}
			j.Generation = 1
			j.Spec.Scheduling = nil
		},
		PrepareForUpdate: func(_ context.Context, j, old *batchv1.Job) {
			j.Status = old.Status
			if old.Spec.Scheduling == nil {
				j.Spec.Scheduling = nil
			}
			if !equality.Semantic.DeepEqual(j.Spec, old.Spec) {
				j.Generation = old.Generation + 1
			}
		},
		Validate:       func(_ context.Context, j *batchv1.Job) field.ErrorList { return validateJob(j) },
		ValidateUpdate: func(_ context.Context, j, old *batchv1.Job) field.ErrorList { return validateJobUpdate(j, old) },
		WarningsOnCreate: func(_ context.Context, j *batchv1.Job) []string {
			return append(core.NameWarnings(j.Name), jobWarnings(&j.Spec, specPath)...)
		},
		WarningsOnUpdate: func(_ context.Context, j, old *batchv1.Job) []string {
			if j.Generation == old.Generation {
				return nil
			}
			return jobWarnings(&j.Spec, specPath)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*batchv1.Job]{
		PrepareForUpdate: func(_ context.Context, j, old *batchv1.Job) { j.Spec = old.Spec },
		ValidateUpdate:   func(_ context.Context, j, old *batchv1.Job) field.ErrorList { return validateJobStatus(j, old) },
		ResetFields:      []string{"spec"},
	},
	Fields: map[string]func(*batchv1.Job) string{
		"status.successful": func(j *batchv1.Job) string { return strconv.Itoa(int(j.Status.Succeeded)) },
	},
	FieldError:   "field label %q not supported for Job",
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Propagation:  resource.Orphan,
	Incomplete:   true, // labels that the template got after defaulting are the job's only when it is read
	OrphanWarning: "child pods are preserved by default when jobs are deleted; " +
		"set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Status", "string", "Status of the job."),
		resource.Column("Completions", "string", batchv1.JobStatus{}.SwaggerDoc()["succeeded"]),
		resource.Column("Duration", "string", "Time required to complete the job."),
		resource.AgeColumn,
		resource.WideColumn("Containers", "string", "Names of each container in the template."),
		resource.WideColumn("Images", "string", "Images referenced by each container in the template."),
		resource.WideColumn("Selector", "string", jobSpecDocs["selector"]),
	},
	Row: func(j *batchv1.Job) []any {
		names, images := core.ContainersAndImages(j.Spec.Template.Spec.Containers)
		return []any{j.Name, jobState(j), completionsText(j), durationText(&j.Status), resource.AgeOf(j), names, images, metav1.FormatLabelSelector(j.Spec.Selector)}
	},
})

// jobState is the word that tells best how a job is.
func jobState(j *batchv1.Job) string {
	switch {
	case isTrue(&j.Status, batchv1.JobComplete):
		return "Complete"
	case isTrue(&j.Status, batchv1.JobFailed):
		return "Failed"
	case j.DeletionTimestamp != nil:
		return "Terminating"
	case isTrue(&j.Status, batchv1.JobSuspended):
		return "Suspended"
	case isTrue(&j.Status, batchv1.JobFailureTarget):
		return "FailureTarget"
	case isTrue(&j.Status, batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func completionsText(j *batchv1.Job) string {
	if c := j.Spec.Completions; c != nil {
		return fmt.Sprintf("%d/%d", j.Status.Succeeded, *c)
	}
	if p := ptr.Deref(j.Spec.Parallelism, 0); p > 1 {
		return fmt.Sprintf("%d/1 of %d", j.Status.Succeeded, p)
	}
	return fmt.Sprintf("%d/1", j.Status.Succeeded)
}

func durationText(s *batchv1.JobStatus) string {
	switch {
	case s.StartTime == nil:
		return ""
	case s.CompletionTime == nil:
		return duration.HumanDuration(time.Since(s.StartTime.Time))
	}
	return duration.HumanDuration(s.CompletionTime.Sub(s.StartTime.Time))
}

// condition gives a condition's status, or none.
func condition(s *batchv1.JobStatus, t batchv1.JobConditionType) corev1.ConditionStatus {
	for _, c := range s.Conditions {
		if c.Type == t {
			return c.Status
		}
	}
	return ""
}

func isTrue(s *batchv1.JobStatus, t batchv1.JobConditionType) bool {
	return condition(s, t) == corev1.ConditionTrue
}

func defaultJob(j *batchv1.Job) {
	if j.Spec.Completions == nil && j.Spec.Parallelism == nil {
		j.Spec.Completions = ptr.To[int32](1)
	}
	fillPtr(&j.Spec.Parallelism, 1)
	if j.Spec.BackoffLimitPerIndex != nil {
		fillPtr(&j.Spec.BackoffLimit, math.MaxInt32)
	}
	fillPtr(&j.Spec.BackoffLimit, 6)
	if l := j.Spec.Template.Labels; l != nil && len(j.Labels) == 0 {
		j.Labels = maps.Clone(l)
	}
	fillPtr(&j.Spec.CompletionMode, batchv1.NonIndexedCompletion)
	fillPtr(&j.Spec.Suspend, false)
	if j.Spec.PodFailurePolicy != nil {
		fillPtr(&j.Spec.PodReplacementPolicy, batchv1.Failed)
	}
	fillPtr(&j.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	fillPtr(&j.Spec.ManualSelector, false)
	defaultJobTemplate(&j.Spec)
}

// defaultJobTemplate sets what is set alike in a job and in the template of one.
func defaultJobTemplate(s *batchv1.JobSpec) {
	podspec.DefaultTemplate(&s.Template)
	if s.PodFailurePolicy == nil {
		return
	}
	for i := range s.PodFailurePolicy.Rules {
		for k := range s.PodFailurePolicy.Rules[i].OnPodConditions {
			if c := &s.PodFailurePolicy.Rules[i].OnPodConditions[k]; c.Status == "" {
				c.Status = corev1.ConditionTrue
			}
		}
	}
}

func fillPtr[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

// generateSelector selects the job's own pods by its UID, which no other job has.
func generateSelector(j *batchv1.Job) {
	t := &j.Spec.Template
	t.Labels = orEmpty(maps.Clone(t.Labels))
	fill := func(key, value string) {
		if _, ok := t.Labels[key]; !ok {
			t.Labels[key] = value
		}
	}
	fill(oldJobName, j.Name)
	fill(batchv1.JobNameLabel, j.Name)
	fill(oldControllerUID, string(j.UID))
	fill(batchv1.ControllerUidLabel, string(j.UID))
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	j.Spec.Selector.MatchLabels = orEmpty(j.Spec.Selector.MatchLabels)
	if _, ok := j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !ok {
		j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(j.UID)
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// jobWarnings: beyond these sizes not every index can be remembered.
func jobWarnings(s *batchv1.JobSpec, path *field.Path) []string {
	var out []string
	if ptr.Deref(s.CompletionMode, "") == batchv1.IndexedCompletion && ptr.Deref(s.Completions, 0) > softCompletions && ptr.Deref(s.Parallelism, 0) > softParallelism {
		out = append(out, fmt.Sprintf("%s: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail", path))
	}
	return append(out, podspec.Warnings(&s.Template.Spec, &s.Template.ObjectMeta, path.Child("template"))...)
}
