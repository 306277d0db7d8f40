package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/kogge-dev/kogge/kubelet/environment"
)

// Mounts are the volumes that a container sees, in the order of its specification. variables are those of the
// container, for subPathExpr.
func (v *Volumes) Mounts(pod *v1.Pod, container *v1.Container, variables []environment.Variable, mounted map[string]Volume) ([]*runtimeapi.Mount, error) {
	var mounts []*runtimeapi.Mount
	for i := range container.VolumeMounts {
		mount := &container.VolumeMounts[i]
		volume, found := mounted[mount.Name]
		if !found {
			return nil, fmt.Errorf("cannot find volume %q to mount into container %q", mount.Name, container.Name)
		}
		made, err := v.mount(pod, container, i, volume, variables)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, made)
	}
	return mounts, nil
}

func (v *Volumes) mount(pod *v1.Pod, container *v1.Container, index int, volume Volume, variables []environment.Variable) (*runtimeapi.Mount, error) {
	mount := &container.VolumeMounts[index]
	made := &runtimeapi.Mount{
		ContainerPath: containerPath(mount.MountPath), HostPath: volume.Path, Readonly: mount.ReadOnly || volume.ReadOnly,
		Propagation: propagation(mount.MountPropagation),
	}
	subPath := mount.SubPath
	if mount.SubPathExpr != "" {
		var err error
		if subPath, err = environment.SubPath(mount.SubPathExpr, variables); err != nil {
			return nil, err
		}
	}
	if volume.Image != nil {
		made.Image, made.ImageSubPath = volume.Image, subPath
		return made, nil
	}
	if mount.ReadOnly && mount.RecursiveReadOnly != nil && *mount.RecursiveReadOnly != v1.RecursiveReadOnlyDisabled {
		made.RecursiveReadOnly = true
	}
	if subPath != "" {
		path, err := v.subPath(pod.UID, mount.Name, container.Name, index, volume, subPath)
		if err != nil {
			return nil, fmt.Errorf("failed to prepare subPath for volumeMount %q of container %q: %w", mount.Name, container.Name, err)
		}
		made.HostPath = path
	}
	return made, nil
}

func containerPath(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return "/" + path
}

func propagation(mode *v1.MountPropagationMode) runtimeapi.MountPropagation {
	switch {
	case mode != nil && *mode == v1.MountPropagationHostToContainer:
		return runtimeapi.MountPropagation_PROPAGATION_HOST_TO_CONTAINER
	case mode != nil && *mode == v1.MountPropagationBidirectional:
		return runtimeapi.MountPropagation_PROPAGATION_BIDIRECTIONAL
	default:
		return runtimeapi.MountPropagation_PROPAGATION_PRIVATE
	}
}

// subPath makes a bind mount of a part of a volume and returns it. The part is opened so that no link in the volume,
// which a container may have made, leads out of it; what was opened is what gets mounted.
func (v *Volumes) subPath(uid types.UID, volumeName, container string, index int, volume Volume, subPath string) (path string, err error) {
	if !filepath.IsLocal(subPath) {
		return "", fmt.Errorf("invalid subPath: %q must stay below the volume", subPath)
	}
	if err := makeSubPath(volume.Path, subPath); err != nil {
		return "", err
	}
	root, err := unix.Open(volume.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open volume: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Close(root)) }()
	part, err := unix.Openat2(root, subPath, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return "", fmt.Errorf("open %q: %w", subPath, err)
	}
	defer func() { err = errors.Join(err, unix.Close(part)) }()
	target := filepath.Join(v.PodDirectory(uid), "volume-subpaths", volumeName, container, strconv.Itoa(index))
	if err := makeTarget(part, target); err != nil {
		return "", err
	}
	if err := unix.Mount("/proc/self/fd/"+strconv.Itoa(part), target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return "", fmt.Errorf("mount subPath: %w", err)
	}
	return target, nil
}

// makeSubPath makes the folder, and those on the way, if nothing is there; in mode like the volume's own folder.
func makeSubPath(volume, subPath string) (err error) {
	root, err := os.OpenRoot(volume)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if _, err := root.Stat(subPath); !os.IsNotExist(err) {
		return err
	}
	info, err := os.Stat(volume)
	if err != nil {
		return err
	}
	part := ""
	for _, name := range strings.Split(filepath.ToSlash(filepath.Clean(subPath)), "/") {
		part = filepath.Join(part, name)
		err := root.Mkdir(part, 0o750)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := root.Chmod(part, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

// makeTarget makes an empty folder or file to mount on, after taking away what an earlier container had there.
func makeTarget(part int, target string) error {
	var stat unix.Stat_t
	if err := unix.Fstat(part, &stat); err != nil {
		return err
	}
	if err := unmountBelow(target); err != nil {
		return err
	}
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.MkdirAll(target, 0o750)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return err
	}
	file, err := os.OpenFile(target, os.O_CREATE|os.O_RDONLY, 0o640)
	if err != nil {
		return err
	}
	return file.Close()
}
