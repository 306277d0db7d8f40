package handlers

import (
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestConnectOptions(t *testing.T) {
	t.Parallel()
	o := &corev1.PodLogOptions{}
	q, err := url.ParseQuery("container=c&follow=true&previous=0&tailLines=5&sinceTime=2026-01-02T03:04:05Z&timestamps")
	if err != nil {
		t.Fatal(err)
	}
	if err := connectOptions(q, o); err != nil {
		t.Fatal(err)
	}
	if o.Container != "c" || !o.Follow || o.Previous || *o.TailLines != 5 || o.SinceTime.Year() != 2026 || !o.Timestamps {
		t.Errorf("%+v", o)
	}
	e := &corev1.PodExecOptions{}
	if err := connectOptions(url.Values{"command": {"a", "b"}, "stdin": {"true"}, "tty": {"false"}}, e); err != nil {
		t.Fatal(err)
	}
	if len(e.Command) != 2 || !e.Stdin || e.TTY {
		t.Errorf("%+v", e)
	}
	if err := connectOptions(url.Values{"tailLines": {"x"}}, o); err == nil {
		t.Error("a number that is none was accepted")
	}
}
