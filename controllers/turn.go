package controllers

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

// headStart bounds how long the first controllers begin alone, should what they watch not come.
const headStart = time.Second

// addInTurn adds the controllers. Those that don't begin first wait until the first know what there is: without the processor for
// themselves, these would be ready when everybody is.
func addInTurn(env component.Environment, chosen []component.Component) error {
	turn := make(chan struct{})
	waiting := env
	waiting.Manager = turnstile{Manager: env.Manager, turn: turn}
	for _, c := range chosen {
		with := waiting
		if c.First != nil {
			with = env
		}
		if err := c.Add(with); err != nil {
			return err
		}
	}
	return env.Manager.Add(manager.RunnableFunc(func(ctx context.Context) error {
		defer close(turn)
		awaitFirst(ctx, env.Manager.GetCache(), chosen)
		return nil
	}))
}

// awaitFirst waits until there is what the first controllers watch, though not for long.
func awaitFirst(ctx context.Context, informers cache.Informers, chosen []component.Component) {
	ctx, cancel := context.WithTimeout(ctx, headStart)
	defer cancel()
	for _, c := range chosen {
		for _, watched := range c.First {
			if _, err := informers.GetInformer(ctx, watched); err != nil {
				return // the others need not wait for what is late
			}
		}
	}
}

// turnstile is a manager that starts what is added when its turn has come. A manager itself must not be added to once it runs: while it
// stops, both would wait for each other.
type turnstile struct {
	manager.Manager
	turn <-chan struct{}
}

// Add adds what waits for its turn.
func (t turnstile) Add(r manager.Runnable) error {
	return t.Manager.Add(manager.RunnableFunc(func(ctx context.Context) error {
		select {
		case <-t.turn:
			return r.Start(ctx)
		case <-ctx.Done():
			return nil
		}
	}))
}
