#!/usr/bin/env bash
# Runs Nacre with real agents, against a scripted model on this machine.
#
# usage: tools/e2e-agents.sh [path to the nacre program [part...]]
#
# Two parts, each for Claude Code, Codex and OpenCode: `reader`, where an agent reads a session for Nacre, and `connected`, where
# Nacre is connected to an agent, which searches and records with it, and meets every fault of it. A part with an agent, such as
# `connected:codex`, runs alone.
#
# npm installs the agents into a temporary directory, unless NACRE_E2E_AGENTS is set to a directory to keep them in. Every agent runs in a
# home of its own, with nothing of the caller's environment. Exits with 75 if they cannot be installed.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
shift || true
[ -x "$program" ] || { echo "e2e-agents: program \`$program\` not found; run \`make e2e-agents\`" >&2; exit 1; }
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
for tool in npm node python3 git; do
    command -v "$tool" > /dev/null || { echo "e2e-agents: $tool is required but not installed" >&2; exit 75; }
done

# The versions that these checks were written for; of Claude Code also the latest, which speaks MCP differently.
packages=(@anthropic-ai/claude-code@2.1.197 @openai/codex@0.166.0 opencode-ai@1.18.33)
latest=(@anthropic-ai/claude-code@2.1.325)

# Codex refuses a home below /tmp.
tmp=$(mktemp -d "${NACRE_E2E_TMP:-/var/tmp}/nacre-agents.XXXXXX")

# Nacre knows its own hooks by the name of its program.
cp "$program" "$tmp/nacre"
program=$tmp/nacre

. "$here/tools/e2e/common.sh"
. "$here/tools/e2e/reader.sh"
. "$here/tools/e2e/connected.sh"
. "$here/tools/e2e/faults.sh"

lanes=()
finish() {
    [ "${#lanes[@]}" = 0 ] || kill "${lanes[@]}" 2> /dev/null || true
    end_processes "$tmp/"
    rm -rf "$tmp"
}
trap finish EXIT

agents=${NACRE_E2E_AGENTS:-$tmp/agents}
install() { # a folder, then packages
    local folder=$1
    shift
    [ ! -e "$folder/done" ] || return 0
    mkdir -p "$folder"
    [ -f "$folder/package.json" ] || echo '{"private":true}' > "$folder/package.json"
    echo "e2e-agents: installing $*"
    (cd "$folder" && timeout 200 npm install --no-audit --no-fund --loglevel=error "$@") || return 1
    touch "$folder/done"
}
{ install "$agents" "${packages[@]}" && install "$agents/latest" "${latest[@]}"; } ||
    { echo "e2e-agents: npm could not install the agents" >&2; exit 75; }

# Jobs in two lanes, one for each core; OpenCode is as slow as all others.
run_lane() {
    local part
    for part in "$@"; do
        if is_wanted "$part"; then run_job "${part%%:*}" "${part#*:}"; fi
    done
}
wanted=("$@")
is_wanted() {
    local part
    [ "${#wanted[@]}" -gt 0 ] || return 0
    for part in "${wanted[@]}"; do
        case $1 in "$part" | "$part":*) return 0 ;; esac
    done
    return 1
}
run_lane connected:opencode reader:opencode &
lanes+=("$!")
run_lane reader:claude reader:codex connected:claude connected:claude-latest connected:codex &
lanes+=("$!")
wait
lanes=()

# A summary, by job.
echo
n_passed=$(cat "$tmp"/said.* | grep -c '^  ok: ' || true)
n_failed=$(cat "$tmp"/said.* | grep -c '^  not ok: ' || true)
for said in "$tmp"/said.*; do
    echo "e2e-agents: $(head -n 1 "$said"): $(grep -c '^  ok: ' "$said" || true) passed, $(grep -c '^  not ok: ' "$said" || true) failed"
done
if [ "$n_failed" -gt 0 ]; then
    grep -H '^  not ok: ' "$tmp"/said.* | sed -E 's/^[^ ]*said\.([^:]*):  /e2e-agents: \1: /'
    echo "e2e-agents: $n_failed of $((n_passed + n_failed)) checks failed" >&2
    exit 1
fi
echo "e2e-agents: $n_passed checks passed"
