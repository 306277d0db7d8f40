#!/usr/bin/env bash
# Installs the Debian packages that nodes need from the host, if any is missing. None of them starts a service.
# usage: packages.sh
set -euo pipefail

# command → package that brings it
declare -A package_of=(
	[runc]=runc [ip]=iproute2 [nft]=nftables [conntrack]=conntrack [nsenter]=util-linux [mount]=mount [curl]=curl
)
missing=()
for command in "${!package_of[@]}"; do
	PATH="$PATH:/usr/sbin:/sbin" command -v "$command" >/dev/null || missing+=("${package_of[$command]}")
done
if [ ${#missing[@]} -eq 0 ]; then
	exit 0
fi

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	echo "missing on this machine: ${missing[*]}" >&2
	echo "install them with your package manager, or run this as root on Debian" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
install=(apt-get install -y -qq --no-install-recommends "${missing[@]}")
"${install[@]}" >/dev/null 2>&1 || { apt-get update -qq >/dev/null && "${install[@]}" >/dev/null; }
echo "installed ${missing[*]}"
