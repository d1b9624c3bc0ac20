#!/usr/bin/env python3
"""Search at scale: a PostgreSQL of its own with a million generated records of 200 projects, and a thousand questions about them.

Usage: crates/nacre-lab/scripts/scale-search.py LAB PROGRAMS [RECORDS] [QUESTIONS]

LAB is the program `nacre-lab` of a release build, PROGRAMS the folder that `tools/postgres.sh`
prints. Both are held to two cores. Prints what `nacre-lab team scale` measures: the bar is 40 ms for the median and 150 ms for the 99th of 100, whatever
projects the caller may read.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3] / "tools"))
from team import Postgres  # noqa: E402

# Typical settings for a small dedicated server.
SETTINGS = {
    "shared_buffers": "6GB",
    "effective_cache_size": "12GB",
    "work_mem": "32MB",
    "max_wal_size": "8GB",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


def main() -> int:
    lab, programs = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    records, questions = (sys.argv[3:] + ["1000000", "1000"][len(sys.argv) - 3 :])[:2]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    root = Path(tempfile.mkdtemp(prefix="nacre-scale-"))
    database = Postgres(programs, root)
    try:
        for name, value in SETTINGS.items():
            database.sql(f"ALTER SYSTEM SET {name} = '{value}'")
        database.crash()
        database.start()
        for arguments in (["load", records], ["measure", questions]):
            subprocess.run([lab, "team", "scale", database.url(), *arguments], check=True)
    finally:
        database.crash()
        shutil.rmtree(root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
