package framework

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// MaxScore is the best score of a node; 0 is the worst.
const MaxScore int64 = 100

// Plugin is what all plugins have: upstream's name, by which events and conditions of
// configuration know them.
type Plugin interface {
	Name() string
}

// PreEnqueue says whether a pod may be tried at all.
type PreEnqueue interface {
	Plugin
	PreEnqueue(pod *corev1.Pod) *Status
}

// PreFilter works out, once for a pod, what Filter needs. It may name the only nodes that
// can come into question; nil means any.
type PreFilter interface {
	Plugin
	PreFilter(state *CycleState, pod *PodInfo, nodes Snapshot) (candidates []string, status *Status)
}

// Adjust are the filters whose state, worked out by PreFilter, depends on the pods of all
// nodes. It brings the state to what it were with another pod on a node (sign 1) or
// without (sign -1). The state's values are copied before, see Cloner.
type Adjust interface {
	Plugin
	Adjust(state *CycleState, pod, other *PodInfo, node *NodeInfo, sign int)
}

// Filter says whether a pod may run on a node. It is called for many nodes and must be
// fast; success is nil.
type Filter interface {
	Plugin
	Filter(state *CycleState, pod *PodInfo, node *NodeInfo) *Status
}

// PostFilter is asked when no node passed. Its status's message ends the explanation; a nil
// Preemption leaves things as they are.
type PostFilter interface {
	Plugin
	PostFilter(attempt *Attempt) (*Preemption, *Status)
}

// PreScore works out, once for a pod, what Score needs; nodes are those that passed.
type PreScore interface {
	Plugin
	PreScore(state *CycleState, pod *PodInfo, all Snapshot, nodes []*NodeInfo) *Status
}

// Score rates a node that passed. Scores are between 0 and MaxScore unless the plugin
// normalizes them.
type Score interface {
	Plugin
	Score(state *CycleState, pod *PodInfo, node *NodeInfo) int64
}

// Normalizer brings a plugin's scores of all nodes into the range, in place.
type Normalizer interface {
	Normalize(scores []int64)
}

// Reserve claims what goes with a choice; Unreserve gives it back when what follows fails,
// and must do so as often as it is called.
type Reserve interface {
	Plugin
	Reserve(ctx context.Context, state *CycleState, pod *PodInfo, node string) *Status
	Unreserve(ctx context.Context, state *CycleState, pod *PodInfo, node string)
}

// Permit may still refuse a choice.
type Permit interface {
	Plugin
	Permit(ctx context.Context, state *CycleState, pod *PodInfo, node string) *Status
}

// PreBind makes ready what must be there before the pod is bound. It is called when it says
// that there is something to do, and may take long.
type PreBind interface {
	Plugin
	NeedsPreBind(state *CycleState, node string) bool
	PreBind(ctx context.Context, state *CycleState, pod *PodInfo, node string) *Status
}

// Bind writes the choice down. A plugin that leaves it to the next one says Skip.
type Bind interface {
	Plugin
	Bind(ctx context.Context, state *CycleState, pod *PodInfo, node string) *Status
}

// Snapshot is the cluster at one moment. Neither it nor what it gives changes.
type Snapshot interface {
	// Nodes gives all nodes, in an order that is the same until a node comes or goes.
	Nodes() []*NodeInfo
	// Node gives one node, or nil.
	Node(name string) *NodeInfo
	// Wishing gives the nodes with pods that have affinity terms, Avoiding those with pods
	// that have required ones against others.
	Wishing() []*NodeInfo
	Avoiding() []*NodeInfo
	// WithImage is how many nodes have an image, by one of its names.
	WithImage(name string) int
}

// CycleState carries what plugins work out for one pod from one step to the next. It is
// used by one goroutine at a time.
type CycleState struct {
	values map[string]any
	// skipFilter and skipScore are the plugins that have nothing to do for this pod.
	skipFilter, skipScore map[string]bool
	// filters are those that have something to do, once PreFilter has found out.
	filters []Filter
}

// NewCycleState is an empty state.
func NewCycleState() *CycleState {
	return &CycleState{values: map[string]any{}, skipFilter: map[string]bool{}, skipScore: map[string]bool{}}
}

// Cloner are values that Adjust changes.
type Cloner interface{ Clone() any }

// Clone gives a state that may be adjusted without the original changing. One that has
// nothing to adjust is its own clone.
func (s *CycleState) Clone() *CycleState {
	adjustable := false
	for _, value := range s.values {
		_, cloner := value.(Cloner)
		adjustable = adjustable || cloner
	}
	if !adjustable {
		return s
	}
	next := &CycleState{values: make(map[string]any, len(s.values)), skipFilter: s.skipFilter, skipScore: s.skipScore, filters: s.filters}
	for key, value := range s.values {
		if cloner, ok := value.(Cloner); ok {
			value = cloner.Clone()
		}
		next.values[key] = value
	}
	return next
}

// Write keeps a value under a key, which by custom is the plugin's name.
func (s *CycleState) Write(key string, value any) { s.values[key] = value }

// Read gives the value under a key; ok is false when there is none of that type.
func Read[T any](s *CycleState, key string) (value T, ok bool) {
	value, ok = s.values[key].(T)
	return value, ok
}
