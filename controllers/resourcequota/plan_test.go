package resourcequota

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/internal/quota"
)

var pods = quota.For(schema.GroupResource{Resource: "pods"})

func one(names ...corev1.ResourceName) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range names {
		list[name] = resource.MustParse("1")
	}
	return list
}

func TestCount(t *testing.T) {
	t.Parallel()
	short := &corev1.Pod{Spec: corev1.PodSpec{ActiveDeadlineSeconds: ptr.To[int64](1)}}
	ended := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	objects := []runtime.Object{&corev1.Pod{}, &corev1.Pod{}, short, ended}
	for name, c := range map[string]struct {
		spec corev1.ResourceQuotaSpec
		want string
	}{
		"all":      {corev1.ResourceQuotaSpec{Hard: one("pods", "count/pods", "cpu", "secrets")}, "count/pods=4,cpu=0,pods=3"},
		"in scope": {corev1.ResourceQuotaSpec{Hard: one("pods"), Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}}, "pods=1"},
		"not pods": {corev1.ResourceQuotaSpec{Hard: one("secrets")}, ""},
	} {
		if got := quota.Text(Count(&c.spec, pods, objects, time.Now())); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	q := &corev1.ResourceQuota{
		Spec:   corev1.ResourceQuotaSpec{Hard: one("pods", "count/x.example.com")},
		Status: corev1.ResourceQuotaStatus{Used: one("count/x.example.com", "secrets")},
	}
	status := Status(q, corev1.ResourceList{"pods": resource.MustParse("3")})
	if got := quota.Text(status.Used); got != "count/x.example.com=1,pods=3" || !stale(q.Status, status) || stale(status, status) {
		t.Errorf("used %s", got)
	}
}

func TestMatters(t *testing.T) {
	t.Parallel()
	spec := &corev1.ResourceQuotaSpec{Hard: one("pods")}
	ended := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}
	ready := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	for name, c := range map[string]struct {
		before, after runtime.Object
		want          bool
	}{
		"comes": {nil, ready, true}, "goes": {ready, nil, true}, "ends": {ready, ended, true},
		"starts": {&corev1.Pod{}, ready, false}, "goes when ended": {ended, nil, false},
	} {
		if got := matters(spec, pods, c.before, c.after, time.Now()); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
