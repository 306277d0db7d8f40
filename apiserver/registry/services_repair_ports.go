package registry

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// leakRounds is how many repairs a port without a Service stays taken for: its Service may be just about to be written.
const leakRounds = 3

// RepairPorts brings the node ports that are taken in line with what the Services have. It gives what was amiss.
func (s *Services) RepairPorts(ctx context.Context, services []resource.Object) ([]Finding, error) {
	var findings []Finding
	var leaks map[int]int
	err := s.ports.change(ctx, func(set *portSet) error {
		var now *portSet
		now, leaks, findings = rebuilt(set, services, s.leaks)
		*set = *now
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.leaks = leaks
	return findings, nil
}

// rebuilt gives the set of ports that Services have. One that none has stays taken for some rounds.
func rebuilt(stored *portSet, services []resource.Object, leaks map[int]int) (*portSet, map[int]int, []Finding) {
	now, findings := &portSet{first: stored.first, last: stored.last}, []Finding(nil)
	for _, obj := range services {
		svc := obj.(*corev1.Service)
		about := func(reason, format string, args ...any) {
			findings = append(findings, Finding{svc, reason, "PortAllocation", fmt.Sprintf(format, args...)})
		}
		for _, n := range portNumbers(svc) {
			switch {
			case !now.contains(n):
				about("PortOutOfRange", "Port %d is not within the port range %s; please recreate service", n, now.span())
			case now.take(n) != nil:
				about("PortAlreadyAllocated", "Port %d was assigned to multiple services; please recreate service", n)
			case !stored.has(n):
				about("PortNotAllocated", "Port %d is not allocated; repairing", n)
			}
		}
	}
	left := map[int]int{}
	for n := stored.first; n <= stored.last; n++ {
		if !stored.has(n) || now.has(n) {
			continue
		}
		rounds, known := leaks[n]
		if !known {
			rounds = leakRounds - 1
		}
		if rounds > 0 {
			left[n] = rounds - 1
			now.bits.SetBit(&now.bits, n-now.first, 1)
		}
	}
	return now, left, slices.Clip(findings)
}
