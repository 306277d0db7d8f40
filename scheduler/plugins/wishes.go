package plugins

import "github.com/kogge-dev/kogge/scheduler/framework"

// wish is a term of one or more pods on a node: what it draws them to, or from if sign is
// negative.
type wish struct {
	term *framework.AffinityTerm
	// required says that the term is a demand, whose weight a configuration says.
	required    bool
	sign, count int64
}

// wishes remembers, for as long as a node stays as it is, the wishes of its pods, equal ones
// together: there are far fewer of them than pods. It belongs to the placing goroutine.
type wishes struct{ bySlot []rememberedWishes }

type rememberedWishes struct {
	generation int64
	of         []wish
}

// on gives the wishes of the pods on a node.
func (w *wishes) on(node *framework.NodeInfo) []wish {
	if node.Slot == 0 {
		return gather(node) // it belongs to no cache
	}
	if node.Slot >= len(w.bySlot) {
		w.bySlot = append(w.bySlot, make([]rememberedWishes, node.Slot+1-len(w.bySlot))...)
	}
	known := &w.bySlot[node.Slot]
	if known.generation != node.Generation {
		*known = rememberedWishes{generation: node.Generation, of: gather(node)}
	}
	return known.of
}

func gather(node *framework.NodeInfo) (all []wish) {
	for _, pod := range node.Wishing {
		all = addWishes(all, pod.Affinity.Required, true, 1)
		all = addWishes(all, pod.Affinity.Preferred, false, 1)
		all = addWishes(all, pod.Affinity.PreferredAnti, false, -1)
	}
	return all
}

func addWishes(all []wish, terms []framework.AffinityTerm, required bool, sign int64) []wish {
next:
	for i := range terms {
		for j := range all {
			if all[j].required == required && all[j].sign == sign && all[j].term.Key == terms[i].Key {
				all[j].count++
				continue next
			}
		}
		all = append(all, wish{term: &terms[i], required: required, sign: sign, count: 1})
	}
	return all
}
