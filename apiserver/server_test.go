package apiserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/apiserver"
)

// start runs a server of the test's own and gives a client into it.
func start(t *testing.T) (*apiserver.Server, kubernetes.Interface) {
	t.Helper()
	s, stop := startAt(t, t.TempDir())
	t.Cleanup(stop)
	return s, client(t, s, "application/vnd.kubernetes.protobuf")
}

// startAt runs a server on a folder until stop is called.
func startAt(t *testing.T, dir string, change ...func(*apiserver.Options)) (s *apiserver.Server, stop func()) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	o := apiserver.Options{DataDir: dir, UnsafeNoFsync: true, ServiceAccountKey: key, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, f := range change {
		f(&o)
	}
	s, err = apiserver.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	select {
	case <-s.Ready():
	case <-time.After(10 * time.Second):
		t.Fatal("not ready")
	}
	return s, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func client(t *testing.T, s *apiserver.Server, contentType string) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(&rest.Config{
		Host: "https://in-process", Transport: s.RoundTripper(apiserver.Identity{Name: "admin", Groups: []string{"system:masters"}}), QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: contentType, AcceptContentTypes: contentType},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestObjectsLive(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			maps := client(t, s, contentType).CoreV1().ConfigMaps("default")
			ctx := t.Context()
			w, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			name := "a" + contentType[len(contentType)-4:]
			made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"x": "1"}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if made.UID == "" || made.ResourceVersion == "" || len(made.ManagedFields) != 1 {
				t.Errorf("created %+v", made.ObjectMeta)
			}
			made.Data["x"] = "2"
			updated, err := maps.Update(ctx, made, metav1.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
				t.Errorf("a stale update: %v", err)
			}
			same, err := maps.Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"x":"2"}}`), metav1.PatchOptions{})
			if err != nil || same.ResourceVersion != updated.ResourceVersion {
				t.Errorf("a patch that changes nothing: %v, version %s after %s", err, same.ResourceVersion, updated.ResourceVersion)
			}
			if err := maps.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := maps.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("after deletion: %v", err)
			}
			var seen []watch.EventType
			for e := range w.ResultChan() {
				if e.Object.(*corev1.ConfigMap).Name != name {
					continue
				}
				seen = append(seen, e.Type)
				if e.Type == watch.Deleted {
					break
				}
			}
			if len(seen) != 3 || seen[0] != watch.Added || seen[1] != watch.Modified || seen[2] != watch.Deleted {
				t.Errorf("the watch saw %v", seen)
			}
		})
	}
}

// TestScale: the scale endpoint, by every verb.
func TestScale(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	if code, _, body := call(t, s, "POST", "/apis/apps/v1/namespaces/default/deployments", "application/json", twoPorts); code != 201 {
		t.Fatal(body)
	}
	const path = "/apis/apps/v1/namespaces/default/deployments/d/scale"
	for i, x := range []struct{ method, kind, body string }{
		{"PUT", "application/json", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":2}}`},
		{"PATCH", "application/merge-patch+json", `{"spec":{"replicas":3}}`},
		{"PATCH", "application/strategic-merge-patch+json", `{"spec":{"replicas":4}}`},
		{"PATCH", "application/json-patch+json", `[{"op":"replace","path":"/spec/replicas","value":5}]`},
		{"PATCH", "application/apply-patch+yaml", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":6}}`},
	} {
		url := path
		if x.kind == "application/apply-patch+yaml" {
			url += "?fieldManager=x&force=true"
		}
		if code, _, body := call(t, s, x.method, url, x.kind, x.body); code != 200 {
			t.Errorf("%s %s: %d %s", x.method, x.kind, code, body)
		}
		sc, err := c.AppsV1().Deployments("default").GetScale(t.Context(), "d", metav1.GetOptions{})
		if err != nil || sc.Spec.Replicas != int32(i+2) || sc.Status.Selector != "a=b" {
			t.Errorf("%s %s: %+v, %v", x.method, x.kind, sc, err)
		}
	}
	if code, _, body := call(t, s, "PUT", path, "application/json", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":-1}}`); code != 422 {
		t.Errorf("a negative number: %d %s", code, body)
	}
}
