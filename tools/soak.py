#!/usr/bin/env python3
"""Uses `nacre serve` as several people and agents would, for as long as asked, and checks that it does not grow.

Usage: tools/soak.py NACRE [SECONDS]

Questions, searches, maps, edits of memories and of code, syncs with new sessions, and listeners that come and go. After a first
sixth of the time, in which caches fill, the memory, the open files and the threads of the server are taken down; at the end they
may be larger by 24 MB, 16 and 8. Ends with 1 when they are, or when a request was not answered as it should be. Prints the three every
minute.
"""

import http.client
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

MAX_GROWTH_MB = 24.0
MAX_NEW_FILES = 16
MAX_NEW_THREADS = 8
N_SOURCES = 200


class Server:
    """A running server, and what it has been asked."""

    def __init__(self, nacre: str, root: str):
        self.home, self.repo = os.path.join(root, "home"), os.path.join(root, "repo")
        os.makedirs(os.path.join(self.repo, ".git"))
        os.makedirs(os.path.join(self.home, ".claude/projects/p"))
        write_sources(self.repo)
        self.env = {"HOME": self.home, "PATH": os.environ["PATH"]}
        run = lambda *args: subprocess.run(args, cwd=self.repo, env=self.env, check=True, stdout=subprocess.DEVNULL)
        run(nacre, "init", "--quiet")
        run(nacre, "connect", "claude", "--yes", "--quiet")
        serve = [nacre, "serve", "--port", "0", "--no-loops", "--json"]
        self.process = subprocess.Popen(serve, cwd=self.repo, env=self.env, stdout=subprocess.PIPE, text=True)
        self.address = json.loads("".join(iter(self.process.stdout.readline, "}\n")) + "}")["address"]
        self.token = open(os.path.join(self.home, ".nacre/run/token")).read()
        self.n_calls, self.bad, self.ids, self.n_sessions = 0, [], [], 0
        self.connection = http.client.HTTPConnection(self.address, timeout=60)

    def call(self, method: str, path: str, body=None, good=(200, 201, 202, 204)):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if method == "PUT":
            headers["If-Match"] = "*"
        self.n_calls += 1
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status not in good:
            self.bad.append(f"{method} {path}: {answer.status} {text[:200]!r}")
        return json.loads(text) if text[:1] in (b"{", b"[") else None

    def size(self) -> tuple:
        """Resident megabytes, open files, threads."""
        pid = self.process.pid
        with open(f"/proc/{pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        resident = int(fields["VmRSS"].split()[0]) / 1024
        return resident, len(os.listdir(f"/proc/{pid}/fd")), int(fields["Threads"])


def main() -> int:
    nacre = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3600.0
    root = tempfile.mkdtemp(prefix="nacre-soak-")
    try:
        return soak(Server(nacre, root), seconds)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def soak(server: Server, seconds: float) -> int:
    chance, begun = random.Random(1), time.monotonic()
    first, told = None, 0.0
    try:
        while (passed := time.monotonic() - begun) < seconds and len(server.bad) < 10:
            turn(server, chance)
            if first is None and passed > seconds / 6:
                first = server.size()
            if told <= passed:
                told += 60.0
                sizes = "{:8.1f} MB {:4} files {:3} threads".format(*server.size())
                print(f"{passed:6.0f} s {sizes} {server.n_calls:8} calls {server.n_sessions:6} sessions", flush=True)
            # As busy as ten people, not as fast as it can.
            time.sleep(0.005)
        last = server.size()
    finally:
        server.process.terminate()
        server.process.wait()
    first = first or last
    for name, before, after in zip(("resident MB", "open files", "threads"), first, last):
        print(f"{name:12} {before:8.1f} {after:8.1f}")
    print(f"{server.n_calls} calls in {seconds:.0f} s, {server.n_sessions} sessions, {len(server.bad)} bad")
    for line in server.bad:
        print(f"  {line}")
    grown = [after - before for before, after in zip(first, last)]
    most = (MAX_GROWTH_MB, MAX_NEW_FILES, MAX_NEW_THREADS)
    return 1 if server.bad or any(grown > limit for grown, limit in zip(grown, most)) else 0


def turn(server: Server, chance: random.Random) -> None:
    words = chance.choice(["queue", "retry policy", "index", "deploy to production", f"part {chance.randrange(50)}"])
    match chance.randrange(100):
        case n if n < 40:
            server.call("GET", f"/api/search?query={words.replace(' ', '+')}&limit=10")
        case n if n < 55:
            server.call("POST", "/v1/explore", {})
        case n if n < 62:
            server.call("POST", "/v1/context", {"task": words})
        case n if n < 68:
            server.call("GET", "/api/brief")
        case n if n < 74:
            server.call("POST", "/api/ask?wait=true", {"question": f"What about the {words}?"})
        case n if n < 80:
            change_memory(server, chance)
        case n if n < 88:
            change_source(server, chance)
        case n if n < 94:
            server.call("GET", chance.choice(["/api/overview", "/api/memories", "/api/status", "/api/graph"]))
        case n if n < 98:
            listen(server)
        case _:
            write_session(server)
            server.call("POST", "/api/sync", {})


def change_memory(server: Server, chance: random.Random) -> None:
    if len(server.ids) < 200:
        number = len(server.ids)
        body = {"title": f"Part {number} of the importer uses batches of {number + 10} rows", "body": "It is a rule."}
        made = server.call("POST", "/api/memories", body)
        server.ids.append(made["id"] if made and "id" in made else None)
    else:
        server.call("GET", f"/api/memories/{chance.choice(server.ids)}")


def change_source(server: Server, chance: random.Random) -> None:
    number = chance.randrange(N_SOURCES)
    with open(os.path.join(server.repo, f"src/part{number}.py"), "w") as file:
        file.write(source(number) + f"\n# {chance.random()}\n")


def listen(server: Server) -> None:
    """Follows the events for a moment, and goes away without a word."""
    host, port = server.address.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        request = f"GET /api/events HTTP/1.1\r\nHost: {server.address}\r\nAuthorization: Bearer {server.token}\r\n\r\n"
        connection.sendall(request.encode())
        connection.recv(1024)


def write_session(server: Server) -> None:
    number = server.n_sessions
    server.n_sessions += 1
    session = f"4b1f0c52-8a65-4a64-9f4e-{number:012x}"
    said = f"no, remember: part {number} of the importer always uses batches of {number + 10} rows"
    path = os.path.join(server.home, f".claude/projects/p/{session}.jsonl")
    with open(path, "w") as file:
        for kind, text in (("user", said), ("assistant", "Understood. " + "It is done. " * 50)):
            record = {
                "type": kind, "sessionId": session, "cwd": server.repo, "timestamp": "2026-01-01T10:00:00.000Z",
                "uuid": f"{session}-{kind}", "message": {"role": kind, "content": text},
            }
            file.write(json.dumps(record) + "\n")
    os.utime(path, (1_767_260_000, 1_767_260_000))


def write_sources(repo: str) -> None:
    os.makedirs(os.path.join(repo, "src"))
    for number in range(N_SOURCES):
        with open(os.path.join(repo, f"src/part{number}.py"), "w") as file:
            file.write(source(number))


def source(number: int) -> str:
    return f'"""Part {number} of the importer."""\n\n\ndef import_part_{number}(rows, retry=3):\n    return [row for row in rows]\n'


if __name__ == "__main__":
    sys.exit(main())
