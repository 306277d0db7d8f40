package plugins

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// TestWhatHelps: an event brings a refused pod forward only if it may change the mind of
// the plugin that refused.
func TestWhatHelps(t *testing.T) {
	t.Parallel()
	zone := corev1.LabelTopologyZone
	node := func(labels map[string]string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	}
	came := func(changes ...podChange) framework.Event {
		return framework.Event{Change: framework.PodAssigned, PodAfter: newPod(changes...).Pod}
	}
	went := func(changes ...podChange) framework.Event {
		return framework.Event{Change: framework.PodGone, PodBefore: newPod(changes...).Pod}
	}
	moved := func(from, to map[string]string) framework.Event {
		return framework.Event{Change: framework.NodeLabels, NodeBefore: node(from), NodeAfter: node(to)}
	}
	near, far := newPod(wants(term("db", zone))).Pod, newPod(called("web"), shuns(term("db", zone))).Pod
	spread := newPod(called("web"), spreads()).Pod
	for name, c := range map[string]struct {
		plugin string
		pod    *corev1.Pod
		event  framework.Event
		want   bool
	}{
		"wanted company came":      {"InterPodAffinity", near, came(called("db")), true},
		"other company came":       {"InterPodAffinity", near, came(called("web")), false},
		"wanted company went":      {"InterPodAffinity", near, went(called("db")), false},
		"unwanted company went":    {"InterPodAffinity", far, went(called("db")), true},
		"other company went":       {"InterPodAffinity", far, went(called("cache")), false},
		"one that shunned it went": {"InterPodAffinity", far, went(shuns(term("web", zone))), true},
		"a node changed places":    {"InterPodAffinity", near, moved(map[string]string{zone: "a"}, map[string]string{zone: "b"}), true},
		"another label changed":    {"InterPodAffinity", near, moved(map[string]string{"x": "a"}, map[string]string{"x": "b"}), false},
		"one of its kind went":     {"PodTopologySpread", spread, went(called("web")), true},
		"one of its kind came":     {"PodTopologySpread", spread, came(called("web")), true},
		"one of another kind":      {"PodTopologySpread", spread, went(called("db")), false},
		"in another namespace":     {"PodTopologySpread", spread, went(called("web"), in("x")), false},
		"a new place":              {"PodTopologySpread", spread, framework.Event{Change: framework.NodeAdded, NodeAfter: node(map[string]string{zone: "c"})}, true},
		"a node without a place":   {"PodTopologySpread", spread, framework.Event{Change: framework.NodeAdded, NodeAfter: node(nil)}, false},
		"it is to be tried again":  {"NodePorts", near, framework.Event{Change: framework.Activated, PodAfter: near}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := framework.NewProfile(Default(noSources())...)
			if got := profile.Helps(c.pod, map[string]bool{c.plugin: true}, c.event); got != c.want {
				t.Errorf("helps: %v", got)
			}
		})
	}
}

// TestNominatedPodsKeepTheirRoom from pods that are no more urgent than they.
func TestNominatedPodsKeepTheirRoom(t *testing.T) {
	t.Parallel()
	urgency := func(priority int32) podChange {
		return func(p *corev1.Pod) { p.Spec.Priority = &priority }
	}
	node := newNode("n")
	nominated := newPod(asks("3", ""), urgency(10), func(p *corev1.Pod) { p.UID = "nominated" })
	profile := framework.NewProfile(Default(noSources())...)
	for name, c := range map[string]struct {
		priority int32
		want     string
	}{
		"less urgent": {5, "Insufficient cpu"}, "as urgent": {10, "Insufficient cpu"}, "more urgent": {20, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod, state := newPod(asks("2", ""), urgency(c.priority)), framework.NewCycleState()
			profile.PreFilter(state, pod, cluster{node})
			if got := profile.FilterBeside(state, pod, node, []*framework.PodInfo{nominated}).Message(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
