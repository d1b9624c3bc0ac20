#!/usr/bin/env bash
# Feeds mutated traces to every adapter and prints one table.
#
# Usage: crates/nacre-lab/scripts/fuzz.sh [MILLIONS] [FOLDER]     a folder with claude/, codex/, gemini/ and so on full of traces
#
# MILLIONS (10) of inputs for each adapter, then FUZZ_MINUTES (10) each of databases with damaged bytes. Without FOLDER the
# traces of the tests are the seed. FUZZ_SEED (1) makes other inputs, FUZZ_JOBS (1) runs as many at a time, FUZZ_OUT keeps
# the logs and the inputs that broke a bound. Ends with 1 after a panic, a read of more than a second, 200 MB of memory,
# or two reads that differ. The build checks arithmetic for overflow and goes on after a panic.
set -euo pipefail

cd "$(dirname "$0")/../../.."
millions=${1:-10}
traces=${2:-}
seed=${FUZZ_SEED:-1}
jobs=${FUZZ_JOBS:-1}
minutes=${FUZZ_MINUTES:-10}
count=$(awk -v m="$millions" 'BEGIN { printf "%d", m * 1000000 }')

# shellcheck disable=SC2086
${CARGO:-cargo} build --profile fuzz -p nacre-lab --bin nacre-lab \
    --config 'profile.fuzz.inherits="release"' --config 'profile.fuzz.panic="unwind"' \
    --config 'profile.fuzz.lto=false' --config 'profile.fuzz.codegen-units=16' \
    --config 'profile.fuzz.package.nacre-memory.overflow-checks=true' \
    --config 'profile.fuzz.package.nacre-memory.debug-assertions=true'
target=${CARGO_TARGET_DIR:-$PWD/target}/fuzz

memory=/dev/shm
[[ -w $memory ]] || memory=${TMPDIR:-/tmp}
scratch=$(mktemp -d "$memory/nacre-fuzz.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
out=${FUZZ_OUT:-$scratch}
mkdir -p "$out"
folders=(crates/nacre/tests/fixtures/traces)
[[ -z $traces ]] || folders+=("$traces")

# Runs one fuzzer with its own scratch folder: NAME FUZZER ARGUMENTS...
fuzz() {
    local name=$1 status=0
    shift
    mkdir -p "$scratch/$name"
    "$target/nacre-lab" fuzz "$@" > "$out/$name.log" 2>&1 || status=$?
    # What ends without a row was ended by a signal; its last input is still there.
    grep -q '^ROW' "$out/$name.log" || echo "ROW $name ended with status $status FAILED" >> "$out/$name.log"
    if ((status)) && [[ $out != "$scratch" ]]; then
        cp -r "$scratch/$name" "$out/"
    fi
    rm -rf "${scratch:?}/$name"
}

runs=(
    "claude-lines traces claude $seed $count"
    "codex-lines traces codex $seed $count"
    "generic-lines traces generic $seed $count"
    "cursor-values databases values cursor $seed $count"
    "cursor-lines traces cursor $seed $((count / 5))"
    "opencode-values databases values opencode $seed $count"
)
for agent in gemini qwen copilot pi droid cline continue aider; do
    runs+=("$agent-lines traces $agent $seed $((count / 5))")
done
if ((minutes)); then
    runs+=(
        "cursor-files databases files cursor $seed $((minutes * 60))s"
        "opencode-files databases files opencode $seed $((minutes * 60))s"
    )
fi
for run in "${runs[@]}"; do
    read -r name arguments <<< "$run"
    while (($(jobs -rp | wc -l) >= jobs)); do
        wait -n || true
    done
    # The words of a run are its arguments.
    # shellcheck disable=SC2086
    fuzz "$name" $arguments "$scratch/$name" "${folders[@]}" &
done
wait

failed=0
printf '%-16s %10s %8s %7s %11s %6s %5s %6s %8s %5s\n' \
    fuzzer inputs per_s seconds events panics slow unlike slowest MB
for run in "${runs[@]}"; do
    name=${run%% *}
    row=$(grep '^ROW' "$out/$name.log")
    echo "${row#ROW }"
    if [[ $row == *FAILED ]]; then
        failed=1
        # What a signal ended has no such lines.
        sed -nE '/^(PANIC|SLOW|UNLIKE|  kept)|panics at|overflow/ s/^/    /p' "$out/$name.log" | sed '20q'
    fi
done
if ((failed)); then
    echo "fuzz: FAILED; `nacre-lab fuzz ... --replay` makes an input again"
    exit 1
fi
echo "fuzz: ok"
