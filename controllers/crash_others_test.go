package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// until waits until done says so without an error.
func (w *world) until(what string, done func(ctx context.Context) (bool, error)) {
	w.Helper()
	w.eventually(func(ctx context.Context) string {
		if ok, err := done(ctx); !ok || err != nil {
			return fmt.Sprintf("not yet: %s (error %v)", what, err)
		}
		return ""
	})
}

// missing says whether a read found nothing.
func missing(_ any, err error) (bool, error) {
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

// crashCollection deletes owners in each of the three ways, one after the other.
func crashCollection(w *world) {
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationBackground} {
		w.deployment("web", 2, nil)
		w.rolledOut("web", "app:1")
		w.deleteDeployment(how)
		w.gone()
	}
	w.replicaSet("orphans", 2)
	w.do(w.client.AppsV1().ReplicaSets(w.ns).Delete(w.Context(), "orphans", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan)}))
	w.until("the owner is gone", func(ctx context.Context) (bool, error) {
		return missing(w.client.AppsV1().ReplicaSets(w.ns).Get(ctx, "orphans", metav1.GetOptions{}))
	})
	absent := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "absent", UID: "00000000-0000-0000-0000-000000000001"}
	w.must(w.client.CoreV1().ConfigMaps(w.ns).Create(w.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "of-nobody", OwnerReferences: []metav1.OwnerReference{absent}}}, metav1.CreateOptions{}))
	w.until("what has no owner is gone", func(ctx context.Context) (bool, error) {
		return missing(w.client.CoreV1().ConfigMaps(w.ns).Get(ctx, "of-nobody", metav1.GetOptions{}))
	})
}

func crashNamespace(w *world) {
	w.deployment("web", 2, nil)
	w.rolledOut("web", "app:1")
	w.do(w.client.CoreV1().Namespaces().Delete(w.Context(), w.ns, metav1.DeleteOptions{}))
	w.until("the namespace is gone", func(ctx context.Context) (bool, error) {
		return missing(w.client.CoreV1().Namespaces().Get(ctx, w.ns, metav1.GetOptions{}))
	})
}

func crashServices(w *world) {
	services := w.client.CoreV1().Services(w.ns)
	port := []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80)}}
	w.must(services.Create(w.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: port}}, metav1.CreateOptions{}))
	w.must(services.Create(w.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "mirrored"}, Spec: corev1.ServiceSpec{Ports: port}}, metav1.CreateOptions{}))
	w.must(w.client.CoreV1().Endpoints(w.ns).Create(w.Context(), &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: "mirrored"},
		Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "192.0.2.1"}}, Ports: []corev1.EndpointPort{{Port: 80}}}}}, metav1.CreateOptions{}))
	w.replicaSet("web", 3)
	ready := func(name string, n int) {
		w.Helper()
		w.until(fmt.Sprintf("%d endpoints of %s", n, name), func(ctx context.Context) (bool, error) {
			list, err := w.client.DiscoveryV1().EndpointSlices(w.ns).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + name})
			if err != nil || len(list.Items) == 0 {
				return false, err
			}
			return len(list.Items) == 1 && len(list.Items[0].Endpoints) == n, nil
		})
	}
	ready("web", 3)
	ready("mirrored", 1)
	w.must(w.client.AppsV1().ReplicaSets(w.ns).Patch(w.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}))
	ready("web", 1)
}

func crashBudget(w *world) {
	budgets := w.client.PolicyV1().PodDisruptionBudgets(w.ns)
	w.must(budgets.Create(w.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}, metav1.CreateOptions{}))
	w.replicaSet("web", 3)
	w.until("two may be disrupted", func(ctx context.Context) (bool, error) {
		b, err := budgets.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && b.Status.DisruptionsAllowed == 2, err
	})
	w.do(w.client.PolicyV1().Evictions(w.ns).Evict(w.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: w.pods(w.Context())[0].Name}}))
	w.until("the evicted one is replaced", func(ctx context.Context) (bool, error) {
		b, err := budgets.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && b.Status.DisruptionsAllowed == 2 && len(b.Status.DisruptedPods) == 0, err
	})
}

func crashQuota(w *world) {
	quotas := w.client.CoreV1().ResourceQuotas(w.ns)
	w.must(quotas.Create(w.Context(), &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
		"pods": resource.MustParse("5")}}}, metav1.CreateOptions{}))
	used := func(n string) {
		w.Helper()
		w.until(n+" pods are counted", func(ctx context.Context) (bool, error) {
			q, err := quotas.Get(ctx, "q", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			pods, counted := q.Status.Used["pods"]
			return counted && pods.String() == n, nil
		})
	}
	used("0")
	w.replicaSet("web", 3)
	used("3")
	w.must(w.client.AppsV1().ReplicaSets(w.ns).Patch(w.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}))
	used("1")
}

// crashAutoscaler has an autoscaler raise a Deployment to its least.
func crashAutoscaler(w *world) {
	w.deployment("web", 1, nil)
	w.rolledOut("web", "app:1")
	w.must(w.client.AutoscalingV2().HorizontalPodAutoscalers(w.ns).Create(w.Context(), &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: ptr.To[int32](3), MaxReplicas: 5,
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}}}, metav1.CreateOptions{}))
	w.until("three replicas", func(ctx context.Context) (bool, error) {
		d, err := w.client.AppsV1().Deployments(w.ns).Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 3, err
	})
	// Its next look would be a quarter of a minute later.
	autoscalers := w.client.AutoscalingV2().HorizontalPodAutoscalers(w.ns)
	w.must(autoscalers.Patch(w.Context(), "web", types.MergePatchType, []byte(`{"spec":{"maxReplicas":6}}`), metav1.PatchOptions{}))
	w.until("it has looked again", func(ctx context.Context) (bool, error) {
		a, err := autoscalers.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && a.Status.CurrentReplicas == 3, err
	})
}

func crashRoles(w *world) {
	roles := w.client.RbacV1().ClusterRoles()
	label := map[string]string{"aggregate": w.ns}
	w.must(roles.Create(w.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.own("all")},
		AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: label}}}}, metav1.CreateOptions{}))
	for _, verb := range []string{"get", "list"} {
		w.must(roles.Create(w.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.own(verb), Labels: label},
			Rules: []rbacv1.PolicyRule{{Verbs: []string{verb}, APIGroups: []string{""}, Resources: []string{"pods"}}}}, metav1.CreateOptions{}))
	}
	w.until("both rules are taken over", func(ctx context.Context) (bool, error) {
		role, err := roles.Get(ctx, w.own("all"), metav1.GetOptions{})
		return err == nil && len(role.Rules) == 2, err
	})
}

func crashPolicies(w *world) {
	policies := w.client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	w.must(policies.Create(w.Context(), &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: w.own("policy")}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}}}}}},
		Validations: []admissionv1.Validation{{Expression: "object.spec.nothing > 1"}}}}, metav1.CreateOptions{}))
	w.until("it was checked", func(ctx context.Context) (bool, error) {
		p, err := policies.Get(ctx, w.own("policy"), metav1.GetOptions{})
		return err == nil && p.Status.ObservedGeneration == p.Generation && p.Status.TypeChecking != nil, err
	})
}

func crashAccounts(w *world) {
	accounts, configMaps := w.client.CoreV1().ServiceAccounts(w.ns), w.client.CoreV1().ConfigMaps(w.ns)
	both := func(ctx context.Context) (bool, error) {
		if gone, err := missing(accounts.Get(ctx, "default", metav1.GetOptions{})); gone || err != nil {
			return false, err
		}
		gone, err := missing(configMaps.Get(ctx, "kube-root-ca.crt", metav1.GetOptions{}))
		return !gone, err
	}
	w.until("the namespace has both", both)
	w.do(accounts.Delete(w.Context(), "default", metav1.DeleteOptions{}))
	w.do(configMaps.Delete(w.Context(), "kube-root-ca.crt", metav1.DeleteOptions{}))
	w.until("the namespace has both again", both)
	w.must(configMaps.Patch(w.Context(), "kube-root-ca.crt", types.MergePatchType, []byte(`{"data":{"ca.crt":"forged"}}`), metav1.PatchOptions{}))
	w.until("the certificate is right again", func(ctx context.Context) (bool, error) {
		m, err := configMaps.Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil && m.Data["ca.crt"] != "forged", err
	})
}

// crashNodes has a node that comes unready, and pods that end on it.
func crashNodes(w *world) {
	nodes, pods := w.client.CoreV1().Nodes(), w.client.CoreV1().Pods(w.ns)
	w.must(nodes.Create(w.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.own("n")}}, metav1.CreateOptions{}))
	t := template("web", "app:1")
	t.Spec.NodeName, t.Spec.TerminationGracePeriodSeconds = w.own("n"), ptr.To[int64](0)
	w.must(pods.Create(w.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "evicted"}, Spec: t.Spec}, metav1.CreateOptions{}))
	t.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	w.must(pods.Create(w.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Spec: t.Spec}, metav1.CreateOptions{}))
	w.until("the node has a range and an annotation", func(ctx context.Context) (bool, error) {
		n, err := nodes.Get(ctx, w.own("n"), metav1.GetOptions{})
		return err == nil && n.Spec.PodCIDR != "" && n.Annotations["node.alpha.kubernetes.io/ttl"] != "", err
	})
	w.must(nodes.Patch(w.Context(), w.own("n"), types.MergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady","message":"m"},{"type":"DiskPressure","status":"True","reason":"r","message":"m"}]}}`), metav1.PatchOptions{}, "status"))
	w.must(nodes.Patch(w.Context(), w.own("n"), types.StrategicMergePatchType, []byte(`{"spec":{"taints":[{"key":"example.com/out","effect":"NoExecute"}]}}`), metav1.PatchOptions{}))
	w.until("one is evicted", func(ctx context.Context) (bool, error) {
		list, err := pods.List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 1, err
	})
	w.until("the node is marked", func(ctx context.Context) (bool, error) {
		n, err := nodes.Get(ctx, w.own("n"), metav1.GetOptions{})
		return err == nil && len(n.Spec.Taints) == 3, err
	})
}

// leap is a clock that is ahead of the real one once it is told to.
type leap struct {
	clock.RealClock
	by atomic.Int64 // nanoseconds
}

// Now is ahead, or not.
func (l *leap) Now() time.Time { return l.RealClock.Now().Add(time.Duration(l.by.Load())) }

// Since is by the same clock.
func (l *leap) Since(t time.Time) time.Duration { return l.Now().Sub(t) }

// ranges has a clock that leaps over the time for which a deletion waits, but only when the controller knows of the address: the wait
// is there for watches that are behind.
func ranges() crashScenario {
	l := &leap{}
	return crashScenario{
		controllers: []string{"service-cidr-controller"}, clock: func() clock.WithTicker { return l },
		act: func(w *world) {
			l.by.Store(0)
			crashRanges(w, func() { l.by.Store(int64(20 * time.Second)) })
		},
	}
}

// crashRanges deletes a range that a Service has its address from.
func crashRanges(w *world, afterTheGrace func()) {
	cidrs, services := w.client.NetworkingV1().ServiceCIDRs(), w.client.CoreV1().Services(w.ns)
	run := strings.TrimLeft(strings.TrimPrefix(w.ns, "crash-"), "0")
	w.must(cidrs.Create(w.Context(), &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{Name: w.own("range")},
		Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.77." + run + ".0/28"}}}, metav1.CreateOptions{}))
	ready := func(ctx context.Context) metav1.ConditionStatus {
		c, err := cidrs.Get(ctx, w.own("range"), metav1.GetOptions{})
		if err != nil || len(c.Status.Conditions) == 0 || len(c.Finalizers) == 0 {
			return ""
		}
		return c.Status.Conditions[0].Status
	}
	w.until("the range is ready", func(ctx context.Context) (bool, error) { return ready(ctx) == metav1.ConditionTrue, nil })
	w.must(services.Create(w.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.ServiceSpec{ClusterIP: "10.77." + run + ".7", Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{}))
	w.do(cidrs.Delete(w.Context(), w.own("range"), metav1.DeleteOptions{}))
	w.until("the range is held", func(ctx context.Context) (bool, error) { return ready(ctx) == metav1.ConditionFalse, nil })
	afterTheGrace()
	w.do(services.Delete(w.Context(), "web", metav1.DeleteOptions{}))
	w.until("the range is gone", func(ctx context.Context) (bool, error) {
		return missing(cidrs.Get(ctx, w.own("range"), metav1.GetOptions{}))
	})
}
