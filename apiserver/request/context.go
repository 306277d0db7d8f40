package request

import (
	"context"
	"maps"
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
	notesKey    struct{}
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

// notes are annotations of the request's audit event.
type notes struct {
	mu   sync.Mutex
	list map[string]string
}

// WithAnnotations makes the context collect annotations for the audit event.
func WithAnnotations(ctx context.Context) context.Context {
	return context.WithValue(ctx, notesKey{}, &notes{list: map[string]string{}})
}

// Annotate adds an annotation to the request's audit event; the first value of a key stays. Without a collecting context it
// does nothing.
func Annotate(ctx context.Context, key, value string) {
	n, _ := ctx.Value(notesKey{}).(*notes)
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.list[key]; !ok {
		n.list[key] = value
	}
}

// Annotations returns what was added.
func Annotations(ctx context.Context) map[string]string {
	n, _ := ctx.Value(notesKey{}).(*notes)
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.list)
}
