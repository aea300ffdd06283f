#!/usr/bin/env bash
# Installs the pinned clients into test/clients/.cache and runs them against
# the gateway. A client that can't be installed is a failure: nothing is left
# out in silence. What is installed stays until a pin changes.
#
#   scripts/test-clients.sh             compare with docs/reference/clients.md
#   scripts/test-clients.sh -update     write that page
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../test/clients"

cache=.cache
mkdir -p "$cache"

fail() {
  echo "test-clients: $*" >&2
  exit 1
}

# changed NAME FILE...: whether the files are others than when NAME was stamped.
changed() {
  local stamp=$cache/$1.stamp
  shift
  sums=$(cat "$@" | cksum)
  [ "$(cat "$stamp" 2>/dev/null)" != "$sums" ]
}

install_node() {
  changed node package.json package-lock.json .npmrc || return 0
  echo "test-clients: installing the Node clients (once; about 1 GB)" >&2
  cp package.json package-lock.json .npmrc "$cache/"
  # No scripts: the agents are native programs that come in packages.
  npm ci --prefix "$cache" --ignore-scripts --no-audit --no-fund --loglevel=error >&2 ||
    fail "npm ci failed; the clients of package.json can't be installed"
  echo "$sums" >"$cache/node.stamp"
}

install_python() {
  changed python requirements.txt || return 0
  echo "test-clients: installing the Python clients (once)" >&2
  rm -rf "$cache/venv"
  python3 -m venv "$cache/venv" || fail "python3 -m venv failed"
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r requirements.txt >&2 ||
    fail "pip install failed; the clients of requirements.txt can't be installed"
  echo "$sums" >"$cache/python.stamp"
}

install_node
install_python
# Node looks for packages above the file that imports them.
rm -rf "$cache/drivers"
cp -r drivers "$cache/drivers"
# Four at once, since clients that repeat mostly wait. Without a package's name `go test` also prints what passing tests print.
exec env INTERLOCK_CLIENTS=1 "${GO:-go}" test -count=1 -timeout 10m -parallel 4 -run '^TestBY_12' "$@"
