package island

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func parse(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	return address, err == nil
}

func TestSpecValidate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		spec Spec
		want bool
	}{
		{Spec{Name: "kogge", Nodes: 2}, true},
		{Spec{Name: "a", Nodes: 0}, true},
		{Spec{Name: "dev-2", Nodes: mostNodes}, true},
		{Spec{Name: "", Nodes: 1}, false},
		{Spec{Name: "Dev", Nodes: 1}, false},
		{Spec{Name: "-dev", Nodes: 1}, false},
		{Spec{Name: "../dev", Nodes: 1}, false},
		{Spec{Name: strings.Repeat("a", 51), Nodes: 1}, false},
		{Spec{Name: "dev", Nodes: mostNodes + 1}, false},
		{Spec{Name: "dev", Nodes: -1}, false},
	} {
		if err := test.spec.Validate(); (err == nil) != test.want {
			t.Errorf("%+v: %v, want valid %v", test.spec, err, test.want)
		}
	}
}

func TestNodesHaveAddressesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[netip.Addr]bool{Bridge(): true}
	for _, node := range (Spec{Name: "dev", Nodes: mostNodes}).NodeList() {
		if !NodeRange.Contains(node.Address) || seen[node.Address] {
			t.Errorf("node %s has the address %s", node.Name, node.Address)
		}
		seen[node.Address] = true
	}
}

func TestPauseAfter(t *testing.T) {
	t.Parallel()
	pause := time.Duration(0)
	for _, want := range []time.Duration{shortestPause, 2 * shortestPause, 4 * shortestPause} {
		if pause = pauseAfter(time.Millisecond, pause); pause != want {
			t.Errorf("pause %s, want %s", pause, want)
		}
	}
	if got := pauseAfter(time.Second, longestPause); got != longestPause {
		t.Errorf("pause %s, want at most %s", got, longestPause)
	}
	if got := pauseAfter(steady, longestPause); got != 0 {
		t.Errorf("after a steady run: pause %s", got)
	}
}

func TestNotReadySaysWhich(t *testing.T) {
	t.Parallel()
	node := func(name string, status corev1.ConditionStatus, message string) corev1.Node {
		made := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		made.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Message: message}}
		return made
	}
	spec := Spec{Name: "dev", Nodes: 2}
	ready := node("dev-1", corev1.ConditionTrue, "kubelet is posting ready status")
	if err := notReady(spec, []corev1.Node{ready, node("dev-2", corev1.ConditionTrue, "")}, "/d"); err != nil {
		t.Errorf("both are ready: %v", err)
	}
	for _, test := range []struct {
		nodes []corev1.Node
		want  string
	}{
		{[]corev1.Node{ready, node("dev-2", corev1.ConditionFalse, "no network")}, "dev-2 is not ready: "},
		{[]corev1.Node{ready, node("dev-2", corev1.ConditionUnknown, "")}, "dev-2 is not ready"},
		{[]corev1.Node{ready}, "dev-2 has not registered"},
	} {
		if err := notReady(spec, test.nodes, "/d"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}
