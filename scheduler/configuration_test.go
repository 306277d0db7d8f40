package scheduler

import (
	"log/slog"
	"testing"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/kogge-dev/kogge/scheduler/configuration"
)

// TestConfigurationsThatAreRefused holds what is said of a wrong file against what the
// genuine scheduler says.
func TestConfigurationsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"an operator": {`profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Nope}]}]}}}}]}]`, "profiles[0].pluginConfig[0].args.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: \"Nope\": supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""},
		"backoffs": {`podInitialBackoffSeconds: 5
podMaxBackoffSeconds: 2`, "podMaxBackoffSeconds: Invalid value: 2: must be greater than or equal to PodInitialBackoffSeconds"},
		"balanced resources":          {`profiles: [{pluginConfig: [{name: NodeResourcesBalancedAllocation, args: {resources: [{name: cpu, weight: 2},{name: cpu}]}}]}]`, "[profiles[0].pluginConfig[0].args.resources[0].weight: Invalid value: 2: must be 1, profiles[0].pluginConfig[0].args.resources[1].name: Duplicate value: \"cpu\"]"},
		"scoring strategy":            {`profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: X, resources: [{name: cpu, weight: 200}]}, ignoredResourceGroups: ["a/b"]}}]}]`, "initializing profiles: creating profile for scheduler name default-scheduler: initializing plugin \"NodeResourcesFit\": [ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/', scoringStrategy.type: Unsupported value: \"X\": supported values: \"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\", scoringStrategy.resources[0].weight: Invalid value: 200: resource weight of cpu not in valid range (0, 100]]"},
		"weight of affinity, twice":   {`profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}, {name: InterPodAffinity, args: {hardPodAffinityWeight: 1}}]}]`, "[profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100], profiles[0].pluginConfig[1]: Duplicate value: \"InterPodAffinity\"]"},
		"arguments of another plugin": {`profiles: [{pluginConfig: [{name: NodeAffinity, args: {kind: VolumeBindingArgs, apiVersion: kubescheduler.config.k8s.io/v1}}]}]`, "decoding .profiles[0].pluginConfig[0]: args for plugin NodeAffinity were not of type NodeAffinityArgs.kubescheduler.config.k8s.io, got VolumeBindingArgs.kubescheduler.config.k8s.io"},
		"names of profiles":           {`profiles: [{}, {schedulerName: a}, {schedulerName: a, percentageOfNodesToScore: -1}]`, "[profiles[0].schedulerName: Required value, profiles[2].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100], profiles[2].schedulerName: Duplicate value: {}]"},
		"nobody binds":                {`profiles: [{plugins: {bind: {disabled: [{name: "*"}]}}}]`, "initializing profiles: creating profile for scheduler name default-scheduler: at least one bind plugin is needed for profile with scheduler name \"default-scheduler\""},
		"nobody sorts":                {`profiles: [{plugins: {multiPoint: {disabled: [{name: PrioritySort}]}}}]`, "initializing profiles: creating profile for scheduler name default-scheduler: only one queue sort plugin required for profile with scheduler name \"default-scheduler\", but got 0"},
		"no such plugin":              {`profiles: [{plugins: {filter: {enabled: [{name: Nope}]}}}]`, "initializing profiles: creating profile for scheduler name default-scheduler: FilterPlugin \"Nope\" does not exist"},
		"no such plugin at all":       {`profiles: [{plugins: {multiPoint: {enabled: [{name: Nope}]}}}]`, "initializing profiles: creating profile for scheduler name default-scheduler: PreFilterPlugin \"Nope\" does not exist"},
		"one that does not filter":    {`profiles: [{plugins: {filter: {enabled: [{name: ImageLocality}]}}}]`, "initializing profiles: creating profile for scheduler name default-scheduler: plugin \"ImageLocality\" does not extend FilterPlugin plugin"},
		"parallelism":                 {`parallelism: 0`, "parallelism: Invalid value: 0: should be an integer value greater than zero"},
		"percentage":                  {`percentageOfNodesToScore: 101`, "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
		"candidates":                  {`profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}}]}]`, "[profiles[0].pluginConfig[0].args.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute, profiles[0].pluginConfig[0].args.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage]"},
		"a plugin of the past":        {`profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]`, "profiles[0].plugins.filter.enabled[0]: Invalid value: \"EBSLimits\": was invalid in version \"v1\" (KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\")"},
		"two orders":                  {`profiles: [{schedulerName: a},{schedulerName: b, plugins: {queueSort: {enabled: [{name: PrioritySort}]}}}]`, "profiles[1].plugins.queueSort: Invalid value: {\"Enabled\":[{\"Name\":\"PrioritySort\",\"Weight\":0}],\"Disabled\":null}: must be the same for all profiles"},
		"default constraints":         {`profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [{maxSkew: 0, topologyKey: "", whenUnsatisfiable: X, labelSelector: {}}]}}]}]`, "[profiles[0].pluginConfig[0].args.defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty, profiles[0].pluginConfig[0].args.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf), profiles[0].pluginConfig[0].args.defaultConstraints[0].topologyKey: Required value: can not be empty, profiles[0].pluginConfig[0].args.defaultConstraints[0].whenUnsatisfiable: Unsupported value: \"X\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\", profiles[0].pluginConfig[0].args.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod]"},
		"twice":                       {`profiles: [{plugins: {multiPoint: {enabled: [{name: NodePorts},{name: NodePorts}]}}}]`, "initializing profiles: creating profile for scheduler name default-scheduler: plugin \"NodePorts\" already registered as \"PreFilterPlugin\""},
		"unknown field":               {`foo: 1`, "strict decoding error: unknown field \"foo\""},
		"unknown fields inside":       {`profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {bar: 1}}], baz: 2}]`, "strict decoding error: unknown field \"profiles[0].baz\", decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin NodeResourcesFit: strict decoding error: unknown field \"bar\""},
		"shape":                       {`profiles: [{pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: -1, shape: [{utilization: 5, score: 11},{utilization: 5, score: 1}]}}]}]`, "[profiles[0].pluginConfig[0].args.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value, profiles[0].pluginConfig[0].args.shape[1].utilization: Invalid value: 5: values must be sorted in increasing order, profiles[0].pluginConfig[0].args.shape[0].score: Invalid value: 11: not in valid range [0, 10]]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := loadAndMake("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + c.body)
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func loadAndMake(file string) error {
	loaded, err := configuration.Load([]byte(file))
	if err != nil {
		return err
	}
	_, err = newScheduler(fake.NewClientset(), nil, Options{Logger: slog.New(slog.DiscardHandler), Configuration: loaded})
	return err
}

func TestFilesOfOtherKinds(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"apiVersion: kubescheduler.config.k8s.io/v1\nkind: VolumeBindingArgs": "couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, Kind=VolumeBindingArgs: ",
		"apiVersion: v1\nkind: Pod": `no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`,
	} {
		if err := loadAndMake(file); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
