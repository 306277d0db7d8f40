package faults

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestSelects(t *testing.T) {
	t.Parallel()
	r := Request{User: "system:node:a", UserAgent: "kubelet/v1", Verb: "update", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "n", Name: "web-1", Path: "/apis/apps/v1/x?watch=1"}
	for _, c := range []struct {
		name string
		m    Match
		want bool
	}{
		{"all", Match{}, true},
		{"user", Match{User: "system:node:*"}, true},
		{"another user", Match{User: "system:node:b"}, false},
		{"agent", Match{UserAgent: "kubelet*"}, true},
		{"verbs", Match{Verbs: []string{"get", "update"}}, true},
		{"other verbs", Match{Verbs: []string{"get"}}, false},
		{"resource without its subresource", Match{Resources: []string{"deployments"}}, false},
		{"resource and subresource", Match{Resources: []string{"pods", "deployments/status"}}, true},
		{"with the group", Match{Resources: []string{"deployments.apps/*"}}, true},
		{"another group", Match{Resources: []string{"deployments.extensions/*"}}, false},
		{"any resource", Match{Resources: []string{"*"}}, true},
		{"namespace", Match{Namespace: "m"}, false},
		{"name", Match{Name: "*-1"}, true},
		{"name in parts", Match{Name: "w*b*1"}, true},
		{"parts in another order", Match{Name: "w*1*b"}, false},
		{"path", Match{Path: "*watch=1*"}, true},
		{"webhooks", Match{Webhook: "*"}, false},
	} {
		if got := c.m.Selects(&r); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	hook := Request{Webhook: "127.0.0.1:1/mutate"}
	if (&Match{}).Selects(&hook) || !(&Match{Webhook: "*/mutate"}).Selects(&hook) {
		t.Error("calls to webhooks are meant if and only if the match says so")
	}
}

func TestShareAndCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ percent, count, want int }{{0, 0, 200}, {100, 0, 200}, {25, 0, 50}, {1, 0, 2}, {99, 0, 198}, {0, 7, 7}, {50, 10, 10}} {
		i := &Injection{fault: Fault{Percent: c.percent, Count: c.count}}
		got := 0
		for range 200 {
			if i.concerns(&Request{}) {
				got++
			}
		}
		if got != c.want || i.Hits() != c.want {
			t.Errorf("%d %% and %d: %d of 200, told as %d", c.percent, c.count, got, i.Hits())
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		verb string
		is   func(error) bool
	}{
		{Conflict(), "update", apierrors.IsConflict}, {Conflict(), "create", apierrors.IsAlreadyExists},
		{TooManyRequests(3), "get", func(err error) bool {
			s, ok := apierrors.SuggestsClientDelay(err)
			return ok && s == 3 && apierrors.IsTooManyRequests(err)
		}},
		{Internal(), "get", apierrors.IsInternalError}, {Unavailable(), "get", apierrors.IsServiceUnavailable}, {Timeout(), "get", apierrors.IsTimeout},
		{Code(404), "get", apierrors.IsNotFound}, {apierrors.NewGone("own"), "get", apierrors.IsGone},
	} {
		if got := errorOf(c.err, &Request{Verb: c.verb, Resource: "pods", Name: "p"}); !c.is(got) {
			t.Errorf("%v for %s: %v", c.err, c.verb, got)
		}
	}
}
