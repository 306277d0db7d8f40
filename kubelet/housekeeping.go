package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/containerlog"
)

// Upstream's defaults: a log may grow to 10 MiB, and five files of it are kept.
const (
	housekeepingInterval = 10 * time.Second
	maxLogBytes          = 10 << 20
	maxLogFiles          = 5
)

// keepHouse rotates logs and removes those of pods that are no more, until ctx ends.
func (k *Kubelet) keepHouse(ctx context.Context) error {
	ticker := k.clock.NewTicker(housekeepingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
		if err := errors.Join(k.rotateLogs(ctx), k.removeOrphanedLogs(ctx)); err != nil && ctx.Err() == nil && k.away.reason() == "" {
			k.logger.Error("keep house", "err", err)
		}
	}
}

func (k *Kubelet) rotateLogs(ctx context.Context) error {
	running, err := k.options.Runtime.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{
		State: &runtimeapi.ContainerStateValue{State: runtimeapi.ContainerState_CONTAINER_RUNNING},
	}})
	if err != nil {
		return fmt.Errorf("rotate logs: %w", err)
	}
	var failures []error
	for _, container := range running.Containers {
		status, err := k.options.Runtime.ContainerStatus(ctx, &runtimeapi.ContainerStatusRequest{ContainerId: container.Id})
		if err != nil || status.GetStatus().GetLogPath() == "" {
			continue // it ended meanwhile, or writes no log
		}
		reopen := func(ctx context.Context) error {
			_, err := k.options.Runtime.ReopenContainerLog(ctx, &runtimeapi.ReopenContainerLogRequest{ContainerId: container.Id})
			return err
		}
		rotation := containerlog.Rotation{MaxBytes: maxLogBytes, MaxFiles: maxLogFiles}
		failures = append(failures, containerlog.Rotate(ctx, status.Status.LogPath, k.clock.Now(), rotation, reopen))
	}
	return errors.Join(failures...)
}

// removeOrphanedLogs removes the folders of pods that neither the API nor the runtime has.
func (k *Kubelet) removeOrphanedLogs(ctx context.Context) error {
	k.mu.Lock()
	synced := k.synced
	k.mu.Unlock()
	if !synced {
		return nil
	}
	entries, err := os.ReadDir(k.options.LogRoot)
	if err != nil {
		return fmt.Errorf("look for logs of earlier pods: %w", err)
	}
	for _, entry := range entries {
		// The name is NAMESPACE_NAME_UID.
		uid := types.UID(entry.Name()[strings.LastIndexByte(entry.Name(), '_')+1:])
		if k.find(uid) != nil {
			continue
		}
		observed, err := k.runtime.Pod(ctx, uid)
		if err != nil {
			return err
		}
		if len(observed.Sandboxes) == 0 && k.find(uid) == nil {
			if err := os.RemoveAll(filepath.Join(k.options.LogRoot, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
