#!/usr/bin/env bash
# Sends thousands of requests made from the server's own description (schemathesis) to `nacre serve`; none may be a 500.
#
# usage: tools/fuzz-api.sh [path to the nacre program [examples a route]]
#
# pip installs schemathesis into a temporary directory. Exits with 75 if it cannot be installed. Left out are the stream, the
# protocol that is not JSON by path, what stops the server, and what reaches beyond its home: agents' settings, models, folders.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nacre=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
examples=${2:-160}
[ -x "$nacre" ] || { echo "fuzz-api: program \`$nacre\` not found; run \`cargo build\`" >&2; exit 1; }
nacre=$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")

tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-fuzz.XXXXXX")
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null || true; rm -rf "$tmp"' EXIT
{ python3 -m venv "$tmp/venv" && "$tmp/venv/bin/pip" install -q "schemathesis>=4,<5"; } ||
    { echo "fuzz-api: pip could not install schemathesis" >&2; exit 75; }

mkdir -p "$tmp/home" "$tmp/repo/.git"
export HOME=$tmp/home
cd "$tmp/repo"
"$nacre" init --quiet
for number in 1 2 3 4 5; do
    "$nacre" memory add --quiet "Fact number $number about the queue" --body "It holds $number."
done
"$nacre" serve --port 0 --no-loops --quiet > "$tmp/out" &
server=$!
for _ in $(seq 100); do [ -s "$HOME/.nacre/run/address" ] && break; sleep 0.1; done
address=$(cat "$HOME/.nacre/run/address")

"$tmp/venv/bin/schemathesis" run "http://$address/api/openapi.json" \
    --header "Authorization: Bearer $(cat "$HOME/.nacre/run/token")" \
    --checks not_a_server_error --phases coverage,fuzzing --max-examples "$examples" --continue-on-failure \
    --exclude-path /api/events --exclude-path /mcp --exclude-path /api/service/stop --exclude-path /api/project/add \
    --exclude-path-regex 'models/test|connect'
