package apiserver_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver"
)

// stall opens a watch over a connection of its own and reads nothing of it but the beginning of the answer.
func stall(t *testing.T, address, protocol string) net.Conn {
	t.Helper()
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nHost: k\r\nAuthorization: Bearer secret\r\n\r\n")
	begin := make([]byte, 12)
	if _, err := c.Read(begin); err != nil || string(begin) != "HTTP/1.1 200" {
		t.Fatalf("%q, %v", begin, err)
	}
	return c
}

// TestStalledWatchers: whoever watches and does not read holds up neither those who do, nor writers, nor the server's end.
func TestStalledWatchers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte("secret,admin,admin,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, stop := startAt(t, filepath.Join(dir, "data"), func(o *apiserver.Options) {
		o.TokenAuthFile, o.Listeners, o.ServingCertificate = tokens, []net.Listener{listener}, selfSigned(t)
	})
	stopped := false
	defer func() {
		if !stopped {
			stop()
		}
	}()
	maps := client(t, s, "application/json").CoreV1().ConfigMaps("default")
	for range 5 {
		defer stall(t, listener.Addr().String(), "http/1.1").Close()
	}
	w, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	// More than the buffers of a connection hold.
	const count = 40
	c := &corev1.ConfigMap{Data: map[string]string{"x": strings.Repeat("x", 900<<10)}}
	for i := range count {
		c.Name = fmt.Sprint("c", i)
		if _, err := maps.Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range count {
		select {
		case e := <-w.ResultChan():
			if got, ok := e.Object.(*corev1.ConfigMap); !ok || got.Name != fmt.Sprint("c", i) {
				t.Fatalf("told of %v as the %d.", e.Type, i)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("told of %d of %d", i, count)
		}
	}
	ended := make(chan struct{})
	go func() { stop(); close(ended) }()
	stopped = true
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not end")
	}
}
