package plugins

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

func inZone(zone string) nodeChange {
	return func(n *corev1.Node) {
		n.Labels[corev1.LabelTopologyZone] = zone
		n.Labels[corev1.LabelHostname] = n.Name
	}
}

func called(app string) podChange {
	return func(p *corev1.Pod) { p.Labels = map[string]string{"app": app} }
}

func in(namespace string) podChange { return func(p *corev1.Pod) { p.Namespace = namespace } }

func term(app, key string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{LabelSelector: selects(app), TopologyKey: key}
}

func selects(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func wants(terms ...corev1.PodAffinityTerm) podChange {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func shuns(terms ...corev1.PodAffinityTerm) podChange {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

// verdict gives the words and the code of each node, after PreFilter.
func verdict(t *testing.T, sources *Sources, pod *framework.PodInfo, nodes cluster) (said []string, codes []framework.Code) {
	t.Helper()
	profile, state := framework.NewProfile(Default(sources)...), framework.NewCycleState()
	if _, _, status := profile.PreFilter(state, pod, nodes); !status.IsSuccess() {
		t.Fatalf("prepare: %s", status.Message())
	}
	for _, node := range nodes {
		status := profile.Filter(state, pod, node)
		said = append(said, status.Message())
		code := framework.Success
		if status != nil {
			code = status.Code
		}
		codes = append(codes, code)
	}
	return said, codes
}

const (
	noCompany = "node(s) didn't match pod affinity rules"
	unwanted  = "node(s) didn't match pod anti-affinity rules"
	averse    = "node(s) didn't satisfy existing pods anti-affinity rules"
)

func TestRequiredCompany(t *testing.T) {
	t.Parallel()
	zone, host := corev1.LabelTopologyZone, corev1.LabelHostname
	labelled := term("db", zone)
	labelled.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	everywhere := term("db", zone)
	everywhere.NamespaceSelector = &metav1.LabelSelector{}
	listed := term("db", zone)
	listed.Namespaces = []string{"other"}
	for name, c := range map[string]struct {
		there, pod []podChange
		a1, a2, b  string
	}{
		"near, by zone":             {[]podChange{called("db")}, []podChange{wants(term("db", zone))}, "", "", noCompany},
		"near, by node":             {[]podChange{called("db")}, []podChange{wants(term("db", host))}, "", noCompany, noCompany},
		"near, no label":            {[]podChange{called("db")}, []podChange{wants(term("db", "rack"))}, noCompany, noCompany, noCompany},
		"near none":                 {nil, []podChange{wants(term("db", zone))}, noCompany, noCompany, noCompany},
		"the first of its kind":     {nil, []podChange{called("db"), wants(term("db", zone))}, "", "", ""},
		"all terms of one pod":      {[]podChange{called("db")}, []podChange{wants(term("db", zone), term("web", zone))}, noCompany, noCompany, noCompany},
		"another namespace":         {[]podChange{called("db"), in("other")}, []podChange{wants(term("db", zone))}, noCompany, noCompany, noCompany},
		"namespaces listed":         {[]podChange{called("db"), in("other")}, []podChange{wants(listed)}, "", "", noCompany},
		"namespaces by label":       {[]podChange{called("db"), in("other")}, []podChange{wants(labelled)}, "", "", noCompany},
		"namespaces without label":  {[]podChange{called("db"), in("third")}, []podChange{wants(labelled)}, noCompany, noCompany, noCompany},
		"all namespaces":            {[]podChange{called("db"), in("third")}, []podChange{wants(everywhere)}, "", "", noCompany},
		"far, by zone":              {[]podChange{called("db")}, []podChange{shuns(term("db", zone))}, unwanted, unwanted, ""},
		"far, by node":              {[]podChange{called("db")}, []podChange{shuns(term("db", host))}, unwanted, "", ""},
		"the other wants to be far": {[]podChange{shuns(term("web", zone))}, []podChange{called("web")}, averse, averse, ""},
		"the other means another":   {[]podChange{shuns(term("web", zone))}, []podChange{called("db")}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := known(t,
				&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{"team": "a"}}},
				&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "third", Labels: map[string]string{"team": "b"}}})
			nodes := cluster{
				newNode("a1", inZone("a")).WithPod(newPod(c.there...)), newNode("a2", inZone("a")), newNode("b", inZone("b")),
			}
			said, codes := verdict(t, sources, newPod(c.pod...), nodes)
			for i, want := range []string{c.a1, c.a2, c.b} {
				if said[i] != want {
					t.Errorf("%s: %q, want %q", nodes[i].Node.Name, said[i], want)
				}
				if resolvable := codes[i] == framework.Unschedulable; want != "" && resolvable != (want != noCompany) {
					t.Errorf("%s: code %d", nodes[i].Node.Name, codes[i])
				}
			}
		})
	}
}

func TestCompanyIsAdjusted(t *testing.T) {
	t.Parallel()
	other := newPod(called("db"), shuns(term("web", corev1.LabelTopologyZone)))
	node := newNode("a", inZone("a")).WithPod(other)
	pod := newPod(called("web"))
	profile, state := framework.NewProfile(Default(noSources())...), framework.NewCycleState()
	profile.PreFilter(state, pod, cluster{node})
	without := state.Clone()
	profile.Adjust(without, pod, other, node, -1)
	if got := profile.Filter(without, pod, node).Message(); got != "" {
		t.Errorf("without the other pod: %s", got)
	}
	if got := profile.Filter(state, pod, node).Message(); got != averse {
		t.Errorf("the original state has changed: %q", got)
	}
}

func TestPreferredCompany(t *testing.T) {
	t.Parallel()
	likes := func(near bool, weight int32, app string) podChange {
		return func(p *corev1.Pod) {
			terms := []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: term(app, corev1.LabelTopologyZone)}}
			p.Spec.Affinity = &corev1.Affinity{}
			if near {
				p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: terms}
			} else {
				p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: terms}
			}
		}
	}
	for name, c := range map[string]struct {
		there, pod []podChange
		a, b       int64
	}{
		"likes":             {[]podChange{called("db")}, []podChange{likes(true, 7, "db")}, 100, 0},
		"dislikes":          {[]podChange{called("db")}, []podChange{likes(false, 7, "db")}, 0, 100},
		"is liked":          {[]podChange{likes(true, 7, "web")}, []podChange{called("web")}, 100, 0},
		"is disliked":       {[]podChange{likes(false, 7, "web")}, []podChange{called("web")}, 0, 100},
		"is required":       {[]podChange{wants(term("web", corev1.LabelTopologyZone))}, []podChange{called("web")}, 100, 0},
		"nobody minds":      {[]podChange{called("db")}, []podChange{called("web")}, 0, 0},
		"likes one not yet": {nil, []podChange{likes(true, 7, "db")}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := cluster{newNode("a", inZone("a")).WithPod(newPod(c.there...)), newNode("b", inZone("b"))}
			plugin, state, pod := interPodAffinity{hardWeight: 1, sources: noSources(), counts: newPodCounts()}, framework.NewCycleState(), newPod(c.pod...)
			scores := []int64{0, 0}
			if status := plugin.PreScore(state, pod, nodes, nodes); !status.IsSkip() {
				scores = []int64{plugin.Score(state, pod, nodes[0]), plugin.Score(state, pod, nodes[1])}
				plugin.Normalize(scores)
			}
			if scores[0] != c.a || scores[1] != c.b {
				t.Errorf("scores %v, want %d and %d", scores, c.a, c.b)
			}
		})
	}
}

const (
	uneven      = "node(s) didn't match pod topology spread constraints"
	unlabelled  = "node(s) didn't match pod topology spread constraints (missing required label)"
	taintWords  = "node(s) had untolerated taint(s)"
	selectWords = "node(s) didn't match Pod's node affinity/selector"
)

func spreads(changes ...func(*corev1.TopologySpreadConstraint)) podChange {
	return func(p *corev1.Pod) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selects("web"),
		}
		for _, change := range changes {
			change(&c)
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

func TestHardSpreading(t *testing.T) {
	t.Parallel()
	type constraint = corev1.TopologySpreadConstraint
	honorTaints := func(c *constraint) { c.NodeTaintsPolicy = ptr.To(corev1.NodeInclusionPolicyHonor) }
	ignoreAffinity := func(c *constraint) { c.NodeAffinityPolicy = ptr.To(corev1.NodeInclusionPolicyIgnore) }
	versioned := func(version string) podChange {
		return func(p *corev1.Pod) { p.Labels = map[string]string{"app": "web", "version": version} }
	}
	tainted, elsewhere := tainted("t", corev1.TaintEffectNoSchedule), func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
	}
	plain := func(*corev1.Node) {}
	ending := func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.Now()) }
	// There is one pod in zone a, none in b.
	for name, c := range map[string]struct {
		there []podChange
		b     nodeChange
		pod   []podChange
		inA   string
		inB   string
	}{
		"one more would be two":           {[]podChange{called("web")}, plain, []podChange{called("web"), spreads()}, uneven, ""},
		"a skew of two":                   {[]podChange{called("web")}, plain, []podChange{called("web"), spreads(func(c *constraint) { c.MaxSkew = 2 })}, "", ""},
		"it doesn't count itself":         {[]podChange{called("web")}, plain, []podChange{spreads()}, "", ""},
		"other pods":                      {[]podChange{called("db")}, plain, []podChange{called("web"), spreads()}, "", ""},
		"other namespaces":                {[]podChange{called("web"), in("x")}, plain, []podChange{called("web"), spreads()}, "", ""},
		"a pod about to end":              {[]podChange{called("web"), ending}, plain, []podChange{called("web"), spreads()}, "", ""},
		"no such label":                   {nil, plain, []podChange{called("web"), spreads(func(c *constraint) { c.TopologyKey = "rack" })}, unlabelled, unlabelled},
		"only wished":                     {[]podChange{called("web")}, plain, []podChange{called("web"), spreads(func(c *constraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })}, "", ""},
		"too few zones":                   {nil, plain, []podChange{called("web"), spreads(func(c *constraint) { c.MinDomains = ptr.To[int32](3) })}, "", ""},
		"too few zones, skew used up":     {[]podChange{called("web")}, inZone("a"), []podChange{called("web"), spreads(func(c *constraint) { c.MinDomains = ptr.To[int32](2) })}, uneven, uneven},
		"the same version":                {[]podChange{versioned("1")}, plain, []podChange{versioned("1"), spreads(func(c *constraint) { c.MatchLabelKeys = []string{"version"} })}, uneven, ""},
		"another version":                 {[]podChange{versioned("1")}, plain, []podChange{versioned("2"), spreads(func(c *constraint) { c.MatchLabelKeys = []string{"version"} })}, "", ""},
		"taints ignored, so empty":        {[]podChange{called("web")}, tainted, []podChange{called("web"), spreads()}, uneven, taintWords},
		"taints honoured, so not counted": {[]podChange{called("web")}, tainted, []podChange{called("web"), spreads(honorTaints)}, "", taintWords},
		"affinity honoured by default":    {[]podChange{called("web")}, plain, []podChange{called("web"), elsewhere, spreads()}, "", selectWords},
		"affinity ignored":                {[]podChange{called("web")}, plain, []podChange{called("web"), elsewhere, spreads(ignoreAffinity)}, uneven, selectWords},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := cluster{newNode("a", inZone("a")).WithPod(newPod(c.there...)), newNode("b", inZone("b"), c.b)}
			said, _ := verdict(t, noSources(), newPod(c.pod...), nodes)
			if said[0] != c.inA || said[1] != c.inB {
				t.Errorf("verdicts %q", said)
			}
		})
	}
}

func TestSoftSpreading(t *testing.T) {
	t.Parallel()
	sources := known(t, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}},
	})
	plugin, pod := podTopologySpread{defaults: systemConstraints, system: true, sources: sources, counts: newPodCounts()}, newPod(called("web"))
	nodes := cluster{
		newNode("a1", inZone("a")).WithPod(newPod(called("web"))), newNode("a2", inZone("a")), newNode("b1", inZone("b")),
	}
	state := framework.NewCycleState()
	if status := plugin.PreScore(state, pod, nodes, nodes); !status.IsSuccess() || status.IsSkip() {
		t.Fatalf("prepare: %v", status)
	}
	var scores []int64
	for _, node := range nodes {
		scores = append(scores, plugin.Score(state, pod, node))
	}
	// a1: 1·ln 5 + 2 for the node, 1·ln 4 + 4 for the zone; a2: 2 and 1·ln 4 + 4; b1: 2 and 4.
	if scores[0] != 9 || scores[1] != 7 || scores[2] != 6 {
		t.Errorf("scores %v", scores)
	}
	plugin.Normalize(scores)
	if scores[0] != 66 || scores[1] != 88 || scores[2] != 100 {
		t.Errorf("normalized %v", scores)
	}
	if status := plugin.PreScore(framework.NewCycleState(), newPod(called("db")), nodes, nodes); !status.IsSkip() {
		t.Error("a pod that belongs to nothing is spread")
	}
}

// known gives sources that know some objects.
func known(t *testing.T, objects ...runtime.Object) *Sources {
	t.Helper()
	factory := informers.NewSharedInformerFactory(nil, 0)
	sources, err := NewSources(nil, factory)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if err := Learn(factory, object); err != nil {
			t.Fatal(err)
		}
	}
	return sources
}
