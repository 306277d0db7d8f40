package netns

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// ownNamespace is the file of the calling thread's network namespace. Not /proc/self/ns/net: that is the main
// thread's.
const ownNamespace = "/proc/thread-self/ns/net"

// Namespace names a network namespace by a file: a bind mount of it, or /proc/PID/ns/net.
type Namespace struct {
	path string
}

// Open names the namespace behind path. The file is opened at each use.
func Open(path string) Namespace { return Namespace{path: path} }

// Path is the file that the namespace is named by.
func (n Namespace) Path() string { return n.path }

// Do runs f inside the namespace and returns its error. Only what f does on its own goroutine is inside: a
// goroutine that f starts is not, nor is anything that resolves a name.
func (n Namespace) Do(f func() error) error {
	target, err := os.Open(n.path)
	if err != nil {
		return fmt.Errorf("open network namespace: %w", err)
	}
	defer target.Close()
	return onOwnThread(func() error {
		if err := unix.Setns(int(target.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace %s: %w", n.path, err)
		}
		return f()
	})
}

// Create makes a new, empty network namespace, binds it to path (an existing or new file) and brings its
// loopback interface up by way of setup, which runs inside. The namespace lives until Remove.
func Create(path string, setup func() error) (Namespace, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return Namespace{}, fmt.Errorf("make file for network namespace: %w", err)
	}
	if err := file.Close(); err != nil {
		return Namespace{}, fmt.Errorf("make file for network namespace: %w", err)
	}
	err = onOwnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make network namespace: %w", err)
		}
		if err := unix.Mount(ownNamespace, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("bind network namespace to %s: %w", path, err)
		}
		return setup()
	})
	if err != nil {
		return Namespace{}, errors.Join(err, Remove(path))
	}
	return Open(path), nil
}

// Remove takes the namespace's name away; the namespace itself goes with its last process and socket. It is no
// error when there is nothing to remove.
func Remove(path string) error {
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount network namespace %s: %w", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove network namespace: %w", err)
	}
	return nil
}

// onOwnThread runs f on a goroutine that is locked to its thread, and brings the thread back to the namespace
// that it came from. When that fails the goroutine ends still locked, which ends the thread (see
// runtime.LockOSThread): the error is returned all the same, since f's own outcome is then without meaning.
func onOwnThread(f func() error) error {
	result := make(chan error, 1)
	go func() {
		// A send in a deferred call, so that a caller isn't left waiting when f calls runtime.Goexit.
		err := errors.New("the function inside the network namespace did not return")
		defer func() { result <- err }()

		runtime.LockOSThread()
		home, openErr := os.Open(ownNamespace)
		if openErr != nil {
			runtime.UnlockOSThread()
			err = fmt.Errorf("open own network namespace: %w", openErr)
			return
		}
		defer home.Close()
		inside := f()
		if backErr := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); backErr != nil {
			err = errors.Join(inside, fmt.Errorf("return from network namespace: %w", backErr))
			return
		}
		runtime.UnlockOSThread()
		err = inside
	}()
	return <-result
}
