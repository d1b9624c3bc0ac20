#!/usr/bin/env bash
# Shows the main job on sample data, in a home and a repository that are made for it and removed again.
#
# usage: tools/demo.sh [path to the nacre program]
#
# Every line after a `$ ` is a command that really ran, and what follows is what it printed. The clock is
# fixed, so that the ids are the same in every run. Ends with an error when a step does not end as it should.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nacre=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
command -v git > /dev/null || { echo "demo: git is needed and is not here" >&2; exit 1; }
[ -x "$nacre" ] || { echo "demo: there is no program \`$nacre\`; \`make demo\` builds it" >&2; exit 1; }
nacre=$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")

tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-demo.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# Nothing of the person's own may leak in, and nothing of the demo's may leak out.
for name in $(compgen -e); do
    case $name in NACRE_* | GIT_* | CLAUDE_* | CODEX_* | OPENCODE_*) unset "$name" ;; esac
done
export HOME=$tmp/home XDG_CONFIG_HOME=$tmp/home/.config XDG_DATA_HOME=$tmp/home/.local/share
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
export GIT_AUTHOR_NAME=Ana GIT_AUTHOR_EMAIL=ana@example.org
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
mkdir -p "$HOME" "$tmp/bin" "$tmp/tidepool/src"
ln -s "$nacre" "$tmp/bin/nacre"
PATH=$tmp/bin:$PATH

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi

say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }

# Prints a command as one would type it.
prompt() {
    local word line='$'
    for word in "$@"; do
        case $word in
            '' | *[!A-Za-z0-9_./:=@,+-]*) line+=" '$word'" ;;
            *) line+=" $word" ;;
        esac
    done
    printf '%s%s%s\n' "$bold" "$line" "$plain"
}

# Runs a command that must end with the given code.
expect() {
    local wanted=$1 code=0
    shift
    prompt "$@"
    "$@" 2>&1 || code=$?
    if [ "$code" -ne "$wanted" ]; then
        echo "demo: the command above ended with $code instead of $wanted" >&2
        exit 1
    fi
}

run() { expect 0 "$@"; }

# Runs a line of shell, such as a pipeline.
run_line() {
    printf '%s$ %s%s\n' "$bold" "$1" "$plain"
    bash -o pipefail -c "$1"
}

# The day it is, for nacre and for git.
today() { export NACRE_NOW=$1 GIT_AUTHOR_DATE=$1 GIT_COMMITTER_DATE=$1; }

# Fails when a file does not hold what was just shown to be in it.
must_hold() { grep -q -- "$2" "$1" || { echo "demo: \`$1\` does not hold \`$2\`" >&2; exit 1; }; }

today 2026-03-02T09:00:00Z
cd "$tmp/tidepool"
git -c init.defaultBranch=main init -q .
printf 'fn main() {}\n' > src/main.rs
git add -A
git commit -q -m "start"

say "A repository gets its store."
run nacre init

say "What was decided and found out goes in, one line and a reason each."
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

say "A preference holds in every project, so it goes to the global store."
run nacre memory add --scope global_only --type learning --kind preference \
    "Write commit subjects in lower case"

say "A secret that slips in is not stored."
secret="$(printf '%s' q7 Xw 2v Lr 9t Zk)-live"
run nacre memory add --type learning --kind context "Staging is wiped every Monday" \
    --body "Reset by cron; reach it at postgres://tidepool:$secret@staging.example.org/orders" --tag staging
run nacre memory show 20260304-staging
if grep -rq -- "$secret" .nacre; then echo "demo: the secret was stored" >&2; exit 1; fi

say "Git shares the memories and what proves them."
run git add -A
run git commit -q -m "memory: first decisions"

say "Find, and read with evidence and history."
run nacre memory list
run nacre memory search workers currency
run nacre memory show 20260302-money --evidence --history

say "A memory is a file. A hand edit, here a key of one's own, survives whatever Nacre does later."
file=.nacre/memory/decisions/20260302-money-is-whole-cents-never-a-float.md
awk '{ print } /^status:/ { print "owner: billing team  # ask before changing" }' "$file" > "$tmp/edited"
cp "$tmp/edited" "$file"
run git diff -U0 -- "$file"
today 2026-03-09T08:00:00Z
run nacre memory archive 20260302-money-is-whole-cents-never-a-float
run nacre memory restore 20260302-money-is-whole-cents-never-a-float
run cat "$file"
must_hold "$file" 'owner: billing team  # ask before changing'

say "What no longer holds is forgotten: the file goes, links to it go, a hash without text stays."
run nacre memory forget 20260302-keep-orders-in-sqlite-until-one-machine-is-too-small
run git status --short

say "A broken file is named with its line and blocks nothing else."
file=.nacre/memory/learnings/20260302-the-report-test-needs-tz-utc.md
awk '{ sub(/^kind: pitfall/, "kind: trap"); print }' "$file" > "$tmp/edited"
cp "$tmp/edited" "$file"
run git diff -U0 -- "$file"
expect 1 nacre doctor
run git checkout -q -- "$file"
run nacre doctor
run nacre status

say "What coding agents left behind is found where they keep it; here is one session of Claude Code."
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
run_line "nacre sync | sed -E 's/ [0-9.]+s / 0.0s /; s/^Run: .*/Run: …/'"
run nacre memory show 20260308-always --evidence
run nacre trace search cents
run nacre trace show 5e551011
run nacre doctor --evidence --scope project_only

say "The same session again changes nothing, and a run can be taken back."
run_line "nacre sync | sed '/^Run:/d'"
run nacre runs
run nacre undo sync-20260309
must_be_gone=.nacre/memory/learnings/20260308-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file.md
[ ! -e "$must_be_gone" ] || { echo "demo: the run was not undone" >&2; exit 1; }

say "Asked for something that is not there, it says what is."
expect 1 nacre memory show 20260302-the-report-tset

say "This is all there is on disk."
run_line 'find .nacre -type f | LC_ALL=C sort'
say "The demo is over; its home and its repository are removed."
