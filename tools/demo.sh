#!/usr/bin/env bash
# Demonstrates Nacre on sample data: sessions become memories, which the next agent gets. At most 60 lines.
#
# usage: tools/demo.sh [path to the nacre program]

# shellcheck source=tools/demo-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/demo-lib.sh" "$@"

today 2026-03-05T09:00:00Z
begin
lay_sessions
# A debug build is slow, and a hook that exceeds its deadline prints nothing.
export NACRE_HOOKS_DEADLINE_MS=60000 NACRE_HOOKS_SYNC=false

say "Three agents worked in this repository. This is what their user said:"
echo "Claude Code   Remember that the report tests need TZ=UTC. Without it they fail after 23:00."
echo "Codex         B, there is no server to run. (Where should the queue live? A) Redis B) SQLite)"
echo "Cursor        no, remember: always use pnpm here, never npm: npm writes a second lock file"

say "Two commands turn this into memories, without a model, key or server."
run nacre init
run nacre sync

say "Unclear claims need your decision. nacre review shows each one with its quotes; here we accept it."
run nacre review accept 20260303-where

say "Ask: the answer cites the memory and its evidence, or says that no memory answers it."
run nacre ask 'Why do the report tests fail at night?'
run nacre ask 'Which font does the logo use?'

say "The briefing an agent gets at the start of a session, here within 350 tokens:"
run nacre brief --budget 350

say "The next session: Claude Code runs this hook when it starts (nacre connect sets it up) and gets the briefing."
start=$(printf '{"session_id":"tomorrow","cwd":"%s","hook_event_name":"SessionStart","source":"startup"}' "$PWD")
prompt nacre hook claude start
nacre hook claude start <<< "$start" > "$tmp/told"
must_hold "$tmp/told" 'Always use pnpm here'
printf '%s…\n' "$(cut -c 1-231 "$tmp/told")"
echo "(make demo-all shows the rest.)"
