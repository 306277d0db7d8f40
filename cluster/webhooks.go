package cluster

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// WebhookServer is where the API server looks for webhooks: the server that a test starts is to listen there, with the certificate
// of the folder.
type WebhookServer struct {
	Host string
	Port int
	// CertDir holds tls.crt and tls.key; it goes when the cluster stops.
	CertDir string
}

// InstallWebhooks creates or updates all MutatingWebhookConfigurations and ValidatingWebhookConfigurations in the files and folders,
// such as controller-gen writes them, and points them at a server of this process: a webhook's Service becomes the returned server,
// its path stays.
func (c *Cluster) InstallWebhooks(ctx context.Context, paths ...string) (*WebhookServer, error) {
	objects, err := readObjects(paths, func(gvk schema.GroupVersionKind) bool {
		return gvk.Group == admissionregistrationv1.GroupName && webhookResources[gvk.Kind] != ""
	})
	if err != nil {
		return nil, err
	}
	server, err := c.webhookServer()
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(c.InProcessConfig())
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if err := pointAt(o, server, c.ca.PEM()); err != nil {
			return nil, fmt.Errorf("install %s: %w", o.GetName(), err)
		}
		if err := apply(ctx, client.Resource(o.GroupVersionKind().GroupVersion().WithResource(webhookResources[o.GetKind()])), o); err != nil {
			return nil, fmt.Errorf("install %s: %w", o.GetName(), err)
		}
	}
	return server, nil
}

var webhookResources = map[string]string{
	"MutatingWebhookConfiguration": "mutatingwebhookconfigurations", "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}

// webhookServer makes the certificate and chooses the port, once.
func (c *Cluster) webhookServer() (*WebhookServer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.webhooks != nil {
		return c.webhooks, nil
	}
	pair, err := c.ca.Server([]string{"localhost"}, []netip.Addr{netip.MustParseAddr("127.0.0.1")})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	// Its port is free from here on: who serves webhooks asks for a number.
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &WebhookServer{Host: "127.0.0.1", Port: port}
	if s.CertDir, err = os.MkdirTemp("", "kogge-webhooks-"); err != nil {
		return nil, err
	}
	c.webhooks = s
	return s, errors.Join(
		os.WriteFile(filepath.Join(s.CertDir, "tls.crt"), pair.Certificate, 0o644),
		os.WriteFile(filepath.Join(s.CertDir, "tls.key"), pair.Key, 0o600))
}

// pointAt makes the Services of a configuration's webhooks into URLs of the server. A webhook that has a URL of its own keeps it.
func pointAt(o *unstructured.Unstructured, server *WebhookServer, ca []byte) error {
	webhooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
	if err != nil {
		return err
	}
	for i := range webhooks {
		webhook, ok := webhooks[i].(map[string]any)
		if !ok {
			return fmt.Errorf("webhooks[%d] is no object", i)
		}
		if _, own, _ := unstructured.NestedString(webhook, "clientConfig", "url"); own {
			continue
		}
		path, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil {
			return fmt.Errorf("webhooks[%d]: %w", i, err)
		}
		webhook["clientConfig"] = server.clientConfig(path, ca)
	}
	return unstructured.SetNestedSlice(o.Object, webhooks, "webhooks")
}

// pointConversions makes the Services of definitions' conversion webhooks into URLs of the server.
func (c *Cluster) pointConversions(definitions []*unstructured.Unstructured) error {
	for _, o := range definitions {
		service, found, err := unstructured.NestedMap(o.Object, "spec", "conversion", "webhook", "clientConfig", "service")
		if err != nil {
			return fmt.Errorf("install %s: %w", o.GetName(), err)
		}
		if !found {
			continue
		}
		server, err := c.webhookServer()
		if err != nil {
			return err
		}
		path, _, err := unstructured.NestedString(service, "path")
		if err != nil {
			return fmt.Errorf("install %s: %w", o.GetName(), err)
		}
		if err := unstructured.SetNestedMap(o.Object, server.clientConfig(path, c.ca.PEM()), "spec", "conversion", "webhook", "clientConfig"); err != nil {
			return fmt.Errorf("install %s: %w", o.GetName(), err)
		}
	}
	return nil
}

// clientConfig is how the API server reaches one of the server's paths.
func (s *WebhookServer) clientConfig(path string, ca []byte) map[string]any {
	return map[string]any{
		"url":      "https://" + net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) + "/" + strings.TrimPrefix(path, "/"),
		"caBundle": base64.StdEncoding.EncodeToString(ca),
	}
}
