#!/usr/bin/env bash
# Runs `nacre mcp` with clients that nobody here wrote: the official Python and TypeScript SDKs, and the inspector's command line.
#
# usage: tools/e2e-mcp.sh [path to the nacre program]
#
# pip and npm install them into a temporary directory, unless NACRE_E2E_MCP is set to a directory to keep them in. Exits with 75 if
# they cannot be installed.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nacre=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
[ -x "$nacre" ] || { echo "e2e-mcp: program \`$nacre\` not found; run \`make e2e-mcp\`" >&2; exit 1; }
nacre=$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")
for tool in npm node python3 git; do
    command -v "$tool" > /dev/null || { echo "e2e-mcp: $tool is required but not installed" >&2; exit 75; }
done

# The versions that these checks were written for. Later inspectors need a later Node.
python_sdk=mcp==2.3.0
node_packages=(@modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/inspector@0.15.0)

tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-mcp.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

clients=${NACRE_E2E_MCP:-$tmp/clients}
unset NACRE_E2E_MCP
if [ ! -e "$clients/done" ]; then
    mkdir -p "$clients"
    echo "e2e-mcp: installing $python_sdk ${node_packages[*]}"
    { python3 -m venv "$clients/venv" && timeout 300 "$clients/venv/bin/pip" install -q "$python_sdk"; } ||
        { echo "e2e-mcp: pip could not install the SDK" >&2; exit 75; }
    echo '{"private":true}' > "$clients/package.json"
    (cd "$clients" && timeout 300 npm install --no-audit --no-fund --loglevel=error "${node_packages[@]}") ||
        { echo "e2e-mcp: npm could not install the clients" >&2; exit 75; }
    touch "$clients/done"
fi

# A project with code, memories, and a session in which a person decided something.
export HOME=$tmp/home
work=$HOME/work
mkdir -p "$work/src"
cd "$work"
git init -q .
printf 'mod queue;\nfn main() { queue::enqueue("a"); }\n' > src/main.rs
printf 'pub fn enqueue(job: &str) -> usize { job.len() }\n' > src/queue.rs
"$nacre" -q init < /dev/null > /dev/null
sqlite=$("$nacre" --json memory add "Use SQLite for the queue" --body "One file, no server." |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
"$nacre" -q memory add "Tests run in UTC" --type learning --kind convention > /dev/null
id=0d1b7a52-4c1e-4c8e-9b61-6f1f5f0c0a01
mkdir -p "$HOME/.claude/projects/-work"
python3 - "$work" "$id" > "$HOME/.claude/projects/-work/$id.jsonl" << 'PY'
import json, sys
cwd, session = sys.argv[1:]
common = {"isSidechain": False, "userType": "external", "cwd": cwd, "sessionId": session, "version": "2.1.7", "timestamp": "2026-11-01T10:00:00.000Z"}
said = "let us keep the job queue in SQLite, one file is easy to back up"
print(json.dumps({"type": "user", "uuid": "u1", "parentUuid": None, "message": {"role": "user", "content": said}, **common}))
answer = {"id": "m1", "model": "claude-x", "role": "assistant", "content": [{"type": "text", "text": "Done."}]}
print(json.dumps({"type": "assistant", "uuid": "a1", "parentUuid": "u1", "message": answer, **common}))
PY
"$nacre" -q sync --no-extract > /dev/null
sed "s/SQLITE/$sqlite/" "$here/tools/mcp-clients/calls.json" > "$tmp/calls.json"

# The inspector's command line: lists, calls by flags, errors. It adds the memory that the SDKs then find known.
inspect() {
    timeout 60 "$clients/node_modules/.bin/mcp-inspector" --cli "$nacre" mcp "$@"
}
inspect --method tools/list > "$tmp/out"
n_tools=$(grep -o '"tool": "[a-z_]*"' "$tmp/calls.json" | sort -u | wc -l)
[ "$(grep -c '"inputSchema"' "$tmp/out")" = "$n_tools" ] || { cat "$tmp/out"; exit 1; }
expect() { # what must be in the answer, then a tool and its arguments
    local what=$1 tool=$2
    shift 2
    local args=()
    for arg in "$@"; do args+=(--tool-arg "$arg"); done
    inspect --method tools/call --tool-name "$tool" "${args[@]}" > "$tmp/out" 2>&1 || true
    grep -qF -- "$what" "$tmp/out" || { echo "e2e-mcp: inspector, $tool: no \"$what\" in:" >&2; cat "$tmp/out" >&2; exit 1; }
}
expect "The quote is the user's" memory_add "title=Jobs wait in a SQLite file" \
    "body=The person wants the job queue in one SQLite file, because one file is easy to back up." \
    "quote=let us keep the job queue in SQLite, one file is easy to back up"
expect "Use SQLite for the queue" memory_search "query=sqlite queue" limit=3
expect "Evidence:" memory_get "id=$sqlite"
expect "SQLite" brief "task=the queue"
expect "SQLite" ask "question=Where is the queue kept?"
expect "easy to back up" trace_search "query=job queue"
expect "main.rs" explore detail=compact
expect "enqueue" context "task=enqueue a job"
expect "pub fn enqueue" code_search "query=enqueue"
expect "src/queue.rs" delta since=0
expect "Memories (project)" status
expect "not_found" memory_get id=20200101-nothing
expect "Archived [" memory_remove "id=$("$nacre" --json memory list | python3 -c '
import json, sys
print(next(m["id"] for m in json.load(sys.stdin)["memories"] if "utc" in m["id"]))')"
for method in resources/list prompts/list resources/templates/list; do
    inspect --method "$method" > "$tmp/out" || { cat "$tmp/out"; exit 1; }
done
echo "inspector: every tool and list"

"$clients/venv/bin/python" "$here/tools/mcp-clients/client.py" "$nacre" "$work" "$tmp/calls.json" auto
"$clients/venv/bin/python" "$here/tools/mcp-clients/client.py" "$nacre" "$work" "$tmp/calls.json" legacy
node "$here/tools/mcp-clients/client.mjs" "$nacre" "$work" "$tmp/calls.json" "$clients"
"$nacre" doctor > "$tmp/out" || { cat "$tmp/out"; exit 1; }
echo "e2e-mcp: all clients agree"
