package plugins

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// TestWhatHelpsWithVolumes: what happens to storage brings a refused pod forward only if it
// may change the mind of the plugin that refused.
func TestWhatHelpsWithVolumes(t *testing.T) {
	t.Parallel()
	claims := func(name string) podChange {
		return func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
		}
	}
	claim := func(name string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	class := func(mode storagev1.VolumeBindingMode, zone string) *storagev1.StorageClass {
		return &storagev1.StorageClass{VolumeBindingMode: &mode, AllowedTopologies: []corev1.TopologySelectorTerm{
			{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{zone}}}}}}
	}
	volume := func(zone string) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
	}
	capacity := func(size string) *storagev1.CSIStorageCapacity {
		return &storagev1.CSIStorageCapacity{Capacity: ptr.To(resource.MustParse(size))}
	}
	limit := func(count int32) *storagev1.CSINode {
		return &storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "d", Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}}}
	}
	event := func(change framework.Change, before, after any) framework.Event {
		return framework.Event{Change: change, Before: before, After: after}
	}
	gone := func(changes ...podChange) framework.Event {
		return framework.Event{Change: framework.PodGone, PodBefore: newPod(changes...).Pod}
	}
	later, now := storagev1.VolumeBindingWaitForFirstConsumer, storagev1.VolumeBindingImmediate
	for name, c := range map[string]struct {
		plugin string
		event  framework.Event
		want   bool
	}{
		"its claim came":                 {"VolumeBinding", event(framework.ClaimAdded, nil, claim("c")), true},
		"another claim came":             {"VolumeBinding", event(framework.ClaimAdded, nil, claim("d")), false},
		"a volume came":                  {"VolumeBinding", event(framework.VolumeAdded, nil, volume("a")), true},
		"topologies changed":             {"VolumeBinding", event(framework.ClassUpdated, class(later, "a"), class(later, "b")), true},
		"topologies didn't":              {"VolumeBinding", event(framework.ClassUpdated, class(later, "a"), class(now, "a")), false},
		"a capacity grew":                {"VolumeBinding", event(framework.CapacityUpdated, capacity("1Gi"), capacity("2Gi")), true},
		"a capacity shrank":              {"VolumeBinding", event(framework.CapacityUpdated, capacity("2Gi"), capacity("1Gi")), false},
		"a node's limit and volumes":     {"VolumeBinding", event(framework.CSINodeUpdated, limit(1), limit(2)), false},
		"a pod went":                     {"VolumeBinding", gone(claims("c")), false},
		"a class that waits":             {"VolumeZone", event(framework.ClassAdded, nil, class(later, "a")), true},
		"a class that doesn't":           {"VolumeZone", event(framework.ClassAdded, nil, class(now, "a")), false},
		"a volume moved":                 {"VolumeZone", event(framework.VolumeUpdated, volume("a"), volume("b")), true},
		"a volume changed":               {"VolumeZone", event(framework.VolumeUpdated, volume("a"), volume("a")), false},
		"who had its claim went":         {"VolumeRestrictions", gone(claims("c")), true},
		"who had another went":           {"VolumeRestrictions", gone(claims("d")), false},
		"elsewhere":                      {"VolumeRestrictions", gone(claims("c"), in("x")), false},
		"a limit grew":                   {"NodeVolumeLimits", event(framework.CSINodeUpdated, limit(1), limit(2)), true},
		"a limit shrank":                 {"NodeVolumeLimits", event(framework.CSINodeUpdated, limit(2), limit(1)), false},
		"one with volumes went":          {"NodeVolumeLimits", gone(claims("d")), true},
		"one without went":               {"NodeVolumeLimits", gone(), false},
		"a volume was detached":          {"NodeVolumeLimits", event(framework.AttachmentDeleted, &storagev1.VolumeAttachment{}, nil), true},
		"a label and how many there are": {"NodeVolumeLimits", framework.Event{Change: framework.NodeLabels}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := framework.NewProfile(Default(noSources())...)
			if got := profile.Helps(newPod(claims("c")).Pod, map[string]bool{c.plugin: true}, c.event); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
