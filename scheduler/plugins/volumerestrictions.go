package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// volumeRestrictions refuses nodes with a pod that has a disk which can't be shared, and all
// nodes while another pod has a claim that is for one pod alone.
type volumeRestrictions struct{ sources *Sources }

const restrictionsKey = "VolumeRestrictions"

// exclusive is the pod's claims that are for one pod alone, and how often they are in use.
type exclusive struct {
	claims []string
	uses   int
}

// Clone is framework.Cloner.
func (e *exclusive) Clone() any { next := *e; return &next }

func (volumeRestrictions) Name() string { return "VolumeRestrictions" }

func (v volumeRestrictions) PreFilter(state *framework.CycleState, pod *framework.PodInfo, nodes framework.Snapshot) ([]string, *framework.Status) {
	own, err := v.exclusiveClaims(pod.Pod)
	if apierrors.IsNotFound(err) {
		return nil, framework.NewStatus(framework.Unresolvable, err.Error())
	}
	if err != nil {
		return nil, framework.AsStatus(err)
	}
	e := &exclusive{claims: own}
	for _, claim := range own {
		if inUse(nodes, pod.Pod.Namespace, claim) {
			e.uses++
		}
	}
	if e.uses == 0 && !slices.ContainsFunc(pod.Pod.Spec.Volumes, isDisk) {
		return nil, framework.NewStatus(framework.Skip)
	}
	state.Write(restrictionsKey, e)
	return nil, nil
}

// exclusiveClaims gives the pod's claims that are for one pod alone, each once.
func (v volumeRestrictions) exclusiveClaims(pod *corev1.Pod) (own []string, err error) {
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		claim, err := v.sources.claims.PersistentVolumeClaims(pod.Namespace).Get(source.ClaimName)
		if err != nil {
			return nil, err
		}
		if slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) && !slices.Contains(own, claim.Name) {
			own = append(own, claim.Name)
		}
	}
	return own, nil
}

func inUse(nodes framework.Snapshot, namespace, claim string) bool {
	for _, node := range nodes.Nodes() {
		for _, pod := range node.Pods {
			if pod.Pod.Namespace == namespace && usesOf(pod.Pod, []string{claim}) > 0 {
				return true
			}
		}
	}
	return false
}

// usesOf counts a pod's volumes that are one of those claims.
func usesOf(pod *corev1.Pod, claims []string) (count int) {
	for i := range pod.Spec.Volumes {
		if source := pod.Spec.Volumes[i].PersistentVolumeClaim; source != nil && slices.Contains(claims, source.ClaimName) {
			count++
		}
	}
	return count
}

func (volumeRestrictions) Adjust(state *framework.CycleState, _, other *framework.PodInfo, _ *framework.NodeInfo, sign int) {
	if e, ok := framework.Read[*exclusive](state, restrictionsKey); ok {
		// As upstream, without looking at the other's namespace.
		e.uses += sign * usesOf(other.Pod, e.claims)
	}
}

var (
	diskTaken  = framework.NewStatus(framework.Unschedulable, "node(s) had no available disk").By("VolumeRestrictions")
	claimTaken = framework.NewStatus(framework.Unschedulable, "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod").By("VolumeRestrictions")
)

func (volumeRestrictions) Filter(state *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	if slices.ContainsFunc(node.Pods, func(other *framework.PodInfo) bool { return disksConflict(pod.Pod, other.Pod) }) {
		return diskTaken
	}
	if e, ok := framework.Read[*exclusive](state, restrictionsKey); ok && e.uses > 0 {
		return claimTaken
	}
	return nil
}
