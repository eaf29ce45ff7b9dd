#!/usr/bin/env bash
# Starts, stops or lists a worker on each host of a list, with plain SSH.
#
#   NATS_PASSWORD=... workers.sh start tls://queue.example.org worker hosts.txt
#   workers.sh status hosts.txt
#   workers.sh stop hosts.txt
#
# hosts.txt has one SSH destination per line. Each host needs the program in ~/bin/outflank and, for a
# server with its own certificate authority, ~/outflank-ca.pem.
set -euo pipefail

usage() {
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

# Runs a script on every host, with the same standard input.
on_every_host() {
  local hosts="$1" script="$2" input host
  input="$(cat)"
  while read -r host; do
    [ -z "$host" ] && continue
    printf '%s: ' "$host"
    printf '%s\n' "$input" | ssh -o BatchMode=yes "$host" "$script" || echo "failed"
  done < "$hosts"
}

case "${1:-}" in
  start)
    [ $# -eq 4 ] || usage
    # The password travels on standard input: arguments are visible to all users of a host.
    printf '%s' "${NATS_PASSWORD:-}" | on_every_host "$4" "
      read -r NATS_PASSWORD || true
      [ -n \"\$NATS_PASSWORD\" ] && export NATS_PASSWORD NATS_USER=$(printf '%q' "$3")
      [ -f ~/outflank-ca.pem ] && export NATS_CA=~/outflank-ca.pem
      mkdir -p ~/.cache/outflank
      nohup nice ~/bin/outflank worker --quiet --on $(printf '%q' "$2") \
        --cache ~/.cache/outflank/models < /dev/null > ~/.cache/outflank/worker.log 2>&1 &
      echo \$! > ~/.cache/outflank/worker.pid
      echo started"
    ;;
  stop)
    [ $# -eq 2 ] || usage
    # shellcheck disable=SC2016  # expands on the host
    on_every_host "$2" 'kill "$(cat ~/.cache/outflank/worker.pid)" && echo stopped' < /dev/null
    ;;
  status)
    [ $# -eq 2 ] || usage
    # shellcheck disable=SC2016  # expands on the host
    on_every_host "$2" 'kill -0 "$(cat ~/.cache/outflank/worker.pid)" && echo running' < /dev/null
    ;;
  *) usage ;;
esac
