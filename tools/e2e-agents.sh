#!/usr/bin/env bash
# Lets real agents read a session for Nacre, against a scripted model on this machine, and checks what becomes of it.
#
# usage: tools/e2e-agents.sh [path to the nacre program]
#
# npm installs Claude Code, Codex and OpenCode into a folder that is removed again, unless NACRE_E2E_AGENTS names one to keep them
# in. Every agent runs in a home of its own, with nothing of the caller's environment. Ends with 75 where they cannot be installed.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nacre=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
[ -x "$nacre" ] || { echo "e2e-agents: there is no program \`$nacre\`; \`make e2e-agents\` builds it" >&2; exit 1; }
nacre=$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")
for tool in npm node python3 git; do
    command -v "$tool" > /dev/null || { echo "e2e-agents: $tool is needed and is not here" >&2; exit 75; }
done

# The versions that these checks were made with.
packages=(@anthropic-ai/claude-code@2.1.197 @openai/codex@0.166.0 opencode-ai@1.18.33)

# Codex refuses a home below /tmp.
tmp=$(mktemp -d "${NACRE_E2E_TMP:-/var/tmp}/nacre-agents.XXXXXX")
server=
finish() {
    [ -z "$server" ] || kill "$server" 2> /dev/null || true
    rm -rf "$tmp"
}
trap finish EXIT

agents=${NACRE_E2E_AGENTS:-$tmp/agents}
if [ ! -e "$agents/done" ]; then
    mkdir -p "$agents"
    [ -f "$agents/package.json" ] || echo '{"private":true}' > "$agents/package.json"
    echo "e2e-agents: installing ${packages[*]}"
    (cd "$agents" && timeout 300 npm install --no-audit --no-fund --loglevel=error "${packages[@]}") ||
        { echo "e2e-agents: npm could not install the agents" >&2; exit 75; }
    touch "$agents/done"
fi

model=$tmp/model
mkdir -p "$model"
echo answer > "$model/mode"
cat > "$model/claim.json" << 'JSON'
{"quote": "Keep the queue in SQLite, because one file is easy to back up.",
 "candidate": {"type": "decision", "kind": "none", "title": "The queue of waiting jobs is kept in SQLite",
               "body": "Jobs that wait are rows of a table in one SQLite file, because one file is easy to back up and no server has to run.",
               "basis": "stated", "found_in": "nowhere", "importance": 3}}
JSON
python3 "$here/tools/scripted_model.py" "$model" &
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
        echo "e2e-agents: $agent: $what: failed" >&2
        { echo "\$ $*"; cat "$tmp/check"; echo "--- what nacre printed:"; cat "$tmp/out"; } >&2
        exit 1
    fi
}
holds() { grep -qF -- "$2" "$1"; }
lacks() { ! grep -qF -- "$2" "$1"; }
fails() { ! "$@"; }
answers() { echo "$1" > "$model/mode"; : > "$model/log.jsonl"; }

# A home with one session of a registered project, and what the agent needs to find the scripted model.
make_home() {
    home=$tmp/$agent/home repo=$tmp/$agent/repo
    mkdir -p "$home/.claude/projects/one" "$home/.codex" "$home/.config/opencode" "$repo"
    git -C "$repo" -c init.defaultBranch=main init -q .
    python3 - "$repo" > "$home/.claude/projects/one/0b6f2c1e-8f3a-4a7e-9a51-6f0f4a6f9d11.jsonl" << 'PYTHON'
import json, sys
session, at = "0b6f2c1e-8f3a-4a7e-9a51-6f0f4a6f9d11", "2026-03-02T09:0%d:00.000Z"
turns = [("user", "How should we store the jobs that wait?"),
         ("assistant", [{"type": "text", "text": "A table in SQLite or a server such as Redis. Which one?"}]),
         ("user", "Keep the queue in SQLite, because one file is easy to back up."),
         ("assistant", [{"type": "text", "text": "Done: the queue is a table in one SQLite file."}])]
for number, (role, content) in enumerate(turns):
    print(json.dumps({"type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": session,
                      "timestamp": at % number, "cwd": sys.argv[1], "version": "2.1.0", "message": {"role": role, "content": content}}))
PYTHON
    # A session that went on a moment ago is left alone.
    touch -d 2026-03-02T09:10:00Z "$home"/.claude/projects/one/*.jsonl
    cat > "$home/.codex/config.toml" << TOML
model = "fake"
model_provider = "fake"
notify = ["sh", "-c", "touch $home/notified"]
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
stream_max_retries = 0
request_max_retries = 0
[mcp_servers.touch]
command = "touch"
args = ["$home/served"]
TOML
    cat > "$home/.config/opencode/opencode.json" << JSON
{"model": "fake/fake", "small_model": "fake/fake", "autoupdate": false, "share": "disabled",
 "mcp": {"touch": {"type": "local", "command": ["touch", "$home/served"]}},
 "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake",
   "options": {"baseURL": "http://127.0.0.1:$port/v1", "apiKey": "x"},
   "models": {"fake": {"name": "fake", "limit": {"context": 200000, "output": 8000}}}}}}
JSON
    # A hook of the person's own: it must not run for a question of ours.
    echo "{\"hooks\":{\"UserPromptSubmit\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"touch $home/hooked\"}]}]}}" \
        > "$home/.claude/settings.json"
}

# Runs nacre in the home of the agent. `SPIED` lies before the agents and notes how they are started.
run() {
    (cd "$repo" && env -i HOME="$home" LANG=C.UTF-8 \
        PATH="$tmp/spied:$agents/node_modules/.bin:$(dirname "$(command -v node)"):/usr/bin:/bin" \
        ANTHROPIC_BASE_URL="http://127.0.0.1:$port" ANTHROPIC_API_KEY=sk-fake OPENCODE_DISABLE_MODELS_FETCH=1 \
        SPY="$tmp/$agent/spy" "$@") > "$tmp/out" 2>&1
}

# Stands before the real command, writes down how it is started, and lets it go on.
mkdir -p "$tmp/spied"
for command in claude codex opencode; do
    printf '#!/bin/sh\n{ echo "child=$NACRE_CHILD"; echo "folder=$PWD"; echo "pid=$$"; } >> "$SPY"\nexec "%s" "$@"\n' \
        "$agents/node_modules/.bin/$command" > "$tmp/spied/$command"
    chmod +x "$tmp/spied/$command"
done

# The traces that an agent keeps, as a list.
traces() {
    # Not every agent has made its folder.
    { find "$home/.claude/projects" "$home/.codex/sessions" "$home/.local/share/opencode" -type f \
        \( -name '*.jsonl' -o -name '*.db' -o -name '*.json' \) 2> /dev/null || true; } | sort
}

# Whether a process that an agent was started as is still there.
is_running() {
    local pid
    for pid in $(sed -n 's/^pid=//p' "$tmp/$agent/spy"); do
        [ ! -e "/proc/$pid" ] || return 0
    done
    pgrep -f "$tmp/$agent/home/.nacre/scratch" > /dev/null
}
is_gone() {
    for _ in $(seq 50); do is_running || return 0; sleep 0.1; done
    return 1
}

interrupt() { # runs nacre, and presses Ctrl-C as soon as the model is asked
    run "$nacre" sync --force --strategy windows &
    local shell=$! pid=
    for _ in $(seq 300); do [ -s "$model/log.jsonl" ] && break; sleep 0.1; done
    pid=$(pgrep -n -f "^$nacre sync --force") || return 1
    kill -INT "$pid"
    wait "$shell" || true
}

# Runs a command on a terminal, and types an answer once it is asked.
cat > "$tmp/on_terminal.py" << 'PYTHON'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown, is_answered = b"", False
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
    if b"[y/N] " in shown and not is_answered:
        is_answered = True
        os.write(terminal, sys.argv[1].encode() + b"\n")
sys.stdout.write(shown.decode(errors="replace"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PYTHON
on_terminal=("$(python3 -c 'import sys; print(sys.executable)')" "$tmp/on_terminal.py")

for row in claude:claude-code/haiku codex:codex/default opencode:opencode/default; do
    agent=${row%%:*} name=${row#*:}
    echo "$name"
    make_home
    : > "$tmp/out"
    if [ "$agent" = claude ]; then # It is the first one that is installed.
        check "a person is asked once" run "${on_terminal[@]}" n "$nacre" init
        check "in these words" holds "$tmp/out" "Claude Code is installed. Let it read your sessions? About 12,000 tokens a session, at most 20"
        check "no is kept" holds "$home/.nacre/config.toml" 'agent = "none"'
        check "who answered is not asked again" run "${on_terminal[@]}" y "$nacre" init
        check "never" lacks "$tmp/out" "[y/N]"
        rm "$home/.nacre/config.toml"
        check "yes is taken, too" run "${on_terminal[@]}" y "$nacre" init
        check "and kept" holds "$home/.nacre/config.toml" 'agent = "claude-code"'
        check "auto is that agent" run "$nacre" model list
        check "with its model" holds "$tmp/out" "default  claude-code/haiku"
    fi
    run "$nacre" init
    run "$nacre" config set roles.default.model "$name"

    answers answer
    check "a test asks for one word" run "$nacre" model test
    check "it answers" holds "$tmp/out" pearl
    check "its tokens are told" holds "$tmp/out" "1000 in, 50 out"
    check "it is listed with its version" run "$nacre" model list
    check "the list shows it" holds "$tmp/out" "  ${name%%/*} "
    traces > "$tmp/before"

    answers answer
    check "it reads a session" run "$nacre" sync --strategy windows
    check "the memory is there" run "$nacre" memory list
    check "its answer is used" holds "$tmp/out" "The queue of waiting jobs is kept in SQLite"
    check "its tokens are counted" grep -qF '"input": 2000' "$repo"/.nacre/workspace/sync-*/metrics.json
    check "and kept against the limits" run "$nacre" status --json
    check "in the sum of the day" holds "$tmp/out" 2100
    check "the model saw our instructions and the session" holds "$model/log.jsonl" "Keep the queue in SQLite"
    check "the model was offered no tools to act with" lacks "$model/log.jsonl" '"name": "Bash"'
    check "nor a shell" lacks "$model/log.jsonl" '"name": "shell'
    traces > "$tmp/after"
    check "it leaves no trace" cmp "$tmp/before" "$tmp/after"
    check "its hooks do not run" test ! -e "$home/hooked"
    check "its servers do not run" test ! -e "$home/served"
    check "its notices are not sent" test ! -e "$home/notified"
    check "it starts in an empty folder of its own" holds "$tmp/$agent/spy" "folder=$home/.nacre/scratch/work-"
    check "it knows who asks" holds "$tmp/$agent/spy" "child=1"
    check "the folder is removed" test -z "$(ls -A "$home/.nacre/scratch")"
    check "a Nacre that it starts asks no agent" fails run env NACRE_CHILD=1 "$nacre" model test
    check "and says why" holds "$tmp/out" "An agent that answers for Nacre may not let Nacre ask"

    answers text
    check "an answer as plain text is taken as well" run "$nacre" sync --force --strategy windows

    answers unauthorized
    check "without a login it fails" fails run "$nacre" model test
    check "and says so" holds "$tmp/out" "the program is not logged in"
    answers quota
    check "without credit it fails" fails run "$nacre" model test
    check "and says that, too" holds "$tmp/out" "the account has no credit left"
    run env NACRE_LIMITS_SESSION_TOKENS=10 "$nacre" sync --force --strategy windows || true
    check "a limit of Nacre's own holds before it is asked" holds "$tmp/out" "limit of 10 tokens"

    answers slow
    check "Ctrl-C ends a slow answer" interrupt
    check "and leaves no process" is_gone
done

echo "e2e-agents: $n_checks checks passed"
