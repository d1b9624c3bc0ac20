#!/usr/bin/env python3
"""Measures how long a command goes on after Ctrl-C, and whether it leaves a true state.

Usage: crates/nacre-lab/scripts/bench-cancel.py NACRE [TIMES]

Each row is pressed TIMES (10) times: a sync and a question whose model never answers, and a refresh of 20,000 files. Ends with 1
when a row takes more than 200 ms, ends with another code than 1, leaves a task that claims to run, or when what was stopped
cannot be done again.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

MAX_MS = 200.0
N_FILES = 20_000
# Late enough that every session counts as finished.
NOW = "2099-01-01T00:00:00Z"


def main() -> int:
    nacre = os.path.abspath(sys.argv[1])
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    root = tempfile.mkdtemp(prefix="nacre-cancel-")
    try:
        return measure(nacre, times, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)


class SilentModel:
    """Takes every request and answers none."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.held = []
        listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        threading.Thread(target=self.take, args=(listener,), daemon=True).start()

    def take(self, listener: socket.socket) -> None:
        while True:
            stream, _ = listener.accept()
            stream.recv(65536)
            self.held.append(stream)
            self.asked.release()


def measure(nacre: str, times: int, root: str) -> int:
    home, repo, traces, tree = (os.path.join(root, name) for name in ("home", "repo", "traces", "tree"))
    for folder in (home, os.path.join(repo, ".git"), traces, os.path.join(tree, ".git")):
        os.makedirs(folder)
    env = {"HOME": home, "PATH": os.environ["PATH"], "NACRE_NOW": NOW}
    run = lambda *args: subprocess.run([nacre, *args], cwd=repo, env=env, check=True, capture_output=True).stdout
    model = SilentModel()
    run("init", "--no")
    run("connect", "generic", "--path", traces)
    write_session(traces, repo)
    run("memory", "add", "The queue is kept in SQLite", "--body", "One file that every machine has.")
    run("config", "set", "providers.local.base_url", model.address)
    run("config", "set", "providers.local.api", "openai")
    run("config", "set", "roles.default.model", "local/test")
    write_tree(tree)
    asked = lambda: model.asked.acquire(timeout=30)
    rows = [
        ("sync", ["sync"], repo, asked),
        ("ask", ["ask", "Where is the queue kept?"], repo, asked),
        ("refresh", ["refresh"], tree, lambda: time.sleep(0.15)),
    ]
    bad = 0
    for name, args, folder, is_busy in rows:
        pressed = [press(nacre, args, folder, env, is_busy) for _ in range(times)]
        took = sorted(ms for ms, _ in pressed)
        codes = sorted({code for _, code in pressed})
        left = running(run)
        ok = took[-1] <= MAX_MS and codes == [1] and not left
        bad += not ok
        print(f"{name:8} median {took[len(took) // 2]:5.0f} ms  longest {took[-1]:5.0f} ms  exit {codes}  still running {left}  {'ok' if ok else 'BAD'}")
    read = json.loads(run("sync", "--json", "--strategy", "offline"))
    again = len(read["sessions"]) == 1
    print("sync afterwards reads the session" if again else f"sync afterwards: {read}")
    return 1 if bad or not again else 0


def press(nacre, args, folder, env, is_busy) -> tuple[float, int]:
    child = subprocess.Popen([nacre, *args], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    is_busy()
    if child.poll() is not None:
        return 0.0, 1000 + child.returncode
    start = time.perf_counter()
    child.send_signal(signal.SIGINT)
    child.wait(timeout=60)
    return (time.perf_counter() - start) * 1000, child.returncode


def running(run) -> int:
    tasks = json.loads(run("events", "--json") or b"{}").get("tasks", [])
    return sum(task["state"] in ("running", "queued", "accepted") for task in tasks)


def write_session(traces: str, repo: str) -> None:
    lines = [{"type": "session", "version": 1, "id": "one", "cwd": repo, "title": "Add a health endpoint"}]
    said = ["Add a health endpoint", "I will use npm.", "No: remember to always use pnpm here, npm writes a second lock file.", "Done."]
    for n, words in enumerate(said):
        lines.append({"type": ("user", "assistant")[n % 2], "text": words, "time": f"2026-11-01T10:{n:02}:00Z"})
    with open(os.path.join(traces, "one.jsonl"), "w") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)


def write_tree(tree: str) -> None:
    for n in range(N_FILES):
        folder = os.path.join(tree, f"part{n // 200}")
        os.makedirs(folder, exist_ok=True)
        body = "".join(f"def step_{n}_{m}(first, second):\n    return step_{n}_{m - 1}(second, first)\n\n" for m in range(40))
        with open(os.path.join(folder, f"module{n}.py"), "w") as out:
            out.write(body)


if __name__ == "__main__":
    sys.exit(main())
