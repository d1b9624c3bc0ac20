#!/usr/bin/env bash
# Installs what `make dist` made into a home of its own, and shows that a changed archive is refused.
#
# usage: tools/install-check.sh FOLDER    (the one with SHA256SUMS and the archives)

set -euo pipefail

from=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-install.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
fail() { echo "install-check: $*" >&2; exit 1; }

mkdir -p "$tmp/home" "$tmp/changed" "$tmp/empty"
HOME=$tmp/home sh "$here/install.sh" --from "$from" > "$tmp/out" || fail "the installation failed: $(cat "$tmp/out")"
for file in bin/nacre share/man/man1/nacre.1 share/man/man1/nacre-memory-add.1 share/bash-completion/completions/nacre; do
    [ -s "$tmp/home/.local/$file" ] || fail "$file was not installed"
done
"$tmp/home/.local/bin/nacre" --version > /dev/null || fail "what was installed does not run"
# A second time replaces the first, and leaves nothing beside it.
HOME=$tmp/home sh "$here/install.sh" --from "$from" > /dev/null || fail "it cannot be installed twice"
[ "$(ls -A "$tmp/home/.local/bin")" = nacre ] || fail "bin/ holds more than the program"

cp "$from"/SHA256SUMS "$from"/*.tar.gz "$tmp/changed/"
for archive in "$tmp/changed"/*.tar.gz; do printf 'x' >> "$archive"; done
if HOME=$tmp/empty sh "$here/install.sh" --from "$tmp/changed" > /dev/null 2> "$tmp/err"; then
    fail "an archive with another checksum was installed"
fi
grep -q checksum "$tmp/err" || fail "the refusal does not name the checksum: $(cat "$tmp/err")"
[ -z "$(ls -A "$tmp/empty")" ] || fail "something was installed although the checksum was wrong"

# From a pipe there is no folder of the script, and the current one is anybody's.
if (cd "$from" && HOME=$tmp/empty sh < "$here/install.sh") > /dev/null 2> "$tmp/err"; then
    fail "the current folder was installed from"
fi
grep -q -- --from "$tmp/err" || fail "the refusal does not name --from: $(cat "$tmp/err")"
[ -z "$(ls -A "$tmp/empty")" ] || fail "something of the current folder was installed"
echo "install-check: installed, replaced, and a changed archive refused"
