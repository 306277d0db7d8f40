package netns_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/kogge-dev/kogge/internal/netns"
)

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("network namespaces need root: run the tests as root")
	}
}

func loopbackUp() error {
	link, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

func newNamespace(t *testing.T) netns.Namespace {
	t.Helper()
	requireRoot(t)
	path := filepath.Join(t.TempDir(), "netns")
	namespace, err := netns.Create(path, loopbackUp)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := netns.Remove(path); err != nil {
			t.Error(err)
		}
	})
	return namespace
}

// Of each thread of this process the namespace that it is in. Threads may end meanwhile.
func threadNamespaces(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	namespaces := map[string]string{}
	for _, entry := range entries {
		link, err := os.Readlink(filepath.Join("/proc/self/task", entry.Name(), "ns/net"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		namespaces[entry.Name()] = link
	}
	return namespaces
}

// Not parallel: it looks at all threads of the process, and other tests keep some of them away from home.
func TestThousandDialsLeaveEveryThreadAtHome(t *testing.T) {
	namespace := newNamespace(t)
	home, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	listener, err := namespace.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := connection.Write([]byte("k")); err != nil {
				t.Error(err)
			}
			connection.Close()
		}
	}()

	const dials = 1000
	var group sync.WaitGroup
	failures := make(chan error, dials)
	for range dials {
		group.Go(func() {
			connection, err := namespace.DialContext(ctx, "tcp", listener.Addr().String())
			if err != nil {
				failures <- err
				return
			}
			defer connection.Close()
			if got, err := io.ReadAll(connection); err != nil || string(got) != "k" {
				failures <- fmt.Errorf("read %q: %w", got, err)
			}
		})
	}
	group.Wait()
	close(failures)
	for err := range failures {
		t.Error(err)
	}
	for thread, link := range threadNamespaces(t) {
		if link != home {
			t.Errorf("thread %s is in %s, home is %s", thread, link, home)
		}
	}
}

func TestInsideIsElsewhere(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	listener, err := namespace.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var names []string
	err = namespace.Do(func() error {
		links, err := netlink.LinkList()
		for _, link := range links {
			names = append(names, link.Attrs().Name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name == "eth0" {
			t.Errorf("an interface of the host is visible inside: %v", names)
		}
	}
	second := newNamespace(t)
	if connection, err := second.DialContext(t.Context(), "tcp", listener.Addr().String()); err == nil {
		connection.Close()
		t.Error("a listener in one namespace was reached from another")
	}
}

func TestNamesAreRefused(t *testing.T) {
	t.Parallel()
	namespace := netns.Open("/does/not/matter")
	if _, err := namespace.DialContext(t.Context(), "tcp", "localhost:80"); err == nil {
		t.Error("dialled a name")
	}
	if _, err := namespace.Listen(t.Context(), "tcp", ":80"); err == nil {
		t.Error("listened without an address")
	}
}

func TestErrorsComeBack(t *testing.T) {
	t.Parallel()
	want := errors.New("from inside")
	if err := newNamespace(t).Do(func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if err := netns.Open(filepath.Join(t.TempDir(), "none")).Do(func() error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that the file does not exist", err)
	}
}

func TestCreateLeavesNothingWhenSetupFails(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	path := filepath.Join(t.TempDir(), "netns")
	want := errors.New("no link")
	if _, err := netns.Create(path, func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", path, err)
	}
	if err := netns.Remove(path); err != nil {
		t.Errorf("removing nothing: %v", err)
	}
}
