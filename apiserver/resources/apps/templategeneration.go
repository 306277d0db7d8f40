package apps

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// templateGenerationOf reads the annotation; one that is no number counts as none.
func templateGenerationOf(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[templateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func setTemplateGeneration(d *appsv1.DaemonSet, n int64) {
	annotations := maps.Clone(d.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[templateGeneration] = strconv.FormatInt(n, 10)
	d.Annotations = annotations
}
