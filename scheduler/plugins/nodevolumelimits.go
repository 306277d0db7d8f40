package plugins

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/storage/ephemeral"
	"k8s.io/component-helpers/storage/volume"

	"github.com/kogge-dev/kogge/scheduler/framework"
	"github.com/kogge-dev/kogge/scheduler/volumes"
)

// nodeVolumeLimits refuses nodes that can't take as many more volumes of a CSI driver as the
// pod needs, and nodes without a driver that says it must be there.
type nodeVolumeLimits struct{ sources *Sources }

func (nodeVolumeLimits) Name() string { return "NodeVolumeLimits" }

func (nodeVolumeLimits) PreFilter(_ *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot) ([]string, *framework.Status) {
	if len(volumes.ClaimsOf(pod.Pod)) == 0 {
		return nil, framework.NewStatus(framework.Skip)
	}
	return nil, nil
}

// attached is drivers by volumes: each volume counts once, however many pods use it.
type attached map[string]string

var tooManyVolumes = framework.NewStatus(framework.Unschedulable, "node(s) exceed max volume count").By("NodeVolumeLimits")

func (n nodeVolumeLimits) Filter(_ *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	more := attached{}
	if err := n.collect(pod.Pod, true, more); err != nil {
		return unresolvableIfGone(err)
	}
	if len(more) == 0 {
		return nil
	}
	csiNode, err := n.sources.csiNodes.Get(node.Node.Name)
	if err != nil {
		csiNode = nil // as if it had said nothing yet
	}
	for _, driver := range more {
		missing, err := n.missing(driver, csiNode)
		if err != nil {
			return framework.AsStatus(err)
		}
		if missing {
			return framework.NewStatus(framework.Unschedulable, driver+" CSI driver is not installed on the node")
		}
	}
	limits := volumeLimits(csiNode)
	if len(limits) == 0 {
		return nil
	}
	there := attached{}
	for _, other := range node.Pods {
		if err := n.collect(other.Pod, false, there); err != nil {
			return framework.AsStatus(err)
		}
	}
	if err := n.addAttachments(node.Node.Name, there); err != nil {
		return framework.AsStatus(err)
	}
	return exceeds(more, there, limits)
}

// exceeds counts by driver what would be attached.
func exceeds(more, there attached, limits map[string]int) *framework.Status {
	would, needed := map[string]int{}, map[string]int{}
	for _, driver := range there {
		would[driver]++
	}
	for name, driver := range more {
		if _, already := there[name]; !already {
			needed[driver]++
		}
	}
	for driver, count := range needed {
		if limit, limited := limits[driver]; limited && would[driver]+count > limit {
			return tooManyVolumes
		}
	}
	return nil
}

// volumeLimits gives how many volumes of each driver a node takes.
func volumeLimits(node *storagev1.CSINode) map[string]int {
	limits := map[string]int{}
	if node == nil {
		return limits
	}
	for _, driver := range node.Spec.Drivers {
		if driver.Allocatable != nil && driver.Allocatable.Count != nil {
			limits[driver.Name] = int(*driver.Allocatable.Count)
		}
	}
	return limits
}

// missing says that a driver wants to be on the node before pods are, and isn't.
func (n nodeVolumeLimits) missing(name string, node *storagev1.CSINode) (bool, error) {
	driver, err := n.sources.drivers.Get(name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("error getting CSIDriver for provider %s: %w", name, err)
	}
	if driver.Spec.PreventPodSchedulingIfMissing == nil || !*driver.Spec.PreventPodSchedulingIfMissing {
		return false, nil
	}
	if node != nil {
		for i := range node.Spec.Drivers {
			if node.Spec.Drivers[i].Name == name {
				return false, nil
			}
		}
	}
	return true, nil
}

// collect adds a pod's volumes. Of a pod that is there already an unknown claim is passed
// over.
func (n nodeVolumeLimits) collect(pod *corev1.Pod, isNew bool, into attached) error {
	for _, used := range volumes.ClaimsOf(pod) {
		claim, err := n.sources.claims.PersistentVolumeClaims(pod.Namespace).Get(used.Name)
		if err != nil {
			if isNew {
				return fmt.Errorf("looking up PVC %s/%s: %w", pod.Namespace, used.Name, err)
			}
			continue
		}
		if used.Ephemeral {
			if err := ephemeral.VolumeIsForPod(pod, claim); err != nil {
				return err
			}
		}
		if driver, handle := n.driverOf(claim); driver != "" && handle != "" {
			into[driver+"/"+handle] = driver
		}
	}
	return nil
}

// driverOf gives a claim's CSI driver and what that calls the volume: of one that isn't
// bound yet the class's driver, and a name that no volume has.
func (n nodeVolumeLimits) driverOf(claim *corev1.PersistentVolumeClaim) (driver, handle string) {
	if pv, err := n.sources.persistentVolumes.Get(claim.Spec.VolumeName); claim.Spec.VolumeName != "" && err == nil {
		if pv.Spec.CSI == nil {
			return "", ""
		}
		return pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle
	}
	class, err := n.sources.classes.Get(volume.GetPersistentVolumeClaimClass(claim))
	if err != nil || strings.HasPrefix(class.Provisioner, "kubernetes.io/") {
		return "", "" // bound at once, or by no CSI driver
	}
	return class.Provisioner, "\x00" + claim.Namespace + "/" + claim.Name
}

// addAttachments adds the volumes that are attached to a node for whatever reason.
func (n nodeVolumeLimits) addAttachments(node string, into attached) error {
	attachments, err := n.sources.attachments.ByIndex(attachmentsByNode, node)
	if err != nil {
		return err
	}
	for _, object := range attachments {
		attachment, ok := object.(*storagev1.VolumeAttachment)
		if !ok || attachment.Spec.Attacher == "" || attachment.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		pv, err := n.sources.persistentVolumes.Get(*attachment.Spec.Source.PersistentVolumeName)
		if err != nil || pv.Spec.CSI == nil {
			continue
		}
		into[attachment.Spec.Attacher+"/"+pv.Spec.CSI.VolumeHandle] = attachment.Spec.Attacher
	}
	return nil
}
