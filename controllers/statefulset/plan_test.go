package statefulset

import (
	"slices"
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

func testSet(replicas int32, changes ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "ns", UID: "set"}, Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, RevisionHistoryLimit: ptr.To[int32](1),
		UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType,
			RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](0)}},
	}}
	for _, change := range changes {
		change(set)
	}
	return set
}

func parallel(set *appsv1.StatefulSet) { set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }
func onDelete(set *appsv1.StatefulSet) {
	set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
}
func partition(n int32) func(*appsv1.StatefulSet) {
	return func(set *appsv1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Partition = &n }
}
func most(n int32) func(*appsv1.StatefulSet) {
	return func(set *appsv1.StatefulSet) {
		set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = ptr.To(intstr.FromInt32(n))
	}
}
func from(n int32) func(*appsv1.StatefulSet) {
	return func(set *appsv1.StatefulSet) { set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: n} }
}

// testPod has been ready for an hour.
func testPod(name, revision string, changes ...func(*corev1.Pod)) *corev1.Pod {
	hourAgo := metav1.NewTime(testTime.Add(-time.Hour))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name), Labels: map[string]string{
			appsv1.StatefulSetRevisionLabel: revision, appsv1.StatefulSetPodNameLabel: name}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: hourAgo}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func unready(pod *corev1.Pod)  { pod.Status.Conditions = nil }
func failed(pod *corev1.Pod)   { pod.Status.Phase = corev1.PodFailed; unready(pod) }
func deleting(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: testTime} }

func decide(set *appsv1.StatefulSet, pods ...*corev1.Pod) Plan {
	return Decide(Observed{Set: set, Pods: pods, Now: testTime,
		Current: Revision{"old", &corev1.PodTemplateSpec{}}, Update: Revision{"new", &corev1.PodTemplateSpec{}}})
}

func podNames(pods []*corev1.Pod) (out []string) {
	for _, pod := range pods {
		out = append(out, pod.Name)
	}
	return out
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set            *appsv1.StatefulSet
		pods           []*corev1.Pod
		create, delete []string
	}{
		"one after the other":           {testSet(3), nil, []string{"db-0"}, nil},
		"the next when one is ready":    {testSet(3), []*corev1.Pod{testPod("db-0", "new")}, []string{"db-1"}, nil},
		"not before":                    {testSet(3), []*corev1.Pod{testPod("db-0", "new", unready)}, nil, nil},
		"all at once":                   {testSet(3, parallel), nil, []string{"db-0", "db-1", "db-2"}, nil},
		"counting from five":            {testSet(1, from(5)), nil, []string{"db-5"}, nil},
		"a failed one is replaced":      {testSet(1), []*corev1.Pod{testPod("db-0", "new", failed)}, nil, []string{"db-0"}},
		"the highest goes first":        {testSet(1), []*corev1.Pod{testPod("db-0", "new"), testPod("db-1", "new"), testPod("db-2", "new")}, nil, []string{"db-2"}},
		"and the next waits for it":     {testSet(1), []*corev1.Pod{testPod("db-0", "new"), testPod("db-1", "new"), testPod("db-2", "new", deleting)}, nil, nil},
		"a broken one doesn't block":    {testSet(1), []*corev1.Pod{testPod("db-0", "new"), testPod("db-1", "new", unready)}, nil, []string{"db-1"}},
		"all go at once":                {testSet(1, parallel), []*corev1.Pod{testPod("db-0", "new"), testPod("db-1", "new"), testPod("db-2", "new")}, nil, []string{"db-2", "db-1"}},
		"update from the top":           {testSet(2), []*corev1.Pod{testPod("db-0", "old"), testPod("db-1", "old")}, nil, []string{"db-1"}},
		"then the one below":            {testSet(2), []*corev1.Pod{testPod("db-0", "old"), testPod("db-1", "new")}, nil, []string{"db-0"}},
		"once the upper is back":        {testSet(2), []*corev1.Pod{testPod("db-0", "old"), testPod("db-1", "new", unready)}, nil, nil},
		"two at a time":                 {testSet(3, most(2)), []*corev1.Pod{testPod("db-0", "old"), testPod("db-1", "old"), testPod("db-2", "old")}, nil, []string{"db-2", "db-1"}},
		"down to the partition":         {testSet(2, partition(1)), []*corev1.Pod{testPod("db-0", "old"), testPod("db-1", "new")}, nil, nil},
		"broken ones first in parallel": {testSet(2, parallel), []*corev1.Pod{testPod("db-0", "old", unready), testPod("db-1", "old")}, nil, []string{"db-0"}},
		"on delete: nothing":            {testSet(1, onDelete), []*corev1.Pod{testPod("db-0", "old")}, nil, nil},
		"a set that is being deleted":   {testSet(3, func(set *appsv1.StatefulSet) { set.DeletionTimestamp = &metav1.Time{Time: testTime} }), nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decide(c.set, c.pods...)
			if got := podNames(plan.Create); !slices.Equal(got, c.create) {
				t.Errorf("creates %v, want %v", got, c.create)
			}
			if got := podNames(plan.Delete); !slices.Equal(got, c.delete) {
				t.Errorf("deletes %v, want %v", got, c.delete)
			}
		})
	}
}

func TestBelowThePartitionPodsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	plan := decide(testSet(2, partition(1), parallel))
	if revisionOf(plan.Create[0]) != "old" || revisionOf(plan.Create[1]) != "new" {
		t.Errorf("revisions %s and %s", revisionOf(plan.Create[0]), revisionOf(plan.Create[1]))
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	s := decide(testSet(3), testPod("db-0", "old"), testPod("db-1", "new", unready), testPod("db-2", "new", deleting)).Status
	if s.Replicas != 3 || s.ReadyReplicas != 2 || s.CurrentReplicas != 1 || s.UpdatedReplicas != 1 || s.CurrentRevision != "old" || s.UpdateRevision != "new" {
		t.Errorf("got %+v", s)
	}
	if s := decide(testSet(1), testPod("db-0", "new")).Status; s.CurrentRevision != "new" || s.CurrentReplicas != 1 {
		t.Errorf("an update that is through: %+v", s)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	set := testSet(1)
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	plan := decide(set)
	claims := plan.Claims["db-0"]
	if len(claims) != 1 || claims[0].Name != "data-db-0" || claims[0].Labels["app"] != "db" {
		t.Fatalf("claims %v", claims)
	}
	if v := plan.Create[0].Spec.Volumes; len(v) != 1 || v[0].Name != "data" || v[0].PersistentVolumeClaim.ClaimName != "data-db-0" {
		t.Errorf("volumes %v", v)
	}
}

func TestClaimOwners(t *testing.T) {
	t.Parallel()
	const retain, remove = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	policy := func(deleted, scaled appsv1.PersistentVolumeClaimRetentionPolicyType) *appsv1.StatefulSet {
		return testSet(1, func(set *appsv1.StatefulSet) {
			set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: deleted, WhenScaled: scaled}
		})
	}
	pod := testPod("db-0", "new")
	ofSet, ofPod := *metav1.NewControllerRef(testSet(1), statefulSetKind), *metav1.NewControllerRef(pod, podKind)
	stale, foreign := ofPod, metav1.OwnerReference{UID: "x", Controller: ptr.To(true)}
	stale.UID = "earlier"
	for name, c := range map[string]struct {
		set       *appsv1.StatefulSet
		condemned bool
		refs      []metav1.OwnerReference
		want      []metav1.OwnerReference
		changed   bool
	}{
		"kept":                             {policy(retain, retain), true, nil, nil, false},
		"kept from now on":                 {policy(retain, retain), false, []metav1.OwnerReference{ofSet}, nil, true},
		"goes with the set":                {policy(remove, retain), false, nil, []metav1.OwnerReference{ofSet}, true},
		"goes with a condemned pod":        {policy(retain, remove), true, nil, []metav1.OwnerReference{ofPod}, true},
		"not with a pod that stays":        {policy(retain, remove), false, nil, nil, false},
		"both: the set while the pod is":   {policy(remove, remove), false, nil, []metav1.OwnerReference{ofSet}, true},
		"both: the pod once condemned":     {policy(remove, remove), true, []metav1.OwnerReference{ofSet}, []metav1.OwnerReference{ofPod}, true},
		"one of an earlier pod stays":      {policy(remove, remove), true, []metav1.OwnerReference{stale}, []metav1.OwnerReference{stale}, false},
		"another's gets rid of ours":       {policy(remove, retain), false, []metav1.OwnerReference{foreign, ofSet}, []metav1.OwnerReference{foreign}, true},
		"another's doesn't become ours":    {policy(remove, retain), false, []metav1.OwnerReference{foreign}, []metav1.OwnerReference{foreign}, false},
		"as it shall be: nothing to write": {policy(remove, retain), false, []metav1.OwnerReference{ofSet}, []metav1.OwnerReference{ofSet}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, changed, _ := claimOwners(c.set, pod, c.condemned, c.refs)
			same := slices.EqualFunc(got, c.want, func(a, b metav1.OwnerReference) bool { return a.UID == b.UID })
			if changed != c.changed || !same {
				t.Errorf("changed %v, owners %v", changed, got)
			}
		})
	}
}
