package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// collection is where the custom resource's document has its objects.
const collection = "/apis/kogge.example.com/v1/namespaces/{namespace}/models"

// models is what documents of custom resources have in common.
type models struct {
	Schemas    map[string]json.RawMessage  `json:"schemas"`
	Parameters map[string][]modelParameter `json:"parameters"`
}

type modelParameter struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
}

// operations is as much of a path's item as is looked at.
type operations struct {
	Parameters               []parameter `json:"parameters"`
	Get, Post, Patch, Delete struct {
		Parameters []parameter `json:"parameters"`
	}
}

type parameter struct {
	Name, Description string
	Schema            struct{ Type string }
}

// writeModels takes the schemas that are not the custom resource's own, and each action's parameters.
func writeModels(document, out string) error {
	d, err := read(document)
	if err != nil {
		return err
	}
	var many, one operations
	for path, to := range map[string]*operations{collection: &many, collection + "/{name}": &one} {
		if d.Paths[path] == nil {
			return fmt.Errorf("%s has no path %s", document, path)
		}
		if err := json.Unmarshal(d.Paths[path], to); err != nil {
			return err
		}
	}
	m := models{Schemas: map[string]json.RawMessage{}, Parameters: map[string][]modelParameter{
		"list": shown(many.Get.Parameters), "post": shown(many.Post.Parameters), "get": shown(one.Get.Parameters),
		"patch": shown(one.Patch.Parameters), "delete": shown(one.Delete.Parameters), "path": shown(many.Parameters),
	}}
	for name, s := range d.Components.Schemas {
		if strings.HasPrefix(name, "io.k8s.") {
			m.Schemas[name] = s
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(b, '\n'), 0o644)
}

func shown(ps []parameter) []modelParameter {
	out := make([]modelParameter, 0, len(ps))
	for _, p := range ps {
		out = append(out, modelParameter{p.Name, p.Schema.Type, p.Description})
	}
	return out
}
