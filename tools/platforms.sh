#!/usr/bin/env bash
# Checks that Nacre compiles for systems that are not this one. Nothing is linked or run.
#
# usage: tools/platforms.sh TARGET...    (x86_64-unknown-linux-musl, x86_64-pc-windows-gnu, aarch64-apple-darwin)
#
# The C libraries need a compiler for the target: zig, the one in PATH or the one that pip fetches (`ziglang`), once, to
# target/zig. Exits with 75 if the target or zig cannot be had. CARGO names another cargo.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo=${CARGO:-cargo}
folder=${CARGO_TARGET_DIR:-$PWD/target}/zig
missing() { echo "platforms: $*" >&2; exit 75; }

if command -v zig > /dev/null; then
    zig=zig
else
    if [ ! -x "$folder/bin/python" ]; then
        command -v python3 > /dev/null || missing "zig is not here, nor python3 to fetch it"
        python3 -m venv "$folder" || missing "python3 has no venv to fetch zig to"
    fi
    "$folder/bin/python" -m ziglang version > /dev/null 2>&1 ||
        "$folder/bin/python" -m pip install --quiet ziglang || missing "pip cannot fetch zig"
    zig="$folder/bin/python -m ziglang"
fi

# A compiler and an archiver with the names that cargo is told; zig spells targets differently and takes no `--target`.
mkdir -p "$folder/tools"
printf '#!/bin/sh\nexec %s ar "$@"\n' "$zig" > "$folder/tools/ar"
chmod +x "$folder/tools/ar"
compiler_for() { # zig's name of a target
    cat > "$folder/tools/cc-$1" << END
#!/bin/sh
count=\$#
while [ "\$count" -gt 0 ]; do
    word=\$1
    shift
    count=\$((count - 1))
    case \$word in --target=*) ;; *) set -- "\$@" "\$word" ;; esac
done
exec $zig cc -target $1 "\$@"
END
    chmod +x "$folder/tools/cc-$1"
    echo "$folder/tools/cc-$1"
}

for target in "$@"; do
    case $target in
        x86_64-unknown-linux-musl) name=x86_64-linux-musl ;;
        x86_64-pc-windows-gnu) name=x86_64-windows-gnu ;;
        aarch64-apple-darwin) name=aarch64-macos ;;
        *) missing "$target is not known here" ;;
    esac
    if command -v rustup > /dev/null && ! rustup target list --installed | grep -qx "$target"; then
        rustup target add "$target" || missing "rustup cannot add $target"
    fi
    export "CC_${target//-/_}=$(compiler_for "$name")" "AR_${target//-/_}=$folder/tools/ar"
    # With fewer grammars: they are C that is the same everywhere, and most of the time.
    "$cargo" check -p nacre --no-default-features --target "$target"
    echo "platforms: $target compiles"
done
