package simulated

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// imageSize is what an image takes, in bytes; it shows in the node's status.
const imageSize = 1 << 20

// Images is the image service of a Runtime.
type Images struct {
	runtimeapi.ImageServiceClient // what a kubelet never calls
	runtime                       *Runtime
}

// Images returns the runtime's image service.
func (r *Runtime) Images() *Images { return &Images{runtime: r} }

// DefaultPull refuses the names that tests use for images which don't exist.
func DefaultPull(image string) error {
	name, tag := image, ""
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		name, tag = image[:i], image[i+1:]
	}
	switch {
	case tag == "404", strings.HasPrefix(name, "invalid."),
		strings.Contains(image, "non-existent"), strings.Contains(image, "nonexistent"),
		strings.Contains(image, "does-not-exist"):
		return notFound(image)
	default:
		return nil
	}
}

// notFound is what containerd says of an image that its registry doesn't have.
func notFound(image string) error {
	return status.Errorf(codes.NotFound, "failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", image, image, image)
}

// PullImage implements runtimeapi.ImageServiceClient.
func (i *Images) PullImage(ctx context.Context, in *runtimeapi.PullImageRequest, _ ...grpc.CallOption) (*runtimeapi.PullImageResponse, error) {
	image := in.GetImage().GetImage()
	delay, fails := pull(annotations(i.runtime.options.Rules, in.GetSandboxConfig()))
	if delay > 0 {
		if err := i.runtime.wait(ctx, delay); err != nil {
			return nil, err
		}
	}
	if fails {
		return nil, notFound(image)
	}
	if err := i.runtime.options.Pull(image); err != nil {
		return nil, err
	}
	i.runtime.mu.Lock()
	defer i.runtime.mu.Unlock()
	i.runtime.images[image] = true
	i.runtime.images[reference(image)] = true
	return &runtimeapi.PullImageResponse{ImageRef: reference(image)}, nil
}

// ImageStatus implements runtimeapi.ImageServiceClient.
func (i *Images) ImageStatus(_ context.Context, in *runtimeapi.ImageStatusRequest, _ ...grpc.CallOption) (*runtimeapi.ImageStatusResponse, error) {
	i.runtime.mu.Lock()
	defer i.runtime.mu.Unlock()
	image := in.GetImage().GetImage()
	if !i.runtime.images[image] {
		return &runtimeapi.ImageStatusResponse{}, nil
	}
	return &runtimeapi.ImageStatusResponse{Image: describe(image)}, nil
}

// ListImages implements runtimeapi.ImageServiceClient.
func (i *Images) ListImages(context.Context, *runtimeapi.ListImagesRequest, ...grpc.CallOption) (*runtimeapi.ListImagesResponse, error) {
	i.runtime.mu.Lock()
	defer i.runtime.mu.Unlock()
	response := &runtimeapi.ListImagesResponse{}
	for image := range i.runtime.images {
		if !strings.Contains(image, "@") {
			response.Images = append(response.Images, describe(image))
		}
	}
	return response, nil
}

// RemoveImage implements runtimeapi.ImageServiceClient.
func (i *Images) RemoveImage(_ context.Context, in *runtimeapi.RemoveImageRequest, _ ...grpc.CallOption) (*runtimeapi.RemoveImageResponse, error) {
	i.runtime.mu.Lock()
	defer i.runtime.mu.Unlock()
	delete(i.runtime.images, in.GetImage().GetImage())
	return &runtimeapi.RemoveImageResponse{}, nil
}

// ImageFsInfo implements runtimeapi.ImageServiceClient: there is no file system.
func (i *Images) ImageFsInfo(context.Context, *runtimeapi.ImageFsInfoRequest, ...grpc.CallOption) (*runtimeapi.ImageFsInfoResponse, error) {
	return &runtimeapi.ImageFsInfoResponse{}, nil
}

func describe(image string) *runtimeapi.Image {
	if strings.Contains(image, "@") {
		return &runtimeapi.Image{Id: image, RepoDigests: []string{image}, Size: imageSize, Spec: &runtimeapi.ImageSpec{Image: image}}
	}
	return &runtimeapi.Image{
		Id: reference(image), RepoTags: []string{image}, RepoDigests: []string{reference(image)}, Size: imageSize,
		Spec: &runtimeapi.ImageSpec{Image: image},
	}
}

// reference makes a digest of the name: the same name is always the same image.
func reference(image string) string {
	if strings.Contains(image, "@") {
		return image
	}
	name := image
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		name = image[:i]
	}
	sum := sha256.Sum256([]byte(image))
	return name + "@sha256:" + hex.EncodeToString(sum[:])
}
