#!/usr/bin/env bash
# Builds the official suite's e2e.test, the ginkgo that runs it, and its image's agnhost into BIN/suite, each once.
# usage: suite.sh BIN
set -euo pipefail
bin=$(cd "$1" && pwd)
repository=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$bin/suite"
export CGO_ENABLED=0
version=k8s.io/component-base/version
flags="-s -w -X $version.gitVersion=v1.37.2 -X $version.gitMajor=1 -X $version.gitMinor=37"

# step PROGRAM COMMAND...: runs the go command, which is given where to write, unless the program is there.
step() {
	local program=$1 started=$SECONDS
	shift
	if [ -x "$bin/suite/$program" ]; then
		return
	fi
	go -C "$repository/conformance/upstream" "${@:1:1}" -trimpath -o "$bin/suite/$program" "${@:2}"
	echo " ✓ $program ($((SECONDS - started))s)"
}

step e2e.test test -ldflags "$flags" -c k8s.io/kubernetes/test/e2e
step ginkgo build github.com/onsi/ginkgo/v2/ginkgo
step agnhost build -ldflags "$flags" k8s.io/kubernetes/test/images/agnhost
