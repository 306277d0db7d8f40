package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// podTopologyLabels copies zone and region of a node onto the pods that are put there, by their binding or at once.
func podTopologyLabels(objects Objects) plugin {
	return plugin{name: "PodTopologyLabels", mutate: func(_ context.Context, a *registry.Attributes) error {
		if a.Operation != registry.Create {
			return nil
		}
		node := ""
		switch o := a.Object.(type) {
		case *corev1.Binding:
			if o.Target.Kind == "Node" {
				node = o.Target.Name
			}
		case *corev1.Pod:
			node = o.Spec.NodeName
		}
		if node == "" {
			return nil
		}
		return copyTopology(objects, node, a.Object)
	}}
}

func copyTopology(objects Objects, node string, to resource.Object) error {
	obj, err := objects.Get("", "nodes", "", node)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	labels := to.GetLabels()
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if value, ok := obj.GetLabels()[key]; ok {
			if labels == nil {
				labels = map[string]string{}
			}
			labels[key] = value
		}
	}
	to.SetLabels(labels)
	return nil
}
