package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/internal/quota"
)

// amounts reads "cpu=1,memory=2Gi".
func amounts(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		if name, amount, ok := strings.Cut(part, "="); ok {
			list[corev1.ResourceName(name)] = apiresource.MustParse(amount)
		}
	}
	return list
}

func testQuota(name, hard, used string, scopes ...corev1.ResourceQuotaScope) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"},
		Spec:   corev1.ResourceQuotaSpec{Hard: amounts(hard), Scopes: scopes},
		Status: corev1.ResourceQuotaStatus{Hard: amounts(hard), Used: amounts(used)}}
}

func quotaPod(cpu string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c",
		Resources: corev1.ResourceRequirements{Requests: amounts(cpu)}}}}}
}

func write(operation registry.Operation, r *resource.Resource, obj, old resource.Object) *registry.Attributes {
	return &registry.Attributes{Operation: operation, Resource: r, Namespace: "ns", Name: "p", Object: obj, Old: old}
}

func TestCharge(t *testing.T) {
	t.Parallel()
	ports := func(kind corev1.ServiceType) *corev1.Service {
		return &corev1.Service{Spec: corev1.ServiceSpec{Type: kind, Ports: []corev1.ServicePort{{Port: 1}}}}
	}
	for name, c := range map[string]struct {
		quotas []*corev1.ResourceQuota
		a      *registry.Attributes
		used   string
		err    string
	}{
		"fits": {[]*corev1.ResourceQuota{testQuota("q", "pods=2,cpu=2,secrets=1", "pods=1,cpu=1,secrets=0")}, write(registry.Create, core.Pod, quotaPod("cpu=1"), nil),
			"cpu=2,pods=2,secrets=0", ""},
		"exceeds": {[]*corev1.ResourceQuota{testQuota("q", "pods=1,cpu=5", "pods=1,cpu=1")}, write(registry.Create, core.Pod, quotaPod("cpu=1"), nil),
			"", `pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`},
		"exceeds in two ways": {[]*corev1.ResourceQuota{testQuota("q", "pods=1,cpu=1500m", "pods=1,cpu=1")}, write(registry.Create, core.Pod, quotaPod("cpu=1"), nil),
			"", `pods "p" is forbidden: exceeded quota: q, requested: cpu=1,pods=1, used: cpu=1,pods=1, limited: cpu=1500m,pods=1`},
		"leaves open": {[]*corev1.ResourceQuota{testQuota("q", "limits.cpu=1,memory=1", "limits.cpu=0,memory=0")}, write(registry.Create, core.Pod, quotaPod(""), nil),
			"", `pods "p" is forbidden: failed quota: q: must specify limits.cpu for: c; memory for: c`},
		"not counted yet": {[]*corev1.ResourceQuota{testQuota("q", "pods=1,count/pods=1", "pods=0")}, write(registry.Create, core.Pod, quotaPod(""), nil),
			"", `pods "p" is forbidden: status unknown for quota: q, resources: count/pods,pods`},
		"negative": {[]*corev1.ResourceQuota{testQuota("q", "pods=1,cpu=1", "pods=0,cpu=0")}, write(registry.Create, core.Pod, quotaPod("cpu=-1"), nil),
			"", `pods "p" is forbidden: quota usage is negative for resource(s): cpu,requests.cpu`},
		"out of scope": {[]*corev1.ResourceQuota{testQuota("q", "pods=0", "pods=0", corev1.ResourceQuotaScopeBestEffort)}, write(registry.Create, core.Pod, quotaPod("cpu=1"), nil),
			"pods=0", ""},
		"no change": {[]*corev1.ResourceQuota{testQuota("q", "services=0", "services=1")}, write(registry.Update, core.Service, ports(corev1.ServiceTypeClusterIP), ports(corev1.ServiceTypeClusterIP)),
			"services=1", ""},
		"a change of type": {[]*corev1.ResourceQuota{testQuota("q", "services=1,services.nodeports=1", "services=1,services.nodeports=0")},
			write(registry.Update, core.Service, ports(corev1.ServiceTypeNodePort), ports(corev1.ServiceTypeClusterIP)), "services=1,services.nodeports=1", ""},
		"a change of type that exceeds": {[]*corev1.ResourceQuota{testQuota("q", "services.nodeports=0", "services.nodeports=0")},
			write(registry.Update, core.Service, ports(corev1.ServiceTypeNodePort), ports(corev1.ServiceTypeClusterIP)),
			"", `services "p" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=0, limited: services.nodeports=0`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := c.quotas[0].DeepCopy()
			charged, err := charge(c.quotas, c.a, time.Now())
			if fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
				t.Fatalf("error %v", err)
			}
			if err == nil && quota.Text(charged[0].Status.Used) != c.used {
				t.Errorf("used %s", quota.Text(charged[0].Status.Used))
			}
			if !quota.Equal(before.Status.Used, c.quotas[0].Status.Used) {
				t.Error("the quota was changed in place")
			}
		})
	}
}

// fakeQuotas is a store of quotas that refuses stale writes, and the first few of all.
type fakeQuotas struct {
	mu       sync.Mutex
	quotas   []*corev1.ResourceQuota
	refuse   int
	writes   int
	versions int
}

func (f *fakeQuotas) Any(string) bool { return true }

func (f *fakeQuotas) List(context.Context, string) ([]*corev1.ResourceQuota, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.quotas), nil
}

func (f *fakeQuotas) Charge(_ context.Context, q *corev1.ResourceQuota) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	for i, present := range f.quotas {
		if present.Name != q.Name {
			continue
		}
		if present.ResourceVersion != q.ResourceVersion || f.writes <= f.refuse {
			return apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, q.Name, errors.New("changed"))
		}
		f.versions++
		f.quotas[i] = q.DeepCopy()
		f.quotas[i].ResourceVersion = fmt.Sprint(f.versions)
	}
	return nil
}

// However many pods come at once, just as many get in as the quota has room for.
func TestConcurrentCharges(t *testing.T) {
	t.Parallel()
	fake := &fakeQuotas{quotas: []*corev1.ResourceQuota{testQuota("q", "pods=37", "pods=0")}, refuse: 2}
	chain := &Chain{}
	chain.UseQuotas(fake, time.Now)
	var group sync.WaitGroup
	passed := make([]bool, 200)
	for i := range passed {
		group.Go(func() {
			passed[i] = chain.Validate(t.Context(), write(registry.Create, core.Pod, quotaPod(""), nil)) == nil
		})
	}
	group.Wait()
	in := 0
	for _, p := range passed {
		if p {
			in++
		}
	}
	if in != 37 || quota.Text(fake.quotas[0].Status.Used) != "pods=37" {
		t.Errorf("%d passed, used %s", in, quota.Text(fake.quotas[0].Status.Used))
	}
}

func TestDryRunChargesNothing(t *testing.T) {
	t.Parallel()
	fake := &fakeQuotas{quotas: []*corev1.ResourceQuota{testQuota("q", "pods=1", "pods=0")}}
	chain := &Chain{}
	chain.UseQuotas(fake, time.Now)
	a := write(registry.Create, core.Pod, quotaPod(""), nil)
	a.DryRun = true
	if err := chain.Validate(t.Context(), a); err != nil || fake.writes != 0 {
		t.Errorf("error %v, %d writes", err, fake.writes)
	}
}

func TestAQuotaThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	fake := &fakeQuotas{quotas: []*corev1.ResourceQuota{testQuota("q", "pods=1", "pods=0")}, refuse: 99}
	chain := &Chain{}
	chain.UseQuotas(fake, time.Now)
	if err := chain.Validate(t.Context(), write(registry.Create, core.Pod, quotaPod(""), nil)); !apierrors.IsConflict(err) || fake.writes != quotaAttempts {
		t.Errorf("error %v after %d writes", err, fake.writes)
	}
}
