package apiserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/apiserver"
)

// benchServer runs a server, in process, for a benchmark.
func benchServer(b *testing.B) (*apiserver.Server, kubernetes.Interface) {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	s, err := apiserver.New(b.Context(), apiserver.Options{DataDir: b.TempDir(), ServiceAccountKey: key})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	<-s.Ready()
	c, err := kubernetes.NewForConfig(&rest.Config{Host: "https://in-process", Transport: s.RoundTripper(apiserver.Identity{Name: "admin", Groups: []string{"system:masters"}}), QPS: -1})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := c.CoreV1().ServiceAccounts("default").Create(b.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	return s, c
}

func benchPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "bench", "tier": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.k8s.io/pause:3.10", Ports: []corev1.ContainerPort{{ContainerPort: 80}},
			Env:       []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")}}}}},
	}
}

// BenchmarkStart starts a server on an empty store until it is ready, and ends it.
func BenchmarkStart(b *testing.B) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := apiserver.New(b.Context(), apiserver.Options{DataDir: b.TempDir(), ServiceAccountKey: key})
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		<-s.Ready()
		b.StopTimer()
		cancel()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkCreatePod(b *testing.B) {
	_, c := benchServer(b)
	var n atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.CoreV1().Pods("default").Create(b.Context(), benchPod(fmt.Sprintf("p%d", n.Add(1))), metav1.CreateOptions{}); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkGetPod(b *testing.B) {
	server, c := benchServer(b)
	if _, err := c.CoreV1().Pods("default").Create(b.Context(), benchPod("p"), metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		b.Run(accept, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(benchGet(b, server, "/api/v1/namespaces/default/pods/p", accept))
			}
		})
	}
}

// benchGet reads a path to its end and says how many bytes came.
func benchGet(b *testing.B, s *apiserver.Server, path, accept string) int64 {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "https://in-process"+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	resp, err := s.RoundTripper(apiserver.Identity{Name: "admin"}).RoundTrip(r)
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func BenchmarkPatchPodStatus(b *testing.B) {
	_, c := benchServer(b)
	if _, err := c.CoreV1().Pods("default").Create(b.Context(), benchPod("p"), metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		body := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","message":"%d"}]}}`, i)
		if _, err := c.CoreV1().Pods("default").Patch(b.Context(), "p", types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{}, "status"); err != nil {
			b.Error(err)
		}
	}
}

func BenchmarkListPods(b *testing.B) {
	s, c := benchServer(b)
	for i := range 1000 {
		if _, err := c.CoreV1().Pods("default").Create(b.Context(), benchPod(fmt.Sprintf("p%d", i)), metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	for _, accept := range []string{"application/json", "application/vnd.kubernetes.protobuf", "application/json;as=Table;v=v1;g=meta.k8s.io"} {
		b.Run(accept, func(b *testing.B) {
			for b.Loop() {
				b.SetBytes(benchGet(b, s, "/api/v1/pods", accept))
			}
		})
	}
}
