package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/controllers"
	"github.com/kogge-dev/kogge/scheduler"
	"github.com/kogge-dev/kogge/tools/genuine"
)

// compareWorkloads lets genuine controllers and scheduler work on our API server, ours on a genuine one, and compares the
// status that workloads end with. Kubelets are played: pods are said to run, those of Jobs to have succeeded.
func compareWorkloads(ctx context.Context, bin, dir string, report func(string, []string)) error {
	genuines, err := onOurServer(ctx, bin, dir)
	if err != nil {
		return fmt.Errorf("genuine controllers on our API server: %w", err)
	}
	own, err := onGenuineServer(ctx, bin, dir)
	if err != nil {
		return fmt.Errorf("our controllers on the genuine API server: %w", err)
	}
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"} {
		var differences []string
		if genuines[kind] != own[kind] {
			differences = []string{"   genuine controllers on our API server: " + genuines[kind], "   ours on the genuine API server: " + own[kind]}
		}
		report("a "+kind+" ends with the same status by genuine controllers on our API server and by ours on the genuine one", differences)
	}
	return nil
}

func onOurServer(ctx context.Context, bin, dir string) (statuses map[string]string, err error) {
	c, err := cluster.Start(ctx, cluster.Options{Dir: filepath.Join(dir, "workloads"), Controllers: []string{}, WithoutScheduler: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	content, err := c.Kubeconfig()
	if err != nil {
		return nil, err
	}
	g := &genuine.ControlPlane{Bin: bin, Dir: filepath.Join(dir, "workloads-genuine")}
	if err := os.MkdirAll(g.Dir, 0o700); err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(g.Dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, content, 0o600); err != nil {
		return nil, err
	}
	if err := g.StartControllersOn(kubeconfig); err != nil {
		return nil, err
	}
	defer g.End()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return play(ctx, config)
}

func onGenuineServer(ctx context.Context, bin, dir string) (map[string]string, error) {
	g := &genuine.ControlPlane{Bin: bin, Dir: filepath.Join(dir, "workloads-server")}
	if err := g.Prepare(); err != nil {
		return nil, err
	}
	defer g.End()
	if err := g.StartEtcd(ctx, filepath.Join(g.Dir, "etcd"), "default"); err != nil {
		return nil, err
	}
	if err := g.StartServer(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	log := slog.New(slog.DiscardHandler)
	s, err := scheduler.New(scheduler.Options{Config: g.Config(), Logger: log})
	if err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan error, 2)
	go func() { ended <- s.Run(ctx) }()
	go func() {
		ended <- controllers.Run(ctx, controllers.Options{Config: g.Config(), Logger: log, ClusterCIDR: cluster.PodRange})
	}()
	statuses, err := play(ctx, g.Config())
	cancel()
	return statuses, errors.Join(err, <-ended, <-ended)
}

// play makes a node and workloads, plays their kubelet, and gives each workload's last status.
func play(ctx context.Context, config *rest.Config) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	config = rest.CopyConfig(config)
	config.QPS = -1
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if err := makeWorkloads(ctx, c); err != nil {
		return nil, err
	}
	var last map[string]string
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		if err := playKubelet(ctx, c); err != nil {
			return false, nil // a controller was faster; the next round sees it
		}
		var done bool
		last, done, err = observe(ctx, c)
		return done, err
	})
	if err != nil {
		return nil, fmt.Errorf("%w; last seen: %v", err, last)
	}
	return last, nil
}

func makeWorkloads(ctx context.Context, c kubernetes.Interface) error {
	if err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	}); err != nil {
		return err
	}
	if _, err := c.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := sayReady(ctx, c); err != nil {
		return err
	}
	template := func(app string, restart corev1.RestartPolicy) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
			Spec: corev1.PodSpec{RestartPolicy: restart, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	}
	selector := func(app string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	meta := metav1.ObjectMeta{Name: "w", Namespace: "default"}
	_, deploymentErr := c.AppsV1().Deployments("default").Create(ctx, &appsv1.Deployment{ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2), Selector: selector("d"), Template: template("d", corev1.RestartPolicyAlways)}}, metav1.CreateOptions{})
	_, statefulErr := c.AppsV1().StatefulSets("default").Create(ctx, &appsv1.StatefulSet{ObjectMeta: meta,
		Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](2), ServiceName: "s", Selector: selector("s"), Template: template("s", corev1.RestartPolicyAlways)}}, metav1.CreateOptions{})
	_, daemonErr := c.AppsV1().DaemonSets("default").Create(ctx, &appsv1.DaemonSet{ObjectMeta: meta,
		Spec: appsv1.DaemonSetSpec{Selector: selector("ds"), Template: template("ds", corev1.RestartPolicyAlways)}}, metav1.CreateOptions{})
	job := batchv1.JobSpec{Completions: ptr.To[int32](2), Parallelism: ptr.To[int32](2), Template: template("j", corev1.RestartPolicyNever)}
	_, jobErr := c.BatchV1().Jobs("default").Create(ctx, &batchv1.Job{ObjectMeta: meta, Spec: job}, metav1.CreateOptions{})
	_, cronErr := c.BatchV1().CronJobs("default").Create(ctx, &batchv1.CronJob{ObjectMeta: meta,
		Spec: batchv1.CronJobSpec{Schedule: "* * * * *", ConcurrencyPolicy: batchv1.ForbidConcurrent, JobTemplate: batchv1.JobTemplateSpec{Spec: job}}}, metav1.CreateOptions{})
	return errors.Join(deploymentErr, statefulErr, daemonErr, jobErr, cronErr)
}

const nodeName = "node"

// sayReady writes a heartbeat of the node.
func sayReady(ctx context.Context, c kubernetes.Interface) error {
	room := corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("50")}
	status, err := json.Marshal(map[string]any{"status": corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}}})
	if err != nil {
		return err
	}
	_, err = c.CoreV1().Nodes().Patch(ctx, nodeName, types.MergePatchType, status, metav1.PatchOptions{}, "status")
	return err
}

// playKubelet says of each pod that it runs, or that it has succeeded if it is meant to end.
func playKubelet(ctx context.Context, c kubernetes.Interface) error {
	if err := sayReady(ctx, c); err != nil {
		return err
	}
	pods, err := c.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending {
			continue
		}
		now := metav1.Now()
		status := corev1.ContainerStatus{Name: "c", Image: "i", ImageID: "i", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}
		pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now})
		if pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
			pod.Status.Phase, status.Ready = corev1.PodSucceeded, false
			status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: now}}
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		if _, err := c.CoreV1().Pods("default").UpdateStatus(ctx, pod, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// observe gives each workload's status less times and chance, and whether all have come to their end.
func observe(ctx context.Context, c kubernetes.Interface) (map[string]string, bool, error) {
	d, err := c.AppsV1().Deployments("default").Get(ctx, "w", metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	s, err := c.AppsV1().StatefulSets("default").Get(ctx, "w", metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	ds, err := c.AppsV1().DaemonSets("default").Get(ctx, "w", metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	j, err := c.BatchV1().Jobs("default").Get(ctx, "w", metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	cj, err := c.BatchV1().CronJobs("default").Get(ctx, "w", metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	finished := len(d.Status.Conditions) > 0 && d.Status.Conditions[len(d.Status.Conditions)-1].Reason == "NewReplicaSetAvailable"
	done := finished && d.Status.AvailableReplicas == 2 && s.Status.AvailableReplicas == 2 && s.Status.CurrentReplicas == 2 && ds.Status.NumberAvailable == 1 &&
		j.Status.CompletionTime != nil && cj.Status.LastSuccessfulTime != nil && len(cj.Status.Active) == 0
	out := map[string]string{}
	for kind, status := range map[string]any{"Deployment": d.Status, "StatefulSet": s.Status, "DaemonSet": ds.Status, "Job": j.Status, "CronJob": cj.Status} {
		b, err := json.Marshal(status)
		if err != nil {
			return nil, false, err
		}
		out[kind] = withoutChance(string(b))
	}
	return out, done, nil
}

var (
	instants = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`)
	hashes   = regexp.MustCompile(`\bw-[0-9a-f]{8,10}\b`)
)

// withoutChance replaces times and the hashes in generated names.
func withoutChance(s string) string {
	return hashes.ReplaceAllString(instants.ReplaceAllString(s, "TIME"), "w-HASH")
}
