package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/utils/clock"

	"github.com/kogge-dev/kogge/kubelet/downward"
	"github.com/kogge-dev/kogge/kubelet/volume/atomicfile"
)

// Objects gives ConfigMaps and Secrets. Their errors are the API's.
type Objects interface {
	ConfigMap(ctx context.Context, namespace, name string) (*v1.ConfigMap, error)
	Secret(ctx context.Context, namespace, name string) (*v1.Secret, error)
}

// Tokens gives the tokens of a pod's service account.
type Tokens interface {
	Token(ctx context.Context, pod *v1.Pod, projection *v1.ServiceAccountTokenProjection) (string, error)
}

// Options of Volumes. All are required.
type Options struct {
	// Root is the kubelet's folder, an absolute path.
	Root    string
	Objects Objects
	Tokens  Tokens
	Clock   clock.PassiveClock
}

// Volumes are those of one kubelet. Calls for different pods may overlap.
type Volumes struct {
	options Options

	mu sync.Mutex
	// owned are the folders whose group was set since the kubelet began; it is not looked at again for them.
	owned map[string]bool
}

// New returns Volumes.
func New(options Options) *Volumes {
	return &Volumes{options: options, owned: map[string]bool{}}
}

// Volume is where a volume of a pod lies.
type Volume struct {
	// Path on the node; "" for an image.
	Path string
	// ReadOnly: what the container writes would be lost or is not its own.
	ReadOnly bool
	// Image for a volume that is one. Who starts containers puts the image's id in place of its name.
	Image *runtimeapi.ImageSpec
}

// Failure says which volume could not be set up.
type Failure struct {
	Volume string
	Err    error
}

// Error has the text of upstream's FailedMount event.
func (f *Failure) Error() string {
	return fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", f.Volume, f.Err)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// PodDirectory is where all files of a pod lie.
func (v *Volumes) PodDirectory(uid types.UID) string {
	return filepath.Join(v.options.Root, "pods", string(uid))
}

func (v *Volumes) path(uid types.UID, kind, name string) string {
	return filepath.Join(v.PodDirectory(uid), "volumes", "kubernetes.io~"+kind, name)
}

// SetUp makes all volumes of the pod. Its error joins one Failure for each volume that can't be had now.
func (v *Volumes) SetUp(ctx context.Context, pod *v1.Pod, facts downward.Facts) (map[string]Volume, error) {
	mounted := make(map[string]Volume, len(pod.Spec.Volumes))
	var failures []error
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		made, err := v.setUp(ctx, pod, volume, facts)
		if err != nil {
			failures = append(failures, &Failure{Volume: volume.Name, Err: err})
			continue
		}
		mounted[volume.Name] = made
	}
	return mounted, errors.Join(failures...)
}

func (v *Volumes) setUp(ctx context.Context, pod *v1.Pod, volume *v1.Volume, facts downward.Facts) (Volume, error) {
	switch {
	case volume.EmptyDir != nil:
		return v.emptyDir(pod, volume)
	case volume.HostPath != nil:
		return Volume{Path: volume.HostPath.Path}, checkHostPath(volume.HostPath)
	case volume.Image != nil:
		return Volume{ReadOnly: true, Image: &runtimeapi.ImageSpec{Image: volume.Image.Reference}}, nil
	case volume.ConfigMap != nil:
		return v.fileVolume(ctx, pod, volume, facts, "configmap", false)
	case volume.Secret != nil:
		return v.fileVolume(ctx, pod, volume, facts, "secret", true)
	case volume.DownwardAPI != nil:
		return v.fileVolume(ctx, pod, volume, facts, "downward-api", true)
	case volume.Projected != nil:
		return v.fileVolume(ctx, pod, volume, facts, "projected", true)
	default:
		return Volume{}, errors.New("no volume plugin matched")
	}
}

// fileVolume writes the files of a volume, in memory if they may be secret.
func (v *Volumes) fileVolume(ctx context.Context, pod *v1.Pod, volume *v1.Volume, facts downward.Facts, kind string, inMemory bool) (Volume, error) {
	files, err := v.files(ctx, pod, volume, facts)
	if err != nil {
		return Volume{}, err
	}
	folder := v.path(pod.UID, kind, volume.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return Volume{}, err
	}
	if inMemory {
		if err := mountMemory(folder, nil); err != nil {
			return Volume{}, err
		}
	}
	if err := os.Chmod(folder, fs.ModePerm|fs.ModeSticky); err != nil {
		return Volume{}, err
	}
	group := fsGroup(pod)
	_, err = atomicfile.Write(folder, files, v.options.Clock.Now(), func(written string) error {
		return setGroup(written, group, true)
	})
	if err == nil && group != nil {
		err = v.ownOnce(folder, group, true)
	}
	return Volume{Path: folder, ReadOnly: true}, err
}

// emptyDir makes an empty folder that everybody may write, once: what is there belongs to the pod's containers.
func (v *Volumes) emptyDir(pod *v1.Pod, volume *v1.Volume) (Volume, error) {
	folder := v.path(pod.UID, "empty-dir", volume.Name)
	switch medium := volume.EmptyDir.Medium; medium {
	case v1.StorageMediumMemory:
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return Volume{}, err
		}
		return Volume{Path: folder}, mountMemory(folder, memoryOptions(memorySize(pod, volume.EmptyDir), fsGroup(pod)))
	case v1.StorageMediumDefault:
		return Volume{Path: folder}, makeEmpty(folder, fsGroup(pod))
	default:
		return Volume{}, fmt.Errorf("unknown storage medium %q", medium)
	}
}

// makeEmpty makes the folder under another name first, so that one that exists is known to be complete.
func makeEmpty(folder string, group *int64) error {
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unfinished := folder + ".new"
	if err := os.MkdirAll(unfinished, 0o750); err != nil {
		return err
	}
	if err := os.Chmod(unfinished, fs.ModePerm); err != nil { // whatever the umask
		return err
	}
	if err := setGroup(unfinished, group, false); err != nil {
		return err
	}
	return os.Rename(unfinished, folder)
}

// memorySize is the limit of a volume in memory: its own, or all that the pod may use; 0 for none.
func memorySize(pod *v1.Pod, source *v1.EmptyDirVolumeSource) int64 {
	size := int64(0)
	if source.SizeLimit != nil {
		size = source.SizeLimit.Value()
	}
	if limit := podMemoryLimit(pod); limit > 0 && (size == 0 || limit < size) {
		size = limit
	}
	return size
}

// podMemoryLimit sums up the containers' limits; 0 if one has none.
func podMemoryLimit(pod *v1.Pod) int64 {
	sum := int64(0)
	for i := range pod.Spec.Containers {
		limit := pod.Spec.Containers[i].Resources.Limits.Memory().Value()
		if limit == 0 {
			return 0
		}
		sum += limit
	}
	return sum
}

func (v *Volumes) isOwned(folder string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.owned[folder]
}

func (v *Volumes) ownOnce(folder string, group *int64, readOnly bool) error {
	if v.isOwned(folder) {
		return nil
	}
	if err := setGroup(folder, group, readOnly); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.owned[folder] = true
	return nil
}

// TearDown unmounts what is mounted below the pod's folder, whoever did it, and removes the folder.
func (v *Volumes) TearDown(uid types.UID) error {
	folder := v.PodDirectory(uid)
	if err := unmountBelow(folder); err != nil {
		return fmt.Errorf("volumes of pod %s: %w", uid, err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("volumes of pod %s: %w", uid, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for owned := range v.owned {
		if below(owned, folder) {
			delete(v.owned, owned)
		}
	}
	return nil
}
