#!/usr/bin/env python3
"""Measures `nacre hook` as an agent sees it: from the start of the process to its end.

Usage: crates/nacre-lab/scripts/bench-hooks.py NACRE LAB [MEMORIES] [CALLS]

NACRE is the program, LAB the example that makes a store of MEMORIES (10000) memories. Each scenario is called CALLS (1000)
times. Ends with 1 when the median of one is over 15 ms (5 beside a server) or the 99th percentile over 60 ms, or when a hook ended badly.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

MAX_P50_MS = 15.0
MAX_P99_MS = 60.0
# Applies if a server is running for the same home directory.
MAX_SERVED_P50_MS = 5.0
PROMPTS = [
    "how do we deploy to production?",
    "fix the tests",
    "why does the retry policy hold the lock for minutes",
    "rename the variable",
    "the importer skipped the last row of every full page, find out why",
    "continue",
]


def main() -> int:
    nacre, lab = (os.path.abspath(path) for path in sys.argv[1:3])
    n_memories = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    n_calls = int(sys.argv[4]) if len(sys.argv) > 4 else 1_000
    root = tempfile.mkdtemp(prefix="nacre-hooks-")
    try:
        return measure(nacre, lab, root, n_memories, n_calls)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def measure(nacre: str, lab: str, root: str, n_memories: int, n_calls: int) -> int:
    home, repo, empty = (os.path.join(root, name) for name in ("home", "repo", "empty"))
    for folder in (home, os.path.join(repo, ".git"), os.path.join(empty, ".git")):
        os.makedirs(folder)
    env = {"HOME": home, "PATH": os.environ["PATH"]}
    run = lambda args, cwd: subprocess.run(args, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
    run([nacre, "init", "--quiet"], repo)
    # Not set by a variable, because a hook with its own settings does not use the server.
    run([nacre, "config", "set", "--quiet", "hooks.sync", "false"], repo)
    run([lab, "torture", "corpus", repo, str(n_memories)], repo)
    body = "The pipeline of main cannot deploy to production. It fails late."
    run([nacre, "memory", "add", "--quiet", "Deploy with make ship from the release branch", "--body", body], repo)
    run([nacre, "index", "--rebuild", "--quiet"], repo)
    while is_outdated(nacre, repo, env):
        run([nacre, "memory", "search", "queue", "--quiet"], repo)
    bench = Bench(nacre, env, n_calls)
    session = iter(range(10**9))
    text = lambda keys: json.dumps({"session_id": f"s{next(session)}", "cwd": repo, **keys}).encode()
    bench.row("prompt", "prompt", repo, lambda n: text({"prompt": PROMPTS[n % len(PROMPTS)]}))
    bench.row("start", "start", repo, lambda n: text({"source": "startup"}))
    bench.row("turn-end", "turn-end", repo, lambda n: text({}))
    serve = subprocess.Popen([nacre, "serve", "--port", "0", "--no-loops", "--json"], cwd=repo, env=env, stdout=subprocess.PIPE)
    serve.stdout.readline()
    bench.row("prompt, beside a server", "prompt", repo, lambda n: text({"prompt": PROMPTS[n % len(PROMPTS)]}), max_p50=MAX_SERVED_P50_MS)
    bench.row("start, beside a server", "start", repo, lambda n: text({"source": "startup"}), max_p50=MAX_SERVED_P50_MS)
    serve.terminate()
    serve.wait()
    bench.row("garbage on standard input", "prompt", repo, lambda n: b"\x00garbage")
    bench.row("no .nacre", "prompt", empty, lambda n: json.dumps({"session_id": "s", "prompt": PROMPTS[0]}).encode())
    catalog = sqlite3.connect(os.path.join(home, ".nacre/catalog.sqlite3"))
    catalog.execute("BEGIN EXCLUSIVE")
    bench.row("locked database", "prompt", repo, lambda n: text({"prompt": PROMPTS[n % len(PROMPTS)]}))
    catalog.close()
    guarded = {**env, "NACRE_HOOKS_GUARD": "true", "NACRE_HOOKS_PITFALLS": "true"}
    call = {"tool_name": "Edit", "tool_input": {"file_path": "src/queue.rs"}}
    bench.row("before-tool, guarded", "before-tool", repo, lambda n: text(call), guarded)
    state = json.loads(subprocess.check_output([nacre, "index", "--json"], cwd=repo, env=env))
    index = next(entry["path"] for entry in state["indexes"] if entry["scope"] == "project")
    for name in os.listdir(index):
        path = os.path.join(index, name)
        if os.path.isfile(path):
            open(path, "w").write("garbage")
    bench.row("broken index", "prompt", repo, lambda n: text({"prompt": PROMPTS[n % len(PROMPTS)]}))
    return 1 if bench.has_failed else 0


def is_outdated(nacre: str, repo: str, env: dict) -> bool:
    state = subprocess.check_output([nacre, "index", "--json"], cwd=repo, env=env)
    return any(index["outdated"] for index in json.loads(state)["indexes"])


class Bench:
    def __init__(self, nacre: str, env: dict, n_calls: int):
        self.nacre, self.env, self.n_calls, self.has_failed = nacre, env, n_calls, False
        print(f"{'':28}{'p50':>9}{'p99':>9}{'spoke':>8}")

    def row(self, name: str, event: str, cwd: str, stdin, env=None, max_p50=MAX_P50_MS) -> None:
        times, n_spoke = [], 0
        for number in range(self.n_calls):
            data = stdin(number)
            begun = time.perf_counter()
            done = subprocess.run([self.nacre, "hook", "claude", event], cwd=cwd, env=env or self.env, input=data, capture_output=True)
            times.append((time.perf_counter() - begun) * 1000)
            n_spoke += bool(done.stdout)
            if done.returncode != 0 or done.stderr:
                print(f"{name}: ended with {done.returncode}: {done.stderr[:200]!r}")
                self.has_failed = True
        times.sort()
        p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
        is_slow = p50 > max_p50 or p99 > MAX_P99_MS
        self.has_failed |= is_slow
        print(f"{name:28}{p50:7.1f}ms{p99:7.1f}ms{n_spoke:8}{'  FAIL' if is_slow else ''}")


if __name__ == "__main__":
    sys.exit(main())
