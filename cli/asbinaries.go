package cli

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

// Run runs the program that the binary is called as. Under the names etcd and kube-apiserver it takes the flags of those, so that it
// stands in for them where programs look for binaries by name, such as below envtest's $KUBEBUILDER_ASSETS; under any other it is kogge.
func Run(arguments []string, output, errorOutput io.Writer) int {
	switch filepath.Base(arguments[0]) {
	case "etcd":
		etcdmain.Main(electedAtOnce(arguments)) // handles signals and exits by itself
		return 0
	case "kube-apiserver":
		return Main(append([]string{"kube-apiserver"}, arguments[1:]...), output, errorOutput)
	}
	return Main(arguments[1:], output, errorOutput)
}

// electedAtOnce adds the flags with which a member of its own leads at once, unless the caller chose others.
func electedAtOnce(arguments []string) []string {
	chosen := func(flag string) bool {
		return slices.ContainsFunc(arguments, func(a string) bool {
			name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
			return strings.HasPrefix(a, "-") && name == flag
		})
	}
	if chosen("heartbeat-interval") || chosen("election-timeout") || chosen("initial-cluster") || chosen("config-file") {
		return arguments
	}
	return append(slices.Clone(arguments), "--heartbeat-interval=20", "--election-timeout=100")
}
