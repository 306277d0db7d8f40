package handlers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// Kubelets is how the server reaches kubelets.
type Kubelets struct {
	// TLS has the server's client certificate and the authority that signs kubelets' certificates.
	TLS *tls.Config
	// Dial reaches a node's address; nil: the plain network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// kubelets forwards requests to kubelets; what is upgraded passes through as it is.
type kubelets struct{ transport *http.Transport }

func newKubelets(k Kubelets) *kubelets {
	dial := k.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	// HTTP/1.1: it can be upgraded.
	return &kubelets{&http.Transport{TLSClientConfig: k.TLS, DialContext: dial, MaxIdleConnsPerHost: 4}}
}

// stream connects a client with a pod's streams: exec, attach, portforward.
func (h *Handlers) stream(verb string, options func() runtime.Object) Special {
	return func(w http.ResponseWriter, r *http.Request, s *Scope) {
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			NotAllowed(w, r)
			return
		}
		o := options()
		if err := connectOptions(r.URL.Query(), o); err != nil {
			s.fail(w, r, err)
			return
		}
		if err := s.gate(registry.Connect, o, nil, false).pass(r.Context()); err != nil {
			s.fail(w, r, err)
			return
		}
		pod, node, err := h.podOnNode(r.Context(), s)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		q := r.URL.Query()
		target := []string{verb, pod.Namespace, pod.Name}
		if verb != "portForward" {
			container, err := containerName(pod, q.Get("container"))
			if err != nil {
				s.fail(w, r, err)
				return
			}
			target = append(target, container)
			q = streamQuery(q)
		}
		h.forward(w, r, node, strings.Join(target, "/"), q)
	}
}

// streamQuery keeps what a kubelet's streaming endpoints understand; they want ones for trues.
func streamQuery(q url.Values) url.Values {
	out := url.Values{}
	for from, to := range map[string]string{"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"} {
		if v := q[from]; len(v) > 0 && truth(v[0]) {
			out.Set(to, "1")
		}
	}
	for _, c := range q["command"] {
		out.Add("command", c)
	}
	return out
}

// log answers with a container's log.
func (h *Handlers) log(w http.ResponseWriter, r *http.Request, s *Scope) {
	if r.Method != http.MethodGet {
		NotAllowed(w, r)
		return
	}
	o := &corev1.PodLogOptions{}
	if err := connectOptions(r.URL.Query(), o); err != nil {
		s.fail(w, r, err)
		return
	}
	if errs := validateLogOptions(o); len(errs) > 0 {
		s.fail(w, r, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("PodLogOptions").GroupKind(), s.Info.Name, errs))
		return
	}
	pod, node, err := h.podOnNode(r.Context(), s)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	container, err := containerName(pod, o.Container)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	q := r.URL.Query()
	q.Del("container")
	h.forward(w, r, node, strings.Join([]string{"containerLogs", pod.Namespace, pod.Name, container}, "/"), q)
}

// podOnNode gives a pod and the node that it runs on; the node is nil while it has none.
func (h *Handlers) podOnNode(ctx context.Context, s *Scope) (*corev1.Pod, *corev1.Node, error) {
	obj, err := h.read(ctx, "pods", s.Info.Namespace, s.Info.Name)
	if err != nil {
		return nil, nil, err
	}
	pod := obj.(*corev1.Pod)
	if pod.Spec.NodeName == "" {
		return pod, nil, apierrors.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", pod.Name))
	}
	node, err := h.read(ctx, "nodes", "", pod.Spec.NodeName)
	if err != nil {
		return nil, nil, err
	}
	return pod, node.(*corev1.Node), nil
}

// containerName checks the container that was asked for; none is needed where there is only one.
func containerName(pod *corev1.Pod, name string) (string, error) {
	var main, initial, all []string
	for _, c := range pod.Spec.Containers {
		main = append(main, c.Name)
	}
	for _, c := range pod.Spec.InitContainers {
		initial = append(initial, c.Name)
	}
	all = append(append(all, main...), initial...)
	for _, c := range pod.Spec.EphemeralContainers {
		all = append(all, c.Name)
	}
	if name != "" {
		if !slices.Contains(all, name) {
			return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
		}
		return name, nil
	}
	if len(main) == 1 {
		return main[0], nil
	}
	text := fmt.Sprintf("a container name must be specified for pod %s, choose one of: [%s]", pod.Name, strings.Join(main, " "))
	if len(initial) > 0 {
		text += fmt.Sprintf(" or one of the init containers: [%s]", strings.Join(initial, " "))
	}
	return "", apierrors.NewBadRequest(text)
}

// address is where a node's kubelet listens.
func address(node *corev1.Node) (string, error) {
	port := node.Status.DaemonEndpoints.KubeletEndpoint.Port
	if port == 0 {
		port = 10250
	}
	for _, t := range []corev1.NodeAddressType{corev1.NodeInternalIP, corev1.NodeExternalIP} {
		for _, a := range node.Status.Addresses {
			if a.Type == t {
				return net.JoinHostPort(a.Address, strconv.Itoa(int(port))), nil
			}
		}
	}
	return "", fmt.Errorf("no preferred addresses found; known addresses: %v", node.Status.Addresses)
}

// forward sends the request to a node's kubelet and its answer back, upgrades included.
func (h *Handlers) forward(w http.ResponseWriter, r *http.Request, node *corev1.Node, path string, q url.Values) {
	to, err := address(node)
	if err != nil {
		Error(w, r, apierrors.NewInternalError(err))
		return
	}
	p := &httputil.ReverseProxy{
		Transport: h.kubelets.transport,
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL = &url.URL{Scheme: "https", Host: to, Path: "/" + path, RawQuery: q.Encode()}
			pr.Out.Host = to
		},
		FlushInterval:  -1,
		ModifyResponse: kubeletError,
		ErrorLog:       slog.NewLogLogger(h.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			var status apierrors.APIStatus
			if s, ok := err.(apierrors.APIStatus); ok {
				status = s
			} else {
				status = apierrors.NewInternalError(fmt.Errorf("%s %q: %w", r.Method, "https://"+to+"/"+path, err))
			}
			Error(w, r, status.(error))
		},
	}
	p.ServeHTTP(w, r)
}

// maxErrorText is how much of a kubelet's error is read, in bytes.
const maxErrorText = 50_000

// kubeletError makes an API error of a kubelet's answer that is one.
func kubeletError(resp *http.Response) error {
	if resp.StatusCode == http.StatusSwitchingProtocols || (resp.StatusCode >= 200 && resp.StatusCode <= http.StatusPartialContent) {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorText))
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	switch resp.StatusCode {
	case http.StatusInternalServerError:
		return apierrors.NewInternalError(errors.New(string(b)))
	case http.StatusBadRequest:
		return apierrors.NewBadRequest(string(b))
	}
	return apierrors.NewGenericServerResponse(resp.StatusCode, "", corev1.Resource("pods/log"), "", string(b), 0, false)
}

func validateLogOptions(o *corev1.PodLogOptions) field.ErrorList {
	var errs field.ErrorList
	if o.TailLines != nil && *o.TailLines < 0 {
		errs = append(errs, field.Invalid(field.NewPath("tailLines"), *o.TailLines, "must be greater than or equal to 0"))
	}
	if o.LimitBytes != nil && *o.LimitBytes < 1 {
		errs = append(errs, field.Invalid(field.NewPath("limitBytes"), *o.LimitBytes, "must be greater than 0"))
	}
	switch {
	case o.SinceSeconds != nil && o.SinceTime != nil:
		errs = append(errs, field.Forbidden(field.NewPath(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	case o.SinceSeconds != nil && *o.SinceSeconds < 1:
		errs = append(errs, field.Invalid(field.NewPath("sinceSeconds"), *o.SinceSeconds, "must be greater than 0"))
	}
	return errs
}
