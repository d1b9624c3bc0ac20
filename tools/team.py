#!/usr/bin/env python3
"""Three `nacre serve` on one PostgreSQL, killed and stopped at random, while the database crashes: nothing lost, nothing doubled.

Usage: tools/team.py NACRE PROGRAMS [--quick] [--projects N] [--memories N] [--sessions N] [--seed N] [--control]

PROGRAMS is the folder of PostgreSQL's programs, as `tools/postgres.sh` prints it. Each server has a home of its own; repositories and
traces lie where all of them see them. Sessions are read by rules, so no model is asked. It ends with 0 when

- every session is done, and has one summary;
- what a session said is in one memory, and with `--control`, in the same ones as after a sync of one machine that nothing disturbs;
- while the database was up, no 30 seconds passed without a session done;
- every server that was asked to stop did, and gave back what it held.
"""

import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MAX_STILL_S = 30.0
NOBODY = 65534
N_SERVERS = 3
OLD = 1_780_000_000

SAID = [
    "Remember that the staging database of {} listens on port {}.",
    "Remember: always run {}-lint with {} workers before pushing.",
    "Remember that {} is deployed by hand on day {} of the month.",
    "Always use the mirror {} with a timeout of {} seconds, never the public registry.",
    "Remember that the report {} needs TZ=UTC after {} rows.",
    "Remember: the nightly job {} must not run longer than {} minutes.",
    "Remember that invoices of {} are kept for {} years.",
    "From now on the cache {} holds {} entries at most.",
    "Remember that the team {} answers pages within {} minutes.",
    "Remember: the feature flag {} is rolled out to {} percent first.",
]


class Postgres:
    """A database of this run's own, reached by a socket."""

    def __init__(self, programs: Path, root: Path):
        self.programs, self.folder, self.process = programs, root / "pg", None
        self.folder.mkdir()
        if os.getuid() == 0:
            os.chmod(root, 0o755)
            os.chown(self.folder, NOBODY, NOBODY)
        arguments = ["--no-sync", "--auth=trust", "--username=nacre", "--encoding=UTF8", "--locale=C", "-D", self.folder / "data"]
        self.run("initdb", *arguments)
        self.start()

    def command(self, program: str, *arguments) -> dict:
        options = {"args": [self.programs / program, *arguments], "cwd": self.folder, "env": {"LC_ALL": "C"}}
        if os.getuid() == 0:
            options.update(user=NOBODY, group=NOBODY, extra_groups=[])
        return options

    def run(self, program: str, *arguments) -> str:
        done = subprocess.run(**self.command(program, *arguments), capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def url(self) -> str:
        return "postgres://nacre@" + str(self.folder).replace("/", "%2F") + "/postgres"

    def start(self):
        settings = {"listen_addresses": "", "unix_socket_directories": self.folder, "fsync": "off", "max_connections": "60"}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        end = time.monotonic() + 60
        while time.monotonic() < end:
            log = open(self.folder / "log", "a")
            self.process = subprocess.Popen(**self.command("postgres", "-D", self.folder / "data", *options), stdout=log, stderr=log)
            while self.process.poll() is None and time.monotonic() < end:
                if self.sql("SELECT 1") == "1":
                    return
                time.sleep(0.1)
            time.sleep(0.3)
        raise SystemExit("team: PostgreSQL does not start: " + (self.folder / "log").read_text()[-2000:])

    def crash(self):
        subprocess.run(**self.command("pg_ctl", "stop", "-s", "-m", "immediate", "-w", "-D", self.folder / "data"), check=False)
        self.process.kill()
        self.process.wait()

    def sql(self, sql: str):
        """What it prints; nothing while it is away."""
        arguments = ["-AtX", "-v", "ON_ERROR_STOP=1", "-U", "nacre", "-d", "postgres", "-h", self.folder, "-c", sql]
        done = subprocess.run(**self.command("psql", *arguments), capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    def states(self):
        text = self.sql("SELECT coalesce(json_object_agg(state, n), '{}') FROM (SELECT state, count(*) n FROM nacre.job GROUP BY 1) s")
        return None if text is None else json.loads(text)


class Home:
    """A machine: its home, and maybe the server that runs there."""

    def __init__(self, nacre: Path, root: Path, name: str, world: "World", url: str):
        self.nacre, self.home, self.process, self.name = nacre, root / name, None, name
        (self.home / ".nacre").mkdir(parents=True)
        os.chmod(self.home / ".nacre", 0o700)
        projects = "".join(f'[projects.{repo.name}]\npath = "{repo}"\n' for repo in world.repos)
        (self.home / ".nacre/projects.toml").write_text(projects)
        (self.home / ".nacre/agents.toml").write_text(f'[agents.generic]\npaths = ["{world.traces}"]\n')
        if url:
            (self.home / ".nacre/config.toml").write_text(f'[server]\ndatabase = "{url}"\n')
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def run(self, *arguments, check=True) -> dict:
        done = subprocess.run([self.nacre, "--json", "--local", *arguments], cwd=self.home, env=self.env, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise SystemExit(f"team: nacre {' '.join(arguments)}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def start(self):
        serve = [self.nacre, "serve", "--port", "0", "--json"]
        log = open(self.home / "stderr", "a")
        self.process = subprocess.Popen(serve, cwd=self.home, env=self.env, stdout=subprocess.PIPE, stderr=log, text=True)
        text = "".join(iter(self.process.stdout.readline, "}\n")) + "}"
        self.address = json.loads(text)["address"]

    def call(self, method: str, path: str):
        token = (self.home / ".nacre/run/token").read_text()
        connection = http.client.HTTPConnection(self.address, timeout=30)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, path, "{}" if method == "POST" else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def stop(self) -> bool:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60) == 0
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        finally:
            self.process = None


class World:
    """Repositories with memories, and traces of sessions in them."""

    def __init__(self, root: Path, n_projects: int, n_memories: int, n_sessions: int):
        self.repos = [root / "repos" / f"p{n:03}" for n in range(n_projects)]
        self.traces = root / "traces"
        self.traces.mkdir(parents=True)
        for n, repo in enumerate(self.repos):
            (repo / ".git").mkdir(parents=True)
            folder = repo / ".nacre/memory/learnings"
            folder.mkdir(parents=True)
            for k in range(n * n_memories // n_projects, (n + 1) * n_memories // n_projects):
                (folder / f"20260101-m{k:06}.md").write_text(memory(k))
        self.sessions = {f"s{n:05}": self.repos[n % n_projects] for n in range(n_sessions)}
        for n, (name, repo) in enumerate(self.sessions.items()):
            path = self.traces / f"{name}.jsonl"
            path.write_text(session(n, name, repo, n // n_projects))
            os.utime(path, (OLD, OLD))

    def look(self):
        """What stands in the stores now: the summaries of each session, and the memories that hold its word."""
        self.found = {"summary": {}, "memory": {}}
        for repo in self.repos:
            for path in (repo / ".nacre/memory").rglob("*.md"):
                text = path.read_text()
                if re.match(r"\d{8}-m\d{6}$", path.stem):
                    continue
                kind = "summary" if "summaries" in path.parts else "memory"
                source = re.search(r"raw_trace_path: generic:(s\d{5})$" if kind == "summary" else r"word-(s\d{5})", text, re.MULTILINE)
                if source:
                    self.found[kind].setdefault(source[1], []).append(str(path.relative_to(repo)))
        return self.found


def memory(k: int) -> str:
    chance = random.Random(k)
    words = [f"w{chance.randrange(5000)}" for _ in range(24)]
    head = f"id: 20260101-m{k:06}\ntitle: {' '.join(words[:6]).capitalize()}\nkind: context\ncreated: 2026-01-01T00:00:00Z\n"
    return f"---\n{head}updated: 2026-01-01T00:00:00Z\nsource: human\nconfidence: 0.9\ntags: []\nrelated: []\nstatus: active\n---\n\n{' '.join(words)}.\n"


def session(n: int, name: str, repo: Path, turn: int) -> str:
    said = SAID[turn % len(SAID)].format(f"word-{name}", 1000 + n)
    at = time.strftime("%Y-%m-%dT%H:%M:", time.gmtime(OLD - 10_000_000 + n * 60))
    lines = [
        {"type": "session", "version": 1, "id": name, "cwd": str(repo), "title": f"Work on {name}"},
        {"type": "user", "text": f"Please have a look at part {n} of the program.", "time": f"{at}00Z"},
        {"type": "assistant", "text": "I looked at it.", "time": f"{at}10Z"},
        {"type": "user", "text": said, "time": f"{at}20Z"},
        {"type": "assistant", "text": "Noted.", "time": f"{at}30Z"},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def disturb(world_ends: float, database: Postgres, homes: list, chance: random.Random, done: dict) -> None:
    """One random thing that goes wrong; the database is up again when it returns."""
    what = chance.randrange(10)
    home = chance.choice(homes)
    if what < 2:
        database.crash()
        done["crashes"] += 1
        time.sleep(chance.uniform(0.2, 3.0))
        database.start()
    elif what < 8:
        home.kill()
        done["kills"] += 1
        time.sleep(chance.uniform(0.0, 1.0))
        home.start()
    else:
        if not home.stop():
            done["bad stops"] += 1
        done["stops"] += 1
        home.start()


def exercise(options, root: Path) -> list:
    chance = random.Random(options.seed)
    begun = time.monotonic()
    world = World(root, options.projects, options.memories, options.sessions)
    database = Postgres(Path(options.programs).resolve(), root)
    nacre = Path(options.nacre).resolve()
    homes = [Home(nacre, root, f"h{n}", world, database.url()) for n in range(N_SERVERS)]
    print(f"made {options.projects} projects, {options.memories} memories, {options.sessions} sessions in {time.monotonic() - begun:.0f} s", flush=True)
    print("migrated:", homes[0].run("server", "migrate")["steps"], flush=True)
    problems, done = [], {"kills": 0, "stops": 0, "bad stops": 0, "crashes": 0}
    try:
        for home in homes:
            home.start()
            home.call("POST", "/api/service/wake")
        begun = moved = told = time.monotonic()
        n_done, longest, next_trouble = 0, 0.0, time.monotonic() + min(5, options.calm[0] / 4)
        while True:
            states = database.states() or {}
            now, before = time.monotonic(), n_done
            n_done = states.get("done", 0) + states.get("empty", 0)
            if n_done > before:
                moved = now
            if n_done > 0 or now - begun > 60:
                longest = max(longest, now - moved)
            if told <= now:
                told = now + 10
                print(f"{now - begun:6.0f} s  {states}  {done}  still at most {longest:.1f} s", flush=True)
            if states and n_done == options.sessions:
                break
            if now - moved > 4 * MAX_STILL_S or states.get("dead"):
                problems.append(f"it stands still or gave up: {states}")
                break
            if next_trouble <= now:
                paused = time.monotonic()
                crashes = done["crashes"]
                disturb(begun, database, homes, chance, done)
                if done["crashes"] > crashes:
                    # While it was away nothing could be done.
                    moved += time.monotonic() - paused
                next_trouble = time.monotonic() + chance.uniform(*options.calm)
            time.sleep(0.3)
        took = time.monotonic() - begun
        print(f"{n_done} sessions done in {took:.0f} s; {done}; still for {longest:.1f} s at most", flush=True)
        if longest > MAX_STILL_S:
            problems.append(f"maintenance changed nothing for {longest:.1f} s")
        for home in homes:
            status, report = home.call("GET", f"/api/search?query=word-s00000&project={world.repos[0].name}")
            if status != 200:
                problems.append(f"{home.name} does not search: {status} {report}")
        leaders = [home.call("GET", "/api/service")[1]["database"]["is_leader"] for home in homes]
        if sum(leaders) > 1:
            problems.append(f"several lead: {leaders}")
        done["bad stops"] += sum(not home.stop() for home in homes)
        if done["bad stops"]:
            problems.append(f"{done['bad stops']} servers did not stop in order")
        if (left := (database.states() or {}).get("running")):
            problems.append(f"{left} sessions are held by nobody")
    finally:
        for home in homes:
            if home.process:
                home.kill()
        database.crash()
    problems += check(world, options)
    return problems


def check(world: World, options) -> list:
    found, problems = world.look(), []
    for name in world.sessions:
        n_summaries = len(found["summary"].get(name, []))
        if n_summaries != 1:
            problems.append(f"{name} has {n_summaries} summaries")
        if len(found["memory"].get(name, [])) > 1:
            problems.append(f"{name} is in {found['memory'][name]}")
    print(f"{len(found['summary'])} sessions have a summary, {len(found['memory'])} a memory", flush=True)
    return problems[:20]


def control(options, root: Path, world_root: Path) -> list:
    """What a machine of its own makes of the same sessions, in order and undisturbed."""
    world = World(root, options.projects, options.memories, options.sessions)
    Home(Path(options.nacre).resolve(), root, "h", world, "").run("sync")
    alone = world.look()
    together = World.__new__(World)
    together.repos = [world_root / "repos" / repo.name for repo in world.repos]
    shared = together.look()
    kept = lambda found: {name: len(paths) for name, paths in found["memory"].items()}
    differ = {name for name in kept(alone).keys() | kept(shared).keys() if kept(alone).get(name) != kept(shared).get(name)}
    print(f"alone: {len(alone['summary'])} summaries, {len(alone['memory'])} memories; {len(differ)} sessions differ", flush=True)
    return [f"not as on one machine: {sorted(differ)[:10]}"] if differ else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nacre")
    parser.add_argument("programs")
    parser.add_argument("--quick", action="store_true", help="8 projects, 160 memories, 24 sessions, with the control")
    parser.add_argument("--projects", type=int, default=200)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the files where they are")
    options = parser.parse_args()
    options.calm = (3.0, 9.0)
    if options.quick:
        options.projects, options.memories, options.sessions, options.control = 8, 160, 24, True
        options.calm = (6.0, 12.0)
    root = Path(tempfile.mkdtemp(prefix="nacre-team-"))
    try:
        problems = exercise(options, root)
        if options.control:
            problems += control(options, root / "alone", root)
    finally:
        if options.keep:
            print(root)
        else:
            shutil.rmtree(root, ignore_errors=True)
    for problem in problems:
        print(f"team: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
