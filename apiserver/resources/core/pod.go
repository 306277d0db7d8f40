package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/podspec"
)

var (
	podSpecDocs   = corev1.PodSpec{}.SwaggerDoc()
	podStatusDocs = corev1.PodStatus{}.SwaggerDoc()
)

// podSpecPath is where all rules of a pod's spec begin.
var podSpecPath = field.NewPath("spec")

// Pod is a group of containers on one node. It is deleted gracefully: the kubelet confirms with a grace of 0.
var Pod = resource.Define(resource.Kind[*corev1.Pod]{
	Name:  resource.Name{Version: "v1", Kind: "Pod", Plural: "pods", Short: []string{"po"}, Categories: []string{"all"}, Namespaced: true},
	List:  &corev1.PodList{},
	Store: "pods",
	Default: func(p *corev1.Pod) {
		podspec.Default(&p.Spec)
		podspec.DefaultPod(&p.Spec)
		if ip := p.Status.PodIP; ip != "" && (len(p.Status.PodIPs) == 0 || p.Status.PodIPs[0].IP != ip) {
			// podIP is the old name of the first of podIPs; who knows only that one means all.
			p.Status.PodIPs = []corev1.PodIP{{IP: ip}}
		}
		if p.Status.PodIP == "" && len(p.Status.PodIPs) > 0 {
			p.Status.PodIP = p.Status.PodIPs[0].IP
		}
	},
	Strategy: resource.Strategy[*corev1.Pod]{
		PrepareForCreate: preparePod,
		PrepareForUpdate: func(_ context.Context, p, old *corev1.Pod) {
			p.Status = old.Status
			if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
			markGated(p)
		},
		Validate:         func(_ context.Context, p *corev1.Pod) field.ErrorList { return validatePodCreate(p) },
		ValidateUpdate:   func(_ context.Context, p, old *corev1.Pod) field.ErrorList { return validatePodUpdate(p, old) },
		WarningsOnCreate: func(_ context.Context, p *corev1.Pod) []string { return podspec.Warnings(&p.Spec, &p.ObjectMeta, nil) },
		WarningsOnUpdate: func(_ context.Context, p, old *corev1.Pod) []string {
			return podspec.Warnings(&p.Spec, &p.ObjectMeta, nil)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*corev1.Pod]{
		PrepareForUpdate: func(_ context.Context, p, old *corev1.Pod) {
			p.Spec = old.Spec
			p.DeletionTimestamp = nil
			p.OwnerReferences = old.OwnerReferences
			if p.Status.QOSClass == "" {
				p.Status.QOSClass = old.Status.QOSClass
			}
		},
		ValidateUpdate: func(_ context.Context, p, old *corev1.Pod) field.ErrorList { return validatePodStatus(p, old) },
		ResetFields:    []string{"spec", "metadata.deletionTimestamp", "metadata.ownerReferences"},
	},
	Subresources: []resource.Subresource{
		{Name: "attach", Verbs: []string{"create", "get"}, GVK: corev1.SchemeGroupVersion.WithKind("PodAttachOptions")},
		{Name: "binding", Verbs: []string{"create"}, GVK: corev1.SchemeGroupVersion.WithKind("Binding")},
		ephemeralContainers(),
		{Name: "eviction", Verbs: []string{"create"}, GVK: policyv1.SchemeGroupVersion.WithKind("Eviction")},
		{Name: "exec", Verbs: []string{"create", "get"}, GVK: corev1.SchemeGroupVersion.WithKind("PodExecOptions")},
		{Name: "log", Verbs: []string{"get"}},
		{Name: "proxy", Verbs: resource.ProxyVerbs, GVK: corev1.SchemeGroupVersion.WithKind("PodProxyOptions")},
		{Name: "portforward", Verbs: []string{"create", "get"}, GVK: corev1.SchemeGroupVersion.WithKind("PodPortForwardOptions")},
		resize(),
	},
	Fields: map[string]func(*corev1.Pod) string{
		"spec.nodeName":            func(p *corev1.Pod) string { return p.Spec.NodeName },
		"spec.restartPolicy":       func(p *corev1.Pod) string { return string(p.Spec.RestartPolicy) },
		"spec.schedulerName":       func(p *corev1.Pod) string { return p.Spec.SchedulerName },
		"spec.serviceAccountName":  func(p *corev1.Pod) string { return p.Spec.ServiceAccountName },
		"spec.hostNetwork":         func(p *corev1.Pod) string { return boolText(p.Spec.HostNetwork) },
		"status.phase":             func(p *corev1.Pod) string { return string(p.Status.Phase) },
		"status.podIP":             func(p *corev1.Pod) string { return p.Status.PodIP },
		"status.nominatedNodeName": func(p *corev1.Pod) string { return p.Status.NominatedNodeName },
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	ReturnDeleted: true,
	Grace:         podGrace,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Ready", "string", "The aggregate readiness state of this pod for accepting traffic."),
		resource.Column("Status", "string", "The aggregate status of the containers in this pod."),
		resource.Column("Restarts", "string", "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."),
		resource.AgeColumn,
		resource.WideColumn("IP", "string", podStatusDocs["podIP"]),
		resource.WideColumn("Node", "string", podSpecDocs["nodeName"]),
		resource.WideColumn("Nominated Node", "string", podStatusDocs["nominatedNodeName"]),
		resource.WideColumn("Readiness Gates", "string", podSpecDocs["readinessGates"]),
	},
	Row:           podRow,
	RowConditions: podRowConditions,
})

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func preparePod(_ context.Context, p *corev1.Pod) {
	p.Generation = 1
	podspec.DefaultPodResources(&p.Spec)
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: podspec.QOS(&p.Spec)}
	markGated(p)
}

// markGated says in a condition that scheduling gates hold the pod.
func markGated(p *corev1.Pod) {
	if len(p.Spec.SchedulingGates) == 0 {
		return
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated, LastTransitionTime: metav1.Now(),
		Message: "Scheduling is blocked due to non-empty scheduling gates",
	})
}

// podGrace: what was asked for, else what the spec says; none for a pod that runs nowhere or has ended.
func podGrace(p *corev1.Pod, o *metav1.DeleteOptions) bool {
	period := int64(0)
	switch {
	case o.GracePeriodSeconds != nil:
		period = *o.GracePeriodSeconds
	case p.Spec.TerminationGracePeriodSeconds != nil:
		period = *p.Spec.TerminationGracePeriodSeconds
	}
	if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		period = 0
	}
	if period < 0 {
		period = 1
	}
	o.GracePeriodSeconds = ptr.To(period)
	return true
}
