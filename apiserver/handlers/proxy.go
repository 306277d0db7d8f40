package handlers

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Dial opens a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// target is where a proxied request goes.
type target struct {
	url       *url.URL
	transport http.RoundTripper
}

// newProxyTransport reaches pods. Whose certificate they show is not asked: nobody vouches for their addresses.
func newProxyTransport(dial Dial) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 4}
}

// proxied passes requests of all methods on to what a name stands for; links in pages are made to lead back here.
func (h *Handlers) proxied(options func(path string) runtime.Object, locate func(ctx context.Context, s *Scope) (target, error)) Special {
	return func(w http.ResponseWriter, r *http.Request, s *Scope) {
		path := s.proxyPath(r.URL.Path)
		if err := s.gate(registry.Connect, options(path), nil, false).pass(r.Context()); err != nil {
			s.fail(w, r, err)
			return
		}
		to, err := locate(r.Context(), s)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		to.url.Path = utilnet.JoinPreservingTrailingSlash(to.url.Path, path)
		p := proxy.NewUpgradeAwareHandler(to.url, to.transport, true, false, proxyFailure{h.Logger})
		p.ServeHTTP(w, r)
	}
}

// proxyPath is what follows the endpoint's own path.
func (s *Scope) proxyPath(path string) string {
	prefix := "/api/" + s.Resource.Version
	if s.Resource.Namespaced {
		prefix += "/namespaces/" + s.Info.Namespace
	}
	return strings.TrimPrefix(path, prefix+"/"+s.Resource.Plural+"/"+s.Info.Name+"/"+s.Sub.Name)
}

// proxyFailure answers when what was to be reached is not.
type proxyFailure struct{ log *slog.Logger }

// Error answers as every failure is answered: as 503, whatever the network said.
func (f proxyFailure) Error(w http.ResponseWriter, r *http.Request, err error) {
	f.log.Debug("proxying", "path", r.URL.Path, "error", err)
	Error(w, r, apierrors.NewServiceUnavailable(fmt.Sprintf("error trying to reach service: %v", err)))
}

// podTarget is a pod's address: NAME, NAME:PORT or SCHEME:NAME:PORT. Without a port it is the first that the pod declares.
func (h *Handlers) podTarget(ctx context.Context, s *Scope) (target, error) {
	scheme, name, port, valid := utilnet.SplitSchemeNamePort(s.Info.Name)
	if !valid {
		return target{}, apierrors.NewBadRequest(fmt.Sprintf("invalid pod request %q", s.Info.Name))
	}
	obj, err := h.read(ctx, "pods", s.Info.Namespace, name)
	if err != nil {
		return target{}, err
	}
	pod := obj.(*corev1.Pod)
	if !reachable(pod.Status.PodIP) {
		return target{}, apierrors.NewBadRequest("address not allowed")
	}
	for i := 0; i < len(pod.Spec.Containers) && port == ""; i++ {
		if ports := pod.Spec.Containers[i].Ports; len(ports) > 0 {
			port = strconv.Itoa(int(ports[0].ContainerPort))
		}
	}
	return target{&url.URL{Scheme: scheme, Host: hostPort(pod.Status.PodIP, port)}, h.pods}, nil
}

// serviceTarget is one ready pod of a Service: NAME, NAME:PORT or SCHEME:NAME:PORT, where the port is a number or a name.
func (h *Handlers) serviceTarget(ctx context.Context, s *Scope) (target, error) {
	scheme, name, port, valid := utilnet.SplitSchemeNamePort(s.Info.Name)
	if !valid {
		return target{}, apierrors.NewBadRequest(fmt.Sprintf("invalid service request %q", s.Info.Name))
	}
	if number, err := strconv.ParseInt(port, 10, 64); err == nil {
		if port, err = h.portName(ctx, s.Info.Namespace, name, number); err != nil {
			return target{}, err
		}
	}
	list, err := h.RegistryOf(discoveryv1.Resource("endpointslices")).All(ctx, s.Info.Namespace)
	if err != nil {
		return target{}, err
	}
	addresses := backends(list, name, port)
	if len(addresses) == 0 {
		return target{}, apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
	}
	return target{&url.URL{Scheme: scheme, Host: addresses[rand.IntN(len(addresses))]}, h.pods}, nil
}

func (h *Handlers) portName(ctx context.Context, namespace, service string, number int64) (string, error) {
	obj, err := h.read(ctx, "services", namespace, service)
	if err != nil {
		return "", err
	}
	for _, p := range obj.(*corev1.Service).Spec.Ports {
		if int64(p.Port) == number {
			return p.Name, nil
		}
	}
	return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", number, service))
}

// backends are the addresses of a Service's ready pods, with a port's number: the port of a name, or the only one.
func backends(slices []resource.Object, service, port string) []string {
	var out []string
	for _, o := range slices {
		slice := o.(*discoveryv1.EndpointSlice)
		if slice.Labels[discoveryv1.LabelServiceName] != service {
			continue
		}
		for _, p := range slice.Ports {
			if p.Port == nil || (ptr.Deref(p.Name, "") != port && (port != "" || len(slice.Ports) != 1)) {
				continue
			}
			for _, e := range slice.Endpoints {
				isPod := e.TargetRef != nil && e.TargetRef.Kind == "Pod"
				if isPod && ptr.Deref(e.Conditions.Ready, true) && len(e.Addresses) > 0 && reachable(e.Addresses[0]) {
					out = append(out, hostPort(e.Addresses[0], strconv.Itoa(int(*p.Port))))
				}
			}
		}
	}
	return out
}

// nodeTarget is a node's kubelet, or another of the node's ports: NAME, NAME:PORT or SCHEME:NAME:PORT.
func (h *Handlers) nodeTarget(ctx context.Context, s *Scope) (target, error) {
	scheme, name, port, valid := utilnet.SplitSchemeNamePort(s.Info.Name)
	if !valid {
		return target{}, apierrors.NewBadRequest(fmt.Sprintf("invalid node request %q", s.Info.Name))
	}
	obj, err := h.read(ctx, "nodes", "", name)
	if err != nil {
		return target{}, err
	}
	kubelet, err := address(obj.(*corev1.Node))
	if err != nil {
		return target{}, apierrors.NewInternalError(err)
	}
	host, kubeletPort, err := net.SplitHostPort(kubelet)
	if err != nil {
		return target{}, apierrors.NewInternalError(err)
	}
	if port == "" || port == kubeletPort {
		return target{&url.URL{Scheme: "https", Host: kubelet}, h.kubelets.transport}, nil
	}
	if !reachable(host) {
		return target{}, apierrors.NewBadRequest("address not allowed")
	}
	return target{&url.URL{Scheme: scheme, Host: hostPort(host, port)}, h.pods}, nil
}

// reachable says whether an address may be proxied to: not this machine's own, nor one of its links.
func reachable(ip string) bool {
	a, err := netip.ParseAddr(ip)
	return err == nil && a.IsGlobalUnicast()
}

func hostPort(host, port string) string {
	if port == "" {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, port)
}
