package faults

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fault is what becomes of the requests that it matches.
type Fault struct {
	Match
	// Percent is the share of matching requests that is concerned, evenly spread; 0: all.
	Percent int
	// Count is how many are concerned at most; 0: any number.
	Count int

	// Delay passes, in real time, before anything else happens.
	Delay time.Duration
	// Error is answered: one of the package's, or any that has a Status. Nil: the request goes its way after the delay.
	Error error
	// Drop breaks the connection instead of answering.
	Drop bool
	// Late has Error or Drop happen after the request did its work: its answer is lost.
	Late bool
	// EndAfter bounds how long a watch lasts, in real time; 0: it is not bounded.
	EndAfter time.Duration
}

// Conflict is the 409 of who was not the first: Conflict, or AlreadyExists for a create.
func Conflict() error { return injected{code: http.StatusConflict} }

// TooManyRequests is the 429 with a Retry-After header of so many seconds.
func TooManyRequests(retryAfter int) error {
	return injected{code: http.StatusTooManyRequests, retryAfter: retryAfter}
}

// Internal is the 500.
func Internal() error { return injected{code: http.StatusInternalServerError} }

// Unavailable is the 503.
func Unavailable() error { return injected{code: http.StatusServiceUnavailable} }

// Timeout is the 504.
func Timeout() error { return injected{code: http.StatusGatewayTimeout} }

// Code is any other.
func Code(code int) error { return injected{code: code} }

// injected is an error whose text depends on the request.
type injected struct{ code, retryAfter int }

// Error says what it is.
func (i injected) Error() string { return "injected: " + http.StatusText(i.code) }

// of makes the error that the request is answered with.
func (i injected) of(r *Request) error {
	gr, why := schema.GroupResource{Group: r.Group, Resource: r.Resource}, "injected by the test"
	switch i.code {
	case http.StatusConflict:
		if r.Verb == "create" {
			return apierrors.NewAlreadyExists(gr, r.Name)
		}
		return apierrors.NewConflict(gr, r.Name, errors.New(why))
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests(why, i.retryAfter)
	case http.StatusInternalServerError:
		return apierrors.NewInternalError(errors.New(why))
	case http.StatusServiceUnavailable:
		return apierrors.NewServiceUnavailable(why)
	case http.StatusGatewayTimeout:
		return apierrors.NewTimeoutError(why, 0)
	}
	err := apierrors.NewGenericServerResponse(i.code, r.Verb, gr, r.Name, why, 0, false)
	err.ErrStatus.Status = metav1.StatusFailure
	return err
}

// errorOf is what a request is answered with.
func errorOf(err error, r *Request) error {
	var i injected
	if errors.As(err, &i) {
		return i.of(r)
	}
	return err
}

// Injection is a fault that is in force.
type Injection struct {
	fault Fault
	set   *Set

	matched atomic.Int64
	hits    atomic.Int64
}

// Hits is how many requests it concerned so far.
func (i *Injection) Hits() int { return int(i.hits.Load()) }

// Remove ends the fault. Requests that it holds up go on holding.
func (i *Injection) Remove() { i.set.remove(i) }

// concerns says whether the request is one of those that the fault falls on.
func (i *Injection) concerns(r *Request) bool {
	if !i.fault.Selects(r) {
		return false
	}
	if n := i.matched.Add(1); !due(n, i.fault.Percent) {
		return false
	}
	if n := i.hits.Add(1); i.fault.Count > 0 && n > int64(i.fault.Count) {
		i.hits.Add(-1)
		return false
	}
	return true
}

// due says whether the nth of all requests, from 1, is of the share of percent.
func due(n int64, percent int) bool {
	if percent <= 0 || percent >= 100 {
		return true
	}
	return n*int64(percent)/100 > (n-1)*int64(percent)/100
}
