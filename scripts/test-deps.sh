#!/usr/bin/env bash
# Makes sure that the programs which `make test` needs besides Go are there.
# Missing ones are installed with apt where that is possible; elsewhere the
# script says what to install.
set -euo pipefail

missing=()

# need WHY PACKAGES CHECK...: notes the Debian packages when the check fails.
need() {
  local why=$1 packages=$2
  shift 2
  if ! "$@" >/dev/null 2>&1; then
    echo "test-deps: $why needs $packages" >&2
    # shellcheck disable=SC2206 # several packages in one word
    missing+=($packages)
  fi
}

compiles_c() { echo '#include <stdlib.h>' | gcc -x c -fsyntax-only -; }

browser() { [ -n "${CHROMIUM:-}" ] || [ -x /usr/bin/chromium ] || [ -x /usr/bin/chromium-browser ] || [ -x /usr/bin/google-chrome ]; }

# The list. Add a program in the change whose tests first use it.
need "the race detector" "gcc libc6-dev" compiles_c
need "the console and make test-clients" "npm" npm --version
need "the console's tests in a browser" "chromium" browser
need "make test-clients" "python3-venv" python3 -c 'import ensurepip, venv'

if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

root=()
if [ "$(id -u)" -ne 0 ]; then
  root=(sudo -n)
fi
if ! command -v apt-get >/dev/null || ! "${root[@]}" true 2>/dev/null; then
  echo "test-deps: can't install them here; install them, then try again" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get update -qq >&2
"${root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
