package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
)

// document is as much of an OpenAPI document of either version as is looked at.
type document struct {
	Components *components                `json:"components,omitempty"` // version 3
	Info       json.RawMessage            `json:"info"`
	OpenAPI    string                     `json:"openapi,omitempty"` // version 3
	Swagger    string                     `json:"swagger,omitempty"` // version 2
	Paths      map[string]json.RawMessage `json:"paths"`

	// Version 2:
	Definitions         map[string]json.RawMessage `json:"definitions,omitempty"`
	Parameters          map[string]json.RawMessage `json:"parameters,omitempty"`
	SecurityDefinitions json.RawMessage            `json:"securityDefinitions,omitempty"`
	Security            json.RawMessage            `json:"security,omitempty"`
}

type components struct {
	Schemas         map[string]json.RawMessage `json:"schemas,omitempty"`
	SecuritySchemes json.RawMessage            `json:"securitySchemes,omitempty"`
}

func read(file string) (*document, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d := &document{}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// keep drops paths of what is not served.
func (d *document) keep(served func(path string) bool) {
	for path := range d.Paths {
		if !served(path) {
			delete(d.Paths, path)
		}
	}
}

var reference = regexp.MustCompile(`#/(?:components/schemas|definitions)/([A-Za-z0-9._-]+)`)

// prune gives the schemas that a path needs, directly or through others.
func (d *document) prune(schemas map[string]json.RawMessage) map[string]json.RawMessage {
	needed := map[string]json.RawMessage{}
	var need func(b []byte)
	need = func(b []byte) {
		for _, m := range reference.FindAllSubmatch(b, -1) {
			name := string(m[1])
			if needed[name] == nil {
				needed[name] = schemas[name]
				need(schemas[name])
			}
		}
	}
	for _, p := range d.Paths {
		need(p)
	}
	return needed
}
