#!/usr/bin/env bash
# Runs the lead of a sync inside the real Claude Code, against a scripted model on this machine, and checks what it can and cannot do.
#
# usage: tools/e2e/lead-claude.sh [path to the nacre program]
#
# npm installs Claude Code into a folder that is removed again, unless NACRE_E2E_CLAUDE names one with `node_modules/.bin/claude` in it.
# It runs in a home of its own, with nothing of the caller's environment. Ends with 75 where it cannot be installed.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
nacre=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
[ -x "$nacre" ] || { echo "lead-claude: there is no program \`$nacre\`" >&2; exit 1; }
nacre=$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")
for tool in npm node python3 git; do
    command -v "$tool" > /dev/null || { echo "lead-claude: $tool is needed and is not here" >&2; exit 75; }
done

tmp=$(mktemp -d "${NACRE_E2E_TMP:-/var/tmp}/nacre-lead.XXXXXX")
tmp=$(cd "$tmp" && pwd -P)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2> /dev/null || true
    rm -rf "$tmp"
}
trap finish EXIT

claude=${NACRE_E2E_CLAUDE:-$tmp/claude}
if [ ! -x "$claude/node_modules/.bin/claude" ]; then
    mkdir -p "$claude"
    [ -f "$claude/package.json" ] || echo '{"private":true}' > "$claude/package.json"
    (cd "$claude" && timeout 300 npm install --no-audit --no-fund --loglevel=error @anthropic-ai/claude-code@2.1.197) ||
        { echo "lead-claude: npm could not install Claude Code" >&2; exit 75; }
fi

home=$tmp/home repo=$tmp/repo model=$tmp/model
mkdir -p "$home/.claude" "$home/.ssh" "$home/traces" "$repo/.claude/skills/one" "$model"
: > "$model/log.jsonl"
python3 "$here/tools/e2e/turns_model.py" "$model" &
server=$!
for _ in $(seq 100); do [ -s "$model/port" ] && break; sleep 0.1; done
port=$(cat "$model/port")

n_checks=0
check() { # what it shows, then a command that must succeed
    local what=$1
    shift
    if "$@" > "$tmp/check" 2>&1; then
        n_checks=$((n_checks + 1))
        echo "  ok: $what"
    else
        echo "lead-claude: $what: failed" >&2
        { echo "\$ $*"; cat "$tmp/check"; echo "--- what nacre printed:"; cat "$tmp/out"; } >&2
        exit 1
    fi
}
holds() { grep -qF -- "$2" "$1"; }
lacks() { ! grep -qF -- "$2" "$1"; }
run() {
    (cd "$repo" && env -i HOME="$home" PATH="$claude/node_modules/.bin:$(dirname "$(command -v node)"):/usr/bin:/bin" LANG=C.UTF-8 \
        ANTHROPIC_BASE_URL="http://127.0.0.1:$port" ANTHROPIC_API_KEY=sk-fake "$@") > "$tmp/out" 2>&1
}
turns() { python3 -c "$1" "$repo" "$home" > "$model/turns.json"; rm -f "$model/n"; : > "$model/log.jsonl"; }

# What a person has that must not reach the lead: hooks, a server, instructions, a skill, a key.
echo '{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"touch '"$home"'/hooked"}]}]}}' > "$home/.claude/settings.json"
echo 'PERSONS-INSTRUCTIONS' > "$home/.claude/CLAUDE.md"
echo 'PROJECTS-INSTRUCTIONS' > "$repo/CLAUDE.md"
printf -- '---\nname: one\ndescription: A-SKILL\n---\nx\n' > "$repo/.claude/skills/one/SKILL.md"
echo '{"mcpServers":{"x":{"command":"touch","args":["'"$home"'/served"]}}}' > "$repo/.mcp.json"
echo 'PRIVATE-KEY' > "$home/.ssh/id_ed25519"
echo x > "$home/.ssh/another-name"
git -C "$repo" -c init.defaultBranch=main init -q .

session() { # name, then what person and agent say in turn
    python3 - "$repo" "$@" > "$home/traces/$1.jsonl" << 'PYTHON'
import json, sys
repo, name, said = sys.argv[1], sys.argv[2], sys.argv[3:]
print(json.dumps({"type": "session", "version": 1, "id": name, "cwd": repo, "title": said[0]}))
for n, words in enumerate(said):
    print(json.dumps({"type": "user" if n % 2 == 0 else "assistant", "text": words, "time": "2026-03-0%dT09:0%d:00Z" % (1 if name == "one" else 2, n)}))
PYTHON
    # A session that changed a moment ago may still go on.
    touch -d "@$(($(date +%s) - 100000))" "$home/traces/$1.jsonl"
}
run "$nacre" init --no
run "$nacre" connect generic --path "$home/traces"
session one "Add a health endpoint to the server" "I will install the packages with npm install." \
    "no, remember: always use pnpm here, never npm: npm writes a second lock file" "Done, used pnpm."
check "a first session is read by rules" run "$nacre" sync
check "into a memory" ls "$repo/.nacre/memory/learnings"
known=$(basename "$(ls "$repo"/.nacre/memory/learnings/*.md)")
session two "Fix the build on CI before lunch" "I ran npm install." \
    "no, always use pnpm here for the frontend packages, never npm: npm breaks the workspace links" "Done, with pnpm."
run "$nacre" config set reading.agent claude-code
run "$nacre" config set lead.persist_sessions_in_workspace true

turns '
import json, sys
repo, home = sys.argv[1:]
root = repo + "/.nacre/memory"
import os
known = os.listdir(root + "/learnings")[0]
decision = {"candidate_id": "c1", "type": "learning", "action": "no_op", "matched_file": "learnings/" + known,
            "quote": "words that nobody wrote", "reason": "It is known.", "merged": None}
print(json.dumps([
    {"tool": "Read", "input": {"file_path": root + "/learnings/" + known}},
    {"tool": "Grep", "input": {"pattern": "lock file", "output_mode": "content"}},
    {"tool": "Read", "input": {"file_path": home + "/.ssh/id_ed25519"}},
    {"tool": "Glob", "input": {"pattern": home + "/.ssh/*"}},
    {"tool": "Grep", "input": {"pattern": "PRIVATE", "path": home}},
    {"tool": "Write", "input": {"file_path": root + "/learnings/mine.md", "content": "MINE"}},
    {"tool": "Bash", "input": {"command": "touch " + home + "/ran"}},
    {"tool": "StructuredOutput", "input": {"decisions": [decision]}},
    {"tool": "StructuredOutput", "input": {"decisions": [dict(decision, quote="npm writes a second lock file")]}},
]))'
check "it settles what is unclear" run "$nacre" sync --runtime claude
folder=$(ls -d "$repo"/.nacre/workspace/sync-* | tail -1)
check "by the lead" holds "$folder/memory_actions.json" '"by": "lead"'
check "inside Claude Code" holds "$folder/metrics.json" '"runtime": "claude"'
check "its tokens are counted" holds "$folder/metrics.json" '"input": 9000'
check "what did not hold went back" holds "$model/log.jsonl" "the quote does not occur"
check "it read the memory" holds "$model/log.jsonl" "second lock file"
check "it was offered tools that read" holds "$model/log.jsonl" '"name": "Grep"'
check "and none that writes" lacks "$model/log.jsonl" '"name": "Write", "description"'
check "the key was not read" lacks "$model/log.jsonl" "PRIVATE-KEY"
check "nor a name beside it found" lacks "$model/log.jsonl" another-name
check "the guard refused it" holds "$model/log.jsonl" "Nacre's guard refused this call"
check "nothing was written" test ! -e "$repo/.nacre/memory/learnings/mine.md"
check "nothing was run" test ! -e "$home/ran"
check "tries to write are counted" holds "$folder/metrics.json" '"denied_writes": 2'
for words in PERSONS-INSTRUCTIONS PROJECTS-INSTRUCTIONS A-SKILL; do
    check "$words were not sent" lacks "$model/log.jsonl" "$words"
done
check "the person's hooks did not run" test ! -e "$home/hooked"
check "servers did not run" test ! -e "$home/served"
check "no session is left behind" test -z "$(find "$home/.claude" -name '*.jsonl')"
check "it is kept in the run" holds "$folder/lead-session.jsonl" '"type":"result"'
check "the task is shown" run "$nacre" events
check "as the lead's" holds "$tmp/out" "Settle 1 candidate"

turns 'print("[]")'
session two "Fix the build on CI before lunch" "I ran npm install." \
    "no, always use pnpm here for the frontend packages, never npm: npm breaks the workspace links" "Done." "and never yarn for the frontend packages"
check "an answer without a decision is settled by rule" run "$nacre" sync --runtime claude --force
echo "lead-claude: $n_checks checks passed"
