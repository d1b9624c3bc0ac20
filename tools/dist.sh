#!/usr/bin/env bash
# Builds what is shipped: one static Linux program, an archive of it with completions and manual pages, and checksums.
#
# usage: tools/dist.sh
#
# Everything goes to target/dist. Needs musl-gcc and strip (Debian: musl-tools, binutils), and the Rust target, which
# `rustup target add` fetches. CARGO names another cargo.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo=${CARGO:-cargo}
target=${NACRE_DIST_TARGET:-x86_64-unknown-linux-musl}
max_bytes=80000000
out=${CARGO_TARGET_DIR:-target}/dist
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=nacre-$version-$target

fail() { echo "dist: $*" >&2; exit 1; }

for tool in musl-gcc strip tar gzip sha256sum; do
    command -v "$tool" > /dev/null ||
        fail "\`$tool\` is required but not installed; on Debian: apt-get install musl-tools binutils"
done
if command -v rustup > /dev/null && ! rustup target list --installed | grep -qx "$target"; then
    rustup target add "$target" || fail "the Rust target $target cannot be added"
fi

mkdir -p "$out"
upper=$(printf '%s' "$target" | tr 'a-z-' 'A-Z_')
export "CC_${target//-/_}=musl-gcc"
flags="-C link-arg=-Wl,-z,pack-relative-relocs"
# The linker that comes with Rust keeps one of several functions that are the same code.
lld=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/gcc-ld
if [ -x "$lld/ld.lld" ]; then
    flags+=" -C link-arg=-B$lld -C link-arg=-fuse-ld=lld -C link-arg=-Wl,--icf=all,-O2"
fi
export "CARGO_TARGET_${upper}_RUSTFLAGS=$flags"
"$cargo" build --locked --profile dist -p nacre --bin nacre --target "$target"
program=$out/nacre
strip -s -o "$program" "${CARGO_TARGET_DIR:-target}/$target/dist/nacre"

# Tests write the schemas; code that makes them would be a tenth of the program.
if grep -q 'schemars-[0-9]' "$program"; then
    fail "the program holds code that makes JSON schemas; only tests may call schemars"
fi
bytes=$(stat -c %s "$program")
[ "$bytes" -le "$max_bytes" ] || fail "the program is $bytes bytes, more than $max_bytes"
tools/dist-check.sh "$program"

folder=$out/$name
rm -rf "$folder"
mkdir -p "$folder/completions" "$folder/man"
cp "$program" "$folder/nacre"
cp README.md CHANGELOG.md LICENSE LICENSE-MIT LICENSE-APACHE crates/nacre-memory/assets/NOTICE "$folder/"
for shell in bash elvish fish powershell zsh; do
    "$program" completions "$shell" > "$folder/completions/nacre.$shell"
done
NACRE_WRITE_MANUAL=$(realpath "$folder/man") "$cargo" test -q --locked -p nacre --bin nacre -- \
    every_command_that_is_shown_has_a_manual_page

# The same sources give the same archive: names in order, nobody's user, the time of the last commit.
time=$(git log -1 --format=%ct 2> /dev/null || echo 0)
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -C "$out" -cf - "$name" | gzip -n -9 > "$out/$name.tar.gz"
rm -rf "$folder"
cp install.sh "$out/install.sh"
(cd "$out" && sha256sum "$name.tar.gz" > SHA256SUMS)
tools/install-check.sh "$out"

echo "dist: $out/$name.tar.gz, $(stat -c %s "$out/$name.tar.gz") bytes; the program has $bytes"
