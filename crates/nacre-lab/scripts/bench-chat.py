#!/usr/bin/env python3
"""Measures `nacre chat` on a terminal: from a key to the frame that shows it while an answer streams, and from Esc to `Stopped.`

Usage: crates/nacre-lab/scripts/bench-chat.py NACRE [N_KEYS]

The program runs in a pseudo-terminal with a scripted model that says a word every 4 ms. A key is a character that nothing else on the
screen has; the time is from writing it to reading it back in a frame. Ends with 1 where 95 of 100 keys take longer than 20 ms, or Esc
longer than 100 ms.
"""

import fcntl
import json
import os
import pty
import random
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

MAX_KEY_MS = 20.0
MAX_ABORT_MS = 100.0
N_ABORTS = 10


class Chat:
    """The program on a terminal of its own."""

    def __init__(self, nacre: str, script: list, columns: int, rows: int):
        self.root = tempfile.mkdtemp(prefix="nacre-bench-chat-")
        work = os.path.join(self.root, "work")
        os.makedirs(os.path.join(work, ".git"))
        env = {"HOME": self.root, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        subprocess.run([nacre, "init", "--quiet"], cwd=work, env=env, check=True, stdout=subprocess.DEVNULL)
        path = os.path.join(self.root, "script.json")
        with open(path, "w") as file:
            json.dump({"turns": script}, file)
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.chdir(work)
            os.execve(nacre, [nacre, "chat", "--local", "--scripted", path], env)
        self.seen = b""

    def drain(self, seconds: float) -> None:
        """Reads what comes for so long."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.read(left)

    def read(self, seconds: float) -> bool:
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        self.seen = (self.seen + os.read(self.terminal, 1 << 16))[-(1 << 18):]
        return True

    def press(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def until(self, text: str, seconds: float = 20.0) -> float:
        """Waits for a text that was not there before; how long that took, in milliseconds."""
        begun = time.perf_counter()
        wanted = text.encode()
        while wanted not in self.seen:
            if time.perf_counter() - begun > seconds:
                raise TimeoutError(f"{text!r} was not seen in {self.seen[-2000:]!r}")
            self.read(1.0)
        return (time.perf_counter() - begun) * 1000

    def timed(self, keys: str, text: str) -> float:
        self.seen = b""
        begun = time.perf_counter()
        self.press(keys)
        self.until(text)
        return (time.perf_counter() - begun) * 1000

    def close(self) -> None:
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.terminal)
        shutil.rmtree(self.root, ignore_errors=True)


def key_times(nacre: str, n_keys: int, columns: int, rows: int) -> list:
    words = " ".join(f"**word** number {n} of `many`." for n in range(20_000))
    chat = Chat(nacre, [{"say": words, "word_ms": 4}], columns, rows)
    chance, times = random.Random(1), []
    try:
        chat.until("Enter sends")
        chat.press("Go\r")
        chat.until("number")
        chat.drain(1.0)
        for n in range(n_keys):
            # Clear the input after every 20 characters, so that it stays on one row.
            if n % 20 == 0:
                chat.press("\x15")
                chat.drain(0.1)
            times.append(chat.timed(chr(0x4E00 + n), chr(0x4E00 + n)))
            chat.drain(chance.uniform(0.005, 0.06))
    finally:
        chat.close()
    return sorted(times)


def abort_times(nacre: str) -> list:
    # Only changed cells are written, so the awaited text must not share any with the previous text.
    chat = Chat(nacre, [{"say": chr(0x5000 + n) * 12, "hang": True} for n in range(N_ABORTS)], 80, 24)
    times = []
    try:
        chat.until("Enter sends")
        for n in range(N_ABORTS):
            chat.seen = b""
            chat.press(f"Go {n}\r")
            chat.until(chr(0x5000 + n))
            chat.drain(0.2)
            times.append(chat.timed("\x1b", "Stopped."))
            chat.drain(0.3)
    finally:
        chat.close()
    return sorted(times)


def at(times: list, share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))]


def main() -> int:
    nacre = os.path.abspath(sys.argv[1])
    n_keys = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    is_bad = False
    for columns, rows in ((80, 24), (200, 60)):
        times = key_times(nacre, n_keys, columns, rows)
        p50, p95, worst = at(times, 0.5), at(times, 0.95), times[-1]
        print(f"key to frame, {columns}x{rows}, while streaming: p50 {p50:.1f} ms, p95 {p95:.1f} ms, worst {worst:.1f} ms, {n_keys} keys", flush=True)
        is_bad |= p95 > MAX_KEY_MS
    times = abort_times(nacre)
    print(f"Esc to `Stopped.`: median {statistics.median(times):.0f} ms, worst {times[-1]:.0f} ms, {len(times)} tries")
    is_bad |= statistics.median(times) > MAX_ABORT_MS
    return 1 if is_bad else 0


if __name__ == "__main__":
    sys.exit(main())
