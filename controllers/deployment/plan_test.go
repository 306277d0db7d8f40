package deployment

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

var testTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a Deployment, its ReplicaSets and the time, moved by the plans themselves.
type world struct {
	t    *testing.T
	d    *appsv1.Deployment
	sets []*appsv1.ReplicaSet
	pods map[types.UID][]*corev1.Pod
	now  time.Time
	made int
}

func newWorld(t *testing.T, replicas int32, surge, unavailable intstr.IntOrString) *world {
	labels := map[string]string{"app": "web"}
	return &world{t: t, now: testTime, d: &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "ns", UID: "d", Generation: 1},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template:                corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
			ProgressDeadlineSeconds: ptr.To[int32](600), RevisionHistoryLimit: ptr.To[int32](10),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable},
			},
		},
	}}
}

// setImage changes the template, as kubectl set image does.
func (w *world) setImage(image string) {
	w.d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: image}}
	w.d.Generation++
}

// step makes one pass and carries the plan out.
func (w *world) step() Plan {
	w.t.Helper()
	plan := Decide(Observed{Deployment: w.d, ReplicaSets: w.sets, Pods: w.pods, Now: w.now})
	if created := plan.Create; created != nil {
		w.made++
		created.UID = types.UID(created.Name)
		created.CreationTimestamp = metav1.NewTime(testTime.Add(time.Duration(w.made) * time.Second))
		w.sets = append(w.sets, created)
	}
	for _, write := range plan.Writes {
		for i := range w.sets {
			if w.sets[i].UID == write.After.UID {
				w.sets[i] = write.After
			}
		}
	}
	for _, deleted := range plan.Deletes {
		for i := range w.sets {
			if w.sets[i].UID == deleted.UID {
				w.sets = append(w.sets[:i:i], w.sets[i+1:]...)
				break
			}
		}
	}
	w.d.Status = plan.Status
	metav1.SetMetaDataAnnotation(&w.d.ObjectMeta, revisionAnnotation, plan.Revision)
	return plan
}

// run makes every pod there and available at once.
func (w *world) run() {
	for _, rs := range w.sets {
		rs.Status.Replicas, rs.Status.ReadyReplicas, rs.Status.AvailableReplicas = *rs.Spec.Replicas, *rs.Spec.Replicas, *rs.Spec.Replicas
		rs.Status.ObservedGeneration = rs.Generation
		rs.Status.TerminatingReplicas = ptr.To[int32](0)
	}
}

// finish steps until the rollout is complete.
func (w *world) finish() {
	w.t.Helper()
	for range 200 {
		w.step()
		w.run()
		if complete(w.d, &w.d.Status) && progress(w.d) == reasonAvailable {
			w.step() // the pass after the last one tidies up
			return
		}
	}
	w.t.Fatalf("the rollout doesn't end: %+v", w.d.Status)
}

func progress(d *appsv1.Deployment) string {
	if c := condition(&d.Status, appsv1.DeploymentProgressing); c != nil {
		return c.Reason
	}
	return ""
}

func (w *world) sizes() (sizes []int32) {
	for _, rs := range w.sets {
		sizes = append(sizes, *rs.Spec.Replicas)
	}
	return sizes
}

func TestTheFirstReplicaSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, intstr.FromString("25%"), intstr.FromString("25%"))
	plan := w.step()
	rs := plan.Create
	if rs == nil || *rs.Spec.Replicas != 3 {
		t.Fatalf("want a set of 3, got %v", rs)
	}
	hash := rs.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if rs.Name != "web-"+hash || rs.Spec.Selector.MatchLabels[appsv1.DefaultDeploymentUniqueLabelKey] != hash ||
		rs.Spec.Template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] != hash {
		t.Errorf("name %s, hash %s", rs.Name, hash)
	}
	for key, want := range map[string]string{revisionAnnotation: "1", desiredReplicasAnnotation: "3", maxReplicasAnnotation: "4"} {
		if rs.Annotations[key] != want {
			t.Errorf("annotation %s is %q, want %q", key, rs.Annotations[key], want)
		}
	}
	if plan.Revision != "1" || progress(w.d) != reasonCreated {
		t.Errorf("revision %q, progress %q", plan.Revision, progress(w.d))
	}
	w.finish()
	if c := condition(&w.d.Status, appsv1.DeploymentProgressing); c.Message != `ReplicaSet "`+rs.Name+`" has successfully progressed.` {
		t.Errorf("message %q", c.Message)
	}
	if plan := w.step(); plan.Create != nil || len(plan.Writes) > 0 || len(plan.Deletes) > 0 || plan.CheckAfter != 0 {
		t.Errorf("something is left to do: %+v", plan)
	}
}

func TestRollingOneStepAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10, intstr.FromInt32(3), intstr.FromInt32(2))
	w.step()
	w.run()
	w.finish()
	w.setImage("2")
	want := [][]int32{{8, 3}, {8, 5}, {3, 5}, {3, 10}, {0, 10}}
	for i, sizes := range want {
		w.step()
		if got := w.sizes(); got[0] != sizes[0] || got[1] != sizes[1] {
			t.Fatalf("after step %d sizes are %v, want %v", i, got, sizes)
		}
		w.run()
	}
}

func TestUnavailableNewPodsHoldTheRolloutUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10, intstr.FromInt32(3), intstr.FromInt32(2))
	w.step()
	w.run()
	w.finish()
	w.setImage("crashes")
	for range 5 {
		w.step()
		w.sets[0].Status.Replicas, w.sets[0].Status.AvailableReplicas = *w.sets[0].Spec.Replicas, *w.sets[0].Spec.Replicas
		w.sets[1].Status.Replicas = *w.sets[1].Spec.Replicas // there, but never available
	}
	if got := w.sizes(); got[0] != 8 || got[1] != 5 {
		t.Fatalf("sizes are %v, want 8 and 5", got)
	}
	// An old pod fails. The node's loss must not cost another one.
	w.sets[0].Status.AvailableReplicas = 7
	w.step()
	if got := w.sizes(); got[0] != 8 {
		t.Errorf("an old pod was given up: %v", got)
	}
}

func TestUndoRaisesTheRevision(t *testing.T) {
	t.Parallel()
	// kubectl#598, k/k#105732: history is ordered by revision, a reused set gets max+1.
	w := newWorld(t, 1, intstr.FromInt32(1), intstr.FromInt32(0))
	w.d.Spec.RevisionHistoryLimit = ptr.To[int32](2)
	for _, image := range []string{"1", "2", "3", "1"} {
		w.setImage(image)
		w.finish()
	}
	if first := w.sets[0]; first.Annotations[revisionAnnotation] != "4" || first.Annotations[revisionHistoryAnnotation] != "1" {
		t.Errorf("the first set has revision %q, history %q", first.Annotations[revisionAnnotation], first.Annotations[revisionHistoryAnnotation])
	}
	w.setImage("5")
	w.finish()
	var left []string
	for _, rs := range w.sets {
		left = append(left, rs.Annotations[revisionAnnotation])
	}
	if len(left) != 3 || left[0] != "4" || left[1] != "3" || left[2] != "5" {
		t.Errorf("revisions left are %v, want 4 3 5", left)
	}
}

func TestRecreateEndsTheOldFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, intstr.IntOrString{}, intstr.IntOrString{})
	w.d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	w.finish()
	old := w.sets[0].UID
	w.setImage("2")
	if plan := w.step(); plan.Create != nil || *w.sets[0].Spec.Replicas != 0 {
		t.Fatalf("want the old set at 0 and no new one, got %v, new %v", w.sizes(), plan.Create)
	}
	w.run() // the set counts no pod, but one is still on its way out
	w.pods = map[types.UID][]*corev1.Pod{old: {{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.Now())}}}}
	if plan := w.step(); plan.Create != nil {
		t.Fatal("a new set while an old pod runs")
	}
	w.pods[old][0].Status.Phase = corev1.PodSucceeded
	if plan := w.step(); plan.Create == nil || *plan.Create.Spec.Replicas != 2 {
		t.Fatalf("want a new set of 2, got %v", plan.Create)
	}
	w.finish()
}

func TestPauseHoldsTheRolloutButNotTheSize(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, intstr.FromInt32(1), intstr.FromInt32(0))
	w.finish()
	w.d.Spec.Paused = true
	w.setImage("2")
	if plan := w.step(); plan.Create != nil || progress(w.d) != reasonPaused {
		t.Fatalf("paused: new set %v, progress %q", plan.Create, progress(w.d))
	}
	w.d.Spec.Replicas = ptr.To[int32](5)
	w.step()
	if got := w.sizes(); got[0] != 5 {
		t.Errorf("paused and resized: sizes %v", got)
	}
	w.d.Spec.Paused = false
	if plan := w.step(); plan.Create == nil {
		t.Error("resumed: no new set")
	}
	w.finish()
}

func TestResizeKeepsProportions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after int32
		sizes, want   []int32 // old, new; sizes were meant for before+3
	}{
		"grows by share":            {10, 30, []int32{8, 5}, []int32{20, 13}},
		"shrinks by share":          {10, 5, []int32{8, 5}, []int32{5, 3}},
		"to nothing":                {10, 0, []int32{8, 5}, []int32{0, 0}},
		"one active gets it all":    {10, 7, []int32{10, 0}, []int32{7, 0}},
		"what is left over: larger": {3, 5, []int32{3, 2}, []int32{5, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.before, intstr.FromInt32(3), intstr.FromInt32(2))
			w.step()
			w.run()
			w.setImage("2")
			w.step()
			for i, rs := range w.sets {
				rs.Spec.Replicas = ptr.To(c.sizes[i])
				setSizeAnnotations(rs, c.before, c.before+3)
			}
			w.d.Spec.Replicas = ptr.To(c.after)
			w.step()
			if got := w.sizes(); got[0] != c.want[0] || got[1] != c.want[1] {
				t.Errorf("sizes are %v, want %v", got, c.want)
			}
		})
	}
}

func TestTheDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, intstr.FromInt32(1), intstr.FromInt32(0))
	if plan := w.step(); plan.CheckAfter != 601*time.Second {
		t.Errorf("the check is due after %v", plan.CheckAfter)
	}
	w.now = w.now.Add(599 * time.Second)
	if w.step(); progress(w.d) != reasonCreated {
		t.Errorf("in time, but %q", progress(w.d))
	}
	w.now = w.now.Add(2 * time.Second)
	plan := w.step()
	c := condition(&plan.Status, appsv1.DeploymentProgressing)
	if c.Reason != reasonTimedOut || c.Status != corev1.ConditionFalse || plan.CheckAfter != 0 {
		t.Errorf("too late, but %q, next check after %v", c.Reason, plan.CheckAfter)
	}
	w.run()
	if w.step(); progress(w.d) != reasonAvailable {
		t.Errorf("late success is %q", progress(w.d))
	}
}

func TestAnEmptySelectorIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, intstr.FromInt32(1), intstr.FromInt32(0))
	w.d.Spec.Selector = &metav1.LabelSelector{}
	if plan := Decide(Observed{Deployment: w.d, Now: testTime}); !plan.SelectsAll || plan.Create != nil || plan.Status.ObservedGeneration != 1 {
		t.Errorf("got %+v", plan)
	}
}
