package storage

import (
	"context"
	"errors"

	"k8s.io/apiserver/pkg/storage/value"
)

var errFailed = errors.New("the value can't be read")

// failing is a transformer that reads nothing.
type failing struct{ value.Transformer }

func (failing) TransformFromStorage(context.Context, []byte, value.Context) ([]byte, bool, error) {
	return nil, false, errFailed
}

// fail makes all reads fail, or succeed again.
func (w *world) fail(fails bool) {
	now := *w.form.transformer.Load()
	f, is := now.(failing)
	switch {
	case fails && !is:
		w.form.set(failing{now})
	case !fails && is:
		w.form.set(f.Transformer)
	}
}
