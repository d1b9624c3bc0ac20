"""Measures `nacre sync` without a model over real traces: speed, memory, and how time grows with size.

Usage: bench-sync.py NACRE FOLDER [MEGABYTES]

FOLDER holds traces of Claude Code and Codex (`*.jsonl`). They are copied, under new session ids and with their working
folder set to one project, until there are MEGABYTES of them (200 unless told); then half of them. Nothing is written
outside a temporary folder.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CWD = re.compile(rb'"cwd"\s*:\s*"(?:[^"\\]|\\.)*"')
UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def kind_of(path):
    with path.open("rb") as file:
        first = file.readline()
    return "codex" if b'"session_meta"' in first else "claude" if b'"sessionId"' in first else None


def renamed(data, name, copy):
    """The trace as another session's: every id that stands in the file's name gets a new end."""
    for old in set(UUID.findall(name.encode())):
        data = data.replace(old, old[:-6] + b"%06x" % copy)
    return data


def fill(home, repo, sources, limit):
    """Copies traces until there are `limit` bytes; returns how many bytes there are."""
    total, copy = 0, 0
    cwd = b'"cwd":' + json.dumps(str(repo)).encode()
    while total < limit:
        copy += 1
        for source in sources:
            if limit <= total:
                break
            kind = kind_of(source)
            if kind is None:
                continue
            data = CWD.sub(lambda _: cwd, source.read_bytes())
            ids = UUID.findall(source.name.encode())
            if not ids:
                continue
            data = renamed(data, source.name, copy)
            name = renamed(source.name.encode(), source.name, copy).decode()
            if kind == "codex":
                folder = home / ".codex/sessions/2026/04" / f"{copy % 28 + 1:02}"
                name = name if name.startswith("rollout-") else f"rollout-2026-04-01T00-00-00-{name}"
            else:
                folder = home / ".claude/projects/-bench"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
            # Backdate the file, because a sync skips sessions that may still be running.
            os.utime(folder / name, (1_770_000_000, 1_770_000_000))
            total += len(data)
    return total


def timed(command, env, cwd):
    """Runs on one core; returns seconds and peak megabytes."""
    before = time.perf_counter()
    process = subprocess.Popen(
        command, env=env, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, {0}),
    )
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(error.decode())
    return time.perf_counter() - before, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def measure(nacre, sources, megabytes):
    with tempfile.TemporaryDirectory() as folder:
        home, repo = Path(folder) / "home", Path(folder) / "repo"
        repo.mkdir()
        home.mkdir()
        env = {"HOME": str(home), "PATH": os.environ["PATH"]}
        subprocess.run([nacre, "init"], env=env, cwd=repo, check=True, stdout=subprocess.DEVNULL)
        size = fill(home, repo, sources, megabytes << 20) / (1 << 20)
        read = timed([nacre, "sync", "--no-extract"], env, repo)
        keep = timed([nacre, "sync"], env, repo)
        again = timed([nacre, "sync"], env, repo)
        listed = json.loads(subprocess.run(
            [nacre, "memory", "list", "--limit", "0", "--json"], env=env, cwd=repo, check=True, capture_output=True,
        ).stdout)
        n_memories = len(listed.get("memories", []))
    print(f"{size:6.0f} MB  read {read[0]:6.1f} s {size / read[0]:6.1f} MB/s {read[1]:4.0f} MB peak"
          f"   keep {keep[0]:6.1f} s {size / keep[0]:6.1f} MB/s {keep[1]:4.0f} MB peak (cpu {keep[2]:.1f} s)"
          f"   again {again[0]:5.1f} s   {n_memories} memories")


def main():
    nacre, folder = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
    megabytes = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    sources = sorted(path for path in folder.rglob("*.jsonl") if path.stat().st_size < 64 << 20)
    for size in (megabytes // 4, megabytes // 2, megabytes):
        measure(nacre, sources, size)


main()
