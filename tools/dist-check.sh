#!/usr/bin/env bash
# Runs a static program in a root with nothing else in it: no C library, no shell, no git, no /proc, no /etc.
#
# usage: tools/dist-check.sh PROGRAM
#
# Needs root, or a kernel that lets users make namespaces; where neither is given, says SKIPPED and ends with 0.

set -euo pipefail

program=$1
fail() { echo "dist-check: $*" >&2; exit 1; }
[ -x "$program" ] || fail "program \`$program\` not found"
if command -v readelf > /dev/null; then
    # Not by a pipe to grep -q, which ends before readelf does.
    headers=$(readelf -lW "$program")
    case $headers in *INTERP*) fail "the program is not static: it asks for a loader" ;; esac
fi

root=$(mktemp -d "${TMPDIR:-/tmp}/nacre-dist.XXXXXX")
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/home" "$root/tidepool/src"
cp "$program" "$root/nacre"

if [ "$(id -u)" -eq 0 ]; then
    enter=(unshare "--root=$root" --wd=/tidepool)
elif unshare --user --map-root-user true 2> /dev/null; then
    enter=(unshare --user --map-root-user "--root=$root" --wd=/tidepool)
else
    echo "dist-check: SKIPPED: not root, and users cannot make namespaces here"
    exit 0
fi

# Runs one command of the program inside the project.
in_root() {
    env -i HOME=/home NACRE_NOW=2026-03-09T08:00:00Z "${enter[@]}" /nacre "$@"
}

# Its output must hold a text.
expect() {
    local wanted=$1 out
    shift
    out=$(in_root "$@" 2>&1) || fail "\`nacre $*\` failed: $out"
    case $out in
        *"$wanted"*) ;;
        *) fail "\`nacre $*\` did not say \`$wanted\`: $out" ;;
    esac
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cp "$here"/dist/samples/* "$root/tidepool/src/"
session=$root/home/.claude/projects/-tidepool/5e551011-0000-4000-8000-000000000001.jsonl
mkdir -p "$(dirname "$session")"
record() { # role, content
    printf '{"type":"%s","sessionId":"5e551011-0000-4000-8000-000000000001","cwd":"/tidepool","timestamp":"2026-03-08T10:00:00Z","message":{"role":"%s","content":"%s"}}\n' \
        "$1" "$1" "$2" >> "$session"
}
record user "Why is the March invoice a cent off?"
record assistant "The report sums floats. I changed it to whole cents and ran npm install."
record user "no, remember: always use pnpm here, never npm: npm writes a second lock file"
record assistant "Done, with pnpm."
touch -d 2026-03-08T10:00:00Z "$session"

expect 'Project `tidepool`' init
expect 'Added ' memory add "Use SQLite for the queue" --body "One file, no server."
expect 'Use SQLite for the queue' memory search "which database"
expect '1 memory learned' sync
expect 'pnpm' memory search "second lock file"
expect 'public_surface' explore

# Every grammar reads its sample: the same symbols, with the same ends, as in an ordinary build.
# The order of the files and why they were named say nothing about that.
mapped=$(in_root context --task alpha --budget 20000 | sed -e 1d -e 's/  alpha$//' | LC_ALL=C sort)
expected=$(LC_ALL=C sort "$here/dist/samples.expected")
if [ "$mapped" != "$expected" ]; then
    diff <(printf '%s\n' "$expected") <(printf '%s\n' "$mapped") >&2 || true
    fail "the grammars do not read the samples as they should"
fi

# What it takes to start, the best of twenty.
best=$(for _ in $(seq 20); do
    start=$(date +%s%N)
    in_root --version > /dev/null
    echo $((($(date +%s%N) - start) / 1000))
done | sort -n | head -n 1)
echo "dist-check: init, sync, search and explore run in an empty root; $(stat -c %s "$program") bytes; --version takes $best us, unshare and chroot included"
