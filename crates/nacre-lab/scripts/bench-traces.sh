#!/usr/bin/env bash
# Measures the intake of traces: cold parsing, and a sync in which nothing changed.
#
# Usage: crates/nacre-lab/scripts/bench-traces.sh [FOLDER]     a folder with claude/ and codex/, each full of traces
#
# Without FOLDER (or BENCH_TRACES) traces of the same shape are made. Parsing passes at 3 times the speed of
# Python's json.loads and twice that of `jq -c .` on the same files, with at most 150 MB of memory; the sync
# when it takes at most twice as long as `find` over the same 10,000 traces. Ends with 1 otherwise.
set -euo pipefail

cd "$(dirname "$0")/../../.."
traces=${1:-${BENCH_TRACES:-}}
n_traces=10000
max_ratio=2.0
for tool in python3 jq; do
    command -v "$tool" > /dev/null || { echo "bench: $tool is required to compare with" >&2; exit 2; }
done

cargo build --release -p nacre -p nacre-lab --bin nacre --bin nacre-lab
target=${CARGO_TARGET_DIR:-$PWD/target}/release

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

if [[ -z $traces ]]; then
    traces=$work/traces
    "$target/nacre-lab" traces make speed "$traces" 64
fi
"$target/nacre-lab" bench parse "claude=$traces/claude" "codex=$traces/codex" || failed=1

# A home in which everything was read before.
export HOME=$work/home NO_COLOR=1
root=$HOME/.claude/projects
mkdir -p "$root"
"$target/nacre-lab" traces make many "$root" "$n_traces"
cd "$work"
"$target/nacre" sync --no-extract > /dev/null

# Median seconds of a command.
measure() {
    if command -v hyperfine > /dev/null; then
        hyperfine -N --warmup 3 --min-runs 25 --style none --export-json "$work/times" "$(printf '%q ' "$@")" > /dev/null 2>&1
        sed -n 's/.*"median": *\([0-9.e-]*\).*/\1/p' "$work/times"
    else
        local runs=25 from to
        for _ in $(seq "$runs"); do
            from=$EPOCHREALTIME
            "$@" > /dev/null 2>&1
            to=$EPOCHREALTIME
            echo "$from $to"
        done | awk '{ printf "%.6f\n", $2 - $1 }' | sort -n | sed -n "$(((runs + 1) / 2))p"
    fi
}

find_time=$(measure find "$root" -printf '%s %T@\n')
sync_time=$(measure "$target/nacre" sync --no-extract)
verdict=$(awk -v t="$sync_time" -v base="$find_time" -v max="$max_ratio" 'BEGIN {
    if (t <= 0 || base <= 0) { print "not measured FAIL"; exit }
    printf "%8.2f ms  %6.2f  %s", t * 1000, t / base, (t / base > max) ? "FAIL" : "ok"
}')
echo "$n_traces traces that did not change; allowed ratio $max_ratio"
awk -v t="$find_time" 'BEGIN { printf "%-36s %8.2f ms\n", "find -printf size, time", t * 1000 }'
printf '%-36s %s\n' "nacre sync --no-extract" "$verdict"
[[ $verdict != *FAIL ]] || failed=1

if ((failed)); then
    echo "bench-traces: FAILED: slower than allowed"
    exit 1
fi
echo "bench-traces: ok"
