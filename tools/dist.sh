#!/usr/bin/env bash
# Builds the programs that are released, and their completions and manual pages, into target/dist.
#
# usage: tools/dist.sh [TARGET...]    (by default, all targets of tools/release.py)
#
# The static Linux program for this machine needs musl-gcc (Debian: musl-tools); others need cargo-zigbuild, and macOS
# also SDKROOT unless it is this machine. Targets that cannot be built here are listed as SKIPPED; the
# exit code is then 75. `rustup target add` fetches the Rust targets. CARGO names another cargo.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo=${CARGO:-cargo}
max_bytes=80000000
target_dir=${CARGO_TARGET_DIR:-target}
out=$target_dir/dist
host=$(rustc -vV | sed -n 's/^host: //p')
skipped=0
rm -rf "$out/completions" "$out/man"

fail() { echo "dist: $*" >&2; exit 1; }

# Returns why a target cannot be built here, if it cannot.
obstacle() {
    case $1,$host in
        x86_64-unknown-linux-musl,x86_64-unknown-linux-*)
            command -v musl-gcc > /dev/null || { echo "musl-gcc is not installed"; return; }
            ;;
        *-apple-darwin,*-apple-darwin) ;;
        *)
            "$cargo" zigbuild --help > /dev/null 2>&1 || { echo "cargo-zigbuild is not installed"; return; }
            case $1 in *-apple-darwin) [ -n "${SDKROOT:-}" ] || echo "SDKROOT does not name a macOS SDK" ;; esac
            ;;
    esac
    if command -v rustup > /dev/null && ! rustup target list --installed | grep -qx "$1"; then
        rustup target add "$1" >&2 || echo "the Rust target cannot be added"
    fi
}

# Links with musl and, if Rust comes with it, a linker that keeps one of several functions that are the same code.
musl_settings() {
    local target=$1 flags="-C link-arg=-Wl,-z,pack-relative-relocs" lld
    lld=$(rustc --print sysroot)/lib/rustlib/$host/bin/gcc-ld
    if [ -x "$lld/ld.lld" ]; then
        flags+=" -C link-arg=-B$lld -C link-arg=-fuse-ld=lld -C link-arg=-Wl,--icf=all,-O2"
    fi
    export "CC_${target//-/_}=musl-gcc" "CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<< "$target")_RUSTFLAGS=$flags"
}

for target in ${@:-$(tools/release.py --targets)}; do
    reason=$(obstacle "$target")
    if [ -n "$reason" ]; then
        echo "dist: SKIPPED: $target: $reason" >&2
        skipped=75
        continue
    fi
    command=build
    case $target,$host in
        x86_64-unknown-linux-musl,x86_64-unknown-linux-*) musl_settings "$target" ;;
        *-apple-darwin,*-apple-darwin) ;;
        *) command=zigbuild ;;
    esac
    "$cargo" "$command" --locked --profile dist -p nacre --bin nacre --target "$target"
    name=nacre
    case $target in *-windows-*) name=nacre.exe ;; esac
    program=$out/$target/$name
    mkdir -p "$out/$target"
    cp "$target_dir/$target/dist/$name" "$program"

    # Tests write the schemas; code that makes them would be a tenth of the program.
    if grep -q 'schemars-[0-9]' "$program"; then
        fail "the program holds code that makes JSON schemas; only tests may call schemars"
    fi
    bytes=$(wc -c < "$program")
    [ "$bytes" -le "$max_bytes" ] || fail "the program is $bytes bytes, more than $max_bytes"
    case $target,$host in x86_64-unknown-linux-musl,x86_64-unknown-linux-*) tools/dist-check.sh "$program" ;; esac
    echo "dist: $program, $((bytes)) bytes"

    # The first program that runs here writes the completions; a test writes the manual pages.
    if [ ! -d "$out/completions" ] && "$program" --version > /dev/null 2>&1; then
        mkdir "$out/completions" "$out/man"
        for shell in bash elvish fish powershell zsh; do
            "$program" completions "$shell" > "$out/completions/nacre.$shell"
        done
        NACRE_WRITE_MANUAL=$(cd "$out/man" && pwd) "$cargo" test -q --locked -p nacre --bin nacre -- \
            every_command_that_is_shown_has_a_manual_page
    fi
done
exit "$skipped"
