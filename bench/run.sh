#!/usr/bin/env bash
# Measures Interlock beside the floor proxy and nginx, judges it by the
# performance bar, and writes bench/results/DATE.json and the table of
# docs/explanation/performance.md. See bench/README.md.
#
#   bench/run.sh                              # five rounds of everything: about 20 minutes
#   QUICK=1 bench/run.sh                      # two rounds of two seconds; the page stays as it is
#   PROFILE=1 bench/run.sh                    # keeps CPU profiles; the page stays as it is
#   SCENARIOS="c16 10 KB" bench/run.sh        # comma-separated names; likewise TARGETS
#
# The target has core 0 for itself; the provider, the load and this script
# share core 1. So what a target costs does not depend on what the others take.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -n "${QUICK:-}" ]; then
  set -- -rounds 2 -duration 2s -warmup 500ms
fi
rounds=${ROUNDS:-} duration=${DURATION:-} targets=${TARGETS:-} scenarios=${SCENARIOS:-} profile=${PROFILE:-}
set -- "$@" ${rounds:+-rounds "$rounds"} ${duration:+-duration "$duration"} -targets "$targets" -scenarios "$scenarios"

# Only the whole measurement speaks for the project.
publish=
if [ -z "${QUICK:-}$rounds$duration$targets$scenarios$profile" ]; then publish=1; fi

command -v taskset >/dev/null || { echo "run.sh: taskset (util-linux) is needed to pin the target to a core" >&2; exit 1; }
if [ "$(nproc --all)" -lt 2 ]; then
  echo "run.sh: two cores are needed, one for the target and one for the load" >&2
  exit 1
fi

# Interlock runs in a folder of its own, so that its data is neither a
# developer's nor left from an earlier round.
bin=bench/bin work=.run/bench records=bench/bin/results.jsonl
mkdir -p "$bin" "$work/nginx"
server=./cmd/interlock
if [ -n "$profile" ]; then
  server=./bench/cmd/profiled
  rm -rf "$bin/profiles"
  mkdir "$bin/profiles"
  set -- "$@" -profile "$PWD/$bin/profiles"
fi
go build -o "$bin/" ./bench/cmd/...
go build -o "$bin/interlock" "$server"
go build -C bench/floor -o ../bin/floor .
for n in 100 10 495 10000; do
  name=routes-$n
  case $n in 100) name=routes ;; 495) name=routes-1000 ;; esac # with ten providers, 1,000 resources
  "$bin/genconf" -routes "$n" -dir "$work" -name "$name"
done
cp bench/nginx.conf "$work/nginx/"
nginx=
if bench/nginx.sh; then
  nginx=$("$bin/nginx" -v 2>&1)
  nginx=${nginx##*: }
else
  echo "run.sh: nginx is left out" >&2
  set -- "$@" -without nginx
fi

commit=$(git rev-parse --short=10 HEAD)
git diff --quiet HEAD -- cmd internal go.mod bench/floor || commit="$commit with changes"

# A records file is appended to; those of an older build must not mix in.
rm -f "$records"
status=0
taskset -c 1 "$bin/compare" -suite bench/suite.json -o "$records" "$@" || status=$?

# A target that failed leaves the others worth reading.
[ -s "$records" ] || exit "$status"
"$bin/compare" -report "$records"
out=$bin/quick.json page=
if [ -n "$publish" ] && [ "$status" -eq 0 ]; then
  mkdir -p bench/results
  out=bench/results/$(date +%F).json page=docs/explanation/performance.md
fi
printf '\n### the bar\n\n'
"$bin/publish" -in "$records" -json "$out" -page "$page" -commit "$commit" -nginx "${nginx/\// }" \
  -command "make bench${QUICK:+ QUICK=1}${profile:+ PROFILE=1}"
printf '\nAll figures are in %s.\n' "$out"
if [ -n "$profile" ]; then
  printf 'Profiles are in %s/profiles: go tool pprof -top %s/interlock FILE\n' "$bin" "$bin"
fi
exit "$status"
