#!/usr/bin/env bash
# Starts two fake providers and the gateway with the quickstart configuration,
# and prints requests to try. Ctrl-C stops everything.
#
#   scripts/run.sh            use what is in bin/
#   scripts/run.sh --watch    debug logs; rebuild and restart on a change
#
# LISTEN=host:port moves the gateway; the fake providers stay where the
# configuration says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

config=examples/quickstart/interlock.yaml
listen=${LISTEN:-127.0.0.1:8080}
fakes=(127.0.0.1:8801 127.0.0.1:8802)
logs=.run
export INTERLOCK_DEMO_KEY=${INTERLOCK_DEMO_KEY:-ilk_demo_key_for_this_machine_only}
export INTERLOCK_ADMIN_TOKEN=${INTERLOCK_ADMIN_TOKEN:-admin_token_for_this_machine_only}

watch=
args=(serve --config "$config" --set "server.listen=$listen")
if [ "${1:-}" = --watch ]; then
  watch=1
  args+=(--set telemetry.logLevel=debug)
fi

fail() {
  echo "run: $*" >&2
  exit 1
}

pids=()
gateway=
stop() {
  trap - EXIT INT TERM
  # shellcheck disable=SC2086 # empty before the gateway runs
  kill -TERM "${pids[@]}" $gateway 2>/dev/null || true
  wait || true
}
trap stop EXIT
trap 'exit 0' INT TERM

taken() { (exec 3<>"/dev/tcp/${1%:*}/${1##*:}") 2>/dev/null; }

# answers HOST:PORT PATH: the server says 200. Without curl, which is only
# needed for the requests below.
answers() (
  exec 3<>"/dev/tcp/${1%:*}/${1##*:}"
  printf 'GET %s HTTP/1.0\r\nHost: %s\r\n\r\n' "$2" "$1" >&3
  IFS= read -r -t 2 line <&3 && [[ $line == HTTP/*' 200 '* ]]
) 2>/dev/null

# await PID HOST:PORT PATH NAME: wait up to ten seconds for an answer.
await() {
  for _ in {1..100}; do
    if answers "$2" "$3"; then
      return
    fi
    kill -0 "$1" 2>/dev/null || fail "$4 stopped while starting; its message is above"
    sleep 0.1
  done
  fail "$4 did not answer on $2 within 10 seconds"
}

for address in "${fakes[@]}" "$listen"; do
  if taken "$address"; then
    fail "$address is taken by another program; stop it$([ "$address" = "$listen" ] && echo ', or choose another with LISTEN=127.0.0.1:9080')"
  fi
done

mkdir -p "$logs"
for address in "${fakes[@]}"; do
  bin/fakellm -listen "$address" >"$logs/fakellm-${address##*:}.log" 2>&1 &
  pids+=($!)
done
for i in "${!fakes[@]}"; do
  await "${pids[$i]}" "${fakes[$i]}" /__fake/health "bin/fakellm"
done

start() {
  bin/interlock "${args[@]}" &
  gateway=$!
}
start
await "$gateway" "$listen" /readyz "bin/interlock"

cat <<TEXT

Interlock listens on http://$listen, with fake providers behind it.
Try it from another terminal:

  # OpenAI: plain, then streamed
  curl -i http://$listen/v1/chat/completions -H 'Authorization: Bearer $INTERLOCK_DEMO_KEY' -H 'content-type: application/json' \\
    -d '{"model": "gpt-5.4-nano", "messages": [{"role": "user", "content": "Hello"}]}'
  curl -N http://$listen/v1/chat/completions -H 'Authorization: Bearer $INTERLOCK_DEMO_KEY' -H 'content-type: application/json' \\
    -d '{"model": "gpt-5.4-nano", "stream": true, "messages": [{"role": "user", "content": "Hello"}]}'

  # Anthropic: plain, then streamed
  curl -i http://$listen/v1/messages -H 'x-api-key: $INTERLOCK_DEMO_KEY' -H 'content-type: application/json' \\
    -d '{"model": "claude-haiku-4-5", "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}'
  curl -N http://$listen/v1/messages -H 'x-api-key: $INTERLOCK_DEMO_KEY' -H 'content-type: application/json' \\
    -d '{"model": "claude-haiku-4-5", "max_tokens": 100, "stream": true, "messages": [{"role": "user", "content": "Hello"}]}'

  # Failover: break the first provider, ask again, and look at the x-interlock-* headers
  curl ${fakes[0]}/__fake/rules -d '[{"path": "chat/completions", "action": "status", "status": 503}]'
  # ... and mend it
  curl -X POST ${fakes[0]}/__fake/reset

  # Why did it go there? The last request's decision, attempts and timings
  id=\$(curl -s 'http://$listen/api/v1/audit-events?kind=request&limit=1' -H 'Authorization: Bearer $INTERLOCK_ADMIN_TOKEN' | sed 's/.*"requestId":"\([^"]*\)".*/\1/')
  curl -s http://$listen/api/v1/decisions/\$id -H 'Authorization: Bearer $INTERLOCK_ADMIN_TOKEN'

  # Claude Code
  ANTHROPIC_BASE_URL=http://$listen ANTHROPIC_AUTH_TOKEN=$INTERLOCK_DEMO_KEY claude

Ctrl-C stops everything. The fake providers' logs are in $logs/.

TEXT

if [ -z "$watch" ]; then
  wait -n "${pids[@]}" "$gateway" || fail "a process stopped by itself; its message is above or in $logs/"
  exit 0
fi

touch "$logs/built"
while sleep 1; do
  changed=$(find cmd internal "$config" -newer "$logs/built" \( -name '*.go' -not -name '*_test.go' -o -name '*.yaml' \) -print -quit)
  if [ -n "$changed" ]; then
    touch "$logs/built"
    echo "run: $changed changed, building" >&2
    if make build; then
      kill -TERM "$gateway" 2>/dev/null || true
      wait "$gateway" || true
      start
    fi
  fi
done
