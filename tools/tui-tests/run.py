#!/usr/bin/env python3
"""Drives the chat in a real tmux and compares what is seen with stored screens.

Usage: tools/tui-tests/run.py [--screen CHAT_SCREEN] [--nacre NACRE] [--update] [NAME...]

CHAT_SCREEN is the program `chat_screen` of the lab, whose agent is a script of messages (screen_cases.py); NACRE is the program itself, whose
model is a script (chat_cases.py). `--update` stores what is seen. Needs tmux and nothing else. `--require` makes a missing tmux an error.
"""

import argparse
import os
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chat_cases
import screen_cases

SCREENS = Path(__file__).resolve().parent / "screens"

# Cases that measure how long something takes.
ALONE = ("abort", "long_output", "chat_abort")

# How long a screen may take to look as stored.
PATIENCE = 15.0


class Checks:
    """Compares screens of one case with the stored ones."""

    def __init__(self, name, is_update):
        self.name, self.is_update, self.wrong, self.told = name, is_update, [], []

    def tell(self, text):
        """Says a number that was measured."""
        self.told.append(f"    {text}")

    def __call__(self, part, screen, clean=lambda text: text):
        path = SCREENS / f"{self.name}-{part}.txt"
        if self.is_update:
            path.write_text(clean(screen.settle()))
            return
        stored = path.read_text() if path.exists() else "(none)\n"
        until = time.monotonic() + PATIENCE
        while (seen := clean(screen.text())) != stored:
            if until < time.monotonic():
                self.wrong.append(f"{path.name} differs.\n--- stored\n{stored}--- seen\n{seen}")
                return
            time.sleep(0.02)


def run(name, function, opener, program, is_update):
    opened, check = [], Checks(name, is_update)
    begun = time.monotonic()
    try:
        function(opener(program, opened), check)
    except Exception as error:  # every case is run, whatever the others do
        check.wrong.append(f"{type(error).__name__}: {error}")
    finally:
        # A project is opened before the screens in it.
        for one in reversed(opened):
            one.close()
    lines = [f"{'FAIL' if check.wrong else 'ok  '} {name} ({time.monotonic() - begun:.1f}s)", *check.told, *check.wrong]
    print("\n".join(lines), flush=True)
    return not check.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screen")
    parser.add_argument("--nacre")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--require", action="store_true")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if shutil.which("tmux") is None:
        print("SKIPPED: the tests of the chat screen need tmux, and it is not installed")
        sys.exit(1 if args.require else 0)
    SCREENS.mkdir(exist_ok=True)
    plan = []
    for cases, program in ((screen_cases, args.screen), (chat_cases, args.nacre)):
        chosen = [name for name in cases.CASES if program and (not args.names or name in args.names)]
        plan += [(name, cases.CASES[name], cases.opener, os.path.abspath(program), args.update) for name in chosen]
    begun = time.monotonic()
    # Cases that measure run by themselves, the others side by side: they mostly wait.
    together = [one for one in plan if one[0] not in ALONE]
    with ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda one: run(*one), together))
    results += [run(*one) for one in plan if one[0] in ALONE]
    print(f"{sum(results)} of {len(results)} cases hold, in {time.monotonic() - begun:.0f} s")
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
