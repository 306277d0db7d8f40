package discovery

import "k8s.io/apimachinery/pkg/version"

// compareVersions orders API versions: v2 before v1 before v1beta1.
func compareVersions(a, b string) int { return version.CompareKubeAwareVersionStrings(a, b) }
