#!/usr/bin/env bash
# Holds our control plane against the genuine one, which is built from its Go modules if need be.
# usage: run.sh BIN
set -euo pipefail
bin=$(cd "$1" && pwd)
repository=$(cd "$(dirname "$0")/../.." && pwd)
"$repository/tools/setup/genuine.sh" "$bin"
exec go run "$repository/tools/compare" -bin "$bin" -example "$repository/manifests/examples/nginx.yaml"
