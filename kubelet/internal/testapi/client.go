package testapi

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// patience is how long tests wait for what must come.
const patience = 60 * time.Second

// Client returns a client of the server.
func (s *Server) Client() kubernetes.Interface {
	client, err := kubernetes.NewForConfig(s.Config())
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

// Create makes a pod on the node, with the defaults that a kubelet needs.
func (s *Server) Create(ctx context.Context, pod *v1.Pod) *v1.Pod {
	s.t.Helper()
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	pod.Status.Phase = v1.PodPending
	if pod.Spec.RestartPolicy == "" {
		pod.Spec.RestartPolicy = v1.RestartPolicyAlways
	}
	for i := range pod.Spec.Containers {
		setDefaults(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		setDefaults(&pod.Spec.InitContainers[i])
	}
	created, err := s.Client().CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return created
}

func setDefaults(c *v1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = v1.PullIfNotPresent
	}
	if c.TerminationMessagePath == "" {
		c.TerminationMessagePath, c.TerminationMessagePolicy = v1.TerminationMessagePathDefault, v1.TerminationMessageReadFile
	}
	for _, probe := range []*v1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe == nil {
			continue
		}
		probe.TimeoutSeconds = max(probe.TimeoutSeconds, 1)
		probe.PeriodSeconds = max(probe.PeriodSeconds, 1)
		probe.SuccessThreshold = max(probe.SuccessThreshold, 1)
		if probe.FailureThreshold == 0 {
			probe.FailureThreshold = 3
		}
	}
}

// EventuallyPod waits until the pod is as wanted, and returns it. A pod that is gone is nil.
func (s *Server) EventuallyPod(ctx context.Context, namespace, name string, wanted func(*v1.Pod) bool) *v1.Pod {
	s.t.Helper()
	var last *v1.Pod
	ok := s.Eventually(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		last, _ = s.objects["pods"][namespace+"/"+name].(*v1.Pod)
		return wanted(last)
	})
	if !ok {
		s.t.Fatalf("pod %s/%s never became as wanted; last: %s\nevents:\n%s", namespace, name, describe(last), s.Events())
	}
	return last
}

func describe(pod *v1.Pod) string {
	if pod == nil {
		return "gone"
	}
	return fmt.Sprintf("%+v", pod.Status)
}

// Eventually asks again at each change of an object, and from time to time, until the answer is yes.
func (s *Server) Eventually(ctx context.Context, yes func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		s.mu.Lock()
		grown := s.grown
		s.mu.Unlock()
		if yes() {
			return true
		}
		select {
		case <-grown:
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
}

// Events lists "Reason: message" of all events, a line each.
func (s *Server) Events() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, o := range s.objects["events"] {
		if event, ok := o.(*v1.Event); ok {
			lines = append(lines, event.InvolvedObject.Name+" "+event.Reason+": "+event.Message)
		}
	}
	return strings.Join(lines, "\n")
}
