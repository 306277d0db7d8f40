#!/usr/bin/env bash
# Builds the genuine etcd, API server, controller manager and scheduler from their Go modules into BIN/genuine, each once.
# usage: genuine.sh BIN
set -euo pipefail
bin=$(cd "$1" && pwd)
repository=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$bin/genuine"
export CGO_ENABLED=0
version=k8s.io/component-base/version
for package in k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler} go.etcd.io/etcd/server/v3; do
	program=$(basename "${package/go.etcd.io\/etcd\/server\/v3/etcd}")
	if [ -x "$bin/genuine/$program" ]; then
		continue
	fi
	started=$SECONDS
	go -C "$repository/conformance/upstream" build -trimpath -o "$bin/genuine/$program" \
		-ldflags "-s -w -X $version.gitVersion=v1.37.2 -X $version.gitMajor=1 -X $version.gitMinor=37" "$package"
	echo " ✓ $program ($((SECONDS - started))s)"
done
