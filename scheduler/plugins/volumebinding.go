package plugins

import (
	"context"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/storage/ephemeral"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
	"github.com/kogge-dev/kogge/scheduler/volumes"
)

// volumeBinding refuses nodes where the pod's volumes can't be had, and has those bound
// that wait for the choice of a node.
type volumeBinding struct {
	sources *Sources
	// within is how long others may take to do their part of the binding.
	within time.Duration
	shape  shape
}

func newVolumeBinding(args *configv1.VolumeBindingArgs, sources *Sources) volumeBinding {
	return volumeBinding{sources: sources, within: time.Duration(*args.BindTimeoutSeconds) * time.Second, shape: newShape(args.Shape)}
}

const volumeBindingKey = "VolumeBinding"

// bindingState is what the steps leave each other.
type bindingState struct {
	claims *volumes.Claims
	// choices are by node, of those that passed; assumed is the one in force.
	choices map[string]*volumes.Choice
	assumed *volumes.Choice
	static  bool
}

func (volumeBinding) Name() string { return "VolumeBinding" }

func (v volumeBinding) PreFilter(state *framework.CycleState, pod *framework.PodInfo, _ framework.Snapshot) ([]string, *framework.Status) {
	used := volumes.ClaimsOf(pod.Pod)
	if len(used) == 0 {
		return nil, framework.NewStatus(framework.Skip)
	}
	for _, claim := range used {
		if err := v.usable(pod.Pod, claim); err != nil {
			return nil, framework.NewStatus(framework.Unresolvable, err.Error())
		}
	}
	claims, err := v.sources.storage.Sort(pod.Pod)
	if err != nil {
		return nil, framework.AsStatus(err)
	}
	if len(claims.Immediate) > 0 {
		return nil, framework.NewStatus(framework.Unresolvable, "pod has unbound immediate PersistentVolumeClaims")
	}
	state.Write(volumeBindingKey, &bindingState{claims: claims, choices: map[string]*volumes.Choice{}})
	return nil, nil
}

// usable says why a claim can't be used by a pod.
func (v volumeBinding) usable(pod *corev1.Pod, used volumes.Claim) error {
	claim, err := v.sources.claims.PersistentVolumeClaims(pod.Namespace).Get(used.Name)
	switch {
	case used.Ephemeral && apierrors.IsNotFound(err):
		return fmt.Errorf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", used.Name)
	case err != nil:
		return err
	case claim.Status.Phase == corev1.ClaimLost:
		return fmt.Errorf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", claim.Name, claim.Spec.VolumeName)
	case claim.DeletionTimestamp != nil:
		return fmt.Errorf("persistentvolumeclaim %q is being deleted", claim.Name)
	case used.Ephemeral:
		return ephemeral.VolumeIsForPod(pod, claim)
	}
	return nil
}

func (v volumeBinding) Filter(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	s, ok := framework.Read[*bindingState](state, volumeBindingKey)
	if !ok {
		return nil
	}
	choice, reasons, err := v.sources.storage.Find(s.claims, node.Node)
	if err != nil {
		return framework.AsStatus(err)
	}
	if len(reasons) > 0 {
		return framework.NewStatus(framework.Unresolvable, reasons...)
	}
	s.choices[node.Node.Name] = choice
	return nil
}

func (v volumeBinding) PreScore(state *framework.CycleState, _ *framework.PodInfo, _ framework.Snapshot, _ []*framework.NodeInfo) *framework.Status {
	s, ok := framework.Read[*bindingState](state, volumeBindingKey)
	if !ok || len(s.claims.Delayed) == 0 {
		return framework.NewStatus(framework.Skip)
	}
	return nil
}

// Score rates by how much of the chosen volumes, or of the capacity that they are to be
// made out of, the claims ask for: the mean over the storage classes.
func (v volumeBinding) Score(state *framework.CycleState, _ *framework.PodInfo, node *framework.NodeInfo) int64 {
	s, ok := framework.Read[*bindingState](state, volumeBindingKey)
	if !ok || s.choices[node.Node.Name] == nil {
		return 0
	}
	classes := amountsByClass(s.choices[node.Node.Name])
	if len(classes) == 0 {
		return 0
	}
	var sum int64
	for _, of := range classes {
		utilization := int64(100)
		if of.capacity != 0 && of.requested <= of.capacity {
			utilization = of.requested * 100 / of.capacity
		}
		sum += v.shape.at(utilization)
	}
	return int64(math.Round(float64(sum) / float64(len(classes))))
}

func (v volumeBinding) Reserve(_ context.Context, state *framework.CycleState, _ *framework.PodInfo, node string) *framework.Status {
	s, ok := framework.Read[*bindingState](state, volumeBindingKey)
	if !ok || len(s.claims.Delayed) == 0 || s.choices[node] == nil {
		return nil
	}
	assumed, err := v.sources.storage.Assume(s.choices[node], node)
	if err != nil {
		return framework.AsStatus(err)
	}
	s.assumed = assumed
	return nil
}

func (v volumeBinding) Unreserve(_ context.Context, state *framework.CycleState, _ *framework.PodInfo, _ string) {
	if s, ok := framework.Read[*bindingState](state, volumeBindingKey); ok && s.assumed != nil {
		v.sources.storage.Revert(s.assumed)
		s.assumed = nil
	}
}

func (v volumeBinding) NeedsPreBind(state *framework.CycleState, _ string) bool {
	s, ok := framework.Read[*bindingState](state, volumeBindingKey)
	return ok && s.assumed != nil
}

func (v volumeBinding) PreBind(ctx context.Context, state *framework.CycleState, pod *framework.PodInfo, node string) *framework.Status {
	s, ok := framework.Read[*bindingState](state, volumeBindingKey)
	if !ok || s.assumed == nil {
		return nil
	}
	return framework.AsStatus(v.sources.storage.Bind(ctx, v.sources.client, pod.Pod, node, s.assumed, v.within))
}
