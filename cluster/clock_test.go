package cluster_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/cluster"
)

func TestClockTellsWhoWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		c := cluster.NewClock(begin)
		timer, late, ticker := c.NewTimer(time.Hour), c.NewTimer(3*time.Hour), c.NewTicker(time.Minute)
		defer ticker.Stop()
		called := make(chan struct{})
		c.AfterFunc(time.Hour, func() { close(called) })
		c.Step(2 * time.Hour)
		synctest.Wait()
		want := begin.Add(2 * time.Hour)
		if got := c.Now(); !got.Equal(want) {
			t.Errorf("now %s, not %s", got, want)
		}
		for name, ch := range map[string]<-chan time.Time{"timer": timer.C(), "ticker": ticker.C()} {
			select {
			case at := <-ch:
				if !at.Equal(want) {
					t.Errorf("%s at %s", name, at)
				}
			default:
				t.Errorf("the %s was not told", name)
			}
		}
		<-called
		select {
		case <-late.C():
			t.Error("told too early")
		case <-ticker.C():
			t.Error("a second tick")
		default:
		}
		// Real time goes on too.
		<-time.After(time.Hour) // in a bubble it takes no time
		<-ticker.C()
		if at := <-late.C(); !at.Equal(begin.Add(3 * time.Hour)) {
			t.Errorf("late at %s", at)
		}
	})
}

func TestClockStopsAndResets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cluster.NewClock(time.Time{})
		timer := c.NewTimer(time.Hour)
		if !timer.Stop() || timer.Stop() {
			t.Error("only the first stop stops")
		}
		c.Step(2 * time.Hour)
		if timer.Reset(time.Hour) {
			t.Error("a stopped timer was to fire")
		}
		select {
		case <-timer.C():
			t.Error("told although it was stopped")
		default:
		}
		if !timer.Reset(2 * time.Hour) {
			t.Error("a timer that waits was not to fire")
		}
		c.Step(time.Hour)
		select {
		case <-timer.C():
			t.Error("told too early")
		default:
		}
		c.Step(time.Hour)
		<-timer.C()
		if timer.Stop() {
			t.Error("it was still to fire")
		}
	})
}

// TestWeekOfCronJobs makes a week pass in hours that take moments.
func TestWeekOfCronJobs(t *testing.T) {
	t.Parallel()
	begin := time.Date(2030, 1, 7, 0, 30, 0, 0, time.UTC)
	clock := cluster.NewClock(begin)
	_, clients := start(t, cluster.Options{Clock: clock, Controllers: []string{"cronjob-controller"}, WithoutScheduler: true})
	ctx := t.Context()
	crons := clients.BatchV1().CronJobs("default")
	_, err := crons.Create(ctx, &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "hourly"}, Spec: batchv1.CronJobSpec{Schedule: "0 * * * *",
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const hours = 7 * 24
	for h := range hours {
		want := begin.Truncate(time.Hour).Add(time.Duration(h+1) * time.Hour)
		clock.Step(time.Hour)
		eventually(t, fmt.Sprintf("the job of %s", want), func(ctx context.Context) (bool, string) {
			c, err := crons.Get(ctx, "hourly", metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			return c.Status.LastScheduleTime != nil && c.Status.LastScheduleTime.Time.Equal(want), fmt.Sprint(c.Status.LastScheduleTime)
		})
	}
	jobs, err := clients.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
	if err != nil || len(jobs.Items) != hours {
		t.Errorf("%d jobs, %v", len(jobs.Items), err)
	}
	for _, j := range jobs.Items {
		if j.CreationTimestamp.Before(&metav1.Time{Time: begin}) {
			t.Fatalf("%s was created at %s", j.Name, j.CreationTimestamp)
		}
	}
}

// TestLongAfterwards: what a node, a finished Job and a list of events are after a long time.
func TestLongAfterwards(t *testing.T) {
	t.Parallel()
	clock := cluster.NewClock(time.Time{})
	_, clients := start(t, cluster.Options{Clock: clock})
	ctx := t.Context()
	// A node without a kubelet, which was alive a moment ago.
	if _, err := clients.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "silent"},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.NewTime(clock.Now())}}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "silent"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("silent"), LeaseDurationSeconds: ptr.To[int32](40), RenewTime: &metav1.MicroTime{Time: clock.Now()}}}
	if _, err := clients.CoordinationV1().Leases("kube-node-lease").Create(ctx, lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := clients.CoreV1().Events("default").Create(ctx, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"},
		InvolvedObject: corev1.ObjectReference{Namespace: "default"}, Reason: "r"}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "done"}, Spec: batchv1.JobSpec{Completions: ptr.To[int32](0), TTLSecondsAfterFinished: ptr.To[int32](86400),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}
	if _, err := clients.BatchV1().Jobs("default").Create(ctx, job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job is over", func(ctx context.Context) (bool, string) {
		j, err := clients.BatchV1().Jobs("default").Get(ctx, "done", metav1.GetOptions{})
		return err == nil && j.Status.CompletionTime != nil, fmt.Sprint(j.Status, err)
	})
	eventually(t, "the node is taken for ready", func(ctx context.Context) (bool, string) {
		n, err := clients.CoreV1().Nodes().Get(ctx, "silent", metav1.GetOptions{})
		return err == nil && len(n.Spec.Taints) == 0, fmt.Sprint(n.Spec.Taints, err)
	})
	eventually(t, "the node is unknown", func(ctx context.Context) (bool, string) {
		clock.Step(10 * time.Second)
		n, err := clients.CoreV1().Nodes().Get(ctx, "silent", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady {
				return c.Status == corev1.ConditionUnknown, c.String()
			}
		}
		return false, ""
	})
	if _, err := clients.BatchV1().Jobs("default").Get(ctx, "done", metav1.GetOptions{}); err != nil {
		t.Errorf("the job went before its day was over: %v", err)
	}
	clock.Step(25 * time.Hour)
	eventually(t, "the job is gone", func(ctx context.Context) (bool, string) {
		_, err := clients.BatchV1().Jobs("default").Get(ctx, "done", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
	eventually(t, "the event is gone", func(ctx context.Context) (bool, string) {
		_, err := clients.CoreV1().Events("default").Get(ctx, "e", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}
