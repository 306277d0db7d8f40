package crd

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

type object = map[string]any

// endpoint is one method of one path.
type endpoint struct {
	path, method string
	action, verb string // as in x-kubernetes-action, and as in the operation's id
	id           string // the end of the operation's id
	sub          string // subresource
	gives, takes string // models; empty: the method takes nothing
	codes        []string
}

var codeTexts = map[string]string{"200": "OK", "201": "Created", "202": "Accepted"}

// operations lists what can be done with a version's objects.
func (v *version) operations() []endpoint {
	names := v.crd.Spec.Names
	kind, list := v.gvk, v.gvk
	kind.Kind, list.Kind = names.Kind, names.ListKind
	one, many, status := modelName(kind), modelName(list), metaPackage+"Status"
	base := "/apis/" + v.gvk.Group + "/" + v.gvk.Version + "/"
	root, id := base+names.Plural, names.Kind
	var out []endpoint
	if v.namespaced() {
		out = append(out, endpoint{path: root, method: "get", action: "list", verb: "list", id: names.Kind + "ForAllNamespaces", gives: many})
		root, id = base+"namespaces/{namespace}/"+names.Plural, "Namespaced"+names.Kind
	}
	add := func(o endpoint) {
		o.path, o.id = root+o.path, id+o.id
		out = append(out, o)
	}
	add(endpoint{method: "get", action: "list", verb: "list", gives: many})
	add(endpoint{method: "post", action: "post", verb: "create", gives: one, takes: one, codes: []string{"201", "202"}})
	add(endpoint{method: "delete", action: "deletecollection", verb: "deletecollection", gives: status})
	add(endpoint{path: "/{name}", method: "get", action: "get", verb: "read", gives: one})
	add(endpoint{path: "/{name}", method: "put", action: "put", verb: "replace", gives: one, takes: one, codes: []string{"201"}})
	add(endpoint{path: "/{name}", method: "delete", action: "delete", verb: "delete", gives: status, takes: metaPackage + "DeleteOptions", codes: []string{"202"}})
	add(endpoint{path: "/{name}", method: "patch", action: "patch", verb: "patch", gives: one, takes: metaPackage + "Patch"})
	subresource := func(name, end, model string) {
		o := endpoint{path: "/{name}/" + name, id: end, sub: name, gives: model}
		for method, verb := range map[string]string{"get": "read", "put": "replace", "patch": "patch"} {
			o.method, o.action, o.verb, o.takes, o.codes = method, method, verb, "", nil
			switch method {
			case "put":
				o.takes, o.codes = model, []string{"201"}
			case "patch":
				o.takes = metaPackage + "Patch"
			}
			add(o)
		}
	}
	if v.hasStatus() {
		subresource("status", "Status", one)
	}
	if v.scale() != nil {
		subresource("scale", "Scale", scaleModel)
	}
	return out
}

const scaleModel = "io.k8s.api.autoscaling.v1.Scale"

// paths describes the operations, path by path.
func (v *version) paths(p publication) object {
	out := object{}
	for _, o := range v.operations() {
		item, _ := out[o.path].(object)
		if item == nil {
			item = object{"parameters": v.pathParameters(o.path, p)}
			out[o.path] = item
		}
		described := v.describe(o, p)
		if o.id == v.crd.Spec.Names.Kind+"ForAllNamespaces" {
			// The path has this method alone, so its parameters are the path's.
			all := append(described["parameters"].([]object), item["parameters"].([]object)...)
			slices.SortFunc(all, func(a, b object) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
			item["parameters"] = all
			delete(described, "parameters")
		}
		item[o.method] = described
	}
	return out
}

func (v *version) describe(o endpoint, p publication) object {
	group := strings.TrimSuffix(v.gvk.Group, ".k8s.io")
	verb, rest := o.verb, o.id
	if verb == "deletecollection" {
		verb, rest = "delete", "Collection"+rest
	}
	action := o.action
	if action == "deletecollection" {
		action = "list"
	}
	if action == "put" {
		action = "post"
	}
	out := object{
		"description": v.description(o), "tags": []string{identifier(group, false) + "_" + identifier(v.gvk.Version, false)},
		"operationId":         verb + identifier(group, true) + identifier(v.gvk.Version, true) + identifier(rest, true),
		"x-kubernetes-action": o.action, "x-kubernetes-group-version-kind": object{"group": v.gvk.Group, "version": v.gvk.Version, "kind": v.crd.Spec.Names.Kind},
	}
	parameters := p.parameters(models().Parameters[action], "query")
	responses := object{"401": object{"description": "Unauthorized"}}
	for _, code := range append([]string{"200"}, o.codes...) {
		responses[code] = p.body(object{"description": codeTexts[code]}, o.gives, objectMedia)
	}
	out["responses"] = responses
	takes := objectMedia
	if o.method == "patch" {
		takes = patchMedia
	}
	switch required := o.method != "delete"; {
	case p.v2:
		out["consumes"], out["produces"], out["schemes"] = takes, objectMedia, []string{"https"}
		if o.takes != "" {
			body := object{"name": "body", "in": "body", "schema": p.reference(o.takes)}
			if required {
				body["required"] = true
			}
			parameters = append([]object{body}, parameters...)
		}
	case o.takes != "":
		body := p.body(object{}, o.takes, takes)
		if required {
			body["required"] = true
		}
		out["requestBody"] = body
	}
	out["parameters"] = parameters
	return out
}

var (
	objectMedia = []string{"application/json", "application/yaml"}
	patchMedia  = []string{"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"}
)

// body adds what a request or an answer holds.
func (p publication) body(to object, model string, media []string) object {
	if p.v2 {
		to["schema"] = p.reference(model)
		return to
	}
	content := object{}
	for _, m := range media {
		content[m] = object{"schema": p.reference(model)}
	}
	to["content"] = content
	return to
}

func (p publication) parameters(list []parameter, in string) []object {
	out := []object{}
	for _, x := range list {
		o := object{"name": x.Name, "in": in, "description": x.Description}
		kind := object{"type": x.Type, "uniqueItems": true}
		if p.v2 {
			maps.Copy(o, kind)
		} else {
			o["schema"] = kind
		}
		if in == "path" {
			o["required"] = true
		}
		out = append(out, o)
	}
	return out
}

// pathParameters are those in the path, and what concerns every request.
func (v *version) pathParameters(path string, p publication) []object {
	var out []object
	if strings.HasSuffix(path, "{name}") || strings.Contains(path, "{name}/") {
		out = p.parameters([]parameter{{"name", "string", "name of the " + v.crd.Spec.Names.Kind}}, "path")
	}
	for _, x := range models().Parameters["path"] {
		switch {
		case x.Name != "namespace":
			out = append(out, p.parameters([]parameter{x}, "query")...)
		case strings.Contains(path, "{namespace}"):
			out = append(out, p.parameters([]parameter{x}, "path")...)
		}
	}
	return out
}

// description of an operation in the words of the built-in kinds'.
func (v *version) description(o endpoint) string {
	kind, sub := v.crd.Spec.Names.Kind, ""
	if o.sub != "" {
		sub = " " + o.sub + " of"
	}
	switch o.verb {
	case "list":
		return "list" + sub + " objects of kind " + kind
	case "create", "delete":
		return o.verb + sub + article(kind) + kind
	case "deletecollection":
		return "delete collection of " + kind
	case "patch":
		return "partially update" + sub + " the specified " + kind
	}
	return o.verb + sub + " the specified " + kind
}

func article(noun string) string {
	switch {
	case strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss"):
		return " "
	case strings.ContainsRune("aeiouAEIOU", rune(noun[0])):
		return " an "
	}
	return " a "
}

// identifier makes a name that can stand in an operation's id: camel case without anything but letters and digits.
func identifier(s string, upper bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.IsDigit(r)):
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
