package plugins

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/scheduler/framework"
)

// imageLocality rates nodes by how much of the pod's images they have already, in bytes.
// An image that few nodes have counts less, or these few would draw every such pod.
type imageLocality struct{}

const imageSpreadKey = "ImageLocality"

// Below the smaller size a node gets no points; at the larger one, for each image, all.
const (
	smallImages = 23 * 1024 * 1024
	largeImage  = 1000 * 1024 * 1024
)

func (imageLocality) Name() string { return "ImageLocality" }

// spread is, for each of the pod's images, the part of all nodes that have it.
type spread map[string]float64

func (imageLocality) PreScore(state *framework.CycleState, pod *framework.PodInfo, all framework.Snapshot, _ []*framework.NodeInfo) *framework.Status {
	parts := spread{}
	for _, image := range images(pod.Pod) {
		if nodes := all.WithImage(image); nodes > 0 {
			parts[image] = float64(nodes) / float64(len(all.Nodes()))
		}
	}
	if len(parts) == 0 {
		return framework.NewStatus(framework.Skip)
	}
	state.Write(imageSpreadKey, parts)
	return nil
}

func (imageLocality) Score(state *framework.CycleState, pod *framework.PodInfo, node *framework.NodeInfo) int64 {
	parts, ok := framework.Read[spread](state, imageSpreadKey)
	if !ok {
		return 0
	}
	var sum int64
	names := images(pod.Pod)
	for _, image := range names {
		if size, has := node.Images[image]; has {
			sum += int64(float64(size) * parts[image])
		}
	}
	most := int64(largeImage * len(names))
	sum = min(max(sum, smallImages), most)
	return framework.MaxScore * (sum - smallImages) / (most - smallImages)
}

// images lists the pod's images, once for each use, by full name.
func images(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.InitContainers {
		names = append(names, fullName(pod.Spec.InitContainers[i].Image))
	}
	for i := range pod.Spec.Containers {
		names = append(names, fullName(pod.Spec.Containers[i].Image))
	}
	for i := range pod.Spec.Volumes {
		if image := pod.Spec.Volumes[i].Image; image != nil {
			names = append(names, fullName(image.Reference))
		}
	}
	return names
}

// fullName adds the tag that an image without one has.
func fullName(image string) string {
	if strings.LastIndex(image, ":") <= strings.LastIndex(image, "/") {
		return image + ":latest"
	}
	return image
}
