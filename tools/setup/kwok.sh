#!/usr/bin/env bash
# Builds kwok from its Go module into BIN/genuine, once, with the stages that it usually plays.
# usage: kwok.sh BIN
set -euo pipefail
bin=$(cd "$1" && pwd)
if [ -x "$bin/genuine/kwok" ]; then
	exit 0
fi
started=$SECONDS
mkdir -p "$bin/genuine"
export CGO_ENABLED=0
version=v0.8.0
# The lives of nodes and pods that kwok is started with where nobody asks for others.
stages=$(go mod download -json "sigs.k8s.io/kwok@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')/kustomize/stage
for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-{ready,complete,delete}; do
	echo ---
	cat "$stages/$stage.yaml"
done >"$bin/genuine/kwok-stages.yaml"
GOBIN="$bin/genuine" go install -trimpath -ldflags '-s -w' "sigs.k8s.io/kwok/cmd/kwok@$version"
echo " ✓ kwok ($((SECONDS - started))s)"
