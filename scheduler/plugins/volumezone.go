package plugins

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/storage/volume"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// volumeZone refuses nodes that aren't in the zone or region that a bound volume's labels
// name.
type volumeZone struct{ sources *Sources }

const zoneKey = "VolumeZone"

// location is where a volume is: a label of nodes and the values that will do.
type location struct {
	key    string
	values []string
}

// placeLabels are those that say where volumes and nodes are; the older ones mean the same
// as the newer.
var placeLabels = []string{
	corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
}

var newerLabel = map[string]string{
	corev1.LabelFailureDomainBetaZone: corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
}

func (volumeZone) Name() string { return "VolumeZone" }

func (v volumeZone) PreFilter(state *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot) ([]string, *framework.Status) {
	var wanted []location
	for i := range pod.Pod.Spec.Volumes {
		source := pod.Pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		found, status := v.locationsOf(pod.Pod.Namespace, source.ClaimName)
		if !status.IsSuccess() {
			return nil, status
		}
		wanted = append(wanted, found...)
	}
	if len(wanted) == 0 {
		return nil, framework.NewStatus(framework.Skip)
	}
	state.Write(zoneKey, wanted)
	return nil, nil
}

// locationsOf gives where a claim's volume is. One that is bound later may be anywhere.
func (v volumeZone) locationsOf(namespace, name string) ([]location, *framework.Status) {
	claim, err := v.sources.claims.PersistentVolumeClaims(namespace).Get(name)
	if err != nil {
		return nil, unresolvableIfGone(err)
	}
	if claim.Spec.VolumeName == "" {
		return nil, v.unbound(claim)
	}
	pv, err := v.sources.persistentVolumes.Get(claim.Spec.VolumeName)
	if err != nil {
		return nil, unresolvableIfGone(err)
	}
	return locations(pv), nil
}

// unbound says why a claim without a volume can't be waited for; nil when it can.
func (v volumeZone) unbound(claim *corev1.PersistentVolumeClaim) *framework.Status {
	name := volume.GetPersistentVolumeClaimClass(claim)
	if name == "" {
		return framework.NewStatus(framework.Unresolvable, "PersistentVolumeClaim had no pv name and storageClass name")
	}
	class, err := v.sources.classes.Get(name)
	switch {
	case err != nil:
		return unresolvableIfGone(err)
	case class.VolumeBindingMode == nil:
		return framework.NewStatus(framework.Unresolvable, fmt.Sprintf("VolumeBindingMode not set for StorageClass %q", name))
	case *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer:
		return nil
	}
	return framework.NewStatus(framework.Unresolvable, "PersistentVolume had no name")
}

func unresolvableIfGone(err error) *framework.Status {
	if apierrors.IsNotFound(err) {
		return framework.NewStatus(framework.Unresolvable, err.Error())
	}
	return framework.AsStatus(err)
}

// locations takes a volume's locations from its labels; one that names an empty place is none.
func locations(pv *corev1.PersistentVolume) (found []location) {
	for _, key := range placeLabels {
		text, ok := pv.Labels[key]
		if !ok {
			continue
		}
		values := strings.Split(text, "__")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		if !slices.Contains(values, "") {
			found = append(found, location{key: key, values: values})
		}
	}
	return found
}

var wrongZone = framework.NewStatus(framework.Unresolvable, "node(s) had no available volume zone").By("VolumeZone")

func (volumeZone) Filter(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	wanted, ok := framework.Read[[]location](state, zoneKey)
	labels := node.Node.Labels
	// A node that says nothing of where it is is taken to be everywhere.
	if !ok || !slices.ContainsFunc(placeLabels, func(key string) bool { _, says := labels[key]; return says }) {
		return nil
	}
	for _, at := range wanted {
		value, says := labels[at.key]
		if !says {
			value, says = labels[newerLabel[at.key]]
		}
		if !says || !slices.Contains(at.values, value) {
			return wrongZone
		}
	}
	return nil
}
