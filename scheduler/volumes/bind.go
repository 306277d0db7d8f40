package volumes

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/storage/volume"
)

// Assume claims the chosen volumes: until they are bound or reverted, nobody else is given
// them. The result is what Bind is to write.
func (s *Store) Assume(choice *Choice, node string) (*Choice, error) {
	assumed := &Choice{}
	for _, pair := range choice.Static {
		pv, changed, err := volume.GetBindVolumeToClaim(pair.Volume, pair.Claim)
		if err == nil && changed {
			err = s.volumes.Assume(pv)
		}
		if err != nil {
			s.Revert(assumed)
			return nil, err
		}
		assumed.Static = append(assumed.Static, Pair{Volume: pv, Claim: pair.Claim})
	}
	for _, provision := range choice.Provisioned {
		claim := provision.Claim.DeepCopy()
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnSelectedNode, node)
		if err := s.claims.Assume(claim); err != nil {
			s.Revert(assumed)
			return nil, err
		}
		assumed.Provisioned = append(assumed.Provisioned, Provision{Claim: claim, Capacity: provision.Capacity})
	}
	return assumed, nil
}

// Revert gives back what was assumed and not written.
func (s *Store) Revert(assumed *Choice) {
	for _, pair := range assumed.Static {
		s.volumes.Revert(pair.Volume)
	}
	for _, provision := range assumed.Provisioned {
		s.claims.Revert(provision.Claim)
	}
}

// Bind writes what was assumed and waits until all claims are bound, or the time is over.
func (s *Store) Bind(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, node string, assumed *Choice, within time.Duration) error {
	if err := write(ctx, client, assumed); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		changed := s.changed.heard()
		done, err := s.allBound(pod, node, assumed)
		if err != nil {
			return fmt.Errorf("binding volumes: %w", err)
		}
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("binding volumes: %w", ctx.Err())
		case <-changed:
		}
	}
}

// write writes claims into volumes, and nodes into claims, and takes in the new versions.
func write(ctx context.Context, client kubernetes.Interface, assumed *Choice) error {
	for i := range assumed.Static {
		pv, err := client.CoreV1().PersistentVolumes().Update(ctx, assumed.Static[i].Volume, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		assumed.Static[i].Volume = pv
	}
	for i := range assumed.Provisioned {
		claim := assumed.Provisioned[i].Claim
		claim, err := client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		assumed.Provisioned[i].Claim = claim
	}
	return nil
}

// allBound says whether others have done their part. What they did otherwise than planned
// is an error: the pod has to look anew.
func (s *Store) allBound(pod *corev1.Pod, nodeName string, assumed *Choice) (bool, error) {
	node, err := s.nodes.Get(nodeName)
	if err != nil {
		return false, fmt.Errorf("failed to get node %q: %w", nodeName, err)
	}
	if _, err := s.pods.Pods(pod.Namespace).Get(pod.Name); apierrors.IsNotFound(err) {
		return false, fmt.Errorf("pod does not exist any more: %w", err)
	}
	for _, pair := range assumed.Static {
		if done, err := s.pairBound(pair, node); !done || err != nil {
			return false, err
		}
	}
	for _, provision := range assumed.Provisioned {
		if done, err := s.provisioned(provision.Claim, node); !done || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s *Store) pairBound(pair Pair, node *corev1.Node) (bool, error) {
	pv, err := s.volumes.get("", pair.Volume.Name)
	if err != nil {
		return false, fmt.Errorf("failed to check binding: %w", err)
	}
	claim, err := s.claims.get(pair.Claim.Namespace, pair.Claim.Name)
	if err != nil {
		return false, fmt.Errorf("failed to check binding: %w", err)
	}
	if unseen(pair.Volume, pv) {
		return false, nil
	}
	if err := onNode(pv, node); err != nil {
		return false, err
	}
	if pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID == "" {
		return false, fmt.Errorf("ClaimRef got reset for pv %q", pv.Name)
	}
	return isBound(claim), nil
}

func (s *Store) provisioned(written *corev1.PersistentVolumeClaim, node *corev1.Node) (bool, error) {
	claim, err := s.claims.get(written.Namespace, written.Name)
	if err != nil {
		return false, fmt.Errorf("failed to check provisioning pvc: %w", err)
	}
	if unseen(written, claim) {
		return false, nil
	}
	if claim.Annotations == nil {
		return false, fmt.Errorf("selectedNode annotation reset for PVC %q", claim.Name)
	}
	if claim.Annotations[volume.AnnSelectedNode] != node.Name {
		return false, fmt.Errorf("provisioning failed for PVC %q", claim.Name)
	}
	if claim.Spec.VolumeName == "" {
		return false, nil
	}
	pv, err := s.volumes.get("", claim.Spec.VolumeName)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("failed to get pv %q from cache: %w", claim.Spec.VolumeName, err)
	}
	if err := onNode(pv, node); err != nil {
		return false, err
	}
	return isBound(claim), nil
}

func onNode(pv *corev1.PersistentVolume, node *corev1.Node) error {
	if err := volume.CheckNodeAffinity(pv, node.Labels); err != nil {
		return fmt.Errorf("pv %q node affinity doesn't match node %q: %w", pv.Name, node.Name, err)
	}
	return nil
}

// unseen says that the watch hasn't come to what was written.
func unseen(written, seen metav1.Object) bool {
	order, err := resourceversion.CompareResourceVersion(written.GetResourceVersion(), seen.GetResourceVersion())
	return err == nil && order > 0
}
