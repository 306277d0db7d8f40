//go:build tools

package kubectl136

import _ "k8s.io/kubernetes/cmd/kubectl"
