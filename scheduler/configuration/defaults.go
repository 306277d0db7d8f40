package configuration

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"
)

// MaxCustomScore is the highest score that a shape in a configuration may name.
const MaxCustomScore = 10

// SetDefaults fills in what a configuration leaves out.
func SetDefaults(c *configv1.KubeSchedulerConfiguration) {
	fill(&c.Parallelism, 16)
	fill(&c.PercentageOfNodesToScore, 0)
	fill(&c.PodInitialBackoffSeconds, 1)
	fill(&c.PodMaxBackoffSeconds, 10)
	if len(c.Profiles) == 0 {
		c.Profiles = []configv1.KubeSchedulerProfile{{}}
	}
	// Several profiles need names of their own, which validation demands.
	if len(c.Profiles) == 1 && c.Profiles[0].SchedulerName == nil {
		c.Profiles[0].SchedulerName = ptr.To(corev1.DefaultSchedulerName)
	}
	for i := range c.Profiles {
		setProfileDefaults(&c.Profiles[i])
	}
}

func fill[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func setProfileDefaults(profile *configv1.KubeSchedulerProfile) {
	profile.Plugins = merge(profile.Plugins)
	given := map[string]bool{}
	for i := range profile.PluginConfig {
		given[profile.PluginConfig[i].Name] = true
		setArgumentDefaults(profile.PluginConfig[i].Args.Object)
	}
	for _, name := range Enabled(profile.Plugins) {
		if args := NewArguments(name); args != nil && !given[name] {
			profile.PluginConfig = append(profile.PluginConfig, configv1.PluginConfig{Name: name, Args: runtime.RawExtension{Object: args}})
		}
	}
}

// Enabled lists the plugins that are enabled at all, sorted by name.
func Enabled(plugins *configv1.Plugins) (names []string) {
	for _, point := range Points(plugins) {
		for _, plugin := range point.Set.Enabled {
			names = append(names, plugin.Name)
		}
	}
	for _, plugin := range plugins.MultiPoint.Enabled {
		names = append(names, plugin.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NewArguments gives a plugin's default arguments; nil for one that takes none.
func NewArguments(plugin string) runtime.Object {
	var args runtime.Object
	switch plugin {
	case "DefaultPreemption":
		args = &configv1.DefaultPreemptionArgs{}
	case "InterPodAffinity":
		args = &configv1.InterPodAffinityArgs{}
	case "NodeAffinity":
		args = &configv1.NodeAffinityArgs{}
	case "NodeResourcesBalancedAllocation":
		args = &configv1.NodeResourcesBalancedAllocationArgs{}
	case "NodeResourcesFit":
		args = &configv1.NodeResourcesFitArgs{}
	case "PodTopologySpread":
		args = &configv1.PodTopologySpreadArgs{}
	case "VolumeBinding":
		args = &configv1.VolumeBindingArgs{}
	case "DynamicResources":
		args = &configv1.DynamicResourcesArgs{}
	default:
		return nil
	}
	setArgumentDefaults(args)
	return args
}

// cpuAndMemory are the resources that are looked at when none are named.
func cpuAndMemory() []configv1.ResourceSpec {
	return []configv1.ResourceSpec{{Name: string(corev1.ResourceCPU), Weight: 1}, {Name: string(corev1.ResourceMemory), Weight: 1}}
}

func setArgumentDefaults(object runtime.Object) {
	switch args := object.(type) {
	case *configv1.DefaultPreemptionArgs:
		fill(&args.MinCandidateNodesPercentage, 10)
		fill(&args.MinCandidateNodesAbsolute, 100)
	case *configv1.InterPodAffinityArgs:
		fill(&args.HardPodAffinityWeight, 1)
	case *configv1.NodeResourcesBalancedAllocationArgs:
		args.Resources = weighted(args.Resources)
	case *configv1.NodeResourcesFitArgs:
		if args.ScoringStrategy == nil {
			args.ScoringStrategy = &configv1.ScoringStrategy{Type: configv1.LeastAllocated}
		}
		args.ScoringStrategy.Resources = weighted(args.ScoringStrategy.Resources)
	case *configv1.PodTopologySpreadArgs:
		if args.DefaultingType == "" {
			args.DefaultingType = configv1.SystemDefaulting
		}
	case *configv1.VolumeBindingArgs:
		fill(&args.BindTimeoutSeconds, 600)
		if len(args.Shape) == 0 {
			args.Shape = []configv1.UtilizationShapePoint{{Utilization: 0, Score: MaxCustomScore}, {Utilization: 100, Score: 0}}
		}
	}
}

func weighted(resources []configv1.ResourceSpec) []configv1.ResourceSpec {
	if len(resources) == 0 {
		return cpuAndMemory()
	}
	for i := range resources {
		if resources[i].Weight == 0 {
			resources[i].Weight = 1
		}
	}
	return resources
}
