"""A terminal in tmux with a program in it. What is seen is waited for, never slept for."""

import json
import re
import subprocess
import time
from pathlib import Path

# What changes from run to run.
VOLATILE = [(re.compile(r"[|/\\-] working \d+\S*( \d+s)?"), "* working TIME"),
            (re.compile(r"stopping after \S+"), "stopping after TIME"),
            (re.compile(r"(Done|Nothing to do|Blocked|Paused) in [\d.]+m?s"), r"\1 in TIME")]

# The same for a program that really runs its tools; the row's padding depends on the number.
VOLATILE_CALLS = [(re.compile(r" +(done|failed|denied|cancelled|not allowed) [\d.]+m?s$", re.M), r"  \1 TIME")]

CONFIG = ("set -sg escape-time 0\nset -g status off\nset -g default-terminal screen-256color\n"
          "set -g remain-on-exit on\nset -g history-limit 1000\n")


class Screen:
    """A terminal in tmux with the program in it."""

    volatile = VOLATILE

    def __init__(self, command, folder, size=(80, 24), env=None, work=None):
        """Runs a line of the shell in a folder `work`; what it needs lies in the temporary `folder`."""
        self.folder = folder
        self.log_path = Path(folder.name) / "log"
        self.socket = Path(folder.name) / "tmux"
        config = Path(folder.name) / "tmux.conf"
        config.write_text(CONFIG)
        variables = {"LC_ALL": "C.UTF-8", **(env or {})}
        settings = [word for item in variables.items() for word in ("-e", "=".join(item))]
        place = ["-c", str(work)] if work else []
        command = f"{command}; echo left with $?; stty -a | grep -o '.icanon'; read -r _"
        columns, rows = map(str, size)
        self.tmux("-f", str(config), "new-session", "-d", "-x", columns, "-y", rows, *place, *settings, command)

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-u", "-S", str(self.socket), *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"tmux {' '.join(words[:3])}: {done.stderr.strip()}")
        return done.stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def paste(self, text):
        path = Path(self.folder.name) / "paste"
        path.write_text(text)
        self.tmux("load-buffer", str(path))
        self.tmux("paste-buffer", "-p")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def text(self):
        text = "\n".join(line.rstrip() for line in self.tmux("capture-pane", "-p").split("\n"))
        for pattern, stable in self.volatile:
            text = pattern.sub(stable, text)
        return text.rstrip("\n") + "\n"

    def wait_for(self, wanted, seconds=15.0, times=1):
        """Waits until a text is seen so often; the screen then."""
        return self.wait_until(lambda text: times <= text.count(wanted), repr(wanted), seconds)

    def wait_until(self, is_it, what, seconds=15.0):
        """Waits until the screen is as wanted; the screen then."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            text = self.text()
            if is_it(text):
                return text
            time.sleep(0.01)
        raise AssertionError(f"{what} was not seen:\n{self.text()}")

    def log(self):
        if not self.log_path.exists():
            return []
        lines = self.log_path.read_text().splitlines()
        return [json.loads(line) for line in lines if line.endswith("}")]

    def wait_for_call(self, method, seconds=10.0):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = [entry for entry in self.log() if entry["call"]["method"] == method]
            if found:
                return found[-1]
            time.sleep(0.005)
        raise AssertionError(f"{method} was not sent: {self.log()}")

    def settle(self):
        """The screen once it stays as it is, to be stored. A check waits for what was stored instead."""
        last, n_same = self.text(), 0
        for _ in range(100):
            time.sleep(0.1)
            text = self.text()
            n_same = n_same + 1 if text == last else 0
            if n_same == 5:
                break
            last = text
        return last

    def close(self):
        try:
            self.tmux("kill-server")
        except RuntimeError:
            pass
        self.folder.cleanup()
