#!/usr/bin/env bash
# Builds the binaries that others wrote from their Go modules into BIN, each once. Later runs do nothing and need
# no network.
# usage: binaries.sh BIN
set -euo pipefail

containerd_version=v2.4.2
plugins_version=v1.10.0
kubernetes_version=v1.37.2
previous_kubectl_version=v1.36.3

bin=$(mkdir -p "$1" && cd "$1" && pwd)
repository=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$bin/cni" "$bin/.built"
export CGO_ENABLED=0

# step NAME COMMAND...: runs the command unless NAME was built before, and says how long it took.
step() {
	local name=$1 started=$SECONDS
	shift
	if [ -e "$bin/.built/$name" ]; then
		return
	fi
	[ ! -t 1 ] || printf ' • %s …\r' "$name"
	if ! "$@" >"$bin/.built/$name.log" 2>&1; then
		printf ' ✗ %s\n' "$name"
		tail -n 20 "$bin/.built/$name.log" >&2
		exit 1
	fi
	mv "$bin/.built/$name.log" "$bin/.built/$name"
	printf ' ✓ %s (%ds)\n' "$name" $((SECONDS - started))
}

containerd() {
	local module=github.com/containerd/containerd/v2
	# Nodes use the overlayfs snapshotter alone: leaving the others out makes containerd start faster.
	GOBIN=$bin go install -trimpath -tags 'no_aufs no_btrfs no_devmapper no_zfs no_blockfile no_erofs' \
		-ldflags "-s -w -X $module/version.Version=${containerd_version#v}" \
		$module/cmd/{containerd,containerd-shim-runc-v2,ctr}@$containerd_version
}

plugins() {
	local module=github.com/containernetworking/plugins
	GOBIN=$bin/cni go install -trimpath -ldflags '-s -w' \
		$module/plugins/main/{ptp,loopback,bridge}@$plugins_version \
		$module/plugins/ipam/host-local@$plugins_version \
		$module/plugins/meta/portmap@$plugins_version
}

# kubectl MODULE VERSION PROGRAM
kubectl() {
	local version=k8s.io/component-base/version minor=${2#v1.}
	go -C "$repository/conformance/$1" build -trimpath -o "$bin/$3" \
		-ldflags "-s -w -X $version.gitVersion=$2 -X $version.gitMajor=1 -X $version.gitMinor=${minor%%.*}" \
		k8s.io/kubernetes/cmd/kubectl
}

step "containerd-$containerd_version" containerd
step "cni-plugins-$plugins_version" plugins
step "kubectl-$kubernetes_version" kubectl upstream "$kubernetes_version" kubectl
step "kubectl-$previous_kubectl_version" kubectl kubectl136 "$previous_kubectl_version" kubectl-1.36
