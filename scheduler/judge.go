package scheduler

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/kogge-dev/kogge/scheduler/cache"
	"github.com/kogge-dev/kogge/scheduler/configuration"
	"github.com/kogge-dev/kogge/scheduler/framework"
	"github.com/kogge-dev/kogge/scheduler/plugins"
	"github.com/kogge-dev/kogge/scheduler/queue"
)

// Verdict is what would be done with a pod.
type Verdict struct {
	// Nodes are those of the best total score, each of which may be chosen.
	Nodes []string
	// Message is what is said of a pod that fits on no node.
	Message string
	// Preemption is how room would be made for it; nil when that isn't tried or the pod
	// fits.
	Preemption *framework.Preemption
}

// Judge says what a scheduler with a configuration (nil: the defaults) would do with a pod in
// a cluster of these objects, without doing it. Objects of kinds that no plugin looks at are
// passed over.
func Judge(c *configv1.KubeSchedulerConfiguration, objects []runtime.Object, pod *corev1.Pod) (*Verdict, error) {
	if c == nil {
		c = configuration.Default()
	}
	known := cache.New()
	factory := informers.NewSharedInformerFactory(nil, 0)
	sources, err := plugins.NewSources(nil, factory)
	if err != nil {
		return nil, err
	}
	profiles, err := newProfiles(c, sources)
	if err != nil {
		return nil, err
	}
	profile := profiles[pod.Spec.SchedulerName]
	if profile == nil {
		return nil, fmt.Errorf("no profile is called %q", pod.Spec.SchedulerName)
	}
	for _, object := range objects {
		if err := learn(known, factory, object); err != nil {
			return nil, err
		}
	}
	f := newFinder()
	known.Update(&f.snapshot)
	try := newCycle(profile, &queue.Entry{Pod: pod})
	feasible, scores, err := f.rate(try)
	if failed, ok := errors.AsType[*framework.Failed](err); ok {
		return &Verdict{Message: failed.Error(), Preemption: try.preemption}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("judge pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	verdict := &Verdict{}
	most := scores[best(scores)]
	for i, node := range feasible {
		if scores[i] == most {
			verdict.Nodes = append(verdict.Nodes, node.Node.Name)
		}
	}
	return verdict, nil
}

// learn takes in one object.
func learn(known *cache.Cache, factory informers.SharedInformerFactory, object runtime.Object) error {
	switch o := object.(type) {
	case *corev1.Node:
		known.SetNode(o)
	case *corev1.Pod:
		if o.Spec.NodeName != "" && !finished(o) {
			known.SetPod(o)
		}
	default:
		return plugins.Learn(factory, object)
	}
	return nil
}
