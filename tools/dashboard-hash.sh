#!/bin/sh
# Prints a hash of the dashboard's sources and of the files built from them. `make dashboard` records
# it in dashboard/dist.hash, and a test compares them, so that built files cannot go stale.

set -eu
cd "$(dirname "$0")/.."
paths=$(cd dashboard && find src dist ./*.html ./*.js ./*.json ./*.ts -type f | LC_ALL=C sort | sed 's:^:dashboard/:')
hashes=$(echo "$paths" | git hash-object --stdin-paths)
printf '%s\n' "$paths" "$hashes" | git hash-object --stdin
