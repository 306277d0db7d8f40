package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kogge-dev/kogge/kubelet/cgroup"
	"github.com/kogge-dev/kogge/kubelet/downward"
	"github.com/kogge-dev/kogge/kubelet/object"
	"github.com/kogge-dev/kogge/kubelet/volume"
)

// machine is what a kubelet of a real machine has and one without folders has not: volumes, control groups, watches
// of what pods use.
type machine struct {
	volumes  *volume.Volumes
	tokens   *volume.TokenRequests
	objects  *object.Store
	groups   *cgroup.Groups // nil without CgroupRoot
	services *services
}

// A volume that can't be had is tried again after firstMount, and each time twice as late, up to lastMount.
const (
	firstMount = 500 * time.Millisecond
	lastMount  = 2*time.Minute + 2*time.Second
)

func (k *Kubelet) newMachine() (*machine, error) {
	if k.options.RootDir == "" {
		return nil, nil
	}
	for _, folder := range []string{filepath.Join(k.options.RootDir, "pods"), k.options.LogRoot} {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, fmt.Errorf("kubelet: %w", err)
		}
	}
	m := &machine{objects: k.objects}
	m.tokens = volume.NewTokenRequests(k.core, k.clock)
	m.volumes = volume.New(volume.Options{Root: k.options.RootDir, Objects: m.objects, Tokens: m.tokens, Clock: k.clock})
	m.services = newServices(k.core)
	if k.options.CgroupRoot != "" {
		var err error
		if m.groups, err = cgroup.New(k.options.CgroupRoot); err != nil {
			return nil, fmt.Errorf("kubelet: %w", err)
		}
	}
	return m, nil
}

// prepare gives the pod what its containers need before they are made, or brings it up to date.
func (m *machine) prepare(ctx, background context.Context, pod *v1.Pod, facts downward.Facts) (map[string]volume.Volume, error) {
	if m == nil {
		return nil, nil
	}
	m.objects.Register(background, pod)
	if m.groups != nil {
		if err := m.groups.Ensure(pod); err != nil {
			return nil, err
		}
	}
	return m.volumes.SetUp(ctx, pod, facts)
}

// clear takes back what a pod that runs no more was given.
func (m *machine) clear(pod *v1.Pod) error {
	if m == nil {
		return nil
	}
	m.objects.Unregister(pod.UID)
	m.tokens.Forget(pod.UID)
	if err := m.volumes.TearDown(pod.UID); err != nil {
		return err
	}
	if m.groups != nil {
		return m.groups.Remove(pod)
	}
	return nil
}

// leftovers lists pods of which folders or control groups are left.
func (m *machine) leftovers(root string) ([]types.UID, error) {
	if m == nil {
		return nil, nil
	}
	var uids []types.UID
	entries, err := os.ReadDir(filepath.Join(root, "pods"))
	for _, entry := range entries {
		uids = append(uids, types.UID(entry.Name()))
	}
	if m.groups != nil {
		groups, groupErr := m.groups.Pods()
		uids, err = append(uids, groups...), errors.Join(err, groupErr)
	}
	return uids, err
}

// mountFailed tells of each volume that can't be had, and returns when to try again.
func (k *Kubelet) mountFailed(e *entry, pod *v1.Pod, err error) time.Duration {
	delay := min(firstMount<<min(e.mountFailures, 10), lastMount)
	e.mountFailures++
	for _, failure := range failuresIn(err) {
		k.recordPod(pod, v1.EventTypeWarning, "FailedMount", failure.Error())
	}
	return delay
}

// failuresIn takes a joined error apart.
func failuresIn(err error) []*volume.Failure {
	var list []*volume.Failure
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, part := range joined.Unwrap() {
			list = append(list, failuresIn(part)...)
		}
		return list
	}
	var failure *volume.Failure
	if errors.As(err, &failure) {
		list = append(list, failure)
	}
	return list
}
