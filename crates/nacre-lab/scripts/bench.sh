#!/usr/bin/env bash
# Measures the commands that read a whole store against ripgrep over the same files.
#
# Usage: crates/nacre-lab/scripts/bench.sh [N]     N memories, 10000 unless said otherwise
#
# A command passes when it takes at most 3 times as long as `rg --files` and `rg -c` together, and
# `nacre --version` when it takes less than 3 times as long as `/bin/true`. Ends with 1 otherwise.
# Needs ripgrep; uses hyperfine where it is installed, and a loop of its own where it is not.
set -euo pipefail

cd "$(dirname "$0")/../../.."
n_memories=${1:-10000}
max_ratio=3.0

command -v rg > /dev/null || { echo "bench: ripgrep (rg) is required to compare with" >&2; exit 2; }

cargo build --release -p nacre -p nacre-lab --bin nacre --bin nacre-lab
target=${CARGO_TARGET_DIR:-$PWD/target}/release
nacre=$target/nacre

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home NO_COLOR=1
mkdir -p "$HOME" "$work/repo/.git"
cd "$work/repo"
"$nacre" init --quiet
"$target/nacre-lab" torture corpus "$work/repo" "$n_memories"
store=$work/repo/.nacre

# Median seconds of a command; its output goes nowhere, and neither does its exit code.
measure() {
    if command -v hyperfine > /dev/null; then
        hyperfine -N -i --warmup 3 --min-runs 15 --style none --export-json "$work/times" "$(printf '%q ' "$@")" \
            > /dev/null 2>&1
        sed -n 's/.*"median": *\([0-9.e-]*\).*/\1/p' "$work/times"
    else
        local runs=21 from to
        for _ in $(seq "$runs"); do
            from=$EPOCHREALTIME
            "$@" > /dev/null 2>&1 || true
            to=$EPOCHREALTIME
            echo "$from $to"
        done | awk '{ printf "%.6f\n", $2 - $1 }' | sort -n | sed -n "$(((runs + 1) / 2))p"
    fi
}

failed=0
row() { # name, seconds, seconds of the baseline
    local verdict
    verdict=$(awk -v t="$2" -v base="$3" -v max="$max_ratio" \
        'BEGIN {
            if (t <= 0 || base <= 0) { print "not measured FAIL"; exit }
            printf "%8.2f ms  %6.2f  %s", t * 1000, t / base, (t / base > max) ? "FAIL" : "ok"
        }')
    printf '%-36s %s\n' "$1" "$verdict"
    [[ $verdict != *FAIL ]] || failed=1
}
plain_row() {
    awk -v name="$1" -v t="$2" 'BEGIN { printf "%-36s %8.2f ms\n", name, t * 1000 }'
}
sum() { awk -v a="$1" -v b="$2" 'BEGIN { print a + b }'; }

n_files=$(rg --files --no-ignore --hidden "$store/memory" | wc -l)
echo "$n_files memory files, $(du -sh --apparent-size "$store/memory" | cut -f1); allowed ratio $max_ratio"
printf '%-36s %11s  %6s\n' command median ratio

files=$(measure rg --files "$store/memory")
words=$(measure rg -c the "$store/memory")
base=$(sum "$files" "$words")
plain_row "rg --files memory" "$files"
plain_row "rg -c the memory" "$words"
row "nacre memory list --limit 0" "$(measure "$nacre" memory list --limit 0)" "$base"
row "nacre memory search sqlite queue" "$(measure "$nacre" memory search sqlite queue)" "$base"
row "nacre brief" "$(measure "$nacre" brief)" "$base"
row "nacre brief --task TEXT" "$(measure "$nacre" brief --task "move the queue")" "$base"

# The check reads the evidence too.
files=$(measure rg --files "$store/memory" "$store/meta/evidence")
words=$(measure rg -c the "$store/memory" "$store/meta/evidence")
plain_row "rg --files memory evidence" "$files"
plain_row "rg -c the memory evidence" "$words"
row "nacre doctor" "$(measure "$nacre" doctor)" "$(sum "$files" "$words")"

true_time=$(measure /bin/true)
plain_row "/bin/true" "$true_time"
row "nacre --version" "$(measure "$nacre" --version)" "$true_time"

if ((failed)); then
    echo "bench: FAILED: slower than allowed"
    exit 1
fi
echo "bench: ok"
