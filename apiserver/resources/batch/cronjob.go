package batch

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

var cronJobSpecDocs, cronJobStatusDocs = batchv1.CronJobSpec{}.SwaggerDoc(), batchv1.CronJobStatus{}.SwaggerDoc()

// maxCronJobName leaves room for what the names of its jobs have besides: a minute and a dash, in a DNS label.
const maxCronJobName = validation.DNS1035LabelMaxLength - 11

// CronJob makes jobs by the clock.
var CronJob = resource.Define(resource.Kind[*batchv1.CronJob]{
	Name:    resource.Name{Group: "batch", Version: "v1", Kind: "CronJob", Plural: "cronjobs", Short: []string{"cj"}, Categories: []string{"all"}, Namespaced: true},
	List:    &batchv1.CronJobList{},
	Store:   "cronjobs",
	Default: defaultCronJob,
	Strategy: resource.Strategy[*batchv1.CronJob]{
		PrepareForCreate: func(_ context.Context, c *batchv1.CronJob) {
			c.Status = batchv1.CronJobStatus{}
			c.Generation = 1
			c.Spec.JobTemplate.Spec.Scheduling = nil
		},
		PrepareForUpdate: func(_ context.Context, c, old *batchv1.CronJob) {
			c.Status = old.Status
			if old.Spec.JobTemplate.Spec.Scheduling == nil {
				c.Spec.JobTemplate.Spec.Scheduling = nil
			}
			if !equality.Semantic.DeepEqual(c.Spec, old.Spec) {
				c.Generation = old.Generation + 1
			}
		},
		Validate: func(_ context.Context, c *batchv1.CronJob) field.ErrorList {
			errs := validateCronJob(&c.Spec, nil)
			if len(c.Name) > maxCronJobName {
				errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name, fmt.Sprintf("must be no more than %d characters", maxCronJobName)))
			}
			return errs
		},
		ValidateUpdate: func(_ context.Context, c, old *batchv1.CronJob) field.ErrorList {
			return validateCronJob(&c.Spec, &old.Spec)
		},
		WarningsOnCreate: func(_ context.Context, c *batchv1.CronJob) []string {
			return append(core.NameWarnings(c.Name), cronJobWarnings(c)...)
		},
		WarningsOnUpdate: func(_ context.Context, c, old *batchv1.CronJob) []string {
			var out []string
			if c.Generation != old.Generation {
				out = cronJobWarnings(c)
			}
			if strings.Contains(c.Spec.Schedule, "TZ") {
				out = append(out, fmt.Sprintf("cannot use TZ or CRON_TZ in %s, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", field.NewPath("spec", "spec", "schedule")))
			}
			return out
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*batchv1.CronJob]{
		PrepareForUpdate: func(_ context.Context, c, old *batchv1.CronJob) { c.Spec = old.Spec },
		ResetFields:      []string{"spec"},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Schedule", "string", cronJobSpecDocs["schedule"]),
		resource.Column("Timezone", "string", cronJobSpecDocs["timeZone"]),
		resource.Column("Suspend", "boolean", cronJobSpecDocs["suspend"]),
		resource.Column("Active", "integer", cronJobStatusDocs["active"]),
		resource.Column("Last Schedule", "string", cronJobStatusDocs["lastScheduleTime"]),
		resource.AgeColumn,
		resource.WideColumn("Containers", "string", "Names of each container in the template."),
		resource.WideColumn("Images", "string", "Images referenced by each container in the template."),
		resource.WideColumn("Selector", "string", jobSpecDocs["selector"]),
	},
	Row: func(c *batchv1.CronJob) []any {
		last := "<none>"
		if t := c.Status.LastScheduleTime; t != nil {
			last = resource.Age(*t)
		}
		t := &c.Spec.JobTemplate.Spec
		names, images := core.ContainersAndImages(t.Template.Spec.Containers)
		return []any{c.Name, c.Spec.Schedule, ptr.Deref(c.Spec.TimeZone, "<none>"), resource.BoolText(c.Spec.Suspend), int64(len(c.Status.Active)), last, resource.AgeOf(c),
			names, images, metav1.FormatLabelSelector(t.Selector)}
	},
})

func cronJobWarnings(c *batchv1.CronJob) []string {
	return jobWarnings(&c.Spec.JobTemplate.Spec, specPath.Child("jobTemplate", "spec"))
}

func defaultCronJob(c *batchv1.CronJob) {
	if c.Spec.ConcurrencyPolicy == "" {
		c.Spec.ConcurrencyPolicy = batchv1.AllowConcurrent
	}
	fillPtr(&c.Spec.Suspend, false)
	fillPtr(&c.Spec.SuccessfulJobsHistoryLimit, 3)
	fillPtr(&c.Spec.FailedJobsHistoryLimit, 1)
	defaultJobTemplate(&c.Spec.JobTemplate.Spec)
}

func validateCronJob(s, old *batchv1.CronJobSpec) field.ErrorList {
	var errs field.ErrorList
	if s.Schedule != "" {
		errs = append(errs, validateSchedule(s, old != nil && strings.Contains(old.Schedule, "TZ"), specPath.Child("schedule"))...)
	}
	errs = append(errs, rules.NotNegativePtr(specPath.Child("startingDeadlineSeconds"), s.StartingDeadlineSeconds)...)
	if s.TimeZone != nil && (old == nil || !ptr.Equal(s.TimeZone, old.TimeZone)) {
		errs = append(errs, validateTimeZone(*s.TimeZone, specPath.Child("timeZone"))...)
	}
	errs = append(errs, rules.OneOf(specPath.Child("concurrencyPolicy"), s.ConcurrencyPolicy, batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)...)
	t, path := &s.JobTemplate.Spec, specPath.Child("jobTemplate", "spec")
	errs = append(errs, validateTemplateSpec(t, path)...)
	if t.Selector != nil {
		errs = append(errs, field.Invalid(path.Child("selector"), t.Selector, "`selector` will be auto-generated"))
	}
	if ptr.Deref(t.ManualSelector, false) {
		errs = append(errs, field.NotSupported(path.Child("manualSelector"), t.ManualSelector, []string{"nil", "false"}))
	}
	errs = append(errs, rules.NotNegativePtr(specPath.Child("successfulJobsHistoryLimit"), s.SuccessfulJobsHistoryLimit)...)
	errs = append(errs, rules.NotNegativePtr(specPath.Child("failedJobsHistoryLimit"), s.FailedJobsHistoryLimit)...)
	if s.Schedule == "" {
		errs = append(errs, field.Required(specPath.Child("schedule"), ""))
	}
	return errs
}

// validateSchedule; zone allows one in the schedule, as there was before.
func validateSchedule(s *batchv1.CronJobSpec, zone bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if err := parseSchedule(s.Schedule); err != nil {
		errs = append(errs, field.Invalid(path, s.Schedule, err.Error()))
	}
	switch {
	case !strings.Contains(s.Schedule, "TZ"):
	case !zone:
		errs = append(errs, field.Invalid(path, s.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	case s.TimeZone != nil:
		errs = append(errs, field.Invalid(path, s.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
	}
	return errs
}

// parseSchedule says what is wrong with a schedule. The parser panics on some.
func parseSchedule(schedule string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(schedule)
	return err
}

var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

// validateTimeZone demands a zone of the IANA's, and nothing that would lead elsewhere in the file system.
func validateTimeZone(zone string, path *field.Path) field.ErrorList {
	if zone == "" {
		return field.ErrorList{field.Invalid(path, zone, "timeZone must be nil or non-empty string")}
	}
	for _, part := range strings.Split(zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part) {
			return field.ErrorList{field.Invalid(path, zone, "unknown time zone "+zone)}
		}
	}
	var errs field.ErrorList
	if strings.EqualFold(zone, "Local") {
		errs = append(errs, field.Invalid(path, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(zone); err != nil {
		errs = append(errs, field.Invalid(path, zone, err.Error()))
	}
	return errs
}
