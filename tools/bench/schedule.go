package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// renewal is how often the nodes' leases are renewed, so that they stay ready.
const renewal = 15 * time.Second

// schedule makes nodes, then pods, and counts until all are bound.
func schedule(ctx context.Context, _ side, cs clients, add func(row, string, float64)) error {
	if err := makeNodes(ctx, cs); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go renew(ctx, cs)
	bound, err := awaitBound(ctx, cs[0], "scheduled", podCount)
	if err != nil {
		return err
	}
	began := time.Now()
	if _, err := cs.each(ctx, podCount, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
		_, err := c.CoreV1().Pods("scheduled").Create(ctx, pod(fmt.Sprintf("pod-%d", i), ""), metav1.CreateOptions{})
		return err
	}); err != nil {
		return err
	}
	if err := <-bound; err != nil {
		return err
	}
	add("create + schedule 5,000 pods on 1,000 nodes", "/s", podCount/time.Since(began).Seconds())
	return nil
}

// deploy creates a Deployment and counts until its pods are bound.
func deploy(ctx context.Context, _ side, cs clients, add func(row, string, float64)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go renew(ctx, cs)
	bound, err := awaitBound(ctx, cs[0], "deployed", deployed)
	if err != nil {
		return err
	}
	template := pod("", "")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](deployed), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "bench"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "bench"}}, Spec: template.Spec},
	}}
	began := time.Now()
	if _, err := cs[0].AppsV1().Deployments("deployed").Create(ctx, d, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := <-bound; err != nil {
		return err
	}
	add("Deployment of 1,000 replicas, all bound", "/s", deployed/time.Since(began).Seconds())
	return nil
}

func makeNodes(ctx context.Context, cs clients) error {
	q := resource.MustParse
	_, err := cs.each(ctx, nodeCount, func(ctx context.Context, c *kubernetes.Clientset, i int) error {
		name := fmt.Sprintf("node-%d", i)
		room := corev1.ResourceList{"cpu": q("32"), "memory": q("256Gi"), "pods": q("110"), "ephemeral-storage": q("100Gi")}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3)}}}
		if _, err := c.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{}); err != nil {
			return err
		}
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To(name), LeaseDurationSeconds: ptr.To[int32](40), RenewTime: ptr.To(metav1.NowMicro())}}
		if _, err := c.CoordinationV1().Leases(corev1.NamespaceNodeLease).Create(ctx, lease, metav1.CreateOptions{}); err != nil {
			return err
		}
		n.Status = corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}}
		_, err := c.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	// A controller takes the taint away from each node that is ready.
	return await(ctx, func(ctx context.Context) bool {
		list, err := cs[0].CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false
		}
		for i := range list.Items {
			if len(list.Items[i].Spec.Taints) > 0 {
				return false
			}
		}
		return true
	})
}

// renew renews the leases until ctx ends. A node whose lease is not renewed once stays ready until the next time.
func renew(ctx context.Context, cs clients) {
	tick := time.NewTicker(renewal)
	defer tick.Stop()
	for {
		for i := 0; i < nodeCount && ctx.Err() == nil; i++ {
			patch := fmt.Appendf(nil, `{"spec":{"renewTime":%q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
			_, _ = cs[i%len(cs)].CoordinationV1().Leases(corev1.NamespaceNodeLease).Patch(ctx, fmt.Sprintf("node-%d", i), "application/merge-patch+json", patch, metav1.PatchOptions{})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// awaitBound watches a namespace from now on and says when so many of its pods have a node.
func awaitBound(ctx context.Context, c *kubernetes.Clientset, namespace string, n int) (<-chan error, error) {
	return awaitPods(ctx, c, namespace, "spec.nodeName!=", n)
}

// awaitPods watches a namespace from now on and says when a field selector has found so many of its pods. A watch that ends, as a
// server may end one that can't keep up, is taken up where it was.
func awaitPods(ctx context.Context, c *kubernetes.Clientset, namespace, fields string, n int) (<-chan error, error) {
	open := func(version string) (watch.Interface, error) {
		return c.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{FieldSelector: fields, ResourceVersion: version})
	}
	w, err := open("")
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		seen, version := map[string]bool{}, ""
		for len(seen) < n {
			select {
			case e, ok := <-w.ResultChan():
				if !ok {
					if w, err = open(version); err != nil {
						done <- fmt.Errorf("the watch of pods ended at %d: %w", len(seen), err)
						return
					}
					continue
				}
				if pod, isPod := e.Object.(*corev1.Pod); isPod {
					seen[pod.Name], version = true, pod.ResourceVersion
				}
			case <-time.After(2 * time.Minute):
				done <- fmt.Errorf("stuck at %d pods", len(seen))
				return
			}
		}
		w.Stop()
		done <- nil
	}()
	return done, nil
}
