#!/usr/bin/env bash
# Builds the genuine etcd, API server, controller manager and scheduler, and kwok, from their Go modules into BIN/genuine, each once.
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
if [ ! -x "$bin/genuine/kwok" ]; then
	started=$SECONDS
	kwok=sigs.k8s.io/kwok@v0.8.0
	# The lives of nodes and pods that kwok is started with where nobody asks for others.
	stages=$(go mod download -json "$kwok" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')/kustomize/stage
	for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-{ready,complete,delete}; do
		echo ---
		cat "$stages/$stage.yaml"
	done >"$bin/genuine/kwok-stages.yaml"
	GOBIN="$bin/genuine" go install -trimpath -ldflags '-s -w' "${kwok/@/\/cmd\/kwok@}"
	echo " ✓ kwok ($((SECONDS - started))s)"
fi
