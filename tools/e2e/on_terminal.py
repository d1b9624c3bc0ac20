#!/usr/bin/env python3
"""Runs a command on a terminal, and types an answer once it is asked:  on_terminal.py ANSWER COMMAND [ARG...]"""
import os, pty, sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown, is_answered = b"", False
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
    if b"[y/N] " in shown and not is_answered:
        is_answered = True
        os.write(terminal, sys.argv[1].encode() + b"\n")
sys.stdout.write(shown.decode(errors="replace"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
