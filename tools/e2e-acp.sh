#!/usr/bin/env bash
# Drives `nacre chat --acp` with the Agent Client Protocol's own TypeScript client, and checks every message against the
# protocol's own schema.
#
# usage: tools/e2e-acp.sh [path to the nacre program]
#
# npm installs both into a temporary directory, unless NACRE_E2E_ACP is set to a directory to keep them in. Exits with 75 if they
# cannot be installed.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nacre=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
[ -x "$nacre" ] || { echo "e2e-acp: program \`$nacre\` not found; run \`make e2e-acp\`" >&2; exit 1; }
nacre=$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")
for tool in npm node git; do
    command -v "$tool" > /dev/null || { echo "e2e-acp: $tool is required but not installed" >&2; exit 75; }
done

# The versions that these checks were written for.
packages=(@agentclientprotocol/sdk@2.4.0 ajv@8.17.1)

tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-acp.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

client=${NACRE_E2E_ACP:-$tmp/client}
unset NACRE_E2E_ACP
if [ ! -e "$client/done" ]; then
    mkdir -p "$client"
    echo "e2e-acp: installing ${packages[*]}"
    echo '{"private":true}' > "$client/package.json"
    (cd "$client" && timeout 120 npm install --no-audit --no-fund --loglevel=error "${packages[@]}") ||
        { echo "e2e-acp: npm could not install the client" >&2; exit 75; }
    touch "$client/done"
fi

export HOME=$tmp/home
work=$HOME/work
mkdir -p "$work"
cd "$work"
git init -q .
printf 'fn add(a: i32, b: i32) -> i32 { a - b }\n' > lib.rs
"$nacre" -q init < /dev/null > /dev/null

# What the model says: a turn that reads, plans and edits; one that is not allowed; one that hangs; one after the session was loaded.
cat > "$HOME/script.json" << 'JSON'
{"turns": [
  {"reasoning": "Look first.", "say": "Let me look.", "calls": [
    {"name": "file_read", "arguments": {"path": "lib.rs"}},
    {"name": "file_read", "arguments": {"path": "missing.rs"}},
    {"name": "file_search", "arguments": {"pattern": "add"}}]},
  {"calls": [{"name": "checklist_set", "arguments": {"items": [{"id": "a", "label": "Mend add"}]}}]},
  {"calls": [{"name": "file_edit", "arguments": {"path": "lib.rs", "edits": [{"find": "a - b", "replace": "a + b"}]}}]},
  {"say": "It adds now."},
  {"calls": [{"name": "shell_run", "arguments": {"argv": ["touch", "made"]}}]},
  {"say": "I was not allowed to."},
  {"hang": true}
]}
JSON
echo '{"turns": [{"say": "Welcome back."}]}' > "$HOME/script2.json"

timeout 60 node "$here/tools/acp-client/session.mjs" "$nacre" "$work" "$client"
echo "e2e-acp: the client and the schema agree"
