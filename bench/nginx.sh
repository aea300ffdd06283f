#!/usr/bin/env bash
# Puts nginx at bench/bin/nginx: that of the system, else the program out of
# the Debian package, without installing it and its service. Fails with one
# line that says why there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p bin
cd bin

fail() {
  echo "nginx.sh: no nginx: $*" >&2
  exit 1
}

works() { [ -x nginx ] && ./nginx -v >/dev/null 2>&1; }

if works; then exit 0; fi
if installed=$(command -v nginx); then
  ln -sf "$installed" nginx
  exit 0
fi
command -v apt-get >/dev/null || fail "it is not installed, and there is no apt to get it from"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
get() { (cd "$tmp" && apt-get download -qq nginx >/dev/null 2>&1); }
if ! get; then
  # A machine without package lists; only root may fetch them.
  apt-get update -qq >/dev/null 2>&1 || true
  get || fail "apt has no package nginx, or can't be reached"
fi
dpkg-deb -x "$tmp"/nginx_*.deb "$tmp/files"
cp "$tmp/files/usr/sbin/nginx" nginx
works || fail "the packaged program does not run here ($(./nginx -v 2>&1 | head -n 1))"
