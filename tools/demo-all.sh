#!/usr/bin/env bash
# Demonstrates what `make demo` does not: adding memories, evidence, edits, doctor, traces, undo.
#
# usage: tools/demo-all.sh [path to the nacre program]

# shellcheck source=tools/demo-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/demo-lib.sh" "$@"

today 2026-03-02T09:00:00Z
begin

say "Set up a repository."
run nacre init

say "Add decisions and learnings, each with a one-line claim and a reason."
run nacre memory add "Keep orders in SQLite until one machine is too small" \
    --body "One file to back up, no server to run, and 2,000 orders a day are nothing to it." --tag storage
run nacre memory add "Money is whole cents, never a float" \
    --body "Two invoices were a cent off in January; both came from f64." --tag money
run nacre memory add --type learning --kind pitfall "The report test needs TZ=UTC" \
    --body "Without it the day turns at the wrong hour and the test fails after 23:00." --tag tests
today 2026-03-04T16:20:00Z
run nacre memory add --type learning --kind procedure "Run migrations before the workers start" \
    --body $'1. `make migrate`\n2. restart the workers\n\nThe other way round, workers write rows without `currency`.' \
    --tag deploy --related 20260302-keep-orders-in-sqlite-until-one-machine-is-too-small

say "A preference applies to every project, so it is added to the global store."
run nacre memory add --scope global_only --type learning --kind preference \
    "Write commit subjects in lower case"

say "Secrets are not stored."
secret="$(printf '%s' q7 Xw 2v Lr 9t Zk)-live"
run nacre memory add --type learning --kind context "Staging is wiped every Monday" \
    --body "Reset by cron; reach it at postgres://tidepool:$secret@staging.example.org/orders" --tag staging
run nacre memory show 20260304-staging
if grep -rq -- "$secret" .nacre; then echo "demo: the secret was stored" >&2; exit 1; fi

say "Git shares the memories and their evidence."
run git add -A
run git commit -q -m "memory: first decisions"

say "Find a memory, and show it with its evidence and history."
run nacre memory list
run nacre memory search workers currency
run nacre memory show 20260302-money --evidence --history

say "A memory is a file. Nacre preserves manual edits, here an added key."
file=.nacre/memory/decisions/20260302-money-is-whole-cents-never-a-float.md
awk '{ print } /^status:/ { print "owner: billing team  # ask before changing" }' "$file" > "$tmp/edited"
cp "$tmp/edited" "$file"
run git diff -U0 -- "$file"
today 2026-03-09T08:00:00Z
run nacre memory archive 20260302-money-is-whole-cents-never-a-float
run nacre memory restore 20260302-money-is-whole-cents-never-a-float
run cat "$file"
must_hold "$file" 'owner: billing team  # ask before changing'

say "Forget a memory: its file and all links to it are removed. Only a hash remains."
run nacre memory forget 20260302-keep-orders-in-sqlite-until-one-machine-is-too-small --yes
run git status --short

say "A broken file is reported with its line number and does not affect other files."
file=.nacre/memory/learnings/20260302-the-report-test-needs-tz-utc.md
awk '{ sub(/^kind: pitfall/, "kind: trap"); print }' "$file" > "$tmp/edited"
cp "$tmp/edited" "$file"
run git diff -U0 -- "$file"
expect 1 nacre doctor
run git checkout -q -- "$file"
run nacre doctor
run nacre status

say "Nacre finds the sessions that coding agents store, here one of Claude Code's."
mkdir -p "$HOME/.claude/projects/-tidepool"
session=$HOME/.claude/projects/-tidepool/5e551011-0000-4000-8000-000000000001.jsonl
record() { # role, content
    printf '{"type":"%s","sessionId":"5e551011-0000-4000-8000-000000000001","cwd":"%s","timestamp":"2026-03-08T10:00:00Z","message":{"role":"%s","content":"%s"}}\n' \
        "$1" "$PWD" "$1" "$2" >> "$session"
}
record user "Why is the March invoice a cent off?"
record assistant "The report sums floats. I changed it to whole cents and ran npm install."
record user "no, remember: always use pnpm here, never npm: npm writes a second lock file"
record assistant "Done, with pnpm."
touch -d 2026-03-08T10:00:00Z "$session"
run nacre connect auto --yes
run nacre sync --dry-run
run nacre sync
run nacre memory show 20260308-always --evidence
run nacre trace search cents
run nacre trace show 5e551011
run nacre doctor --evidence --scope project_only

say "Syncing the same session again changes nothing, and a run can be undone."
run nacre sync
run nacre runs
run nacre undo sync-20260309
must_be_gone=.nacre/memory/learnings/20260308-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file.md
[ ! -e "$must_be_gone" ] || { echo "demo: the run was not undone" >&2; exit 1; }

say "If a memory is not found, the error suggests what to do."
expect 1 nacre memory show 20260302-the-report-tset

say "These are all files on disk."
run_line 'find .nacre -type f | LC_ALL=C sort'
say "The demo is over. Its home and repository are removed."
