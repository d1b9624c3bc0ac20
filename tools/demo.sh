#!/usr/bin/env bash
# Shows the main job on sample data: sessions become memories, and the agent of tomorrow knows them. At most 60 lines.
#
# usage: tools/demo.sh [path to the nacre program]

# shellcheck source=tools/demo-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/demo-lib.sh" "$@"

today 2026-03-05T09:00:00Z
begin
lay_sessions
# A debug build is slow, and a hook that is too slow says nothing.
export NACRE_HOOKS_DEADLINE_MS=60000 NACRE_HOOKS_SYNC=false

say "Three agents worked in this repository. This is what their user said:"
echo "Claude Code   Remember that the report tests need TZ=UTC. Without it they fail after 23:00."
echo "Codex         B, there is no server to run. (Where should the queue live? A) Redis B) SQLite)"
echo "Cursor        no, remember: always use pnpm here, never npm: npm writes a second lock file"

say "Two commands make memories of it. No model, no key, no server."
run nacre init
run nacre sync

say "What it is not sure of waits for you. nacre review asks, with the words that prove it; here we accept."
run nacre review accept 20260303-where

say "Ask: the answer names the memory and the words that prove it, or says that there is none."
run nacre ask 'Why do the report tests fail at night?'
run nacre ask 'Which font does the logo use?'

say "What an agent should know before it starts, here within 350 tokens:"
run nacre brief --budget 350

say "The agent of tomorrow: Claude Code runs this hook when it starts (nacre connect sets it up), and knows it at once."
start=$(printf '{"session_id":"tomorrow","cwd":"%s","hook_event_name":"SessionStart","source":"startup"}' "$PWD")
prompt nacre hook claude start
nacre hook claude start <<< "$start" > "$tmp/told"
must_hold "$tmp/told" 'Always use pnpm here'
printf '%s…\n' "$(cut -c 1-231 "$tmp/told")"
echo "(make demo-all shows the rest.)"
