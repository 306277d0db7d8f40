package storage

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
)

// podFields are the selectable fields of pods.
func podFields(p *example.Pod) fields.Set {
	return fields.Set{"metadata.name": p.Name, "metadata.namespace": p.Namespace, "spec.nodeName": p.Spec.NodeName}
}

// selects says whether the predicate takes a pod.
func selects(p *storage.SelectionPredicate, pod *example.Pod) bool {
	return (p.Label == nil || p.Label.Matches(labels.Set(pod.Labels))) && (p.Field == nil || p.Field.Matches(podFields(pod)))
}
