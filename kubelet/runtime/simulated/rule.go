package simulated

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Rule gives pods annotations that they don't have themselves: for pods that others write.
type Rule struct {
	// Namespace of the pods; "": any.
	Namespace string
	// Selector of the pods' labels; nil: all.
	Selector labels.Selector
	// Annotations are those of AnnotationStartDelay and its like.
	Annotations map[string]string
}

// annotations are the pod's own; what these don't say, the first rule that matches and says it.
func annotations(rules []Rule, pod *runtimeapi.PodSandboxConfig) map[string]string {
	all := map[string]string{}
	for _, rule := range rules {
		if rule.Namespace != "" && rule.Namespace != pod.GetMetadata().GetNamespace() {
			continue
		}
		if rule.Selector != nil && !rule.Selector.Matches(labels.Set(pod.GetLabels())) {
			continue
		}
		for key, value := range rule.Annotations {
			if _, said := all[key]; !said {
				all[key] = value
			}
		}
	}
	if len(all) == 0 {
		return pod.GetAnnotations()
	}
	maps.Copy(all, pod.GetAnnotations())
	return all
}

// pull is how the images of a pod are pulled: how long it takes, and whether it fails.
func pull(annotations map[string]string) (delay time.Duration, fails bool) {
	a := about{annotations: annotations}
	if a.text(AnnotationImagePull) == "fail" {
		return 0, true
	}
	delay, _ = a.duration(AnnotationImagePull)
	return delay, false
}

// annotated is the Behaviour of a runtime that was given none.
func (o Options) annotated(pod *runtimeapi.PodSandboxConfig, container *runtimeapi.ContainerConfig) Behaviour {
	all := annotations(o.Rules, pod)
	b := decide(all, container)
	b.Exec = shell{
		hostname: pod.GetHostname(), environment: container.GetEnvs(), answer: about{all, container.GetMetadata().GetName()},
	}.run
	return b
}
