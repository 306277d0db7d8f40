package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/scheduler"
	"github.com/kogge-dev/kogge/scheduler/configuration"
)

// profilesForm is a configuration of one profile.
const profileForm = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [%s]
`

// TestProfiles: what a profile changes of the choice between n-a, which is fuller, and n-b.
func TestProfiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ profile, want string }{
		"by default": {`{}`, "n-b"},
		"the fuller": {`{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}`, "n-a"},
		"by a shape": {`{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio,
			requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}}}]}`, "n-a"},
		"without scores":     {`{plugins: {score: {disabled: [{name: "*"}]}}}`, "n-a n-b"},
		"one score":          {`{plugins: {score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesBalancedAllocation}]}}}`, "n-a"},
		"ports don't matter": {`{plugins: {multiPoint: {disabled: [{name: NodePorts}, {name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]}}}`, "n-a n-b"},
		"an added demand": {`{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution:
			{nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]}}}}]}`, "n-a"},
		"an added demand that none meets": {`{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution:
			{nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [z]}]}]}}}}]}`,
			"0/2 nodes are available: 2 node(s) didn't match scheduler-enforced node affinity. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."},
		"an added wish": {`{plugins: {score: {enabled: [{name: NodeAffinity, weight: 100}]}}, pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution:
			[{weight: 1, preference: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}}]}}}]}`, "n-a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := configuration.Load(fmt.Appendf(nil, profileForm, c.profile))
			if err != nil {
				t.Fatal(err)
			}
			fuller := podWith("fuller", "n-a", 0)
			fuller.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("2")}
			incoming := podWith("new", "", 0)
			incoming.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("4Gi")}
			verdict, err := scheduler.Judge(loaded, append(objects(t, twoZones), fuller), incoming)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(verdict.Nodes, " ") + verdict.Message; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestTwoProfiles: pods of either are placed and said to be by it, those of others aren't.
func TestTwoProfiles(t *testing.T) {
	t.Parallel()
	loaded, err := configuration.Load(fmt.Appendf(nil, profileForm, "{schedulerName: one}, {schedulerName: two, plugins: {filter: {disabled: [{name: '*'}]}}}"))
	if err != nil {
		t.Fatal(err)
	}
	w := startWith(t, cluster.Options{Nodes: 2, Logger: slog.New(slog.DiscardHandler), Scheduler: loaded})
	by := func(name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.SchedulerName = name
			requests("9999")(p)
		}
	}
	w.pod("refused", by("one"))
	w.pod("other", by("other"))
	w.pod("placed", by("two"))
	w.placed("placed")
	w.eventually(func(ctx context.Context) string {
		return w.eventBy(ctx, "one", "refused", "FailedScheduling", "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	})
}
