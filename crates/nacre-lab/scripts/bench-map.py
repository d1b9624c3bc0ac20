"""Measures the map beside what the machine itself needs, and prints a table of ratios.

Usage: bench-map.py NACRE LAB [FOLDER]

NACRE is the program, LAB the program `nacre-lab`. FOLDER keeps the corpus, target/bench-map unless told:
packages that npm, pip and cargo fetch once, unpacked into one repository with one commit. Nothing of them is run.
Every row says what was allowed; ends with 1 when one of them is over it. Measure on a machine that does nothing else.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

NPM = ["antd@5.20.6", "core-js@3.38.1", "date-fns@3.6.0", "rxjs@7.8.1", "three@0.168.0", "typescript@5.5.4"]
PYPI = ["ansible==9.8.0", "Django==5.1", "sympy==1.13.2"]
# Rust code, and the C and C++ code bundled with it. Dependencies are fetched too.
CRATES = {
    "aws-sdk-ec2": "=1.70.0",
    "librocksdb-sys": "=0.17.1",
    "openssl-src": "=300.3.2",
    "protobuf-src": "=2.1.1",
    "tokio": "=1.40.0",
}

COMMENTS = {".py": "#", ".sh": "#", ".js": "//", ".ts": "//", ".rs": "//", ".c": "//", ".cc": "//", ".h": "//"}


def run(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout


def fetch(corpus):
    """Fetches and unpacks everything, and commits it."""
    if (corpus / ".git/nacre-bench").exists():
        return
    shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        for package in NPM:
            name = run(["npm", "pack", "--silent", "--ignore-scripts", package], cwd=folder).decode().split()[-1]
            with tarfile.open(Path(folder) / name) as archive:
                archive.extractall(corpus / "npm" / package.split("@")[0], filter="data")
        for package in PYPI:
            run(["pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, package])
        for wheel in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(corpus / "pypi" / wheel.name.split("-")[0])
        vendor(Path(folder), corpus / "crates")
    git = ["git", "-C", str(corpus), "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]
    run(git + ["init", "-q"])
    run(git + ["add", "-A"], stderr=subprocess.DEVNULL)
    run(git + ["commit", "-q", "-m", "corpus"])
    (corpus / ".git/nacre-bench").touch()


def vendor(folder, to):
    wanted = "".join(
        f'{name} = {{ version = "{version}", default-features = false }}\n' for name, version in CRATES.items()
    )
    (folder / "src").mkdir()
    (folder / "src/lib.rs").touch()
    manifest = '[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n' + wanted
    (folder / "Cargo.toml").write_text(manifest)
    run(["cargo", "vendor", "-q", "--manifest-path", str(folder / "Cargo.toml"), str(to)])


class Bench:
    def __init__(self, nacre, lab, corpus):
        self.nacre, self.limits, self.corpus = nacre, [lab, "map", "limits"], corpus
        self.work = Path(tempfile.mkdtemp())
        self.list = self.work / "list"
        self.list.write_bytes(run([*self.limits, "list", str(corpus)]).rstrip(b"\n"))
        self.paths = self.list.read_text().split("\0")
        self.n_edits = 0
        self.is_failed = False
        self.home = self.new_home()

    def new_home(self):
        return Path(tempfile.mkdtemp(dir=self.work))

    def timed(self, command, home=None):
        """Seconds, peak megabytes, blocks written, and what was printed."""
        env = {"HOME": str(home or self.home), "PATH": os.environ["PATH"]}
        with tempfile.TemporaryFile(dir="/dev/shm") as output:
            before = time.perf_counter()
            process = subprocess.Popen(command, env=env, cwd=self.corpus, stdout=output, stderr=subprocess.PIPE)
            error = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - before
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                sys.exit(f"{command}: {error.decode()}")
            output.seek(0)
            return seconds, usage.ru_maxrss / 1024, usage.ru_oublock, output.read()

    def limit(self, what):
        return self.timed([*self.limits, what, str(self.corpus), str(self.list)])

    def ask(self, *words, home=None):
        seconds, peak, blocks, output = self.timed([self.nacre, *words, "--format", "json"], home)
        return seconds, peak, blocks, json.loads(output)

    def edit(self, n_files, wait=0.1):
        """Appends a comment to some files, far from each other."""
        self.n_edits += 1
        code = [path for path in self.paths if Path(path).suffix in COMMENTS]
        first = self.n_edits * 7 % (len(code) // n_files)
        for path in code[first :: len(code) // n_files][:n_files]:
            sign = COMMENTS[Path(path).suffix]
            with (self.corpus / path).open("ab") as file:
                file.write(f"\n{sign} edit {self.n_edits}\n".encode())
        # Files changed a moment ago must be read twice, but few real queries follow that soon.
        time.sleep(wait)

    def row(self, name, value, limit, allowed, unit="ms"):
        """One line: what it took, what the machine needs, and whether the ratio is allowed."""
        if limit is None:
            print(f"{name:44} {'':>10} not measured", flush=True)
            return
        ratio = value / limit
        verdict = "ok" if ratio <= allowed else "FAIL"
        self.is_failed |= verdict == "FAIL"
        scale = 1000 if unit == "ms" else 1
        print(f"{name:44} {value * scale:8.0f} {unit} {limit * scale:8.0f} {unit} {ratio:6.2f} ≤ {allowed:<5} {verdict}",
              flush=True)

    def bound(self, name, value, allowed, unit):
        verdict = "ok" if value <= allowed else "FAIL"
        self.is_failed |= verdict == "FAIL"
        n_digits = 1 if unit == "ms" else 0
        print(f"{name:44} {value:8.{n_digits}f} {unit} {'':>18} ≤ {allowed:<5} {verdict}", flush=True)

    def stamps(self):
        cache = self.home / ".nacre"
        found = {}
        for path in cache.rglob("*"):
            stat = path.lstat()
            found[str(path)] = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
        return found

    def cold(self, n_runs=3):
        ours, hashes, peaks = [], [], []
        for _ in range(n_runs):
            hashes.append(self.limit("hash")[0])
            self.home = self.new_home()
            seconds, peak, _, answer = self.ask("explore")
            assert answer["cache_status"] == "miss", answer["cache_status"]
            ours.append(seconds)
            peaks.append(peak)
        print(f"{answer['stats']['file_count']} files, {answer['stats']['total_bytes'] >> 20} MB")
        self.row("cold explore / walk, read, xxh3", median(ours), median(hashes), 3.0)
        ctags = self.timed(["ctags", "-R", "-f", str(self.work / "tags"), "."])[0] if shutil.which("ctags") else None
        self.row("cold explore / ctags -R", median(ours), ctags, 1.0)
        self.bound("cold explore, peak memory", max(peaks), 300, "MB")

    def hit(self, n_runs=15):
        self.ask("explore")
        ours, looks, peaks, n_blocks = [], [], [], 0
        before = self.stamps()
        for _ in range(n_runs):
            looks.append(self.limit("stat")[0])
            seconds, peak, blocks, answer = self.ask("explore")
            assert answer["cache_status"] == "hit", answer["cache_status"]
            ours.append(seconds)
            peaks.append(peak)
            n_blocks += blocks
        n_changed = len(before.items() ^ self.stamps().items())
        self.look = median(looks)
        self.row("hit / lstat of all", median(ours), self.look, 1.3)
        self.bound("hit, peak memory", max(peaks), 80, "MB")
        self.bound("hit, blocks written and files changed", n_blocks + n_changed, 0, "  ")

    def delta(self, n_files, allowed, n_runs):
        ours, looks = [], []
        for _ in range(n_runs):
            revision = self.ask("explore")[3]["revision"]
            self.edit(n_files)
            looks.append(self.limit("stat")[0])
            seconds, _, _, answer = self.ask("delta", "--since", revision)
            assert answer["delta"]["modified"] == n_files, answer["delta"]["modified"]
            ours.append(seconds)
        self.row(f"delta, {n_files:,} changes / lstat of all", median(ours), median(looks), allowed)

    def delta_of_trees(self, n_files):
        """After a full analysis a change is parsed as well, which has its own price: told, and not judged."""
        self.ask("explore")
        revision = self.ask("explore")[3]["revision"]
        self.edit(n_files)
        look = self.limit("stat")[0]
        seconds = self.ask("delta", "--since", revision)[0]
        print(f"{f'delta, {n_files:,} changes, all of them parsed':44} {seconds * 1000:8.0f} ms {look * 1000:8.0f} ms", flush=True)

    def explore_after_edit(self, n_runs=7):
        ours, looks = [], []
        self.ask("explore")
        for _ in range(n_runs):
            self.edit(1)
            looks.append(self.limit("stat")[0])
            seconds, _, _, answer = self.ask("explore")
            assert answer["cache_status"] == "refreshed", answer["cache_status"]
            ours.append(seconds)
        self.row("explore after one edit / lstat of all", median(ours), median(looks), 1.5)

    def full(self):
        self.home = self.new_home()
        parse = self.limit("parse")[0]
        seconds, peak, _, _ = self.ask("refresh", "-n", "1")
        self.row("full analysis / bare parse", seconds, parse, 1.3, "ms")
        self.bound("full analysis, peak memory", peak, 300, "MB")


def median(values):
    return statistics.median(values)


def main():
    nacre, lab = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    folder = Path(sys.argv[3] if len(sys.argv) > 3 else "target/bench-map").resolve()
    corpus = folder / "corpus"
    fetch(corpus)
    run(["git", "-C", str(corpus), "checkout", "-q", "--", "."])
    bench = Bench(nacre, lab, corpus)
    try:
        bench.cold()
        bench.hit()
        bench.delta(10, 1.5, 7)
        bench.explore_after_edit()
        bench.delta(1000, 4.0, 3)
        bench.full()
        bench.delta_of_trees(10)
        bench.delta_of_trees(1000)
    finally:
        run(["git", "-C", str(corpus), "checkout", "-q", "--", "."])
        shutil.rmtree(bench.work, ignore_errors=True)
    if bench.is_failed:
        print("bench-map: FAILED: slower or larger than allowed")
        sys.exit(1)
    print("bench-map: ok")


main()
