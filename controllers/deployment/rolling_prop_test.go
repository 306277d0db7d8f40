package deployment

import (
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// Whatever pods do, the controller never takes the available ones below the minimum, nor
// all of them above the maximum; and once pods behave, the rollout ends.
func TestRollingStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 0))
		w := newWorld(t, int32(random.IntN(12)), randomBound(random), randomBound(random))
		for range 60 {
			if random.IntN(12) == 0 {
				w.setImage([]string{"1", "2", "3", "4"}[random.IntN(4)])
			}
			shake(random, w)
			before, total := kept(w, nil), specReplicas(w.sets)
			w.step()
			desired := *w.d.Spec.Replicas
			if now := specReplicas(w.sets); now > max(total, desired+maxSurge(w.d)) {
				t.Fatalf("seed %d: %d replicas became %d, with %d desired and a surge of %d", seed, total, now, desired, maxSurge(w.d))
			}
			minimum := desired - maxUnavailable(w.d)
			if after := kept(w, before); sum(after) < min(sum(before), minimum) {
				t.Fatalf("seed %d: of %v available %v are kept, with a minimum of %d", seed, before, after, minimum)
			}
		}
		w.finish()
	}
}

func randomBound(random *rand.Rand) intstr.IntOrString {
	if random.IntN(2) == 0 {
		return intstr.FromInt32(int32(random.IntN(5)))
	}
	return intstr.FromString([]string{"0%", "1%", "25%", "50%", "100%"}[random.IntN(5)])
}

// shake lets pods appear, become available and fail.
func shake(random *rand.Rand, w *world) {
	for _, rs := range w.sets {
		rs.Status.Replicas = *rs.Spec.Replicas
		rs.Status.AvailableReplicas = int32(random.IntN(int(*rs.Spec.Replicas) + 1))
		rs.Status.ReadyReplicas = rs.Status.AvailableReplicas
		rs.Status.ObservedGeneration = rs.Generation
	}
}

// kept counts the available replicas of each set that survive its present size, a
// ReplicaSet giving up unavailable ones first. limit has what was available before.
func kept(w *world, limit map[string]int32) map[string]int32 {
	counts := map[string]int32{}
	for _, rs := range w.sets {
		available := rs.Status.AvailableReplicas
		if limit != nil {
			available = limit[rs.Name]
		}
		counts[rs.Name] = min(available, *rs.Spec.Replicas)
	}
	return counts
}

func sum(counts map[string]int32) (total int32) {
	for _, count := range counts {
		total += count
	}
	return total
}
