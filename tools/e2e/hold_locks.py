#!/usr/bin/env python3
"""Holds every lock and database below some folders until it is ended:  hold_locks.py READY FOLDER...

Writes READY once it holds them all.
"""
import fcntl, os, signal, sqlite3, sys

held = []
for folder in sys.argv[2:]:
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if name == "lock":
                file = open(path, "r+b")
                fcntl.flock(file, fcntl.LOCK_EX)
                held.append(file)
            elif name.endswith(".sqlite3"):
                base = sqlite3.connect(path, isolation_level=None, timeout=20)
                base.execute("BEGIN EXCLUSIVE")
                held.append(base)
with open(sys.argv[1], "w") as ready:
    ready.write(f"{len(held)}\n")
signal.pause()
