package node

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Labels that name a node's system, and their predecessors, which selectors still use.
const (
	labelOldOS   = "beta.kubernetes.io/os"
	labelOldArch = "beta.kubernetes.io/arch"
)

// register creates the node, or takes over the one that is there, as after a restart.
func (a *Agent) register(ctx context.Context) error {
	if !a.started {
		a.started = true
		a.event(v1.EventTypeNormal, "Starting", "Starting kubelet.")
	}
	initial := a.initial(ctx)
	node, err := a.options.Nodes.Create(ctx, initial, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return a.takeOver(ctx, initial)
	}
	if err != nil {
		return fmt.Errorf("register node %s: %w", a.options.Name, err)
	}
	a.reported = a.options.Clock.Now()
	a.options.Logger.Info("registered the node")
	a.tell(&v1.NodeStatus{}, &node.Status)
	a.registered(node)
	return a.tellRange(ctx, node)
}

// registered keeps the node and has its lease renewed.
func (a *Agent) registered(node *v1.Node) {
	a.see(node)
	if task := a.renewal.Load(); task != nil {
		task.Touch()
	}
}

func (a *Agent) initial(ctx context.Context) *v1.Node {
	info := a.options.Machine.Info
	labels := map[string]string{
		v1.LabelHostname: a.options.Hostname,
		v1.LabelOSStable: info.OperatingSystem, v1.LabelArchStable: info.Architecture,
		labelOldOS: info.OperatingSystem, labelOldArch: info.Architecture,
	}
	maps.Copy(labels, a.options.Labels)
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: a.options.Name, Labels: labels,
			Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
		},
		Spec:   v1.NodeSpec{ProviderID: a.options.ProviderID, Taints: a.options.Taints},
		Status: Status(&v1.NodeStatus{}, a.facts(ctx)),
	}
	if a.options.PodRange.IsValid() {
		node.Spec.PodCIDR = a.options.PodRange.String()
		node.Spec.PodCIDRs = []string{node.Spec.PodCIDR}
	}
	return node
}

// takeOver keeps the node that exists; of the labels only those that the kubelet answers for are set.
func (a *Agent) takeOver(ctx context.Context, initial *v1.Node) error {
	node, err := a.options.Nodes.Get(ctx, a.options.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read node %s: %w", a.options.Name, err)
	}
	missing := map[string]string{}
	for key, value := range initial.Labels {
		if node.Labels[key] != value {
			missing[key] = value
		}
	}
	if len(missing) > 0 {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": missing}})
		if err != nil {
			return err
		}
		if node, err = a.options.Nodes.Patch(ctx, a.options.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return fmt.Errorf("label node %s: %w", a.options.Name, err)
		}
	}
	a.registered(node)
	if err := a.tellRange(ctx, node); err != nil {
		return err
	}
	return a.report(ctx, node)
}

// tell sends an event for each condition that changed.
func (a *Agent) tell(before, after *v1.NodeStatus) {
	for _, condition := range after.Conditions {
		if statusOf(before, condition.Type) == condition.Status {
			continue
		}
		reason := ""
		switch condition.Type {
		case v1.NodeMemoryPressure:
			reason = "NodeHasSufficientMemory"
		case v1.NodeDiskPressure:
			reason = "NodeHasNoDiskPressure"
		case v1.NodePIDPressure:
			reason = "NodeHasSufficientPID"
		case v1.NodeReady:
			if reason = "NodeReady"; condition.Status != v1.ConditionTrue {
				reason = "NodeNotReady"
			}
			if len(before.Conditions) == 0 {
				continue // a node that is born is not news; upstream tells only of changes
			}
		default:
			continue
		}
		a.event(v1.EventTypeNormal, reason, fmt.Sprintf("Node %s status is now: %s", a.options.Name, reason))
	}
}

func statusOf(s *v1.NodeStatus, kind v1.NodeConditionType) v1.ConditionStatus {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return s.Conditions[i].Status
		}
	}
	return ""
}

// event is about the node. Its uid is the name, by which upstream's events of nodes are found.
func (a *Agent) event(eventType, reason, message string) {
	a.options.Events.Event(&v1.ObjectReference{Kind: "Node", APIVersion: "v1", Name: a.options.Name, UID: types.UID(a.options.Name)}, eventType, reason, message)
}
