package nodelifecycle

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func readyNode(ready corev1.ConditionStatus) *corev1.Node {
	return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: ready, LastHeartbeatTime: metav1.NewTime(start)},
	}}}
}

func renewed(at time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: at}}}
}

func TestALeaseKeepsANodeAlive(t *testing.T) {
	t.Parallel()
	node, health := readyNode(corev1.ConditionTrue), Health{}
	nodesClock := start.Add(-time.Hour) // wrong, and it doesn't matter
	for i := range 20 {
		now := start.Add(time.Duration(i) * 10 * time.Second)
		health = health.Observe(node, renewed(nodesClock.Add(time.Duration(i)*10*time.Second)), now)
		if health.Silent(node, now) {
			t.Fatalf("silent after %v although the lease is renewed", now.Sub(start))
		}
	}
	last := start.Add(190 * time.Second)
	lease := renewed(nodesClock.Add(190 * time.Second))
	for _, c := range []struct {
		after  time.Duration
		silent bool
	}{{0, false}, {50 * time.Second, false}, {51 * time.Second, true}} {
		health = health.Observe(node, lease, last.Add(c.after))
		if got := health.Silent(node, last.Add(c.after)); got != c.silent {
			t.Errorf("%v after the last renewal: silent is %v", c.after, got)
		}
	}
}

// Who just started has heard of no node yet: none is lost before its grace is over.
func TestARestartLosesNoNode(t *testing.T) {
	t.Parallel()
	for _, node := range []*corev1.Node{readyNode(corev1.ConditionTrue), {Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}}}} {
		now := start.Add(time.Hour)
		health := Health{}.Observe(node, nil, now)
		if health.Silent(node, now) || !health.Silent(node, now.Add(gracePeriod+1)) {
			t.Errorf("conditions %v: silent must come after the grace", node.Status.Conditions)
		}
	}
}

func TestANewNodeMayTakeLonger(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(start)}}
	health := Health{}.Observe(node, nil, start.Add(time.Second))
	if health.Silent(node, start.Add(60*time.Second)) || !health.Silent(node, start.Add(61*time.Second)) {
		t.Error("a node that has never spoken is lost 60 s after its creation")
	}
	conditions := LostConditions(node, start)
	if len(conditions) != 4 || conditions[0].Reason != "NodeStatusNeverUpdated" || conditions[0].Status != corev1.ConditionUnknown {
		t.Errorf("conditions %v", conditions)
	}
}

func TestTaintsFollowConditions(t *testing.T) {
	t.Parallel()
	user := corev1.Taint{Key: "mine", Effect: corev1.TaintEffectNoExecute}
	for name, c := range map[string]struct {
		ready  corev1.ConditionStatus
		cordon bool
		evict  bool
		before string
		want   string
	}{
		"healthy":                      {corev1.ConditionTrue, false, false, "", ""},
		"healthy again":                {corev1.ConditionTrue, false, false, "unreachable:NoSchedule unreachable:NoExecute", ""},
		"unreachable, braked":          {corev1.ConditionUnknown, false, false, "", "unreachable:NoSchedule"},
		"unreachable, not braked":      {corev1.ConditionUnknown, false, true, "", "unreachable:NoSchedule unreachable:NoExecute"},
		"from unreachable to unready":  {corev1.ConditionFalse, false, false, "unreachable:NoSchedule unreachable:NoExecute", "not-ready:NoSchedule not-ready:NoExecute"},
		"cordoned":                     {corev1.ConditionTrue, true, false, "", "unschedulable:NoSchedule"},
		"uncordoned":                   {corev1.ConditionTrue, false, false, "unschedulable:NoSchedule", ""},
		"a taint that stands, remains": {corev1.ConditionUnknown, false, false, "unreachable:NoSchedule", "unreachable:NoSchedule"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := readyNode(c.ready)
			node.Spec.Unschedulable = c.cordon
			node.Spec.Taints = []corev1.Taint{user}
			for _, text := range strings.Fields(c.before) {
				key, effect, _ := strings.Cut(text, ":")
				node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "node.kubernetes.io/" + key, Effect: corev1.TaintEffect(effect)})
			}
			var got []string
			taints := Taints(node, c.evict, start)
			for _, taint := range taints[1:] {
				got = append(got, strings.TrimPrefix(taint.Key, "node.kubernetes.io/")+":"+string(taint.Effect))
			}
			if !taints[0].MatchTaint(&user) || strings.Join(got, " ") != c.want {
				t.Errorf("taints are %v, want mine and %s", taints, c.want)
			}
		})
	}
}

func TestZonesBrake(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failing, total int
		state          zoneState
		rate           float32
	}{
		"all well":                {0, 10, zoneNormal, 0.1},
		"one of two":              {1, 2, zoneNormal, 0.1},
		"all":                     {3, 3, zoneFull, 0.1},
		"most of a small zone":    {6, 10, zonePartial, 0},
		"most of a large zone":    {60, 100, zonePartial, 0.01},
		"two of three: too few":   {2, 3, zoneNormal, 0.1},
		"less than the threshold": {5, 10, zoneNormal, 0.1},
	} {
		if state := stateOf(c.failing, c.total); state != c.state || rate(state, c.total) != c.rate {
			t.Errorf("%s: state %d, rate %v", name, state, rate(state, c.total))
		}
	}
}

func TestEvictionsComeOneByOne(t *testing.T) {
	t.Parallel()
	clock := testingclock.NewFakePassiveClock(start)
	z := newZones(clock)
	for _, node := range []string{"a", "b", "c", "d", "e"} {
		z.record(node, "zone", node < "c")
	}
	if !z.mayEvict("zone") || z.mayEvict("zone") {
		t.Error("of two failing nodes one may be tainted at once")
	}
	clock.SetTime(start.Add(11 * time.Second))
	if !z.mayEvict("zone") {
		t.Error("ten seconds later the other one may be")
	}
	for _, node := range []string{"a", "b", "c", "d", "e"} {
		z.record(node, "zone", true)
	}
	clock.SetTime(start.Add(time.Hour))
	if !z.allFail() || z.mayEvict("zone") {
		t.Error("when all fail, none may be")
	}
}
