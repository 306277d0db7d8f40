package daemonset

import (
	"slices"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// fit tells which nodes a DaemonSet's pods fit. What the nodes have in common is worked out
// once for all of them.
type fit struct {
	nodeName    string
	tolerations []corev1.Toleration
	affinity    nodeaffinity.RequiredNodeAffinity
}

func newFit(ds *appsv1.DaemonSet) fit {
	spec := &ds.Spec.Template.Spec
	return fit{
		nodeName:    spec.NodeName,
		tolerations: tolerations(spec),
		affinity:    nodeaffinity.NewRequiredNodeAffinity(spec.NodeSelector, spec.Affinity),
	}
}

// on says whether a pod shall run on the node, and whether one that runs there may go on:
// a taint that only keeps new pods off doesn't end those that are there.
func (f fit) on(node *corev1.Node) (run, stay bool) {
	if f.nodeName != "" && f.nodeName != node.Name {
		return false, false
	}
	// An affinity that can't be read matches what could be read of it, as it always has.
	if matches, _ := f.affinity.Match(node); !matches {
		return false, false
	}
	if f.tolerates(node, corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule) {
		return true, true
	}
	return false, f.tolerates(node, corev1.TaintEffectNoExecute)
}

func (f fit) tolerates(node *corev1.Node, effects ...corev1.TaintEffect) bool {
	_, found := schedulinghelpers.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, f.tolerations,
		func(taint *corev1.Taint) bool { return slices.Contains(effects, taint.Effect) }, false)
	return !found
}

// tolerations are the template's and those that every daemon has: it stays whatever state
// its node is in, since it is often what would bring the node back.
func tolerations(spec *corev1.PodSpec) []corev1.Toleration {
	all := slices.Clone(spec.Tolerations)
	add := func(key string, effect corev1.TaintEffect) {
		all = withToleration(all, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	if spec.HostNetwork {
		add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
	return all
}

// withToleration adds a toleration, or puts it in the place of one of the same key,
// operator, value and effect.
func withToleration(all []corev1.Toleration, added corev1.Toleration) []corev1.Toleration {
	found := false
	for i := range all {
		if added.MatchToleration(&all[i]) {
			found = true
			if !apiequality.Semantic.DeepEqual(added, all[i]) {
				all[i] = added
			}
		}
	}
	if !found {
		all = append(all, added)
	}
	return all
}
