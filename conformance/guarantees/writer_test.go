package guarantees

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// resource is one of the kinds that are written.
type resource struct {
	kind, apiVersion, path string
	// object is the Kind.
	object string
}

const namespace = "guarantees"

var resources = []resource{
	{kind: "configmaps", apiVersion: "v1", object: "ConfigMap", path: "/api/v1/namespaces/" + namespace + "/configmaps"},
	{kind: "secrets", apiVersion: "v1", object: "Secret", path: "/api/v1/namespaces/" + namespace + "/secrets"},
	{kind: "leases", apiVersion: "coordination.k8s.io/v1", object: "Lease", path: "/apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases"},
}

// names is how many objects a kind has at most: few, so that writers meet.
const names = 6

// client writes and reads what chance says.
type client struct {
	t      *testing.T
	server *server
	record *recorder
	chance *rand.Rand
}

// run works until ctx ends. What a crash of the server interrupts is tried no second time.
func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		r := resources[c.chance.IntN(len(resources))]
		name := "o" + strconv.Itoa(c.chance.IntN(names))
		switch n := c.chance.IntN(100); {
		case n < 20:
			c.create(ctx, r, name)
		case n < 50:
			c.patch(ctx, r, name)
		case n < 65:
			c.replace(ctx, r, name)
		case n < 75:
			c.remove(ctx, r, name)
		case n < 88:
			c.get(ctx, r, name)
		default:
			c.list(ctx, r)
		}
	}
}

// write sends a request that makes a state of an object, and records it.
func (c *client) write(ctx context.Context, r resource, name, method, path, contentType string, b body) {
	w := Write{Kind: r.kind, Object: Object{Name: name, Write: c.record.writes.Add(1)}}
	b.Metadata.Labels = labels(w.Object.Write)
	data, err := json.Marshal(b)
	if err != nil {
		c.t.Error(err)
		return
	}
	w.Start = c.record.now()
	code, answer, err := c.server.call(ctx, method, path, contentType, bytes.NewReader(data))
	w.End = c.record.now()
	w.Outcome = outcome(code, err)
	if w.Outcome == Acknowledged {
		if w.Object, err = decode(answer); err != nil {
			c.t.Errorf("%s %s: %v", method, path, err)
		}
	}
	c.complain(method, path, code, answer, err)
	c.record.wrote(w)
}

// outcome tells what is known after an answer.
func outcome(code int, err error) Outcome {
	switch {
	case err != nil || code >= 500:
		return Unknown
	case code >= 400:
		return Refused
	}
	return Acknowledged
}

// complain of a code that none of the requests should get.
func (c *client) complain(method, path string, code int, answer []byte, err error) {
	switch code {
	case 0, http.StatusOK, http.StatusCreated, http.StatusNotFound, http.StatusConflict:
	default:
		if err == nil {
			c.t.Logf("%s %s: %d %s", method, path, code, answer)
		}
	}
}

func (c *client) create(ctx context.Context, r resource, name string) {
	c.write(ctx, r, name, http.MethodPost, r.path, "application/json", body{APIVersion: r.apiVersion, Kind: r.object, Metadata: metadata{Name: name}})
}

func (c *client) patch(ctx context.Context, r resource, name string) {
	c.write(ctx, r, name, http.MethodPatch, r.path+"/"+name, "application/merge-patch+json", body{})
}

// replace is an update of the version that was read.
func (c *client) replace(ctx context.Context, r resource, name string) {
	if o, ok := c.get(ctx, r, name); ok {
		c.write(ctx, r, name, http.MethodPut, r.path+"/"+name, "application/json", body{
			APIVersion: r.apiVersion, Kind: r.object,
			Metadata: metadata{Name: name, UID: o.UID, ResourceVersion: strconv.FormatInt(o.Version, 10)},
		})
	}
}

// remove deletes the incarnation that was read.
func (c *client) remove(ctx context.Context, r resource, name string) {
	o, ok := c.get(ctx, r, name)
	if !ok {
		return
	}
	w := Write{Kind: r.kind, Delete: true, Object: Object{Name: name, UID: o.UID}, Start: c.record.now()}
	path, options := r.path+"/"+name, fmt.Sprintf(`{"preconditions":{"uid":%q}}`, o.UID)
	code, answer, err := c.server.call(ctx, http.MethodDelete, path, "application/json", strings.NewReader(options))
	w.End, w.Outcome = c.record.now(), outcome(code, err)
	c.complain(http.MethodDelete, path, code, answer, err)
	c.record.wrote(w)
}

func (c *client) get(ctx context.Context, r resource, name string) (Object, bool) {
	x := Read{Kind: r.kind, Get: true, Filter: Filter{Name: name}, Start: c.record.now()}
	code, answer, err := c.server.call(ctx, http.MethodGet, r.path+"/"+name, "", nil)
	x.End = c.record.now()
	c.complain(http.MethodGet, name, code, answer, err)
	if err != nil || (code != http.StatusOK && code != http.StatusNotFound) {
		return Object{}, false
	}
	var o Object
	if code == http.StatusOK {
		if o, err = decode(answer); err != nil {
			c.t.Error(err)
			return o, false
		}
		x.Items = []Object{o}
	}
	c.record.read(x)
	return o, code == http.StatusOK
}

func (c *client) list(ctx context.Context, r resource) {
	x := Read{Kind: r.kind, Start: c.record.now()}
	query := ""
	if c.chance.IntN(2) == 0 {
		x.Filter.Color, query = "red", "?labelSelector="+colorLabel+"%3Dred"
	}
	code, answer, err := c.server.call(ctx, http.MethodGet, r.path+query, "", nil)
	x.End = c.record.now()
	c.complain(http.MethodGet, r.path, code, answer, err)
	if err != nil || code != http.StatusOK {
		return
	}
	if x.Items, x.Version, err = decodeList(answer); err != nil {
		c.t.Error(err)
		return
	}
	c.record.read(x)
}

func decodeList(data []byte) (items []Object, version int64, err error) {
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, 0, err
	}
	for _, i := range b.Items {
		o, err := i.object()
		if err != nil {
			return nil, 0, err
		}
		items = append(items, o)
	}
	version, err = strconv.ParseInt(b.Metadata.ResourceVersion, 10, 64)
	return items, version, err
}
