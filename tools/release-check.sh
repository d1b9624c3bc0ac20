#!/usr/bin/env bash
# Installs a release through every channel and runs what was installed.
#
# usage: tools/release-check.sh FOLDER     (what tools/release.py wrote, with a program for this machine)
#        tools/release-check.sh PROGRAM    (packages this program first, with dummies for other systems)
#
# pip and npm fetch what the checks need into a temporary directory. Checks that cannot run are listed as SKIPPED.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-release.XXXXXX")
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$tmp"' EXIT

fail() { echo "release-check: $*" >&2; exit 1; }
passed() { echo "release-check: $*"; }
skipped() { echo "release-check: SKIPPED: $*"; }
have() { command -v "$1" > /dev/null; }
version=$("$here/tools/release.py" --version)
runs() { # program, command before it
    local said
    said=$("${@:2}" "$1" --version) || fail "$1 does not run"
    case $said in "nacre $version "*) ;; *) fail "$1 --version says $said" ;; esac
}
triple=x86_64-unknown-linux-musl npm=linux-x64 wheel=manylinux*x86_64 deb=amd64
case $(uname -s)-$(uname -m) in
    Linux-x86_64) ;;
    Linux-aarch64) triple=aarch64-unknown-linux-musl npm=linux-arm64 wheel=manylinux*aarch64 deb=arm64 ;;
    Darwin-arm64) triple=aarch64-apple-darwin npm=darwin-arm64 wheel=macosx*arm64 ;;
    Darwin-x86_64) triple=x86_64-apple-darwin npm=darwin-x64 wheel=macosx*x86_64 ;;
    *) fail "no program is released for $(uname -s) on $(uname -m)" ;;
esac

if [ -f "$1" ]; then
    programs=$tmp/programs out=$tmp/release
    mkdir -p "$programs/man" "$programs/completions"
    for target in $("$here/tools/release.py" --targets); do
        mkdir "$programs/$target"
        echo "a dummy" | tee "$programs/$target/nacre" > "$programs/$target/nacre.exe"
    done
    for shell in bash elvish fish powershell zsh; do "$1" completions "$shell" > "$programs/completions/nacre.$shell"; done
    echo '.TH nacre 1' > "$programs/man/nacre.1"

    # Nothing may depend on the time, the locale, the umask or the order of files in a directory.
    "$here/tools/release.py" --fast "$programs" "$tmp/one" > /dev/null
    cp -r "$programs" "$tmp/copy"
    (umask 077 && cd / && TZ=Asia/Tokyo LC_ALL=C "$here/tools/release.py" --fast "$tmp/copy" "$tmp/two") > /dev/null
    diff -r "$tmp/one" "$tmp/two" > /dev/null || fail "the same inputs give other bytes"
    passed "the same inputs give the same bytes"

    cp "$1" "$programs/$triple/nacre"
    ! have strip || strip "$programs/$triple/nacre"
    "$here/tools/release.py" --fast "$programs" "$out"
else
    out=$(cd "$1" && pwd)
fi
cd "$tmp"

(cd "$out" && sha256sum --quiet -c SHA256SUMS) || fail "SHA256SUMS is wrong"
archive=$out/nacre-$version-$triple.tar.gz
mkdir archive
tar -xzf "$archive" -C archive --strip-components=1
runs archive/nacre
for file in LICENSE LICENSE-MIT LICENSE-APACHE NOTICE README.md completions/nacre.bash man/nacre.1; do
    [ -s "archive/$file" ] || fail "the archive lacks $file"
done
if [ -f "$out/nacre-$version-x86_64-pc-windows-gnu.zip" ]; then
    python3 -m zipfile -t "$out/nacre-$version-x86_64-pc-windows-gnu.zip" > /dev/null
fi
passed "archives: complete, with checksums"

# The installer, from a server, from its own folder, from a pipe, and with a changed archive.
python3 -u -m http.server --bind 127.0.0.1 --directory "$out" 0 > port 2> /dev/null &
server=$!
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
url=http://127.0.0.1:$(sed -n 's/.* port \([0-9]*\) .*/\1/p' port)
installed() { # home
    runs "$1/.local/bin/nacre"
    for file in man/man1/nacre.1 bash-completion/completions/nacre; do
        [ -s "$1/.local/share/$file" ] || fail "install.sh did not install $file"
    done
    [ "$(ls -A "$1/.local/bin")" = nacre ] || fail "install.sh left files beside the program"
}
HOME=$tmp/piped NACRE_DOWNLOAD_URL=$url sh < "$out/install.sh" > log || fail "install.sh failed: $(cat log)"
installed "$tmp/piped"
for _ in 1 2; do HOME=$tmp/folder sh "$out/install.sh" > log || fail "install.sh failed: $(cat log)"; done
installed "$tmp/folder"
mkdir changed empty
cp "$out/SHA256SUMS" changed/
(cat "$archive" && printf x) > "changed/${archive##*/}"
if HOME=$tmp/empty sh "$out/install.sh" --from "$tmp/changed" > log 2>&1; then fail "a changed archive was installed"; fi
grep -q checksum log || fail "the refusal does not name the checksum: $(cat log)"
for from in http://example.invalid https://user@example.invalid http://127.0.0.1@example.invalid; do
    if (cd "$out" && HOME=$tmp/empty NACRE_DOWNLOAD_URL=$from sh < install.sh) > log 2>&1; then fail "$from was read"; fi
done
[ -z "$(ls -A empty)" ] || fail "something was installed although it was refused"
passed "install.sh: from a server, a folder and a pipe; refuses a changed archive"
if have pwsh; then
    # shellcheck disable=SC2016
    pwsh -NoProfile -Command '[ScriptBlock]::Create((Get-Content -Raw $args[0])) | Out-Null' "$out/install.ps1"
    passed "install.ps1: is valid"
else
    skipped "install.ps1: pwsh is not installed"
fi

python3 -m venv venv
# shellcheck disable=SC2086
file=$(ls "$out"/nacre-"$version"-py3-none-$wheel*.whl)
if venv/bin/pip install -q "$file"; then
    venv/bin/python -c 'import nacre; nacre.Client'
    passed "the wheel: installed by pip, with the SDK"
else
    venv/bin/pip install -q --no-deps "$file"
    skipped "the wheel's SDK: pip could not fetch httpx"
fi
runs venv/bin/nacre
if venv/bin/pip install -q twine 'cyclonedx-python-lib[json-validation]'; then
    venv/bin/twine --no-color check --strict "$out"/*.whl > log || fail "twine: $(cat log)"
    passed "the wheels: pass twine check"
    venv/bin/python - "$out/nacre-$version.cdx.json" << 'END' || fail "the bill of materials is not valid"
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)
END
    passed "the bill of materials: is valid CycloneDX 1.5"
else
    skipped "twine check and CycloneDX: pip could not fetch them"
fi

if have npm && [ -f "$out/nacre-$version.tgz" ]; then
    # Without optional dependencies, so that npm does not ask a registry for the packages of other platforms.
    npm install -s -g --prefix "$tmp/npm" --omit=optional "$out/nacre-$version.tgz" "$out/nacre-$npm-$version.tgz"
    runs npm/bin/nacre
    (cd npm/lib && node --input-type=module -e 'import { Client } from "nacre"; Client.name')
    code=0
    npm/bin/nacre no-such-command > log 2>&1 || code=$?
    [ "$code" -eq 2 ] || fail "the launcher of npm ends with $code instead of 2"
    rm -r npm/lib/node_modules/nacre-*
    if npm/bin/nacre --version > log 2>&1; then fail "the launcher needs no program"; fi
    grep -q "nacre-$npm is not installed" log || fail "the launcher does not say what is missing: $(cat log)"
    for file in "$out"/*.tgz; do
        npm publish -s --dry-run "$file" > log 2>&1 || fail "npm publish --dry-run ${file##*/}: $(cat log)"
    done
    passed "npm: installed with the launcher and the SDK; npm publish --dry-run passes"
else
    skipped "npm: it is not installed, or the release has no npm package"
fi

package=$out/nacre_${version}_$deb.deb
if ! have dpkg || [ ! -f "$package" ]; then
    skipped "the Debian package: dpkg is not installed"
elif [ "$(id -u)" -eq 0 ]; then
    mkdir -p debian/var/lib/dpkg/info debian/var/lib/dpkg/updates
    touch debian/var/lib/dpkg/status
    dpkg --root="$tmp/debian" --log=/dev/null -i "$package" > log 2>&1 || fail "dpkg: $(cat log)"
    runs debian/usr/bin/nacre
    dpkg --root="$tmp/debian" --verify nacre | grep . && fail "dpkg --verify finds other files than the package's"
    dpkg --root="$tmp/debian" --log=/dev/null -r nacre > log 2>&1
    [ ! -e debian/usr/bin/nacre ] || fail "dpkg did not remove the program"
    passed "the Debian package: installed, verified and removed by dpkg"
else
    dpkg-deb -x "$package" debian
    runs debian/usr/bin/nacre
    skipped "dpkg -i: not root; the package was unpacked"
fi

if have ruby; then
    ruby -c "$out/nacre.rb" > /dev/null
    passed "the Homebrew formula: is valid Ruby"
else
    skipped "the Homebrew formula: ruby is not installed"
fi
python3 - "$here" "$out" << 'END' || fail "cargo binstall would not find the archives"
import sys, tomllib
from pathlib import Path
here, out = map(Path, sys.argv[1:])
workspace = tomllib.loads((here / "Cargo.toml").read_text())["workspace"]["package"]
rules = tomllib.loads((here / "crates/nacre/Cargo.toml").read_text())["package"]["metadata"]["binstall"]
windows = rules.pop("overrides")["x86_64-pc-windows-msvc"]
for path in [*out.glob("nacre-*.tar.gz"), *out.glob("nacre-*.zip")]:
    rule = windows if path.suffix == ".zip" else rules
    triple = path.name.removeprefix(f"nacre-{workspace['version']}-").removesuffix(".tar.gz")
    url = rule["pkg-url"]
    for name, value in [("repo", workspace["repository"]), ("version", workspace["version"]), ("target", triple)]:
        url = url.replace("{ %s }" % name, value)
    assert url == f"{workspace['repository']}/releases/download/v{workspace['version']}/{path.name}", url
END
passed "cargo binstall: the addresses are those of the archives"
