package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
)

// profileSeconds is how much of a step is profiled.
const profileSeconds = "5"

// profile takes a profile of the server's processor time from now on, and of its heap after that. The function
// returned waits for both.
func (s side) profile(ctx context.Context, name string) func() {
	if s.profiles == "" {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.takeProfile(ctx, name); err != nil {
			fmt.Fprintln(os.Stderr, "profile:", err)
		}
	}()
	return func() { <-done }
}

func (s side) takeProfile(ctx context.Context, name string) error {
	c, err := kubernetes.NewForConfig(s.config)
	if err != nil {
		return err
	}
	b, err := c.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/profile").Param("seconds", profileSeconds).DoRaw(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.profiles, name+".pprof"), b, 0o644); err != nil {
		return err
	}
	// What lives on the heap, and what was ever allocated there.
	if b, err = c.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/heap").DoRaw(ctx); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.profiles, name+".heap"), b, 0o644)
}
