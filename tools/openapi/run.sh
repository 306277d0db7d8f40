#!/usr/bin/env bash
# Makes the embedded OpenAPI documents and the roles that every cluster begins with anew, from those of a genuine API server that is
# started for the purpose.
# usage: run.sh BIN
set -euo pipefail
bin=$(cd "$1" && pwd)
repository=$(cd "$(dirname "$0")/../.." && pwd)
"$repository/tools/setup/genuine.sh" "$bin"
work=$(mktemp -d)
pids=()
finish() {
	# Nothing is to be kept, and without its etcd the server would take minutes to stop.
	for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
client=$(port) peer=$(port) secure=$(port)
cd "$work"
openssl genrsa -out sa.key 2048 2>/dev/null
openssl rsa -in sa.key -pubout -out sa.pub 2>/dev/null
echo 'token,admin,admin,system:masters' >tokens.csv
"$bin/genuine/etcd" --data-dir etcd --unsafe-no-fsync --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
	--listen-peer-urls "http://127.0.0.1:$peer" >etcd.log 2>&1 &
pids+=($!)
"$bin/genuine/kube-apiserver" --etcd-servers "http://127.0.0.1:$client" --secure-port "$secure" --bind-address 127.0.0.1 --advertise-address 127.0.0.1 \
	--endpoint-reconciler-type=none --cert-dir certs --token-auth-file tokens.csv --authorization-mode RBAC --service-account-issuer https://kubernetes.default.svc \
	--service-account-key-file sa.pub --service-account-signing-key-file sa.key --service-cluster-ip-range 10.96.0.0/16 >apiserver.log 2>&1 &
pids+=($!)
fetch() { curl -sfk -H 'Authorization: Bearer token' "https://127.0.0.1:$secure$1" "${@:2}"; }
for _ in $(seq 300); do
	if [ "$(fetch /readyz || true)" = ok ]; then break; fi
	sleep 0.2
done
mkdir spec
for path in $(fetch /openapi/v3 | python3 -c 'import json, sys; print("\n".join(json.load(sys.stdin)["paths"]))'); do
	fetch "/openapi/v3/$path" >"spec/${path//\//__}_openapi.json"
done
fetch /openapi/v2 >spec/v2.json
# What the documents of custom resources have in common shows in that of any definition.
fetch /apis/apiextensions.k8s.io/v1/customresourcedefinitions -o /dev/null -X POST -H 'Content-Type: application/json' -d '{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "models.kogge.example.com"},
	"spec": {"group": "kogge.example.com", "scope": "Namespaced", "names": {"plural": "models", "kind": "Model"}, "versions": [{
		"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		"subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}}]}}'
for _ in $(seq 100); do
	if fetch /openapi/v3/apis/kogge.example.com/v1 >spec/definition.json; then break; fi
	sleep 0.2
done
for resource in clusterroles clusterrolebindings roles rolebindings; do
	fetch "/apis/rbac.authorization.k8s.io/v1/$resource" >"spec/$resource.json"
done
cd "$repository"
go run ./tools/openapi -spec "$work/spec" -out apiserver/openapi -models apiserver/crd/models.json -policy apiserver/authz/rbac/policy.json
