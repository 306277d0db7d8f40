package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/kogge-dev/kogge/kubelet/plan"
)

const (
	maxBody      = 10 << 10
	maxRedirects = 10
	// agentVersion is the version that requests name, as upstream's of the same release do.
	agentVersion = "1.37"
)

func (q question) http(ctx context.Context) answer {
	request, err := Request(ctx, q.spec.HTTPGet, q.container, q.podIP, "probe")
	if err != nil {
		return answer{err: err}
	}
	client := Client(q.options.Dial)
	client.Timeout = q.timeout()
	response, err := client.Do(request)
	if err != nil {
		return failed("%v", err)
	}
	body, readErr := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err := errors.Join(readErr, response.Body.Close()); err != nil {
		return answer{err: err}
	}
	switch {
	case response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest:
		return failed("HTTP probe failed with statuscode: %d", response.StatusCode)
	case response.StatusCode >= http.StatusMultipleChoices:
		return answer{result: plan.Success, warning: true, output: fmt.Sprintf("Probe terminated redirects, Response body: %v", string(body))}
	default:
		return answer{result: plan.Success, output: string(body)}
	}
}

// Client returns a client that asks containers: whatever their certificate, through no proxy, one connection a
// request, and following redirects only to the same host.
func Client(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true}, // a probe asks for life, not for identity
			DialContext:        dial,
			DisableKeepAlives:  true,
			DisableCompression: true,
			ForceAttemptHTTP2:  true,
		},
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			if request.URL.Hostname() != via[0].URL.Hostname() {
				return http.ErrUseLastResponse
			}
			if len(via) >= maxRedirects {
				return errors.New("stopped after 10 redirects")
			}
			return nil
		},
	}
}

// Request is the GET that an action of a probe or of a hook asks for. purpose goes into the user agent.
func Request(ctx context.Context, action *v1.HTTPGetAction, container *v1.Container, podIP, purpose string) (*http.Request, error) {
	port, err := Port(action.Port, container)
	if err != nil {
		return nil, err
	}
	host := action.Host
	if host == "" {
		host = podIP
	}
	target, err := url.Parse(action.Path)
	if err != nil {
		target = &url.URL{Path: action.Path}
	}
	target.Scheme = strings.ToLower(string(action.Scheme))
	if target.Scheme == "" {
		target.Scheme = "http"
	}
	target.Host = net.JoinHostPort(host, strconv.Itoa(port))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	for _, header := range action.HTTPHeaders {
		request.Header.Add(header.Name, header.Value)
	}
	if _, set := request.Header["User-Agent"]; !set {
		request.Header.Set("User-Agent", "kube-"+purpose+"/"+agentVersion)
	}
	if accept, set := request.Header["Accept"]; !set {
		request.Header.Set("Accept", "*/*")
	} else if accept[0] == "" {
		request.Header.Del("Accept")
	}
	request.Host = request.Header.Get("Host")
	return request, nil
}
