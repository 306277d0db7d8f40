package request

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Info is what a request is about.
type Info struct {
	// IsResource: the path is below /api/v1 or /apis/GROUP/VERSION and names a resource.
	IsResource bool
	Path       string
	// Verb is get, list, watch, create, update, patch, delete or deletecollection; the HTTP method in lower case for other paths.
	Verb        string
	Group       string
	Version     string
	Namespace   string
	Resource    string
	Subresource string
	Name        string
	// Parts after the resource, from the name on: what a proxy endpoint needs.
	Parts []string
}

// GR is the group and resource.
func (i *Info) GR() schema.GroupResource {
	return schema.GroupResource{Group: i.Group, Resource: i.Resource}
}

// namespaceSubresources are the parts that may follow a namespace's name without being a resource in it.
var namespaceSubresources = map[string]bool{"status": true, "finalize": true}

// Parse reads a request's path and method. The query matters where a list is really a watch.
//
// Paths are /api/VERSION/… and /apis/GROUP/VERSION/…, each followed by [watch/] and then
// [namespaces/NAMESPACE/]RESOURCE[/NAME[/SUBRESOURCE…]].
func Parse(r *http.Request) *Info {
	i := &Info{Path: r.URL.Path, Verb: strings.ToLower(r.Method)}
	if strings.HasPrefix(r.URL.Path, "//") {
		return i // none of the paths that are served
	}
	parts := split(r.URL.Path)
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		i.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		i.Group, i.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return i
	}
	i.IsResource = true
	i.Verb = verb(r.Method)
	if parts[0] == "watch" {
		if i.Verb == "get" {
			i.Verb = "watch"
		}
		if parts = parts[1:]; len(parts) == 0 {
			i.IsResource = false
			return i
		}
	}
	i.place(parts)
	i.refine(r)
	return i
}

// place reads namespace, resource, name and subresource.
func (i *Info) place(parts []string) {
	if parts[0] == "namespaces" {
		if len(parts) > 1 {
			i.Namespace = parts[1]
			// namespaces/NAME and namespaces/NAME/status are the namespace itself.
			if len(parts) > 2 && !(len(parts) == 3 && namespaceSubresources[parts[2]]) {
				parts = parts[2:]
			}
		}
	}
	i.Resource = parts[0]
	if len(parts) > 1 {
		i.Name = parts[1]
	}
	if len(parts) > 2 {
		i.Subresource = parts[2]
	}
	i.Parts = parts[1:]
}

// refine tells list, watch and deletecollection apart from the verbs of one object.
func (i *Info) refine(r *http.Request) {
	if i.Name != "" {
		return
	}
	switch i.Verb {
	case "delete":
		i.Verb = "deletecollection"
	case "get":
		i.Verb = "list"
		q := r.URL.Query()
		if isWatch(q) {
			i.Verb = "watch"
		}
		i.Name = nameInSelector(q)
	case "watch":
		i.Name = nameInSelector(r.URL.Query())
	}
}

// isWatch: any value but these means yes, as the API's own decoding of booleans has it.
func isWatch(q url.Values) bool {
	v, ok := q["watch"]
	return ok && !(len(v) > 0 && (strings.EqualFold(v[0], "false") || v[0] == "0"))
}

// nameInSelector finds the single object that a field selector pins, so that it can be authorized by name.
func nameInSelector(q url.Values) string {
	s := q.Get("fieldSelector")
	if s == "" {
		return ""
	}
	sel, err := fields.ParseSelector(s)
	if err != nil {
		return ""
	}
	name, _ := sel.RequiresExactMatch("metadata.name")
	if strings.ContainsAny(name, "/%") || name == "." || name == ".." {
		return ""
	}
	return name
}

func verb(method string) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodGet, http.MethodHead:
		return "get"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		return "delete"
	}
	return ""
}

func split(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}
