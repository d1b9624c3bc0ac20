#!/bin/sh
# Installs nacre for one user: picks the archive for this machine, checks it against SHA256SUMS, and copies the program
# to ~/.local/bin, the completions and the manual pages to ~/.local/share. Needs no root and changes no other file.
#
# usage: install.sh [--from FOLDER-OR-URL] [--to FOLDER]
#
#   --from  where SHA256SUMS and the archives are [default: the folder of this script]
#   --to    where bin/ and share/ are [default: ~/.local]

set -eu

fail() {
    echo "install: $*" >&2
    exit 1
}

usage() {
    sed -n '2,9s/^# \{0,1\}//p' "$0"
}

target() {
    case $(uname -s)-$(uname -m) in
        Linux-x86_64 | Linux-amd64) echo x86_64-unknown-linux-musl ;;
        *) fail "there is no archive for $(uname -s) on $(uname -m); build it with cargo: see README.md" ;;
    esac
}

# Copies one file from the distribution.
fetch() {
    case $from in
        https://*)
            if command -v curl > /dev/null; then
                curl --proto '=https' --tlsv1.2 -fsSL "$from/$1" -o "$tmp/$1"
            elif command -v wget > /dev/null; then
                # wget would follow a redirect to http://, which an attacker on the network could answer.
                wget -q --max-redirect=0 "$from/$1" -O "$tmp/$1"
            else
                fail "curl or wget is needed and is not here"
            fi || fail "cannot fetch $from/$1"
            ;;
        *://*) fail "only https:// and folders are read, not $from" ;;
        *) cp "$from/$1" "$tmp/$1" || fail "there is no $1 in $from" ;;
    esac
}

sha256() {
    if command -v sha256sum > /dev/null; then
        sha256sum "$1"
    elif command -v shasum > /dev/null; then
        shasum -a 256 "$1"
    else
        fail "sha256sum or shasum is needed to check the archive and is not here"
    fi | cut -d ' ' -f 1
}

# When read from a pipe, this script has no directory, and the current directory is untrusted.
from=
case $0 in
    install.sh | */install.sh) [ ! -f "$0" ] || from=$(dirname "$0") ;;
esac
to=${HOME:-}/.local
while [ $# -gt 0 ]; do
    case $1 in
        --from | --to)
            [ $# -ge 2 ] || fail "$1 needs a value"
            if [ "$1" = --from ]; then from=${2%/}; else to=${2%/}; fi
            shift 2
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        *) fail "unknown argument $1; see --help" ;;
    esac
done
[ -n "$from" ] || fail "name where the archives are with --from; this script was not started as a file named install.sh"
[ "$to" != /.local ] || fail "HOME is not set; name a folder with --to"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

wanted=$(target)
fetch SHA256SUMS
line=$(grep -E "^[0-9a-f]{64} [ *]nacre-[0-9A-Za-z.+-]*-$wanted\.tar\.gz\$" "$tmp/SHA256SUMS" | tail -n 1) ||
    fail "SHA256SUMS names no archive for $wanted"
[ -n "$line" ] || fail "SHA256SUMS names no archive for $wanted"
sum=${line%% *}
archive=${line##*[ *]}
fetch "$archive"
[ "$(sha256 "$tmp/$archive")" = "$sum" ] || fail "$archive does not have the checksum of SHA256SUMS; nothing was installed"

tar -xzf "$tmp/$archive" -C "$tmp"
unpacked=$tmp/${archive%.tar.gz}
"$unpacked/nacre" --version > /dev/null || fail "the program does not run on this machine; nothing was installed"

share=$to/share
mkdir -p "$to/bin" "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
# Copy next to the target, then rename: a running nacre keeps its old file.
cp "$unpacked/nacre" "$to/bin/.nacre.new"
chmod 755 "$to/bin/.nacre.new"
mv -f "$to/bin/.nacre.new" "$to/bin/nacre"
cp "$unpacked/man/"*.1 "$share/man/man1/"
cp "$unpacked/completions/nacre.bash" "$share/bash-completion/completions/nacre"
cp "$unpacked/completions/nacre.zsh" "$share/zsh/site-functions/_nacre"
cp "$unpacked/completions/nacre.fish" "$share/fish/vendor_completions.d/nacre.fish"

echo "Installed $("$to/bin/nacre" --version) to $to/bin/nacre"
case :${PATH:-}: in
    *:"$to/bin":*) echo "Next: nacre init, in a repository" ;;
    *) echo "Next: add $to/bin to PATH, then nacre init in a repository" ;;
esac
