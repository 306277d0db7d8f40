package plugins

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// maxCounters is how many selectors are remembered. Pods of one kind come in a row.
const maxCounters = 256

// podCounts remembers how many pods of a node a selector matches, for as long as the node
// stays as it is: matching every pod of the cluster for each pod to place would take longer
// than everything else together. It belongs to the placing goroutine.
type podCounts struct{ bySelector map[counterKey]*podCounter }

type counterKey struct {
	namespaces, selector string
	ending               bool
}

func newPodCounts() *podCounts { return &podCounts{bySelector: map[counterKey]*podCounter{}} }

// of gives the counter for a selector in namespaces, which are sorted; ending says that pods
// which are about to end count too.
func (c *podCounts) of(namespaces []string, selector labels.Selector, ending bool) *podCounter {
	key := counterKey{strings.Join(namespaces, "/"), selector.String(), ending}
	counter, ok := c.bySelector[key]
	if !ok {
		if len(c.bySelector) >= maxCounters {
			clear(c.bySelector)
		}
		counter = &podCounter{namespaces: namespaces, selector: selector, ending: ending}
		c.bySelector[key] = counter
	}
	return counter
}

// podCounter counts pods of some namespaces that a selector matches.
type podCounter struct {
	namespaces []string
	selector   labels.Selector
	ending     bool
	// bySlot has the counts by the nodes' slots.
	bySlot []counted
}

// counted is a count and the generation of the node that it is of.
type counted struct {
	generation int64
	count      int
}

// on counts the pods on a node. An empty selector matches none.
func (c *podCounter) on(node *framework.NodeInfo) int {
	if len(node.Pods) == 0 || c.selector.Empty() {
		return 0
	}
	if node.Slot < len(c.bySlot) {
		if known := &c.bySlot[node.Slot]; known.generation == node.Generation && node.Slot > 0 {
			return known.count
		}
	}
	count := c.match(node)
	if node.Slot == 0 {
		return count // it belongs to no cache
	}
	if node.Slot >= len(c.bySlot) {
		c.bySlot = append(c.bySlot, make([]counted, node.Slot+1-len(c.bySlot))...)
	}
	c.bySlot[node.Slot] = counted{generation: node.Generation, count: count}
	return count
}

// match counts anew.
func (c *podCounter) match(node *framework.NodeInfo) (count int) {
	for _, pod := range node.Pods {
		if (c.ending || pod.Pod.DeletionTimestamp == nil) && slices.Contains(c.namespaces, pod.Pod.Namespace) && c.selector.Matches(labels.Set(pod.Pod.Labels)) {
			count++
		}
	}
	return count
}
