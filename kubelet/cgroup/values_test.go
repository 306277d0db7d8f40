package cgroup

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestPodValues(t *testing.T) {
	t.Parallel()
	container := func(requests, limits string) v1.Container {
		c := v1.Container{}
		if requests != "" {
			c.Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(requests), v1.ResourceMemory: resource.MustParse("64Mi")}
		}
		if limits != "" {
			c.Resources.Limits = v1.ResourceList{v1.ResourceCPU: resource.MustParse(limits), v1.ResourceMemory: resource.MustParse("128Mi")}
		}
		return c
	}
	for _, test := range []struct {
		name       string
		containers []v1.Container
		want       Values
	}{
		{"best effort", []v1.Container{container("", "")}, Values{Shares: 2}},
		{"requests", []v1.Container{container("500m", "")}, Values{Shares: 512}},
		{"limits", []v1.Container{container("500m", "1"), container("500m", "1")}, Values{Shares: 1024, Quota: 200000, Memory: 256 << 20}},
		{"one without a limit", []v1.Container{container("500m", "1"), container("500m", "")}, Values{Shares: 1024}},
	} {
		if got := PodValues(&v1.Pod{Spec: v1.PodSpec{Containers: test.containers}}); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestWeight(t *testing.T) {
	t.Parallel()
	for shares, want := range map[int64]int64{2: 1, 1024: 39, 262144: 10000} {
		if got := weight(shares); got != want {
			t.Errorf("%d shares: weight %d, want %d", shares, got, want)
		}
	}
}
