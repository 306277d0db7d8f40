package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// crashScenarios have each controller in at least one of them.
var crashScenarios = map[string]crashScenario{
	"rollout":     {controllers: []string{"deployment-controller", "replicaset-controller"}, nodes: 2, act: crashRollout},
	"recreate":    {controllers: []string{"deployment-controller", "replicaset-controller", "garbage-collector-controller"}, nodes: 1, act: crashRecreate},
	"adoption":    {controllers: []string{"replicaset-controller"}, nodes: 1, act: crashAdoption},
	"replication": {controllers: []string{"replicationcontroller-controller"}, nodes: 1, act: crashReplication},
	"stateful set": {controllers: []string{"statefulset-controller", "persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller"}, nodes: 1,
		act: crashStatefulSet},
	"daemon set":  {controllers: []string{"daemonset-controller"}, nodes: 3, act: crashDaemonSet},
	"job":         {controllers: []string{"job-controller"}, nodes: 1, act: crashJob},
	"failing job": {controllers: []string{"job-controller", "ttl-after-finished-controller", "garbage-collector-controller"}, nodes: 1, act: crashFailingJob},
	"cron job":    {controllers: []string{"cronjob-controller", "job-controller"}, nodes: 1, act: crashCronJob, clock: almostTheMinute},
	"collection":  {controllers: []string{"deployment-controller", "replicaset-controller", "garbage-collector-controller"}, nodes: 1, act: crashCollection},
	"namespace": {controllers: []string{"namespace-controller", "deployment-controller", "replicaset-controller", "garbage-collector-controller"}, nodes: 1,
		act: crashNamespace},
	"services": {controllers: []string{"endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller", "replicaset-controller"}, nodes: 1,
		act: crashServices},
	"budget":     {controllers: []string{"disruption-controller", "replicaset-controller"}, nodes: 1, act: crashBudget},
	"quota":      {controllers: []string{"resourcequota-controller", "replicaset-controller"}, nodes: 1, act: crashQuota},
	"autoscaler": {controllers: []string{"horizontal-pod-autoscaler-controller", "deployment-controller", "replicaset-controller"}, nodes: 1, act: crashAutoscaler},
	"volumes": {controllers: []string{"persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
		"ephemeral-volume-controller", "volumeattributesclass-protection-controller"}, nodes: 1, act: crashVolumes},
	"nodes": {controllers: []string{"node-lifecycle-controller", "node-ipam-controller", "taint-eviction-controller", "ttl-controller", "pod-garbage-collector-controller"},
		act: crashNodes},
	"certificates": {controllers: []string{"certificatesigningrequest-approving-controller", "certificatesigningrequest-signing-controller",
		"certificatesigningrequest-cleaner-controller"}, act: crashCertificates},
	"tokens":        {controllers: []string{"bootstrap-signer-controller", "token-cleaner-controller"}, act: crashTokens},
	"device claims": {controllers: []string{"resourceclaim-controller"}, act: crashDeviceClaims},
	"ranges":        ranges(),
	"roles":         {controllers: []string{"clusterrole-aggregation-controller"}, act: crashRoles},
	"policies":      {controllers: []string{"validatingadmissionpolicy-status-controller"}, act: crashPolicies},
	"accounts":      {controllers: []string{"serviceaccount-controller", "root-ca-certificate-publisher-controller"}, act: crashAccounts},
	"all":           {nodes: 2, act: crashRollout},
}

func crashRollout(w *world) {
	w.deployment("web", 4, nil)
	w.rolledOut("web", "app:1")
	w.setImage("web", "app:2")
	w.rolledOut("web", "app:2")
	w.patch("web", `{"spec":{"replicas":2}}`)
	w.rolledOut("web", "app:2")
}

func crashRecreate(w *world) {
	w.deployment("web", 2, func(d *appsv1.Deployment) {
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		d.Spec.RevisionHistoryLimit = ptr.To[int32](1)
	})
	for i := range 4 {
		image := fmt.Sprintf("app:%d", i+1)
		w.setImage("web", image)
		w.rolledOut("web", image)
	}
	w.setImage("web", "app:3")
	w.rolledOut("web", "app:3")
}

// replicaSet makes a ReplicaSet of the name and waits for its pods.
func (w *world) replicaSet(name string, replicas int32) {
	w.Helper()
	sets := w.client.AppsV1().ReplicaSets(w.ns)
	w.must(sets.Create(w.Context(), &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.ReplicaSetSpec{Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, Template: template(name, "app:1")}}, metav1.CreateOptions{}))
	w.replicas(name, replicas)
}

func (w *world) replicas(name string, n int32) {
	w.Helper()
	w.eventually(func(ctx context.Context) string {
		rs, err := w.client.AppsV1().ReplicaSets(w.ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if s := rs.Status; s.ObservedGeneration != rs.Generation || s.Replicas != n || s.AvailableReplicas != n {
			return fmt.Sprintf("status %+v", s)
		}
		return ""
	})
}

func crashAdoption(w *world) {
	t := template("web", "app:1")
	w.must(w.client.CoreV1().Pods(w.ns).Create(w.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "first", Labels: t.Labels}, Spec: t.Spec}, metav1.CreateOptions{}))
	w.replicaSet("web", 2)
	w.must(w.client.CoreV1().Pods(w.ns).Patch(w.Context(), "first", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"debug"}}}`), metav1.PatchOptions{}))
	w.eventually(func(ctx context.Context) string {
		ready := 0
		for _, pod := range w.pods(ctx) {
			if pod.Name != "first" && slices.ContainsFunc(pod.Status.Conditions, isReady) {
				ready++
			}
		}
		if ready != 2 {
			return fmt.Sprintf("%d pods", ready)
		}
		return ""
	})
	w.replicas("web", 2)
}

func isReady(c corev1.PodCondition) bool {
	return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
}

func crashReplication(w *world) {
	controllers := w.client.CoreV1().ReplicationControllers(w.ns)
	t := template("rc", "app:1")
	w.must(controllers.Create(w.Context(), &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: "rc"},
		Spec: corev1.ReplicationControllerSpec{Replicas: ptr.To[int32](3), Template: &t}}, metav1.CreateOptions{}))
	has := func(n int32) {
		w.Helper()
		w.eventually(func(ctx context.Context) string {
			rc, err := controllers.Get(ctx, "rc", metav1.GetOptions{})
			if err != nil || rc.Status.AvailableReplicas != n || rc.Status.Replicas != n {
				return fmt.Sprintf("controller %+v, error %v", rc, err)
			}
			return ""
		})
	}
	has(3)
	w.must(controllers.Patch(w.Context(), "rc", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{}))
	has(1)
}

func crashDaemonSet(w *world) {
	sets := w.client.AppsV1().DaemonSets(w.ns)
	w.must(sets.Create(w.Context(), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}}, Template: template("agent", "app:1")}}, metav1.CreateOptions{}))
	everywhere := func() {
		w.Helper()
		w.eventually(func(ctx context.Context) string {
			ds, err := sets.Get(ctx, "agent", metav1.GetOptions{})
			if err != nil || ds.Status.ObservedGeneration != ds.Generation || ds.Status.UpdatedNumberScheduled != 3 || ds.Status.NumberAvailable != 3 {
				return fmt.Sprintf("daemon set %+v, error %v", ds.Status, err)
			}
			return ""
		})
	}
	everywhere()
	w.must(sets.Patch(w.Context(), "agent", types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"app:2"}]}}}}`), metav1.PatchOptions{}))
	everywhere()
}

func crashJob(w *world) {
	w.must(w.client.BatchV1().Jobs(w.ns).Create(w.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work"},
		Spec: batchv1.JobSpec{Completions: ptr.To[int32](3), Parallelism: ptr.To[int32](2),
			CompletionMode: ptr.To(batchv1.IndexedCompletion), Template: exiting("10ms", "0")}}, metav1.CreateOptions{}))
	w.ends("work", batchv1.JobComplete, batchv1.JobReasonCompletionsReached)
}

// crashFailingJob has one Job that fails and stays, and one that goes as soon as it ends.
func crashFailingJob(w *world) {
	jobs := w.client.BatchV1().Jobs(w.ns)
	w.must(jobs.Create(w.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "work"},
		Spec: batchv1.JobSpec{BackoffLimit: ptr.To[int32](0), Template: exiting("10ms", "7")}}, metav1.CreateOptions{}))
	w.must(jobs.Create(w.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "gone"},
		Spec: batchv1.JobSpec{TTLSecondsAfterFinished: ptr.To[int32](0), Template: exiting("10ms", "0")}}, metav1.CreateOptions{}))
	w.ends("work", batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded)
	w.eventually(func(ctx context.Context) string {
		list, err := jobs.List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 || len(w.pods(ctx)) != 1 {
			return fmt.Sprintf("%d jobs and %d pods, error %v", len(list.Items), len(w.pods(ctx)), err)
		}
		return ""
	})
}

// shifted is a clock that is ahead of the real one.
type shifted struct {
	clock.RealClock
	by time.Duration
}

func (s shifted) Now() time.Time                  { return s.RealClock.Now().Add(s.by) }
func (s shifted) Since(t time.Time) time.Duration { return s.Now().Sub(t) }

// almostTheMinute is a clock that reaches a full minute soon, well before the next one.
func almostTheMinute() clock.WithTicker {
	now := time.Now()
	return shifted{by: now.Truncate(time.Minute).Add(time.Minute - time.Second).Sub(now)}
}

func crashCronJob(w *world) {
	w.must(w.client.BatchV1().CronJobs(w.ns).Create(w.Context(), &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "tick"},
		Spec: batchv1.CronJobSpec{Schedule: "* * * * *", ConcurrencyPolicy: batchv1.ForbidConcurrent,
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: exiting("10ms", "0")}}}}, metav1.CreateOptions{}))
	w.eventually(func(ctx context.Context) string {
		c, err := w.client.BatchV1().CronJobs(w.ns).Get(ctx, "tick", metav1.GetOptions{})
		if err != nil || c.Status.LastSuccessfulTime == nil || len(c.Status.Active) > 0 {
			return fmt.Sprintf("status %+v, error %v", c.Status, err)
		}
		return ""
	})
	// Before the next minute comes.
	w.must(w.client.BatchV1().CronJobs(w.ns).Patch(w.Context(), "tick", types.MergePatchType, []byte(`{"spec":{"suspend":true}}`), metav1.PatchOptions{}))
}
