package configuration

import (
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"
)

// DefaultPlugins are those of the default profile, in upstream's order: it is that in which
// a node is judged, so it decides which reason is said.
func DefaultPlugins() []configv1.Plugin {
	return []configv1.Plugin{
		{Name: "SchedulingGates"},
		{Name: "PrioritySort"},
		{Name: "NodeName"},
		{Name: "NodeUnschedulable"},
		{Name: "TaintToleration", Weight: ptr.To[int32](3)},
		{Name: "NodeAffinity", Weight: ptr.To[int32](2)},
		{Name: "NodePorts"},
		{Name: "NodeResourcesFit", Weight: ptr.To[int32](1)},
		{Name: "VolumeRestrictions"},
		{Name: "NodeVolumeLimits"},
		{Name: "VolumeBinding"},
		{Name: "VolumeZone"},
		{Name: "PodTopologySpread", Weight: ptr.To[int32](2)},
		{Name: "InterPodAffinity", Weight: ptr.To[int32](2)},
		{Name: "DynamicResources", Weight: ptr.To[int32](2)},
		{Name: "DefaultPreemption"},
		{Name: "NodeResourcesBalancedAllocation", Weight: ptr.To[int32](1)},
		{Name: "ImageLocality", Weight: ptr.To[int32](1)},
		{Name: "DefaultBinder"},
		{Name: "NodeDeclaredFeatures"},
	}
}

// Point is a step that plugins take part in, as a configuration names it.
type Point struct {
	Name string
	Set  *configv1.PluginSet
}

// Points gives the sets of plugins of each step.
func Points(plugins *configv1.Plugins) []Point {
	return []Point{
		{"preEnqueue", &plugins.PreEnqueue}, {"queueSort", &plugins.QueueSort}, {"preFilter", &plugins.PreFilter},
		{"filter", &plugins.Filter}, {"postFilter", &plugins.PostFilter}, {"preScore", &plugins.PreScore},
		{"score", &plugins.Score}, {"reserve", &plugins.Reserve}, {"permit", &plugins.Permit},
		{"preBind", &plugins.PreBind}, {"bind", &plugins.Bind}, {"postBind", &plugins.PostBind},
	}
}

// merge lays a profile's plugins over the default ones.
func merge(given *configv1.Plugins) *configv1.Plugins {
	merged := &configv1.Plugins{MultiPoint: configv1.PluginSet{Enabled: DefaultPlugins()}}
	if given == nil {
		return merged
	}
	merged.MultiPoint = mergeSet(merged.MultiPoint.Enabled, given.MultiPoint)
	into, from := Points(merged), Points(given)
	for i := range into {
		*into[i].Set = mergeSet(nil, *from[i].Set)
	}
	return merged
}

// mergeSet takes out of the default plugins those that are disabled, "*" being all, replaces
// in their places those that are given anew, and adds the others at the end.
func mergeSet(defaults []configv1.Plugin, given configv1.PluginSet) configv1.PluginSet {
	disabled := map[string]bool{}
	for _, plugin := range given.Disabled {
		disabled[plugin.Name] = true
	}
	merged := configv1.PluginSet{Disabled: given.Disabled}
	last := map[string]int{}
	for i, plugin := range given.Enabled {
		last[plugin.Name] = i
	}
	replaces := map[int]bool{}
	for _, plugin := range defaults {
		if disabled["*"] || disabled[plugin.Name] {
			continue
		}
		if i, anew := last[plugin.Name]; anew {
			plugin, replaces[i] = given.Enabled[i], true
		}
		merged.Enabled = append(merged.Enabled, plugin)
	}
	for i, plugin := range given.Enabled {
		if !replaces[i] {
			merged.Enabled = append(merged.Enabled, plugin)
		}
	}
	return merged
}
