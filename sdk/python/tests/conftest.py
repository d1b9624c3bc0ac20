"""Homes and servers for the tests."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

# A server that does not come up within this time never will.
START_SECONDS = 60

Announce = Callable[..., Path]


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may find the server of the person who runs it."""
    monkeypatch.setenv("NACRE_HOME", "/nonexistent/nacre")


@pytest.fixture
def announce(tmp_path: Path) -> Iterator[Announce]:
    """Writes what a server tells of itself, holds its lock, and returns its home."""
    run = tmp_path / "home" / "run"
    place = run / "server" / "journal"
    held: list[IO[bytes]] = []

    def write(address: str, token: str = "secret-token", killed: bool = False) -> Path:
        place.mkdir(parents=True, exist_ok=True)
        (run / "address").write_text(address)
        (run / "token").write_text(token)
        if killed or not held:
            for lock in held:
                lock.close()
            held[:] = [] if killed else [(place / "lock").open("wb")]
        for lock in held:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return run.parent

    yield write
    for lock in held:
        lock.close()


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def make_repository(folder: Path) -> None:
    """A small repository with one source file."""
    folder.mkdir(parents=True)
    (folder / "main.py").write_text("def retry(times):\n    return times\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")


def wait_for(path: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while not path.exists():
        if process.poll() is not None or time.monotonic() > end:
            pytest.fail(f"`nacre serve` did not start:\n{log.read_text()}")
        time.sleep(0.02)


@pytest.fixture(scope="session")
def real_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of a real server, with one registered project called `shop`."""
    binary = os.environ.get("NACRE_BIN")
    if not binary:
        pytest.skip("NACRE_BIN is not set: build it with `cargo build -p nacre` and set NACRE_BIN=target/debug/nacre")
    # Short: a socket's path has at most 100 bytes.
    base = tmp_path_factory.mktemp("n")
    home, repository, log = base / "h", base / "shop", base / "log"
    make_repository(repository)
    environment = {**os.environ, "NACRE_HOME": str(home), "HOME": str(base)}
    subprocess.run([binary, "init"], cwd=repository, env=environment, check=True, capture_output=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [binary, "serve", "--port", "0"], cwd=base, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            wait_for(home / "run" / "address", process, log)
            yield home
        finally:
            process.terminate()
            process.wait()
