#!/usr/bin/env bash
# Writes what this version stores as a fixture that every later version must be able to read
# (crates/nacre/tests/it/compat.rs). Run it once a release, with the program that is released.
#
# usage: tools/compat-fixture.sh [path to the nacre program]
#
# The path of the home is fixed, because trust levels are signed for the store's path. The databases
# are kept as SQL.

# shellcheck source=tools/demo-lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/demo-lib.sh" "$@"

version=$(nacre --version | cut -d ' ' -f 2)
out=$here/crates/nacre/tests/fixtures/compat/$version
[ ! -e "$out" ] || { echo "compat-fixture: $out exists; a released fixture never changes" >&2; exit 1; }

rm -rf "$tmp"
tmp=/tmp/nacre-compat-$version
rm -rf "$tmp"
export HOME=$tmp
mkdir -p "$tmp/work/src" "$tmp/bin"
ln -s "$nacre" "$tmp/bin/nacre"
PATH=$tmp/bin:$PATH
cd "$tmp/work"
git -c init.defaultBranch=main init -q .

today 2026-03-05T09:00:00Z
lay_sessions
run nacre init
run nacre sync
run nacre review accept 20260303-where
run nacre memory add "Store times in UTC" --body "Local times broke the report in Auckland."
run nacre memory add "Keep reports for a year" --body "Auditors ask for the last twelve months." --type decision
today 2026-03-06T09:00:00Z
run nacre memory add "Keep reports for seven years" --body "The law changed." --type decision \
    --supersedes 20260305-keep-reports-for-a-year
run nacre memory add "Call the staging host stage-2" --type learning --kind context
run nacre memory archive 20260306-call-the-staging-host-stage-2
run nacre feedback 20260305-store-times-in-utc useful
run nacre config set runs.keep 40
printf '\n[share]\nsummaries = true\n' >> .nacre/config.toml
run nacre connect claude --yes

python3 - "$tmp" "$out" << 'END'
import pathlib, shutil, sqlite3, sys

tmp, out = map(pathlib.Path, sys.argv[1:])
derived = shutil.ignore_patterns("cache", "index", "logs", "run", "lock")
shutil.copytree(tmp / ".nacre", out / "home", ignore=derived)
shutil.copytree(tmp / "work/.nacre", out / "project", ignore=derived)
# Git must not apply it to the fixture.
(out / "project/.gitignore").rename(out / "project/gitignore")
for path in sorted(out.rglob("*.sqlite3*")):
    if path.suffix == ".sqlite3":
        database = sqlite3.connect(path)
        lines = [line for line in database.iterdump() if "sqlite_sequence" not in line]
        for name in ("user_version", "application_id"):
            (value,) = database.execute(f"PRAGMA {name}").fetchone()
            lines.append(f"PRAGMA {name} = {value};")
        database.close()
        path.with_suffix(".sql").write_text("\n".join(lines) + "\n")
    path.unlink(missing_ok=True)
END
find "$out" -type f | sed "s|^$here/||"
