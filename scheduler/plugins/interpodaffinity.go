package plugins

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// interPodAffinity refuses nodes where the pod would be without the company that it
// requires, or with company that it or a pod already there requires to be far. It rates
// nodes by preferred company.
type interPodAffinity struct {
	sources *Sources
	counts  *podCounts
	// hardWeight is how much a pod that requires the new one's company counts for a node.
	hardWeight int64
	// ownWishesOnly says that pods without wishes aren't drawn by those of others.
	ownWishesOnly bool
}

const companyKey = "InterPodAffinity"

func (interPodAffinity) Name() string { return "InterPodAffinity" }

// place is a value of a topology label: all nodes that have it.
type place struct{ key, value string }

// company counts, place by place, the pods that matter. It is what PreFilter leaves.
type company struct {
	// averse are the pods that require the new one to be far.
	averse map[place]int
	// wanted are pods that match all affinity terms of the new one, for each term's place;
	// unwanted those that match an anti-affinity term.
	wanted, unwanted map[place]int
}

// Clone is framework.Cloner.
func (c *company) Clone() any {
	return &company{averse: maps.Clone(c.averse), wanted: maps.Clone(c.wanted), unwanted: maps.Clone(c.unwanted)}
}

// count adds to a place, if the node is in one, and forgets places that come to nothing.
func count(places map[place]int, node *corev1.Node, key string, by int) {
	value, ok := node.Labels[key]
	if !ok {
		return
	}
	at := place{key, value}
	if places[at] += by; places[at] == 0 {
		delete(places, at)
	}
}

func (a interPodAffinity) PreFilter(state *framework.CycleState, pod *framework.PodInfo, nodes framework.Snapshot) ([]string, *framework.Status) {
	if err := pod.Affinity.Err; err != nil {
		return nil, framework.NewStatus(framework.Unresolvable, "parsing pod: "+err.Error())
	}
	c := &company{averse: map[place]int{}, wanted: map[place]int{}, unwanted: map[place]int{}}
	for _, node := range nodes.Avoiding() {
		for _, other := range node.Avoiding {
			a.countAverse(c, pod, other, node.Node, 1)
		}
	}
	if len(pod.Affinity.Required)+len(pod.Affinity.RequiredAnti) > 0 {
		a.countAll(c, pod, nodes.Nodes())
	} else if len(c.averse) == 0 {
		return nil, framework.NewStatus(framework.Skip)
	}
	state.Write(companyKey, c)
	return nil, nil
}

// tally counts what one term means.
type tally struct {
	counter *podCounter
	key     string
	places  map[place]int
}

// countAll counts the company on all nodes. Terms that name their namespaces, as most do,
// are counted with what is remembered of each node.
func (a interPodAffinity) countAll(c *company, pod *framework.PodInfo, nodes []*framework.NodeInfo) {
	tallies, all := a.tallies(c, pod)
	for _, node := range nodes {
		if !all {
			for _, other := range node.Pods {
				a.countCompany(c, pod, other, node.Node, 1)
			}
			continue
		}
		for i := range tallies {
			if found := tallies[i].counter.on(node); found > 0 {
				count(tallies[i].places, node.Node, tallies[i].key, found)
			}
		}
	}
}

// tallies gives one for each of the pod's terms; all is false when some can't be counted
// that way, because several terms must match the same pod or a term chooses namespaces by
// labels.
func (a interPodAffinity) tallies(c *company, pod *framework.PodInfo) (tallies []tally, all bool) {
	if len(pod.Affinity.Required) > 1 {
		return nil, false
	}
	add := func(terms []framework.AffinityTerm, places map[place]int) bool {
		for i := range terms {
			namespaces, selector, ok := terms[i].Only()
			if !ok {
				return false
			}
			tallies = append(tallies, tally{a.counts.of(namespaces, selector, true), terms[i].TopologyKey, places})
		}
		return true
	}
	all = add(pod.Affinity.Required, c.wanted) && add(pod.Affinity.RequiredAnti, c.unwanted)
	return tallies, all
}

func (a interPodAffinity) countAverse(c *company, pod, other *framework.PodInfo, node *corev1.Node, by int) {
	for i := range other.Affinity.RequiredAnti {
		if term := &other.Affinity.RequiredAnti[i]; term.Matches(pod.Pod, a.sources.namespaceLabels) {
			count(c.averse, node, term.TopologyKey, by)
		}
	}
}

func (a interPodAffinity) countCompany(c *company, pod, other *framework.PodInfo, node *corev1.Node, by int) {
	if a.matchesAll(pod.Affinity.Required, other.Pod) {
		for i := range pod.Affinity.Required {
			count(c.wanted, node, pod.Affinity.Required[i].TopologyKey, by)
		}
	}
	for i := range pod.Affinity.RequiredAnti {
		if term := &pod.Affinity.RequiredAnti[i]; term.Matches(other.Pod, a.sources.namespaceLabels) {
			count(c.unwanted, node, term.TopologyKey, by)
		}
	}
}

// matchesAll says that a pod is meant by all terms, of which there must be one.
func (a interPodAffinity) matchesAll(terms []framework.AffinityTerm, pod *corev1.Pod) bool {
	for i := range terms {
		if !terms[i].Matches(pod, a.sources.namespaceLabels) {
			return false
		}
	}
	return len(terms) > 0
}

func (a interPodAffinity) Adjust(state *framework.CycleState, pod, other *framework.PodInfo, node *framework.NodeInfo, sign int) {
	if c, ok := framework.Read[*company](state, companyKey); ok {
		a.countAverse(c, pod, other, node.Node, sign)
		a.countCompany(c, pod, other, node.Node, sign)
	}
}

var (
	withoutCompany = framework.NewStatus(framework.Unresolvable, "node(s) didn't match pod affinity rules").By("InterPodAffinity")
	withUnwanted   = framework.NewStatus(framework.Unschedulable, "node(s) didn't match pod anti-affinity rules").By("InterPodAffinity")
	withAverse     = framework.NewStatus(framework.Unschedulable, "node(s) didn't satisfy existing pods anti-affinity rules").By("InterPodAffinity")
)

func (a interPodAffinity) Filter(state *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) *framework.Status {
	c, ok := framework.Read[*company](state, companyKey)
	if !ok {
		return nil
	}
	if !a.hasCompany(c, pod, node.Node) {
		return withoutCompany
	}
	for i := range pod.Affinity.RequiredAnti {
		key := pod.Affinity.RequiredAnti[i].TopologyKey
		if value, ok := node.Node.Labels[key]; ok && c.unwanted[place{key, value}] > 0 {
			return withUnwanted
		}
	}
	if len(c.averse) > 0 {
		for key, value := range node.Node.Labels {
			if c.averse[place{key, value}] > 0 {
				return withAverse
			}
		}
	}
	return nil
}

// hasCompany says that the node's places have the pods that the new one requires. The
// first of a group that wants to be together has none to join and may go anywhere where
// the labels are.
func (a interPodAffinity) hasCompany(c *company, pod *framework.PodInfo, node *corev1.Node) bool {
	found := true
	for i := range pod.Affinity.Required {
		key := pod.Affinity.Required[i].TopologyKey
		value, ok := node.Labels[key]
		if !ok {
			return false
		}
		found = found && c.wanted[place{key, value}] > 0
	}
	return found || len(c.wanted) == 0 && a.matchesAll(pod.Affinity.Required, pod.Pod)
}
