package request

import (
	"context"
	"sync"
)

// User is who asks.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

type (
	infoKey     struct{}
	userKey     struct{}
	warningsKey struct{}
)

// WithInfo puts the info into the context.
func WithInfo(ctx context.Context, i *Info) context.Context {
	return context.WithValue(ctx, infoKey{}, i)
}

// InfoFrom returns the info, or nil.
func InfoFrom(ctx context.Context) *Info {
	i, _ := ctx.Value(infoKey{}).(*Info)
	return i
}

// WithUser puts the user into the context.
func WithUser(ctx context.Context, u *User) context.Context {
	return context.WithValue(ctx, userKey{}, u)
}

// UserFrom returns the user, or nil.
func UserFrom(ctx context.Context) *User {
	u, _ := ctx.Value(userKey{}).(*User)
	return u
}

// warnings to be sent in Warning headers (RFC 7234, code 299), in the order of their adding, each once.
type warnings struct {
	mu   sync.Mutex
	list []string
	seen map[string]bool
}

// WithWarnings makes the context collect warnings.
func WithWarnings(ctx context.Context) context.Context {
	return context.WithValue(ctx, warningsKey{}, &warnings{seen: map[string]bool{}})
}

// Warn adds a warning to the answer. Without a collecting context it does nothing.
func Warn(ctx context.Context, text string) {
	w, _ := ctx.Value(warningsKey{}).(*warnings)
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seen[text] {
		w.seen[text] = true
		w.list = append(w.list, text)
	}
}

// Warnings returns what was added.
func Warnings(ctx context.Context) []string {
	w, _ := ctx.Value(warningsKey{}).(*warnings)
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.list...)
}
