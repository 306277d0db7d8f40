package controllers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

// headStart bounds how long the first controllers begin alone, should what they watch not come.
const headStart = time.Second

// addInTurn adds the controllers that begin first, and has the manager add the others once those know what there is. Without
// leaving the processor to them they would be ready when everybody is.
func addInTurn(env component.Environment, chosen []component.Component) error {
	add := func(first bool) error {
		for _, c := range chosen {
			if c.First != first {
				continue
			}
			if err := c.Add(env); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(true); err != nil {
		return err
	}
	return env.Manager.Add(manager.RunnableFunc(func(ctx context.Context) error {
		awaitFirst(ctx, env.Manager.GetCache())
		if err := add(false); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	}))
}

// awaitFirst waits until there is what the first controllers watch, though not for long.
func awaitFirst(ctx context.Context, informers cache.Informers) {
	ctx, cancel := context.WithTimeout(ctx, headStart)
	defer cancel()
	for _, watched := range []client.Object{&corev1.Namespace{}, &corev1.ServiceAccount{}} {
		if _, err := informers.GetInformer(ctx, watched); err != nil {
			return // the others need not wait for what is late
		}
	}
}
