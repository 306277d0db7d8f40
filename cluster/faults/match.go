package faults

import (
	"net/http"
	"slices"
	"strings"

	"github.com/kogge-dev/kogge/apiserver/request"
)

// Request is what is known of a request when it comes.
type Request struct {
	User, UserAgent string
	// Verb is the API's, such as get, list, watch or patch; of paths that name no resource it is the HTTP method in lower case.
	Verb                                                   string
	Group, Version, Resource, Subresource, Namespace, Name string
	// Path is the URL's, with its query.
	Path string
	// Webhook is host and path of the webhook that the server calls; empty: the server is asked.
	Webhook string
}

// requestOf reads a request that passed authentication.
func requestOf(r *http.Request) Request {
	out := Request{UserAgent: r.UserAgent(), Path: r.URL.RequestURI()}
	if u := request.UserFrom(r.Context()); u != nil {
		out.User = u.Name
	}
	if i := request.InfoFrom(r.Context()); i != nil {
		out.Verb, out.Group, out.Version, out.Resource, out.Subresource, out.Namespace, out.Name = i.Verb, i.Group, i.Version, i.Resource, i.Subresource, i.Namespace, i.Name
	}
	return out
}

// Match says which requests are meant: those that all its fields select. An empty field selects all. In patterns "*" stands for
// any text.
type Match struct {
	// User and UserAgent are patterns: of the name of who asks, and of what the client calls itself. Components of a cluster are
	// users such as system:kube-scheduler and system:node:NAME.
	User, UserAgent string
	// Verbs of the API: get, list, watch, create, update, patch, delete, deletecollection.
	Verbs []string
	// Resources are patterns as "pods", "deployments.apps" or "pods/status". A group need not be named; a subresource must.
	Resources []string
	// Namespace and Name are patterns. A create has no name.
	Namespace, Name string
	// Path is a pattern of the URL's path with its query.
	Path string
	// Webhook is a pattern of the host and path of webhooks, such as "127.0.0.1:*/mutate-*" or "hooks.default.svc:443/*". With it
	// the calls of the server to webhooks are meant, and only those.
	Webhook string
}

// Selects says whether the request is meant.
func (m *Match) Selects(r *Request) bool {
	if (m.Webhook == "") != (r.Webhook == "") {
		return false
	}
	return like(m.Webhook, r.Webhook) && like(m.User, r.User) && like(m.UserAgent, r.UserAgent) &&
		(len(m.Verbs) == 0 || slices.Contains(m.Verbs, r.Verb)) && m.resource(r) &&
		like(m.Namespace, r.Namespace) && like(m.Name, r.Name) && like(m.Path, r.Path)
}

func (m *Match) resource(r *Request) bool {
	if len(m.Resources) == 0 {
		return true
	}
	part := ""
	if r.Subresource != "" {
		part = "/" + r.Subresource
	}
	return r.Resource != "" && slices.ContainsFunc(m.Resources, func(pattern string) bool {
		return like(pattern, r.Resource+part) || like(pattern, r.Resource+"."+r.Group+part)
	})
}

// like compares a text with a pattern; an empty pattern takes all.
func like(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
}
