package configuration

import (
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"
)

// Validate says all that is wrong with a configuration that has its defaults.
func Validate(c *configv1.KubeSchedulerConfiguration) error {
	var errs []error
	if *c.Parallelism <= 0 {
		errs = append(errs, field.Invalid(field.NewPath("parallelism"), *c.Parallelism, "should be an integer value greater than zero"))
	}
	profiles := field.NewPath("profiles")
	seen := map[string]int{}
	for i := range c.Profiles {
		profile, path := &c.Profiles[i], profiles.Index(i)
		errs = append(errs, validateProfile(path, profile)...)
		name := ptr.Deref(profile.SchedulerName, "")
		if first, twice := seen[name]; twice {
			errs = append(errs, field.Duplicate(path.Child("schedulerName"), profiles.Index(first).Child("schedulerName")))
		}
		seen[name] = i
	}
	errs = append(errs, validateQueueSort(profiles, c.Profiles)...)
	errs = append(errs, validatePercentage(field.NewPath("percentageOfNodesToScore"), c.PercentageOfNodesToScore)...)
	if *c.PodInitialBackoffSeconds <= 0 {
		errs = append(errs, field.Invalid(field.NewPath("podInitialBackoffSeconds"), *c.PodInitialBackoffSeconds, "must be greater than 0"))
	}
	if *c.PodMaxBackoffSeconds < *c.PodInitialBackoffSeconds {
		errs = append(errs, field.Invalid(field.NewPath("podMaxBackoffSeconds"), *c.PodMaxBackoffSeconds, "must be greater than or equal to PodInitialBackoffSeconds"))
	}
	if len(c.Extenders) > 0 {
		errs = append(errs, errExtenders)
	}
	if flat := utilerrors.Flatten(utilerrors.NewAggregate(errs)); flat != nil {
		return flat
	}
	return nil
}

func validatePercentage(path *field.Path, percentage *int32) []error {
	if percentage != nil && (*percentage < 0 || *percentage > 100) {
		return []error{field.Invalid(path, *percentage, "not in valid range [0-100]")}
	}
	return nil
}

// removed are plugins that there were in versions of the configuration before this one.
var removed = []string{"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"}

func validateRemoved(path *field.Path, name string) []error {
	if !slices.Contains(removed, name) {
		return nil
	}
	return []error{field.Invalid(path, name, fmt.Sprintf("was invalid in version \"v1\" (KubeSchedulerConfiguration is version %q)", configv1.SchemeGroupVersion))}
}

func validateProfile(path *field.Path, profile *configv1.KubeSchedulerProfile) (errs []error) {
	if ptr.Deref(profile.SchedulerName, "") == "" {
		errs = append(errs, field.Required(path.Child("schedulerName"), ""))
	}
	errs = append(errs, validatePercentage(path.Child("percentageOfNodesToScore"), profile.PercentageOfNodesToScore)...)
	for _, point := range Points(profile.Plugins) {
		for i, plugin := range point.Set.Enabled {
			errs = append(errs, validateRemoved(path.Child("plugins", point.Name, "enabled").Index(i), plugin.Name)...)
		}
	}
	seen := map[string]bool{}
	for i := range profile.PluginConfig {
		name, at := profile.PluginConfig[i].Name, path.Child("pluginConfig").Index(i)
		if seen[name] {
			errs = append(errs, field.Duplicate(at, name))
		}
		seen[name] = true
		errs = append(errs, validateRemoved(at, name)...)
		errs = append(errs, validateArguments(at.Child("args"), profile.PluginConfig[i].Args.Object)...)
	}
	return errs
}

// shownSet is a set of plugins as upstream shows it, which has it in its internal form then.
type shownSet struct{ Enabled, Disabled []shownPlugin }

type shownPlugin struct {
	Name   string
	Weight int32
}

func shown(set configv1.PluginSet) shownSet {
	list := func(plugins []configv1.Plugin) (out []shownPlugin) {
		for _, plugin := range plugins {
			out = append(out, shownPlugin{plugin.Name, ptr.Deref(plugin.Weight, 0)})
		}
		return out
	}
	return shownSet{list(set.Enabled), list(set.Disabled)}
}

// validateQueueSort demands that all profiles sort alike, there being one queue.
func validateQueueSort(path *field.Path, profiles []configv1.KubeSchedulerProfile) (errs []error) {
	first := profiles[0].Plugins.QueueSort
	if count := len(first.Enabled); count > 1 {
		errs = append(errs, field.Invalid(path.Index(0).Child("plugins", "queueSort", "Enabled"), count, "only one queue sort plugin can be enabled"))
	}
	for i := range profiles[1:] {
		if set := profiles[i+1].Plugins.QueueSort; !apiequality.Semantic.DeepEqual(first, set) {
			errs = append(errs, field.Invalid(path.Index(i+1).Child("plugins", "queueSort"), shown(set), "must be the same for all profiles"))
		}
	}
	return errs
}
