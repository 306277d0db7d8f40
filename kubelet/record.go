package kubelet

import (
	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/podspec"
)

// recordPod sends an event about a pod.
func (k *Kubelet) recordPod(pod *v1.Pod, eventType, reason, message string) {
	k.recorder.Event(podReference(pod), eventType, reason, message)
}

// recordContainer sends an event about a container of a pod.
func (k *Kubelet) recordContainer(pod *v1.Pod, name string, kind podspec.Kind, eventType, reason, message string) {
	reference := podReference(pod)
	reference.FieldPath = podspec.FieldPath(name, kind)
	k.recorder.Event(reference, eventType, reason, message)
}

// recordNamed is recordContainer for callers that know only the name.
func (k *Kubelet) recordNamed(pod *v1.Pod, name, eventType, reason, message string) {
	_, kind := podspec.Container(pod, name)
	k.recordContainer(pod, name, kind, eventType, reason, message)
}

func podReference(pod *v1.Pod) *v1.ObjectReference {
	return &v1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		ResourceVersion: pod.ResourceVersion,
	}
}
