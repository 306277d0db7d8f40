package scheduler

import (
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// watchStorage tells the queue of what changes in storage. The plugins look themselves, at
// the listers.
func (s *Scheduler) watchStorage() error {
	core, storage := s.factory.Core().V1(), s.factory.Storage().V1()
	for _, w := range []struct {
		informer                toolscache.SharedIndexInformer
		added, updated, deleted framework.Change
	}{
		{core.PersistentVolumeClaims().Informer(), framework.ClaimAdded, framework.ClaimUpdated, 0},
		{core.PersistentVolumes().Informer(), framework.VolumeAdded, framework.VolumeUpdated, 0},
		{storage.StorageClasses().Informer(), framework.ClassAdded, framework.ClassUpdated, 0},
		{storage.CSINodes().Informer(), framework.CSINodeAdded, framework.CSINodeUpdated, 0},
		{storage.CSIDrivers().Informer(), 0, framework.CSIDriverUpdated, 0},
		{storage.CSIStorageCapacities().Informer(), framework.CapacityAdded, framework.CapacityUpdated, 0},
		{storage.VolumeAttachments().Informer(), 0, 0, framework.AttachmentDeleted},
	} {
		happened := func(change framework.Change, before, after any) {
			if change != 0 {
				s.queue.Happened(framework.Event{Change: change, Before: before, After: after})
			}
		}
		_, err := w.informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { happened(w.added, nil, object) },
			UpdateFunc: func(before, after any) { happened(w.updated, before, after) },
			DeleteFunc: func(object any) { happened(w.deleted, object, nil) },
		})
		if err != nil {
			return fmt.Errorf("watch storage: %w", err)
		}
	}
	return nil
}
