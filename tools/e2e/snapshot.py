#!/usr/bin/env python3
"""What lies in a home folder, and whether `nacre connect` gave it back. Standard library only.

    snapshot.py take HOME                             prints every folder and file with its mode and hash, as JSON
    snapshot.py same BEFORE AFTER                     the two are equal
    snapshot.py restored BEFORE CONNECTED LEFT AFTER HOME
        Of the files that connecting changed, those that the agent did not write since are byte for byte as before, and the
        others do not name the program. LEFT is the moment before they were given back.

Left out are Nacre's own folder, the program, and what agents keep of sessions and caches.
"""
import hashlib, json, os, sys

LEFT_OUT = {".nacre", "bin", ".npm", ".cache", ".local", ".claude/projects", ".codex/sessions", ".config/opencode/node_modules"}


def take(home):
    found = {}
    for folder, folders, files in os.walk(home):
        at = os.path.relpath(folder, home)
        below = lambda name: os.path.normpath(os.path.join(at, name))
        folders[:] = [name for name in folders if below(name) not in LEFT_OUT]
        for name in folders:
            found[below(name)] = ["folder", os.lstat(os.path.join(folder, name)).st_mode]
        for name in files:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[below(name)] = [hashlib.sha256(file.read()).hexdigest(), os.lstat(path).st_mode]
    return found


def changed(one, other):
    return sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path))


def restored(before, connected, left, after, home):
    touched = changed(before, connected)
    is_right = bool(touched)
    for path in touched:
        if left.get(path) == connected.get(path):
            is_as_before = after.get(path) == before.get(path)
        else:
            whole = os.path.join(home, path)
            with open(whole) as file:
                is_as_before = os.path.join(home, "bin/nacre") not in file.read()
        print(path, "as before" if is_as_before else "CHANGED", "" if left.get(path) == connected.get(path) else "(the agent wrote it)")
        is_right &= is_as_before
    return is_right


def main(what, *args):
    if what == "take":
        print(json.dumps(take(args[0])))
        return True
    shots = [json.load(open(path)) for path in args[:4] if os.path.isfile(path)]
    if what == "same":
        print(*changed(*shots), sep="\n")
        return not changed(*shots)
    return restored(*shots, args[4])


sys.exit(0 if main(*sys.argv[1:]) else 1)
