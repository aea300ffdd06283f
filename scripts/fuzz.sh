#!/usr/bin/env bash
# Fuzzes every target of the module, one after the other: FUZZTIME each
# (default 10s). An input that fails is left in the package's testdata/fuzz;
# commit it with the fix.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${FUZZTIME:-10s}
found=0
while IFS=: read -r file target; do
  found=$((found + 1))
  echo "fuzz ${file%/*} $target for $time"
  go test "./${file%/*}" -run '^$' -fuzz "^$target\$" -fuzztime "$time"
done < <(grep -rno --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' cmd internal test bench 2>/dev/null |
  sed -E 's/:[0-9]+:func /:/' | sort)
echo "$found fuzz targets ran"
