// Package podspec answers questions about a pod's specification that several parts of the kubelet ask.
//
// All functions are pure and don't change the pod.
//
//	podspec.QOS(pod)                       // Guaranteed, Burstable, BestEffort
//	podspec.Container(pod, "web")          // of any kind
//	for container, kind := range podspec.All(pod) { … }
package podspec
