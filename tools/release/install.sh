#!/bin/sh
# Installs nacre for one user: picks the archive for this machine, checks it against SHA256SUMS, and copies the program
# to ~/.local/bin, the completions and the manual pages to ~/.local/share. Needs no root and changes no other file.
#
# usage: curl -fsSL @DOWNLOADS@/install.sh | sh
#        install.sh [--from FOLDER-OR-URL] [--to FOLDER]
#
#   --from  where SHA256SUMS and the archives are
#           [default: NACRE_DOWNLOAD_URL, else the folder of this script, else the release of this script]
#   --to    where bin/ and share/ are [default: ~/.local]

set -eu

fail() {
    echo "install: $*" >&2
    exit 1
}

usage() {
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
}

target() {
    case $(uname -s)-$(uname -m) in
        Linux-x86_64 | Linux-amd64) echo x86_64-unknown-linux-musl ;;
        Linux-aarch64 | Linux-arm64) echo aarch64-unknown-linux-musl ;;
        Darwin-x86_64) echo x86_64-apple-darwin ;;
        Darwin-arm64) echo aarch64-apple-darwin ;;
        *) fail "there is no archive for $(uname -s) on $(uname -m); build it with cargo: see README.md" ;;
    esac
}

# Copies one file from the distribution.
fetch() {
    case $from in
        *://*@*) fail "a URL with a user name is not read" ;;
        # The loopback interface is this machine. `=` leaves other protocols out, also in redirects.
        https://* | http://127.0.0.1[:/]*)
            command -v curl > /dev/null || fail "curl is needed and is not here"
            curl --proto "=${from%%:*}" --tlsv1.2 -fsSL "$from/$1" -o "$tmp/$1" || fail "cannot fetch $from/$1"
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

from=${NACRE_DOWNLOAD_URL:-}
from=${from%/}
# When read from a pipe, this script has no directory, and the current directory is untrusted.
case $0 in
    install.sh | */install.sh) [ -n "$from" ] || [ ! -f "$(dirname "$0")/SHA256SUMS" ] || from=$(dirname "$0") ;;
esac
from=${from:-@DOWNLOADS@}
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
