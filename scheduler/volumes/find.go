package volumes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/storage/volume"
)

// Why a node won't do, in upstream's words and order.
const (
	outOfReach = "node(s) didn't match PersistentVolume's node affinity"
	noneToBind = "node(s) didn't find available persistent volumes to bind"
	noSpace    = "node(s) did not have enough free storage"
	noVolume   = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
)

// Choice is what goes with a pod on one node.
type Choice struct {
	// Static are free volumes with their claims, Provisioned the claims that volumes are to
	// be made for.
	Static      []Pair
	Provisioned []Provision
}

// Pair is a volume for a claim.
type Pair struct {
	Volume *corev1.PersistentVolume
	Claim  *corev1.PersistentVolumeClaim
}

// Provision is a claim that a volume is to be made for, out of some capacity if that is
// known.
type Provision struct {
	Claim    *corev1.PersistentVolumeClaim
	Capacity *storagev1.CSIStorageCapacity
}

// Find gives what goes with a pod's claims on a node, or why it won't do.
func (s *Store) Find(claims *Claims, node *corev1.Node) (*Choice, []string, error) {
	var reasons []string
	why, err := s.reach(claims.Bound, node)
	if err != nil {
		return nil, nil, err
	}
	choice, more, err := s.choose(claims, node)
	if err != nil {
		return nil, nil, err
	}
	for _, reason := range []string{outOfReach, noneToBind, noSpace, noVolume} {
		if reason == why || reason == more {
			reasons = append(reasons, reason)
		}
	}
	return choice, reasons, nil
}

// reach says why bound volumes can't be had on a node; "" when they can.
func (s *Store) reach(claims []*corev1.PersistentVolumeClaim, node *corev1.Node) (why string, err error) {
	for _, claim := range claims {
		pv, err := s.volumes.Get("", claim.Spec.VolumeName)
		if apierrors.IsNotFound(err) {
			return noVolume, nil
		}
		if err != nil {
			return "", err
		}
		if volume.CheckNodeAffinity(pv, node.Labels) != nil {
			return outOfReach, nil
		}
	}
	return "", nil
}

// choose finds a volume for each delayed claim: one that is there, or one to be made.
func (s *Store) choose(claims *Claims, node *corev1.Node) (*Choice, string, error) {
	choice := &Choice{}
	var toMatch, toProvision []*corev1.PersistentVolumeClaim
	for _, claim := range claims.Delayed {
		selected, ok := claim.Annotations[volume.AnnSelectedNode]
		switch {
		case !ok:
			toMatch = append(toMatch, claim)
		case selected != node.Name:
			return choice, noneToBind, nil // it is being made for another node
		default:
			toProvision = append(toProvision, claim)
		}
	}
	unmatched, err := choice.match(toMatch, claims.free, node)
	if err != nil {
		return nil, "", err
	}
	for _, claim := range append(toProvision, unmatched...) {
		capacity, why, err := s.provisionable(claim, node)
		if why != "" || err != nil {
			choice.Provisioned = nil
			return choice, why, err
		}
		choice.Provisioned = append(choice.Provisioned, Provision{Claim: claim, Capacity: capacity})
	}
	return choice, "", nil
}

// match gives small claims their volumes first, each the smallest that will do, and returns
// those that there is none for.
func (c *Choice) match(claims []*corev1.PersistentVolumeClaim, free map[string][]*corev1.PersistentVolume, node *corev1.Node) (unmatched []*corev1.PersistentVolumeClaim, err error) {
	slices.SortFunc(claims, func(a, b *corev1.PersistentVolumeClaim) int {
		return a.Spec.Resources.Requests.Storage().Cmp(*b.Spec.Resources.Requests.Storage())
	})
	taken := map[string]*corev1.PersistentVolume{}
	for _, claim := range claims {
		pv, err := volume.FindMatchingVolume(claim, free[volume.GetPersistentVolumeClaimClass(claim)], node, taken, true, true)
		if err != nil {
			return nil, err
		}
		if pv == nil {
			unmatched = append(unmatched, claim)
			continue
		}
		taken[pv.Name] = pv
		c.Static = append(c.Static, Pair{Volume: pv, Claim: claim})
	}
	return unmatched, nil
}

// provisionable says why no volume can be made for a claim on a node; "" when one can, and
// then out of which capacity if that is known.
func (s *Store) provisionable(claim *corev1.PersistentVolumeClaim, node *corev1.Node) (*storagev1.CSIStorageCapacity, string, error) {
	name := volume.GetPersistentVolumeClaimClass(claim)
	if name == "" {
		return nil, "", fmt.Errorf("no class for claim %q", claim.Namespace+"/"+claim.Name)
	}
	class, err := s.classes.Get(name)
	if err != nil {
		return nil, "", fmt.Errorf("failed to find storage class %q", name)
	}
	if class.Provisioner == "" || class.Provisioner == volume.NotSupportedProvisioner || !allows(class.AllowedTopologies, node.Labels) {
		return nil, noneToBind, nil
	}
	return s.capacityFor(claim, class, node)
}

// allows says that one of the terms matches, or that there are none.
func allows(terms []corev1.TopologySelectorTerm, labels map[string]string) bool {
	for _, term := range terms {
		matches := len(term.MatchLabelExpressions) > 0
		for _, requirement := range term.MatchLabelExpressions {
			value, ok := labels[requirement.Key]
			matches = matches && ok && slices.Contains(requirement.Values, value)
		}
		if matches {
			return true
		}
	}
	return len(terms) == 0
}
