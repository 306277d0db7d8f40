package kubelet

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/containerlog"
	"github.com/kogge-dev/kogge/kubelet/server"
)

// host is what the kubelet's server asks it.
type host struct{ k *Kubelet }

func (k *Kubelet) newServer() *server.Server {
	return server.New(server.Options{Host: host{k}, Runtime: k.runtime, Logs: containerlog.New(k.logger), Logger: k.logger})
}

// Handler answers what the kubelet's port does, to requests that are known to be the API server's: for many kubelets
// that share one port.
func (k *Kubelet) Handler() http.Handler { return k.server.Handler() }

func (k *Kubelet) serve(ctx context.Context) error {
	if k.options.ServingCertificate == nil {
		return errors.New("kubelet: the listener has no certificate")
	}
	return k.server.Run(ctx, k.options.Listener, *k.options.ServingCertificate, k.options.ClientCAs)
}

// Pods implements server.Host.
func (h host) Pods() []*v1.Pod {
	h.k.mu.Lock()
	entries := make([]*entry, 0, len(h.k.pods))
	for _, e := range h.k.pods {
		entries = append(entries, e)
	}
	h.k.mu.Unlock()
	var pods []*v1.Pod
	for _, e := range entries {
		if pod := e.current(); pod != nil {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *v1.Pod) int {
		return strings.Compare(a.Namespace+"/"+a.Name+"/"+string(a.UID), b.Namespace+"/"+b.Name+"/"+string(b.UID))
	})
	return pods
}

// Pod implements server.Host. Of two pods of one name, the one that the API still has is meant.
func (h host) Pod(namespace, name string) *v1.Pod {
	h.k.mu.Lock()
	defer h.k.mu.Unlock()
	for _, e := range h.k.pods {
		if pod := e.current(); pod != nil && pod.Namespace == namespace && pod.Name == name {
			return pod
		}
	}
	return nil
}

// Node implements server.Host.
func (h host) Node() *v1.Node { return h.k.node.Node() }

// current is the pod with the newest status that the kubelet knows; nil for one that the API doesn't have.
func (e *entry) current() *v1.Pod {
	pod, status, gone := e.view()
	if pod == nil || gone {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sent != nil {
		status = e.sent // who sees it in the API may ask before the API has answered
	}
	with := *pod
	with.Status = *status
	return &with
}
