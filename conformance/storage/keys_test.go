package storage

import (
	"fmt"
	"path"
	"strings"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// resourcePrefix begins every key of the suites.
const resourcePrefix = "/pods/"

// keyPrefix begins every key of pods in etcd.
const keyPrefix = store.Prefix + "pods/"

// storeKey makes the key in etcd of a suite's key. A recursive one means what is below it, and ends with a slash.
func storeKey(key string, recursive bool) (string, error) {
	switch {
	case key == "" || key == "/":
		return "", fmt.Errorf("empty key: %q", key)
	case key == "." || key == ".." || strings.Contains(key, "/../") || path.Clean("/"+key) == "/":
		return "", fmt.Errorf("invalid key: %q", key)
	}
	if recursive && !strings.HasSuffix(key, "/") {
		key += "/"
	}
	if !strings.HasPrefix(key, resourcePrefix) {
		return "", fmt.Errorf("invalid key: %q lacks resource prefix: %q", key, resourcePrefix)
	}
	return store.Prefix + key[1:], nil
}

// suiteKey is the other way round.
func suiteKey(key string) string { return "/" + strings.TrimPrefix(key, store.Prefix) }

// place is what a key says in a request's path: a namespace and a name, either of which may be empty.
type place struct {
	namespace, name string
	named           bool
}

func placeOf(key string, recursive, namespaced bool) place {
	rest := strings.TrimPrefix(key, keyPrefix)
	switch {
	case recursive:
		return place{namespace: strings.TrimSuffix(rest, "/")}
	case !namespaced:
		return place{name: rest, named: true}
	}
	namespace, name, found := strings.Cut(rest, "/")
	if !found {
		return place{name: rest, named: true}
	}
	return place{namespace: namespace, name: name, named: true}
}
