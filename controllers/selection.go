package controllers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

// selected reads upstream's --controllers syntax: "*" switches all on that aren't off by default, "name" one on
// and "-name" one off, whatever the order; nil means "*". A name that isn't known is an
// error, since a typing error would otherwise switch off what one relies on.
func selected(from []component.Component, enabled []string) ([]component.Component, error) {
	if enabled == nil {
		enabled = []string{"*"}
	}
	known := func(name string) bool {
		return slices.ContainsFunc(from, func(c component.Component) bool { return c.Name == name })
	}
	for _, name := range enabled {
		if name != "*" && !known(strings.TrimPrefix(name, "-")) {
			return nil, fmt.Errorf("%q is not in the list of known controllers", strings.TrimPrefix(name, "-"))
		}
	}
	var chosen []component.Component
	for _, c := range from {
		switch {
		case slices.Contains(enabled, "-"+c.Name):
		case slices.Contains(enabled, c.Name), slices.Contains(enabled, "*") && !c.Off:
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

// Check says whether a list of controllers, in the syntax of upstream's --controllers, names one that there isn't.
func Check(enabled []string) error {
	_, err := selected(all, enabled)
	return err
}

// Enabled says whether a controller runs by such a list.
func Enabled(enabled []string, name string) bool {
	chosen, err := selected(all, enabled)
	return err == nil && slices.ContainsFunc(chosen, func(c component.Component) bool { return c.Name == name })
}
