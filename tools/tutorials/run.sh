#!/usr/bin/env bash
# Runs the suites of kubebuilder's three tutorials, on the genuine binaries and on ours, in the place of which envtest finds them.
# Kubebuilder makes the projects itself, from its Go module; that takes minutes and a module proxy.
# usage: run.sh BIN, where BIN has kogge, kubectl and genuine/
set -euo pipefail
bin=$(cd "$1" && pwd)
version=v4.16.0
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export CGO_ENABLED=0

echo "kubebuilder $version"
module=$(cd "$work" && go mod download -json "sigs.k8s.io/kubebuilder/v4@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$module" "$work/kubebuilder"
chmod -R u+w "$work/kubebuilder"
cd "$work/kubebuilder"
go build -o "$work/bin/kubebuilder" .
sed -i "s|/tmp/kubebuilder/bin/kubebuilder|$work/bin/kubebuilder|" hack/docs/generate_samples.go
go run ./hack/docs/generate_samples.go >"$work/generate.log" 2>&1 || { tail -n 20 "$work/generate.log"; exit 1; }

mkdir -p "$work/genuine"
ln -s "$bin/genuine/etcd" "$bin/genuine/kube-apiserver" "$bin/kubectl" "$work/genuine/"
"$bin/kogge" envtest assets "$work/ours" >/dev/null

failed=0
for tutorial in getting-started cronjob-tutorial multiversion-tutorial; do
	for package in internal/controller internal/webhook/v1; do
		folder=docs/book/src/$tutorial/testdata/project/$package
		[ -d "$folder" ] || continue
		go -C "$folder" test -c -o "$work/bin/suite.test" .
		for side in genuine ours; do
			started=$EPOCHREALTIME
			(cd "$folder" && KUBEBUILDER_ASSETS="$work/$side" timeout 300 "$work/bin/suite.test" -ginkgo.no-color >"$work/suite.log" 2>&1) || { failed=1; grep -F '[FAIL]' "$work/suite.log" || tail -n 20 "$work/suite.log"; }
			awk -v what="$tutorial $package $side" -v from="$started" -v to="$EPOCHREALTIME" -F ' -- ' \
				'/ Passed \| / { result = $2 } END { printf "%-60s %5.1f s  %s\n", what, to - from, result }' "$work/suite.log"
		done
	done
done
exit $failed
