#!/usr/bin/env bash
# Measures Interlock beside the floor proxy and prints Markdown tables.
#
#   bench/run.sh                              # five rounds of everything
#   ROUNDS=1 DURATION=1s bench/run.sh         # a quick look
#   TARGETS=direct,floor bench/run.sh         # without Interlock
#   SCENARIOS="c16 10 KB" bench/run.sh        # comma-separated names
#
# The target has core 0 for itself; the provider, the load and this script
# share core 1. So what a target costs does not depend on what the others take.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rounds=${ROUNDS:-5}
duration=${DURATION:-3s}
targets=${TARGETS:-direct,floor,interlock}
scenarios=${SCENARIOS:-}
results=${RESULTS:-bench/bin/results.jsonl}

command -v taskset >/dev/null || { echo "run.sh: taskset (util-linux) is needed to pin the target to a core" >&2; exit 1; }
if [ "$(nproc --all)" -lt 2 ]; then
  echo "run.sh: two cores are needed, one for the target and one for the load" >&2
  exit 1
fi

# Interlock runs in a folder of its own, so that its data is neither a
# developer's nor left from an earlier round.
mkdir -p bench/bin .run/bench
go build -o bench/bin/ ./bench/cmd/...
(cd bench/floor && go build -o ../bin/floor .)
case ",$targets," in
*,interlock,*) go build -o bench/bin/interlock ./cmd/interlock ;;
esac

# A results file is appended to; numbers of an older build must not mix in.
rm -f "$results"
status=0
taskset -c 1 bench/bin/compare -suite bench/suite.json -o "$results" \
  -rounds "$rounds" -duration "$duration" -targets "$targets" -scenarios "$scenarios" || status=$?

# A target that failed leaves the others worth reading.
baseline=
case ",$targets," in
*,floor,*) baseline=floor ;;
esac
if [ -s "$results" ]; then
  bench/bin/compare -report "$results" -baseline "$baseline"
fi
exit "$status"
