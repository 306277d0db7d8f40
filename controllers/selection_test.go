package controllers

import (
	"slices"
	"testing"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

func TestSelected(t *testing.T) {
	t.Parallel()
	from := []component.Component{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for name, c := range map[string]struct {
		enabled []string
		want    []string
		fails   bool
	}{
		"nil is all":             {nil, []string{"a", "b", "c"}, false},
		"star is all":            {[]string{"*"}, []string{"a", "b", "c"}, false},
		"one":                    {[]string{"b"}, []string{"b"}, false},
		"all but one":            {[]string{"*", "-b"}, []string{"a", "c"}, false},
		"off wins in any order":  {[]string{"-b", "*", "b"}, []string{"a", "c"}, false},
		"empty is none":          {[]string{}, nil, false},
		"unknown is refused":     {[]string{"*", "d"}, nil, true},
		"unknown off is refused": {[]string{"*", "-d"}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chosen, err := selected(from, c.enabled)
			if (err != nil) != c.fails {
				t.Fatalf("error is %v", err)
			}
			var got []string
			for _, component := range chosen {
				got = append(got, component.Name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestEnabled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		enabled []string
		want    bool
	}{{nil, true}, {[]string{"*"}, true}, {[]string{}, false}, {[]string{"*", "-job-controller"}, false}, {[]string{"namespace-controller"}, false}} {
		if got := Enabled(c.enabled, "job-controller"); got != c.want {
			t.Errorf("%q: %t", c.enabled, got)
		}
	}
}
