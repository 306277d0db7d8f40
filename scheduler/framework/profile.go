package framework

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Weighted is a plugin with the weight of its score.
type Weighted struct {
	Plugin
	Weight int64
}

// Profile runs plugins, step by step and in order. It is safe for concurrent use as far
// as the plugins are.
type Profile struct {
	// Name is the schedulerName of its pods, and what is said in events.
	Name string
	// Percentage is how many of the nodes, in percent, are enough to choose from; 0 leaves it
	// to the size of the cluster.
	Percentage int

	preEnqueue []PreEnqueue
	preFilter  []PreFilter
	filter     []Filter
	adjust     []Adjust
	postFilter []PostFilter
	preScore   []PreScore
	score      []weightedScore
	reserve    []Reserve
	permit     []Permit
	preBind    []PreBind
	bind       []Bind
	interests  map[string][]Interest
}

type weightedScore struct {
	Score
	weight int64
}

// NewProfile has each plugin take part in all steps that it knows.
func NewProfile(plugins ...Weighted) *Profile {
	p := &Profile{interests: map[string][]Interest{}}
	for _, step := range Steps() {
		for _, plugin := range plugins {
			if step.Takes(plugin.Plugin) {
				step.add(p, plugin)
			}
		}
	}
	return p
}

// Add has a plugin take part in one step, after those that were added before. It must be one
// that the step takes.
func (p *Profile) Add(step Step, plugin Weighted) { step.add(p, plugin) }

// Binds says that there is somebody to bind.
func (p *Profile) Binds() bool { return len(p.bind) > 0 }

// PreEnqueue gives the first refusal, or nil.
func (p *Profile) PreEnqueue(pod *corev1.Pod) *Status {
	for _, plugin := range p.preEnqueue {
		if status := plugin.PreEnqueue(pod); !status.IsSuccess() {
			return status.by(plugin.Name())
		}
	}
	return nil
}

// PreFilter prepares the filters. candidates is nil when any node may do; by names the
// plugins that limited them.
func (p *Profile) PreFilter(state *CycleState, pod *PodInfo, nodes Snapshot) (candidates, by []string, status *Status) {
	for _, plugin := range p.preFilter {
		names, status := plugin.PreFilter(state, pod, nodes)
		switch {
		case status.IsSkip():
			state.skipFilter[plugin.Name()] = true
			continue
		case !status.IsSuccess():
			return nil, nil, status.during("running PreFilter plugin %q", plugin.Name())
		case names == nil:
			continue
		}
		by = append(by, plugin.Name())
		if candidates == nil {
			candidates = names
			continue
		}
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(name string) bool {
			return !slices.Contains(names, name)
		})
	}
	if candidates != nil && len(candidates) == 0 {
		reason := fmt.Sprintf("node(s) didn't satisfy plugin(s) %v simultaneously", by)
		return nil, by, NewStatus(Unresolvable, reason).by(by[0])
	}
	state.filters = p.needed(state)
	return candidates, by, nil
}

// needed are the filters that have something to do for a pod. They are called for many
// nodes, so it is worth knowing.
func (p *Profile) needed(state *CycleState) []Filter {
	filters := make([]Filter, 0, len(p.filter))
	for _, plugin := range p.filter {
		if !state.skipFilter[plugin.Name()] {
			filters = append(filters, plugin)
		}
	}
	return filters
}

// Filter gives the first refusal of the node, or nil.
func (p *Profile) Filter(state *CycleState, pod *PodInfo, node *NodeInfo) *Status {
	filters := state.filters
	if filters == nil {
		filters = p.needed(state)
	}
	for _, plugin := range filters {
		if status := plugin.Filter(state, pod, node); !status.IsSuccess() {
			return status.during("running %q filter plugin", plugin.Name())
		}
	}
	return nil
}

// Adjust brings the filters' state to what it were with another pod on the node, or
// without it. The state must be a clone.
func (p *Profile) Adjust(state *CycleState, pod, other *PodInfo, node *NodeInfo, sign int) {
	for _, plugin := range p.adjust {
		if !state.skipFilter[plugin.Name()] {
			plugin.Adjust(state, pod, other, node, sign)
		}
	}
}

// PostFilter asks what can be done, and notes the answer in what is said of the failure.
func (p *Profile) PostFilter(attempt *Attempt) *Preemption {
	for _, plugin := range p.postFilter {
		if preemption, status := plugin.PostFilter(attempt); preemption != nil || status != nil {
			attempt.Failed.PostFilter = status.Message()
			return preemption
		}
	}
	return nil
}

// Score rates the nodes; the result is in their order. Each plugin's score counts by its
// weight.
func (p *Profile) Score(state *CycleState, pod *PodInfo, all Snapshot, nodes []*NodeInfo) ([]int64, *Status) {
	for _, plugin := range p.preScore {
		status := plugin.PreScore(state, pod, all, nodes)
		if status.IsSkip() {
			state.skipScore[plugin.Name()] = true
		} else if !status.IsSuccess() {
			return nil, status.during("running PreScore plugin %q", plugin.Name())
		}
	}
	total := make([]int64, len(nodes))
	scores := make([]int64, len(nodes))
	for _, plugin := range p.score {
		if state.skipScore[plugin.Name()] {
			continue
		}
		for i, node := range nodes {
			scores[i] = plugin.Score.Score(state, pod, node)
		}
		if normalizer, ok := plugin.Score.(Normalizer); ok {
			normalizer.Normalize(scores)
		}
		for i := range scores {
			total[i] += plugin.weight * scores[i]
		}
	}
	return total, nil
}

// Reserve claims the node for the pod; when one plugin refuses, all give back.
func (p *Profile) Reserve(ctx context.Context, state *CycleState, pod *PodInfo, node string) *Status {
	for _, plugin := range p.reserve {
		if status := plugin.Reserve(ctx, state, pod, node); !status.IsSuccess() {
			p.Unreserve(ctx, state, pod, node)
			return status.during("running Reserve plugin %q", plugin.Name())
		}
	}
	return nil
}

// Unreserve gives everything back, in the opposite order.
func (p *Profile) Unreserve(ctx context.Context, state *CycleState, pod *PodInfo, node string) {
	for _, plugin := range slices.Backward(p.reserve) {
		plugin.Unreserve(ctx, state, pod, node)
	}
}

// Permit gives the first refusal, or nil.
func (p *Profile) Permit(ctx context.Context, state *CycleState, pod *PodInfo, node string) *Status {
	for _, plugin := range p.permit {
		if status := plugin.Permit(ctx, state, pod, node); !status.IsSuccess() {
			return status.during("running Permit plugin %q", plugin.Name())
		}
	}
	return nil
}

// NeedsPreBind says that there is something to make ready before the pod is bound.
func (p *Profile) NeedsPreBind(state *CycleState, node string) bool {
	return slices.ContainsFunc(p.preBind, func(plugin PreBind) bool { return plugin.NeedsPreBind(state, node) })
}

// PreBind makes ready what must be there before the pod is bound.
func (p *Profile) PreBind(ctx context.Context, state *CycleState, pod *PodInfo, node string) *Status {
	for _, plugin := range p.preBind {
		if !plugin.NeedsPreBind(state, node) {
			continue
		}
		if status := plugin.PreBind(ctx, state, pod, node); !status.IsSuccess() {
			return status.during("running PreBind plugin %q", plugin.Name())
		}
	}
	return nil
}

// Bind binds by the first plugin that doesn't skip.
func (p *Profile) Bind(ctx context.Context, state *CycleState, pod *PodInfo, node string) *Status {
	for _, plugin := range p.bind {
		if status := plugin.Bind(ctx, state, pod, node); !status.IsSkip() {
			return status.during("running Bind plugin %q", plugin.Name())
		}
	}
	return NewStatus(Error, "no plugin has bound the pod")
}

// Helps says whether an event may let one of the plugins that refused a pod accept it.
func (p *Profile) Helps(pod *corev1.Pod, refused map[string]bool, event Event) bool {
	if len(refused) == 0 || event.Change&Activated != 0 {
		return true
	}
	for plugin := range refused {
		interests, known := p.interests[plugin]
		if !known {
			return true
		}
		for _, interest := range interests {
			if interest.Changes&event.Change != 0 && (interest.Helps == nil || interest.Helps(pod, event)) {
				return true
			}
		}
	}
	return false
}
