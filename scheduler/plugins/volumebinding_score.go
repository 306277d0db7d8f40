package plugins

import (
	"k8s.io/component-helpers/storage/volume"

	"github.com/kogge-dev/kogge/scheduler/volumes"
)

// amounts are bytes.
type amounts struct{ requested, capacity int64 }

// amountsByClass sums up by storage class: over volumes that are there, or else over
// capacities that are known.
func amountsByClass(choice *volumes.Choice) map[string]amounts {
	classes := map[string]amounts{}
	for _, pair := range choice.Static {
		class := pair.Volume.Spec.StorageClassName
		of := classes[class]
		of.requested += pair.Claim.Spec.Resources.Requests.Storage().Value()
		of.capacity += pair.Volume.Spec.Capacity.Storage().Value()
		classes[class] = of
	}
	if len(choice.Static) > 0 {
		return classes
	}
	for _, provision := range choice.Provisioned {
		if provision.Capacity == nil {
			continue
		}
		class := volume.GetPersistentVolumeClaimClass(provision.Claim)
		of := classes[class]
		of.requested += provision.Claim.Spec.Resources.Requests.Storage().Value()
		if provision.Capacity.Capacity != nil {
			of.capacity = provision.Capacity.Capacity.Value()
		}
		classes[class] = of
	}
	return classes
}
