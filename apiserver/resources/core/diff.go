package core

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/diff"
)

// internalDiff shows a difference with types named as upstream's own, unversioned ones.
func internalDiff(was, now any) string {
	return strings.ReplaceAll(diff.Diff(was, now), "v1.", "core.")
}
