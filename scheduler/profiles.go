package scheduler

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler/configuration"
	"github.com/kogge-dev/kogge/scheduler/framework"
	"github.com/kogge-dev/kogge/scheduler/plugins"
)

// newProfiles makes the profiles of a configuration, by the schedulerName of their pods.
func newProfiles(c *configv1.KubeSchedulerConfiguration, sources *plugins.Sources) (map[string]*framework.Profile, error) {
	profiles := map[string]*framework.Profile{}
	for i := range c.Profiles {
		given := &c.Profiles[i]
		profile, err := newProfile(given, sources)
		if err != nil {
			return nil, fmt.Errorf("initializing profiles: creating profile for scheduler name %s: %w", *given.SchedulerName, err)
		}
		profile.Name = *given.SchedulerName
		profile.Percentage = int(*c.PercentageOfNodesToScore)
		if given.PercentageOfNodesToScore != nil {
			profile.Percentage = int(*given.PercentageOfNodesToScore)
		}
		profiles[profile.Name] = profile
	}
	return profiles, nil
}

func newProfile(given *configv1.KubeSchedulerProfile, sources *plugins.Sources) (*framework.Profile, error) {
	made, err := makePlugins(given, sources)
	if err != nil {
		return nil, err
	}
	profile := framework.NewProfile()
	sorts := 0
	for _, step := range framework.Steps() {
		at := slices.IndexFunc(configuration.Points(given.Plugins), func(point configuration.Point) bool { return point.Name == step.Name })
		set := configuration.Points(given.Plugins)[at].Set
		list, err := expand(step, set, given.Plugins.MultiPoint.Enabled, made)
		if err != nil {
			return nil, err
		}
		for _, plugin := range list {
			profile.Add(step, framework.Weighted{Plugin: made[plugin.Name], Weight: weightOf(plugin)})
		}
		if step.Name == "queueSort" {
			sorts = len(list)
		}
	}
	if sorts != 1 {
		return nil, fmt.Errorf("only one queue sort plugin required for profile with scheduler name %q, but got %d", *given.SchedulerName, sorts)
	}
	if !profile.Binds() {
		return nil, fmt.Errorf("at least one bind plugin is needed for profile with scheduler name %q", *given.SchedulerName)
	}
	return profile, nil
}

func weightOf(plugin configv1.Plugin) int64 {
	if plugin.Weight == nil || *plugin.Weight == 0 {
		return 1
	}
	return int64(*plugin.Weight)
}

// makePlugins makes those plugins that a profile enables anywhere and that there are.
func makePlugins(given *configv1.KubeSchedulerProfile, sources *plugins.Sources) (map[string]framework.Plugin, error) {
	args := map[string]runtime.Object{}
	for _, config := range given.PluginConfig {
		args[config.Name] = config.Args.Object
	}
	made := map[string]framework.Plugin{}
	for _, name := range configuration.Enabled(given.Plugins) {
		plugin, ok, err := plugins.New(name, args[name], sources)
		if err != nil {
			return nil, err
		}
		if ok {
			made[name] = plugin
		}
	}
	return made, nil
}

// expand gives the plugins of one step: those that are enabled for it by name, and those that
// are enabled for all steps and can take part, unless they are disabled for this one. Those
// that are both come first, in the step's own order; then those of all steps, then the rest.
func expand(step framework.Step, set *configv1.PluginSet, everywhere []configv1.Plugin, made map[string]framework.Plugin) ([]configv1.Plugin, error) {
	own := map[string]bool{}
	for _, plugin := range set.Enabled {
		switch exists := made[plugin.Name]; {
		case exists == nil:
			return nil, fmt.Errorf("%s %q does not exist", step.Kind, plugin.Name)
		case !step.Takes(exists):
			return nil, fmt.Errorf("plugin %q does not extend %s plugin", plugin.Name, step.Kind)
		case own[plugin.Name]:
			return nil, fmt.Errorf("plugin %q already registered as %q", plugin.Name, step.Kind)
		}
		own[plugin.Name] = true
	}
	disabled := func(name string) bool {
		return slices.ContainsFunc(set.Disabled, func(plugin configv1.Plugin) bool { return plugin.Name == name })
	}
	if disabled("*") {
		return set.Enabled, nil
	}
	var first, then, rest []configv1.Plugin
	overridden, seen := map[string]bool{}, map[string]bool{}
	for _, plugin := range everywhere {
		switch exists := made[plugin.Name]; {
		case exists == nil:
			return nil, fmt.Errorf("%s %q does not exist", step.Kind, plugin.Name)
		case !step.Takes(exists) || disabled(plugin.Name):
		case own[plugin.Name]:
			overridden[plugin.Name] = true
		case seen[plugin.Name]:
			return nil, fmt.Errorf("plugin %q already registered as %q", plugin.Name, step.Kind)
		default:
			seen[plugin.Name] = true
			then = append(then, plugin)
		}
	}
	for _, plugin := range set.Enabled {
		if overridden[plugin.Name] {
			first = append(first, plugin)
		} else {
			rest = append(rest, plugin)
		}
	}
	return slices.Concat(first, then, rest), nil
}
