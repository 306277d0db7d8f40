#!/usr/bin/env bash
# Unpacks the Debian packages that the images are made of into DIR. They are not installed: nothing on the
# machine changes, and no service starts. Where packages can't be fetched, the images take the files of the
# machine itself, if it has them.
# usage: rootfs.sh DIR
set -euo pipefail

dir=$1
packages=(
	busybox-static bash-static
	nginx nginx-common # what nginx-light consists of
	libc6 libcrypt1 libpcre2-8-0 libssl3 zlib1g
)

complete() { # an unpacked tree, or the same files on the machine
	local root=$1
	[ -x "$root/bin/busybox" ] || [ -x "$root/usr/bin/busybox" ] || return 1
	[ -x "$root/bin/bash-static" ] || [ -x "$root/usr/bin/bash-static" ] || return 1
	[ -x "$root/usr/sbin/nginx" ]
}

if complete "$dir"; then
	exit 0
fi
rm -rf "$dir.partial"
mkdir -p "$dir.partial/packages"
cd "$dir.partial/packages"
# As root apt would hand the download to a user that can't write here.
fetch=(apt-get download -qq -o APT::Sandbox::User=root "${packages[@]}")
if ! "${fetch[@]}" >/dev/null 2>&1; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get update -qq >/dev/null || true
	fi
	if ! "${fetch[@]}" >/dev/null; then
		rm -rf "$dir.partial"
		if complete ""; then
			mkdir -p "$dir"
			exit 0
		fi
		echo "can't fetch ${packages[*]}: the images need them (run as root on Debian 12, with its package sources in reach)" >&2
		exit 1
	fi
fi
for file in *.deb; do
	dpkg-deb -x "$file" "$dir.partial"
done
rm -rf "$dir.partial/packages"
rm -rf "$dir"
mv "$dir.partial" "$dir"
