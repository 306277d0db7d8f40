package framework

import (
	"fmt"
	"slices"
	"strings"
)

// Failed says why no node was found for a pod.
type Failed struct {
	// Total is how many nodes there are.
	Total int
	// Nodes has what was said against each node that was tried.
	Nodes map[string]*Status
	// Others is what is to be said of nodes that weren't tried, since PreFilter had named
	// candidates; nil when all were.
	Others *Status
	// PreFilter is the refusal before any node was tried; it stands for all.
	PreFilter string
	// PostFilter is what was found out about making room.
	PostFilter string
	// Plugins are those that refused. Only what changes their mind can help.
	Plugins map[string]bool
}

// Refuse notes what was said against a node.
func (f *Failed) Refuse(node string, status *Status) {
	if f.Nodes == nil {
		f.Nodes = make(map[string]*Status, f.Total) // most of the time none refuses, or nearly all
	}
	f.Nodes[node] = status
	f.Plugins[status.Plugin] = true
}

// Of gives what was said against a node; nil for one that nothing was said of.
func (f *Failed) Of(node string) *Status {
	if status, tried := f.Nodes[node]; tried {
		return status
	}
	return f.Others
}

// NewFailed is a failure without reasons yet.
func NewFailed(total int) *Failed {
	return &Failed{Total: total, Plugins: map[string]bool{}}
}

// Error explains it as kubectl describe shows it:
//
//	0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: …
func (f *Failed) Error() string {
	message := fmt.Sprintf("0/%d nodes are available:", f.Total)
	if f.PreFilter != "" {
		message += " " + f.PreFilter + "."
	} else if reasons := f.reasons(); len(reasons) > 0 {
		message += " " + strings.Join(reasons, ", ") + "."
	}
	if f.PostFilter != "" {
		message += " " + f.PostFilter
	}
	return message
}

// reasons lists how many nodes each reason was said of, sorted as text.
func (f *Failed) reasons() []string {
	counts := map[string]int{}
	for _, status := range f.Nodes {
		for _, reason := range status.Reasons {
			counts[reason]++
		}
	}
	if f.Others != nil && len(f.Nodes) < f.Total {
		for _, reason := range f.Others.Reasons {
			counts[reason] += f.Total - len(f.Nodes)
		}
	}
	reasons := make([]string, 0, len(counts))
	for reason, count := range counts {
		reasons = append(reasons, fmt.Sprintf("%d %s", count, reason))
	}
	slices.Sort(reasons)
	return reasons
}
