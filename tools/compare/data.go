package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/apiserver"
	"github.com/kogge-dev/kogge/apiserver/resources"
	"github.com/kogge-dev/kogge/cluster"
	"github.com/kogge-dev/kogge/cluster/pki"
)

// compareData starts each API server on the other's data and compares what both list.
func compareData(ctx context.Context, g *genuineSide, o *ours, report func(string, []string)) error {
	// Nothing may write any more, so that both sides show one state.
	g.stopNodes()
	g.stopNodes = nil
	g.End("kube-controller-manager", "kube-scheduler")
	genuines, err := lists(ctx, g.Config())
	if err != nil {
		return err
	}
	g.End("kube-apiserver")
	if err := onGenuineData(ctx, g, genuines, report); err != nil {
		return err
	}
	g.End("etcd")

	o.stopNodes()
	o.stopNodes = nil
	own, err := lists(ctx, o.cluster.RESTConfig())
	if err != nil {
		return err
	}
	o.stop()
	if err := g.StartEtcd(ctx, filepath.Join(o.dir, "etcd"), "kogge"); err != nil {
		return fmt.Errorf("genuine etcd on our data: %w", err)
	}
	if err := g.StartServer(ctx); err != nil {
		return fmt.Errorf("genuine API server on our data: %w", err)
	}
	return check(ctx, "the genuine API server lists our", g.Config(), own, report)
}

// onGenuineData starts our server on the genuine etcd.
func onGenuineData(ctx context.Context, g *genuineSide, want map[string]map[string]any, report func(string, []string)) error {
	key, err := pki.NewServiceAccountKey()
	if err != nil {
		return err
	}
	s, err := apiserver.New(ctx, apiserver.Options{EtcdServers: []string{g.EtcdURL()}, ServiceAccountKey: key, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("our API server on genuine data: %w", err)
	}
	run, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Run(run) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			fmt.Println("   our API server ended with:", err)
		}
	}()
	select {
	case <-s.Ready():
	case <-ctx.Done():
		return ctx.Err()
	}
	config := cluster.InProcess(s.RoundTripper(apiserver.Identity{Name: "admin", Groups: []string{"system:masters"}}))
	return check(ctx, "our API server lists the genuine", config, want, report)
}

// lists gives every object that we serve, by path.
func lists(ctx context.Context, config *rest.Config) (map[string]map[string]any, error) {
	c, err := client(config)
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]any{}
	for _, r := range resources.All() {
		if !r.Stored() {
			continue // nothing that the other could read
		}
		path := "/apis/" + r.Group + "/" + r.Version + "/" + r.Plural
		if r.Group == "" {
			path = "/api/" + r.Version + "/" + r.Plural
		}
		objects, err := list(ctx, c, config.Host+path)
		if err != nil {
			return nil, err
		}
		out[path] = objects
	}
	return out, nil
}

// list gives the objects of one list by namespace and name.
func list(ctx context.Context, c *http.Client, url string) (map[string]any, error) {
	b, err := get(ctx, c, url)
	if err != nil {
		return nil, err
	}
	var l struct{ Items []map[string]any }
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, o := range l.Items {
		meta := o["metadata"].(map[string]any)
		out[fmt.Sprint(meta["namespace"], "/", meta["name"])] = o
	}
	return out, nil
}

// check compares what a server lists with what the other listed. What a server adds for itself is its own business.
func check(ctx context.Context, what string, config *rest.Config, want map[string]map[string]any, report func(string, []string)) error {
	got, err := lists(ctx, config)
	if err != nil {
		return err
	}
	for path, objects := range want {
		var differences []string
		for name, object := range objects {
			if strings.HasPrefix(name, "kube-system/apiserver-") {
				continue // a genuine server's lease on itself ends with it
			}
			switch other, ok := got[path][name]; {
			case !ok:
				differences = append(differences, "   missing: "+name)
			case !reflect.DeepEqual(object, other):
				a, _ := json.Marshal(object) // it was decoded from JSON
				b, _ := json.Marshal(other)
				differences = append(differences, fmt.Sprintf("   %s\n     - %s\n     + %s", name, a, b))
			}
		}
		report(fmt.Sprintf("%s %d objects of %s", what, len(objects), path), differences)
	}
	return nil
}
