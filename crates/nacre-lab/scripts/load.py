#!/usr/bin/env python3
"""Measures `nacre serve` under load, beside a running sync, and with many clients that only listen.

Usage: crates/nacre-lab/scripts/load.py NACRE LAB [MEMORIES] [SECONDS]

NACRE is the program, LAB the example that makes a store of MEMORIES (10000) memories. `wrk` has to be installed. Ends with 1
when less than 1,000 searches a second are answered, the 99th percentile is over 50 ms, or 1,000 listeners take more than 100 MB.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

MIN_PER_SECOND = 1000
MAX_P99_MS = 50.0
N_LISTENERS = 1000
MAX_LISTENERS_MB = 100
WORDS = ["queue", "deploy+to+production", "retry+policy", "index+rebuild", "lock", "session+traces"]


def main() -> int:
    nacre, lab = (os.path.abspath(path) for path in sys.argv[1:3])
    n_memories = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 15
    if shutil.which("wrk") is None:
        print("load: wrk is needed and is not here", file=sys.stderr)
        return 75
    root = tempfile.mkdtemp(prefix="nacre-load-")
    try:
        return measure(nacre, lab, root, n_memories, seconds)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def measure(nacre: str, lab: str, root: str, n_memories: int, seconds: int) -> int:
    home, repo = os.path.join(root, "home"), os.path.join(root, "repo")
    for folder in (home, os.path.join(repo, ".git")):
        os.makedirs(folder)
    env = {"HOME": home, "PATH": os.environ["PATH"]}
    run = lambda *args: subprocess.run(args, cwd=repo, env=env, check=True, stdout=subprocess.DEVNULL)
    run(nacre, "init", "--quiet")
    run(lab, "torture", "corpus", repo, str(n_memories))
    run(nacre, "index", "--rebuild", "--quiet")
    write_sessions(home, repo, 400)
    run(nacre, "connect", "claude", "--yes", "--quiet")
    serve = [nacre, "serve", "--port", "0", "--no-loops", "--json"]
    server = subprocess.Popen(serve, cwd=repo, env=env, stdout=subprocess.PIPE, text=True)
    try:
        address = json.loads("".join(iter(server.stdout.readline, "}\n")) + "}")["address"]
        token = open(os.path.join(home, ".nacre/run/token")).read()
        return drive(root, server.pid, address, token, seconds)
    finally:
        server.terminate()
        server.wait()


def drive(root: str, pid: int, address: str, token: str, seconds: int) -> int:
    paths = [f"/api/search?query={words}&limit=10" for words in WORDS]
    script = os.path.join(root, "paths.lua")
    listed = ", ".join(f'"{path}"' for path in paths)
    with open(script, "w") as file:
        file.write(
            f'local paths = {{{listed}}}\nlocal n = 0\nwrk.headers["Authorization"] = "Bearer {token}"\n'
            "request = function() n = n + 1; return wrk.format('GET', paths[n % #paths + 1]) end\n"
        )
    wrk(address, script, 3)
    quiet = wrk(address, script, seconds)
    begin_sync(address, token)
    busy = wrk(address, script, seconds)
    before = resident_mb(pid)
    listeners = [listen(address, token) for _ in range(N_LISTENERS)]
    time.sleep(1)
    grown = resident_mb(pid) - before
    for listener in listeners:
        listener.close()
    print(f"{'what':28} {'a second':>9} {'p50 ms':>8} {'p99 ms':>8} {'errors':>7}")
    for name, (rate, p50, p99, errors) in (("search", quiet), ("search beside a sync", busy)):
        print(f"{name:28} {rate:9.0f} {p50:8.2f} {p99:8.2f} {errors:7}")
    print(f"{N_LISTENERS} listeners: {grown:.1f} MB; the server {resident_mb(pid):.0f} MB")
    is_good = all(rate >= MIN_PER_SECOND and p99 <= MAX_P99_MS and errors == 0 for rate, _, p99, errors in (quiet, busy))
    return 0 if is_good and grown <= MAX_LISTENERS_MB else 1


def wrk(address: str, script: str, seconds: int) -> tuple:
    args = ["wrk", "-t1", "-c8", f"-d{seconds}s", "--latency", "-s", script, f"http://{address}"]
    text = subprocess.check_output(args, text=True)
    unit = {"us": 0.001, "ms": 1.0, "s": 1000.0}
    percentile = lambda name: next(float(n) * unit[u] for n, u in re.findall(rf"{name}%\s+([\d.]+)(us|ms|s)", text))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    return rate, percentile("50"), percentile("99"), int(failed.group(1)) if failed else 0


def write_sessions(home: str, repo: str, n_sessions: int) -> None:
    folder = os.path.join(home, ".claude/projects/p")
    os.makedirs(folder)
    for number in range(n_sessions):
        session = f"4b1f0c52-8a65-4a64-9f4e-{number:012x}"
        said = f"no, remember: part {number} of the importer always uses batches of {number + 10} rows"
        record = lambda kind, text: {
            "type": kind, "sessionId": session, "cwd": repo, "timestamp": "2026-01-01T10:00:00.000Z",
            "uuid": f"{session}-{kind}", "message": {"role": kind, "content": text},
        }
        path = os.path.join(folder, f"{session}.jsonl")
        with open(path, "w") as file:
            for kind, text in (("user", said), ("assistant", "Understood. " + "It is done. " * 200)):
                file.write(json.dumps(record(kind, text)) + "\n")
        os.utime(path, (1_767_260_000, 1_767_260_000))


def begin_sync(address: str, token: str) -> None:
    body = "{}"
    send(address, f"POST /api/sync HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n"
         f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}").recv(4096)


def listen(address: str, token: str) -> socket.socket:
    return send(address, f"GET /api/events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n")


def send(address: str, text: str) -> socket.socket:
    host, port = address.split(":")
    connection = socket.create_connection((host, int(port)))
    connection.sendall(text.encode())
    return connection


def resident_mb(pid: int) -> float:
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


if __name__ == "__main__":
    sys.exit(main())
