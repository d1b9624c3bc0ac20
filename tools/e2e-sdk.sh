#!/usr/bin/env bash
# Tests the Python and Node SDKs against `nacre serve`.
#
# usage: tools/e2e-sdk.sh [path to the nacre program]
#
# pip and npm install what the tests need into a temporary directory, unless NACRE_E2E_SDK is set to a directory to keep it in.
# Exits with 75 if it cannot be installed.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
nacre=${1:-${CARGO_TARGET_DIR:-$here/target}/debug/nacre}
[ -x "$nacre" ] || { echo "e2e-sdk: program \`$nacre\` not found; run \`make e2e-sdk\`" >&2; exit 1; }
nacre=$(cd "$(dirname "$nacre")" && pwd)/$(basename "$nacre")
for tool in npm node python3 git; do
    command -v "$tool" > /dev/null || { echo "e2e-sdk: $tool is required but not installed" >&2; exit 75; }
done

"$here/sdk/generate/generate.py" --check

tmp=$(mktemp -d "${TMPDIR:-/tmp}/nacre-sdk.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
kept=${NACRE_E2E_SDK:-$tmp}
unset NACRE_E2E_SDK

if [ ! -e "$kept/done" ]; then
    mkdir -p "$kept"
    { python3 -m venv "$kept/venv" && timeout 300 "$kept/venv/bin/pip" install -q "httpx>=0.27,<1" "pytest>=8" "mypy>=1.10"; } ||
        { echo "e2e-sdk: pip could not install what the tests need" >&2; exit 75; }
    cp "$here/sdk/node/package.json" "$here/sdk/node/package-lock.json" "$kept/"
    (cd "$kept" && timeout 300 npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) ||
        { echo "e2e-sdk: npm could not install what the tests need" >&2; exit 75; }
    touch "$kept/done"
fi

export NACRE_BIN=$nacre
echo "e2e-sdk: python"
(cd "$here/sdk/python" && "$kept/venv/bin/mypy" && "$kept/venv/bin/python" -m pytest -q -p no:cacheprovider)

echo "e2e-sdk: node"
# Compiled outside of the checkout, with the layout that the tests expect: they find the table by their own place.
copy=$tmp/copy
mkdir -p "$copy/sdk" "$copy/docs"
cp -r "$here/sdk/generate" "$here/sdk/node" "$copy/sdk/"
rm -rf "$copy/sdk/node/node_modules" "$copy/sdk/node/build"
ln -s "$kept/node_modules" "$copy/sdk/node/node_modules"
cp "$here/docs/openapi.json" "$copy/docs/"
(cd "$copy/sdk/node" && node_modules/.bin/tsc && node --test build/test/*.test.js)
