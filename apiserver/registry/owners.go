package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// dedupOwners drops owner references that stand twice and warns of them; when says at which moment.
func dedupOwners(ctx context.Context, obj resource.Object, when string) {
	var kept []metav1.OwnerReference
	var twice []string
	for _, ref := range obj.GetOwnerReferences() {
		same := func(o metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(o, ref) }
		if slices.ContainsFunc(kept, same) {
			twice = append(twice, string(ref.UID))
			continue
		}
		kept = append(kept, ref)
	}
	if len(twice) == 0 {
		return
	}
	if when != "" {
		when += " happens"
	}
	request.Warn(ctx, fmt.Sprintf(".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %s",
		when, strings.Join(twice, ", ")))
	obj.SetOwnerReferences(kept)
}
