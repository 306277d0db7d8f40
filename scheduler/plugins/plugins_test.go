package plugins

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// cluster is a snapshot for tests.
type cluster []*framework.NodeInfo

func (c cluster) Nodes() []*framework.NodeInfo { return c }
func (c cluster) Node(name string) *framework.NodeInfo {
	for _, node := range c {
		if node.Node.Name == name {
			return node
		}
	}
	return nil
}

func (c cluster) Wishing() (nodes []*framework.NodeInfo) {
	for _, node := range c {
		if len(node.Wishing) > 0 {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

func (c cluster) WithImage(name string) (count int) {
	for _, node := range c {
		if _, has := node.Images[name]; has {
			count++
		}
	}
	return count
}

func (c cluster) Avoiding() (nodes []*framework.NodeInfo) {
	for _, node := range c {
		if len(node.Avoiding) > 0 {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

type (
	nodeChange func(*corev1.Node)
	podChange  func(*corev1.Pod)
)

func resources(cpu, memory string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		if text != "" {
			list[name] = resource.MustParse(text)
		}
	}
	return list
}

func newNode(name string, changes ...nodeChange) *framework.NodeInfo {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
	node.Status.Allocatable = resources("4", "8Gi")
	node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("3")
	for _, change := range changes {
		change(node)
	}
	return framework.NewNodeInfo(node)
}

func newPod(changes ...podChange) *framework.PodInfo {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "app:1"}}}}
	for _, change := range changes {
		change(pod)
	}
	return framework.NewPodInfo(pod)
}

func asks(cpu, memory string) podChange {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = resources(cpu, memory) }
}

func asksFor(name corev1.ResourceName, amount string) podChange {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{name: resource.MustParse(amount)}
	}
}

func hostPort(ip string, port int32, protocol corev1.Protocol) podChange {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostIP: ip, HostPort: port, Protocol: protocol}}
	}
}

func tainted(key string, effect corev1.TaintEffect) nodeChange {
	return func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: effect}) }
}

func unschedulable(n *corev1.Node) { n.Spec.Unschedulable = true }

func toleratesAll(p *corev1.Pod) {
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
}

func affinity(terms ...corev1.NodeSelectorTerm) podChange {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	}
}

func named(names ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
		{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: names},
	}}
}

// noSources know no objects but nodes and pods.
func noSources() *Sources {
	sources, err := NewSources(nil, informers.NewSharedInformerFactory(nil, 0))
	if err != nil {
		panic(err) // of informers that were never started
	}
	return sources
}

// TestRefusals holds the words of each refusal against upstream's.
func TestRefusals(t *testing.T) {
	t.Parallel()
	full := newNode("n")
	for range 3 {
		full = full.WithPod(newPod())
	}
	for name, c := range map[string]struct {
		pod  *framework.PodInfo
		node *framework.NodeInfo
		want string
	}{
		"fits":                    {newPod(asks("4", "8Gi")), newNode("n"), ""},
		"too much CPU":            {newPod(asks("5", "")), newNode("n"), "Insufficient cpu"},
		"too much of both":        {newPod(asks("5", "9Gi")), newNode("n"), "Insufficient cpu, Insufficient memory"},
		"CPU in use":              {newPod(asks("2", "")), newNode("n").WithPod(newPod(asks("3", ""))), "Insufficient cpu"},
		"in use but not asked":    {newPod(), newNode("n").WithPod(newPod(asks("4", "8Gi"))), ""},
		"too many pods":           {newPod(), full, "Too many pods"},
		"disk":                    {newPod(asksFor(corev1.ResourceEphemeralStorage, "1Gi")), newNode("n"), "Insufficient ephemeral-storage"},
		"an extended resource":    {newPod(asksFor("example.com/gpu", "1")), newNode("n"), "Insufficient example.com/gpu"},
		"named another":           {newPod(func(p *corev1.Pod) { p.Spec.NodeName = "m" }), newNode("n"), "node(s) didn't match the requested node name"},
		"cordoned":                {newPod(), newNode("n", unschedulable), "node(s) were unschedulable"},
		"cordoned, tolerated":     {newPod(toleratesAll), newNode("n", unschedulable), ""},
		"tainted":                 {newPod(), newNode("n", tainted("a", corev1.TaintEffectNoSchedule)), "node(s) had untolerated taint(s)"},
		"tainted for eviction":    {newPod(), newNode("n", tainted("a", corev1.TaintEffectNoExecute)), "node(s) had untolerated taint(s)"},
		"tainted softly":          {newPod(), newNode("n", tainted("a", corev1.TaintEffectPreferNoSchedule)), ""},
		"tainted, tolerated":      {newPod(toleratesAll), newNode("n", tainted("a", corev1.TaintEffectNoSchedule)), ""},
		"selector":                {newPod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"name": "m"} }), newNode("n"), "node(s) didn't match Pod's node affinity/selector"},
		"selector matches":        {newPod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"name": "n"} }), newNode("n"), ""},
		"affinity by field":       {newPod(affinity(named("m"))), newNode("n"), "node(s) didn't match Pod's node affinity/selector"},
		"port taken":              {newPod(hostPort("", 80, corev1.ProtocolTCP)), newNode("n").WithPod(newPod(hostPort("127.0.0.1", 80, corev1.ProtocolTCP))), "node(s) didn't have free ports for the requested pod ports"},
		"same port, other IP":     {newPod(hostPort("127.0.0.2", 80, corev1.ProtocolTCP)), newNode("n").WithPod(newPod(hostPort("127.0.0.1", 80, corev1.ProtocolTCP))), ""},
		"same port, other proto":  {newPod(hostPort("", 80, corev1.ProtocolUDP)), newNode("n").WithPod(newPod(hostPort("", 80, corev1.ProtocolTCP))), ""},
		"a feature lacks":         {newPod(restartsAll), newNode("n"), "node(s) didn't match Pod's required features"},
		"a feature is declared":   {newPod(restartsAll), newNode("n", declares("RestartAllContainersOnContainerExits", "Unheard")), ""},
		"the first rule explains": {newPod(asks("5", "")), newNode("n", unschedulable), "node(s) were unschedulable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile, state := framework.NewProfile(Default(noSources())...), framework.NewCycleState()
			if _, _, status := profile.PreFilter(state, c.pod, cluster{c.node}); !status.IsSuccess() {
				t.Fatalf("before any node: %s", status.Message())
			}
			if got := profile.Filter(state, c.pod, c.node).Message(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// restartsAll needs a feature that kubelets declare.
func restartsAll(p *corev1.Pod) {
	p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
}

func declares(features ...string) nodeChange {
	return func(n *corev1.Node) { n.Status.DeclaredFeatures = features }
}

func TestNamedNodes(t *testing.T) {
	t.Parallel()
	labelled := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}}
	both := named("a", "b")
	both.MatchFields = append(both.MatchFields, named("b", "c").MatchFields...)
	for name, c := range map[string]struct {
		terms []corev1.NodeSelectorTerm
		want  string
		fails string
	}{
		"one":                 {[]corev1.NodeSelectorTerm{named("a")}, "a", ""},
		"either":              {[]corev1.NodeSelectorTerm{named("b"), named("a")}, "a b", ""},
		"both requirements":   {[]corev1.NodeSelectorTerm{both}, "b", ""},
		"any by another term": {[]corev1.NodeSelectorTerm{named("a"), labelled}, "", ""},
		"none":                {[]corev1.NodeSelectorTerm{named()}, "", "pod affinity terms conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := framework.NewProfile(Default(noSources())...)
			names, _, status := profile.PreFilter(framework.NewCycleState(), newPod(affinity(c.terms...)), cluster{})
			if got := strings.Join(names, " "); got != c.want || status.Message() != c.fails {
				t.Errorf("candidates %q, refusal %q", got, status.Message())
			}
		})
	}
}

func TestScores(t *testing.T) {
	t.Parallel()
	half := newNode("half").WithPod(newPod(asks("2", "4Gi")))
	skewed := newNode("skewed").WithPod(newPod(asks("3", "1Gi")))
	pod := newPod(asks("1", "1Gi"))
	fit := nodeResourcesFit{}
	for _, c := range []struct {
		node *framework.NodeInfo
		want int64
	}{
		{newNode("empty"), (75 + 87) / 2}, // (4-1)/4, (8-1)/8
		{half, (25 + 37) / 2},             // (4-3)/4, (8-5)/8
		{skewed, (0 + 75) / 2},            // (4-4)/4, (8-2)/8
	} {
		if got := fit.Score(nil, pod, c.node); got != c.want {
			t.Errorf("least allocated: %s has %d, want %d", c.node.Node.Name, got, c.want)
		}
	}
	balanced := balancedAllocation{resources: []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}}
	// Parts used before 3/4 and 1/8, so 68 of 100; after 7/8 … with 4 GiB of memory: nearer.
	if better, worse := balanced.Score(nil, newPod(asks("0", "4Gi")), skewed), balanced.Score(nil, newPod(asks("1", "0")), skewed); better <= 75 || worse >= 75 {
		t.Errorf("a better balance has %d, a worse one %d", better, worse)
	}
}

func TestSoftRulesOrderNodes(t *testing.T) {
	t.Parallel()
	avoided := newNode("avoided", tainted("soft", corev1.TaintEffectPreferNoSchedule))
	preferred := newNode("preferred", func(n *corev1.Node) { n.Labels["disk"] = "fast" })
	stocked := newNode("stocked", func(n *corev1.Node) {
		n.Status.Images = []corev1.ContainerImage{{Names: []string{"app:1"}, SizeBytes: 2 << 30}}
	})
	plain := newNode("plain")
	likesDisks := func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 10, Preference: corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"fast"}}},
			}}},
		}}
	}
	for name, c := range map[string]struct {
		pod           *framework.PodInfo
		better, worse *framework.NodeInfo
	}{
		"a soft taint":         {newPod(), plain, avoided},
		"a preferred label":    {newPod(likesDisks), preferred, plain},
		"the image is there":   {newPod(), stocked, plain},
		"a label before a bit": {newPod(likesDisks), preferred, stocked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := framework.NewProfile(Default(noSources())...)
			scores, status := profile.Score(framework.NewCycleState(), c.pod, cluster{c.worse, c.better}, cluster{c.worse, c.better})
			if !status.IsSuccess() || scores[1] <= scores[0] {
				t.Errorf("scores %v, status %s", scores, status.Message())
			}
		})
	}
}

func TestWhatPreemptionSays(t *testing.T) {
	t.Parallel()
	node := newNode("n").WithPod(newPod(asks("3", ""), func(p *corev1.Pod) { p.Spec.Priority = ptr.To[int32](5) }))
	failed := func() *framework.Failed {
		f := framework.NewFailed(3)
		f.Refuse("n", framework.NewStatus(framework.Unschedulable, "Insufficient cpu"))
		f.Refuse("m", framework.NewStatus(framework.Unresolvable, "node(s) were unschedulable"))
		f.Others = framework.NewStatus(framework.Unresolvable, "node(s) didn't satisfy plugin(s) [NodeAffinity]")
		return f
	}
	for name, c := range map[string]struct {
		pod  *framework.PodInfo
		want string
	}{
		"no victims": {newPod(asks("2", "")), "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 1 node(s) were unschedulable. " +
			"preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."},
		"never": {newPod(func(p *corev1.Pod) { p.Spec.PreemptionPolicy = ptr.To(corev1.PreemptNever) }),
			"0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 1 node(s) were unschedulable. " +
				"preemption: not eligible due to preemptionPolicy=Never."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := failed()
			state := framework.NewCycleState()
			profile := framework.NewProfile(Default(noSources())...)
			if _, _, status := profile.PreFilter(state, c.pod, cluster{node}); !status.IsSuccess() {
				t.Fatal(status.Message())
			}
			profile.PostFilter(&framework.Attempt{
				State: state, Pod: c.pod, Nodes: cluster{node}, Failed: f,
			})
			if f.Error() != c.want {
				t.Errorf("got  %s\nwant %s", f.Error(), c.want)
			}
		})
	}
}
