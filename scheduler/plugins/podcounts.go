package plugins

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// maxCounters is how many selectors are remembered. Pods of one kind come in a row.
const maxCounters = 256

// podCounts remembers how many pods of a node a selector matches, for as long as the node
// stays as it is: matching every pod of the cluster for each pod to place would take longer
// than everything else together. It belongs to the placing goroutine.
type podCounts struct{ bySelector map[string]*podCounter }

func newPodCounts() *podCounts { return &podCounts{bySelector: map[string]*podCounter{}} }

// of gives the counter for a selector in a namespace.
func (c *podCounts) of(namespace string, selector labels.Selector) *podCounter {
	key := namespace + "/" + selector.String()
	if selector.Empty() {
		key = ""
	}
	counter, ok := c.bySelector[key]
	if !ok {
		if len(c.bySelector) >= maxCounters {
			clear(c.bySelector)
		}
		counter = &podCounter{namespace: namespace, selector: selector, nodes: map[string]counted{}}
		c.bySelector[key] = counter
	}
	return counter
}

// podCounter counts pods of one namespace that a selector matches.
type podCounter struct {
	namespace string
	selector  labels.Selector
	nodes     map[string]counted
}

// counted is a count and the generation of the node that it is of.
type counted struct {
	generation int64
	count      int
}

// on counts the pods on a node that aren't about to end. An empty selector matches none.
func (c *podCounter) on(node *framework.NodeInfo) int {
	if len(node.Pods) == 0 || c.selector.Empty() {
		return 0
	}
	if known := c.nodes[node.Node.Name]; known.generation == node.Generation && node.Generation != 0 {
		return known.count
	}
	count := 0
	for _, pod := range node.Pods {
		if pod.Pod.DeletionTimestamp == nil && pod.Pod.Namespace == c.namespace && c.selector.Matches(labels.Set(pod.Pod.Labels)) {
			count++
		}
	}
	c.nodes[node.Node.Name] = counted{generation: node.Generation, count: count}
	return count
}
