package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// chance makes random objects; the same seed makes the same.
type chance struct {
	*rand.Rand
	// prefix begins the names of what belongs to this random cluster alone.
	prefix string
}

// oneIn is true once in n times.
func (r *chance) oneIn(n int) bool { return r.IntN(n) == 0 }

func pick[T any](r *chance, of ...T) T { return of[r.IntN(len(of))] }

// What random objects are made of. Few values, so that they meet.
var (
	zones  = []string{"a", "b", "c"}
	apps   = []string{"web", "db", "cache"}
	images = []string{"app:1", "app:2", "big:1"}
	sizes  = map[string]int64{"app:1": 30 << 20, "app:2": 300 << 20, "big:1": 1500 << 20}
)

// populate makes nodes, pods on them, Services and disruption budgets.
func (r *chance) populate(ctx context.Context, client kubernetes.Interface) error {
	count := 3 + r.IntN(8)
	var errs []error
	for i := range count {
		errs = append(errs, r.makeNode(ctx, client, fmt.Sprintf("n%d", i)))
	}
	for i := range r.IntN(2) + 1 {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("s%d", i)}, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": apps[i]}, Ports: []corev1.ServicePort{{Port: 80}},
		}}
		_, err := client.CoreV1().Services("default").Create(ctx, service, metav1.CreateOptions{})
		errs = append(errs, err)
	}
	for i := range r.IntN(3) {
		errs = append(errs, r.makeBudget(ctx, client, i))
	}
	if err := r.makeStorage(ctx, client, r.prefix, count); err != nil {
		return err
	}
	for i := range r.IntN(4 * count) {
		pod := r.pod(fmt.Sprintf("old-%d", i))
		pod.Spec.NodeName = fmt.Sprintf("n%d", r.IntN(count))
		if err := r.makeRunning(ctx, client, pod); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (r *chance) makeNode(ctx context.Context, client kubernetes.Interface, name string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	if !r.oneIn(6) {
		node.Labels[corev1.LabelTopologyZone] = pick(r, zones...)
	}
	if r.oneIn(2) {
		node.Labels["disk"] = pick(r, "fast", "slow")
	}
	made, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	// The server gives new nodes a taint that a controller takes away; none runs here.
	made.Spec.Taints = nil
	if r.oneIn(4) {
		made.Spec.Taints = append(made.Spec.Taints, corev1.Taint{Key: pick(r, "k", "l"), Value: "v", Effect: corev1.TaintEffectNoSchedule})
	}
	if r.oneIn(3) {
		made.Spec.Taints = append(made.Spec.Taints, corev1.Taint{Key: pick(r, "m", "n"), Effect: corev1.TaintEffectPreferNoSchedule})
	}
	made.Spec.Unschedulable = r.oneIn(10)
	if made, err = client.CoreV1().Nodes().Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	made.Status.Capacity = corev1.ResourceList{
		"cpu": resource.MustParse(pick(r, "1", "2", "4")), "memory": resource.MustParse(pick(r, "1Gi", "4Gi")), "pods": resource.MustParse(pick(r, "5", "20")),
		"ephemeral-storage": resource.MustParse("10Gi"),
	}
	if r.oneIn(3) {
		made.Status.Capacity["example.com/gpu"] = resource.MustParse("2")
	}
	made.Status.Allocatable = made.Status.Capacity
	for _, image := range images {
		if r.oneIn(2) {
			made.Status.Images = append(made.Status.Images, corev1.ContainerImage{Names: []string{image}, SizeBytes: sizes[image]})
		}
	}
	_, err = client.CoreV1().Nodes().UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

func (r *chance) makeBudget(ctx context.Context, client kubernetes.Interface, i int) error {
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("b%d", i)}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": apps[i]}},
	}}
	made, err := client.PolicyV1().PodDisruptionBudgets("default").Create(ctx, budget, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status.DisruptionsAllowed = int32(r.IntN(3))
	_, err = client.PolicyV1().PodDisruptionBudgets("default").UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// makeRunning makes a pod that has a node already.
func (r *chance) makeRunning(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	made, err := client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return r.run(ctx, client, made)
}

// run says of a pod that it runs since some time; no two run equally long, since it is a tie who of them has to go.
func (r *chance) run(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) error {
	started := metav1.NewTime(time.Unix(1_700_000_000+int64(r.IntN(1_000_000)), 0))
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &started
	_, err := client.CoreV1().Pods("default").UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// pod makes a pod with some wishes.
func (r *chance) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: pick(r, images...), Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}},
	}}
	if !r.oneIn(4) {
		pod.Labels["app"] = pick(r, apps...)
	}
	if r.oneIn(2) {
		pod.Spec.PriorityClassName = pick(r, "low", "middle", "high", "polite")
	}
	r.demand(&pod.Spec)
	if r.oneIn(4) {
		pod.Spec.NodeSelector = map[string]string{"disk": pick(r, "fast", "slow")}
	}
	if r.oneIn(3) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: pick(r, "k", "l", "m", "n"), Operator: corev1.TolerationOpExists, Effect: pick(r, "", corev1.TaintEffectNoSchedule)})
	}
	if r.oneIn(2) {
		pod.Spec.Affinity = r.affinity()
	}
	if r.oneIn(3) {
		r.mount(&pod.Spec, r.prefix)
	}
	for range r.IntN(3) {
		if r.oneIn(2) {
			r.spread(&pod.Spec)
		}
	}
	return pod
}

// demand asks for resources and ports.
func (r *chance) demand(spec *corev1.PodSpec) {
	container := &spec.Containers[0]
	requests := container.Resources.Requests
	if !r.oneIn(4) {
		requests["cpu"] = resource.MustParse(pick(r, "100m", "300m", "500m", "1", "3"))
	}
	if !r.oneIn(3) {
		requests["memory"] = resource.MustParse(pick(r, "64Mi", "256Mi", "1Gi"))
	}
	if r.oneIn(8) {
		requests["example.com/gpu"] = resource.MustParse("1")
		container.Resources.Limits = corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}
	}
	if r.oneIn(8) {
		requests["ephemeral-storage"] = resource.MustParse(pick(r, "1Gi", "6Gi", "20Gi"))
	}
	if r.oneIn(6) {
		container.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: pick[int32](r, 8080, 8081), HostIP: pick(r, "", "127.0.0.1", "127.0.0.2")}}
	}
	if r.oneIn(8) {
		spec.InitContainers = []corev1.Container{{Name: "i", Image: pick(r, images...), Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}
		if r.oneIn(2) {
			spec.InitContainers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
	}
}

func (r *chance) affinity() *corev1.Affinity {
	affinity := &corev1.Affinity{}
	term := func() corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: pick(r, corev1.LabelHostname, corev1.LabelTopologyZone),
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(r, apps...)}}}
	}
	weighted := func() []corev1.WeightedPodAffinityTerm {
		return []corev1.WeightedPodAffinityTerm{{Weight: int32(1 + r.IntN(100)), PodAffinityTerm: term()}}
	}
	switch r.IntN(6) {
	case 0:
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term()}}
	case 1:
		affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term()}}
	case 2:
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted()}
	case 3:
		affinity.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted()}
	case 4:
		affinity.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: int32(1 + r.IntN(100)), Preference: r.nodeTerm()}, {Weight: int32(1 + r.IntN(100)), Preference: r.nodeTerm()},
		}}
	case 5:
		terms := []corev1.NodeSelectorTerm{r.nodeTerm()}
		if r.oneIn(2) {
			terms = append(terms, r.nodeTerm())
		}
		affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}
	}
	return affinity
}

func (r *chance) nodeTerm() corev1.NodeSelectorTerm {
	switch r.IntN(4) {
	case 0:
		return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{fmt.Sprintf("n%d", r.IntN(12))}}}}
	case 1:
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: pick(r, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist)}}}
	}
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: corev1.LabelTopologyZone, Operator: pick(r, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{pick(r, zones...)}}}}
}

// spread adds a constraint, unless there is one that the server would call the same.
func (r *chance) spread(spec *corev1.PodSpec) {
	c := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + r.IntN(2)), TopologyKey: pick(r, corev1.LabelHostname, corev1.LabelTopologyZone),
		WhenUnsatisfiable: pick(r, corev1.DoNotSchedule, corev1.ScheduleAnyway),
		LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(r, apps...)}}}
	if c.WhenUnsatisfiable == corev1.DoNotSchedule && r.oneIn(3) {
		c.MinDomains = ptr.To(int32(1 + r.IntN(4)))
	}
	if r.oneIn(3) {
		c.NodeAffinityPolicy = ptr.To(pick(r, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
		c.NodeTaintsPolicy = ptr.To(pick(r, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
	}
	for _, present := range spec.TopologySpreadConstraints {
		if present.TopologyKey == c.TopologyKey && present.WhenUnsatisfiable == c.WhenUnsatisfiable {
			return
		}
	}
	spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, c)
}
