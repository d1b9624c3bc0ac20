#!/usr/bin/env bash
# Tests the dashboard in Chromium against `nacre serve`: homes with data, without data, and with hostile text.
#
# usage: tools/e2e-dashboard.sh [path to the nacre program] [TEXT …]
#
# With TEXT, runs only tests whose names contain one of the texts. To save screenshots of the tabs, set
# NACRE_E2E_PICTURES to a directory. The tests use the pages built into the program. Exits with 75 if npm or Chromium cannot be had.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nacre=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
shift || true
[ -x "$nacre" ] || { echo "e2e-dashboard: program \`$nacre\` not found; run \`make e2e-dashboard\`" >&2; exit 1; }
nacre=$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")
for tool in npm node git; do
    command -v "$tool" > /dev/null || { echo "e2e-dashboard: $tool is required but not installed" >&2; exit 75; }
done

CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
if [ -z "$CHROMIUM" ] && command -v apt-get > /dev/null && [ "$(id -u)" -eq 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -y -qq --no-install-recommends chromium > /dev/null || true
    CHROMIUM=$(command -v chromium || true)
fi
[ -n "$CHROMIUM" ] || { echo "e2e-dashboard: Chromium is required but cannot be installed" >&2; exit 75; }
export CHROMIUM

if [ ! -d "$here/dashboard/node_modules/playwright-core" ]; then
    (cd "$here/dashboard" && timeout 300 npm ci --no-audit --no-fund --loglevel=error) ||
        { echo "e2e-dashboard: npm could not install what the tests need" >&2; exit 75; }
fi

tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-dashboard.XXXXXX")
servers=()
finish() {
    [ "${#servers[@]}" -eq 0 ] || { kill "${servers[@]}" && wait "${servers[@]}"; } 2> /dev/null || true
    rm -rf "$tmp"
}
trap finish EXIT

echo "e2e-dashboard: homes"
makers=()
for kind in full empty hostile; do
    node "$here/dashboard/mock/home.mjs" "$nacre" "$tmp/$kind" "$kind" > /dev/null &
    makers+=($!)
done
for maker in "${makers[@]}"; do wait "$maker"; done

# Becomes the program in a home (so a subshell has to call it), with nothing of the person's own, on the evening of the day that its data ends with: ages and plots
# are the same in every run.
in_home() {
    local home=$tmp/$1/ana
    shift
    cd "$home/tidepool" && exec env -i PATH="$PATH" LANG=C.UTF-8 HOME="$home" XDG_CONFIG_HOME="$home/.config" XDG_DATA_HOME="$home/.local/share" \
        GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 TZ=UTC NACRE_NOW=2026-11-16T18:00:00Z "$nacre" "$@"
}

# The tests control when a sync starts, so the server runs no background jobs.
for kind in full empty hostile; do
    in_home "$kind" serve --port 0 --no-loops > "$tmp/$kind.log" 2>&1 &
    servers+=($!)
done
for kind in full empty hostile; do
    for _ in $(seq 100); do
        (in_home "$kind" serve --check > /dev/null 2>&1) && break
        sleep 0.2
    done
    link=$(in_home "$kind" dashboard --print | grep -o 'http://.*') || { cat "$tmp/$kind.log" >&2; exit 1; }
    export "NACRE_E2E_${kind^^}=$link"
done
export NACRE_E2E_HOMES=$tmp NACRE_E2E_PICTURES=${NACRE_E2E_PICTURES:-$tmp/pictures}

echo "e2e-dashboard: tests"
cd "$here/dashboard" && npm run --silent e2e -- "$@"
