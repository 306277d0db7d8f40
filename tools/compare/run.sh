#!/usr/bin/env bash
# Builds the genuine etcd, API server, controller manager and scheduler from their Go modules, once, and holds ours against them.
# usage: run.sh BIN
set -euo pipefail
bin=$(cd "$1" && pwd)
repository=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$bin/genuine"
export CGO_ENABLED=0
version=k8s.io/component-base/version
for program in kube-apiserver kube-controller-manager kube-scheduler; do
	if [ ! -x "$bin/genuine/$program" ]; then
		started=$SECONDS
		go -C "$repository/conformance/upstream" build -trimpath -o "$bin/genuine/$program" \
			-ldflags "-s -w -X $version.gitVersion=v1.37.2 -X $version.gitMajor=1 -X $version.gitMinor=37" "k8s.io/kubernetes/cmd/$program"
		echo " ✓ $program ($((SECONDS - started))s)"
	fi
done
if [ ! -x "$bin/genuine/etcd" ]; then
	started=$SECONDS
	go -C "$repository/conformance/upstream" build -trimpath -o "$bin/genuine/etcd" go.etcd.io/etcd/server/v3
	echo " ✓ etcd ($((SECONDS - started))s)"
fi
exec go run "$repository/tools/compare" -bin "$bin" -example "$repository/manifests/examples/nginx.yaml"
