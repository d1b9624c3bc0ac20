#!/usr/bin/env python3
"""What lies in a home folder, and whether `nacre connect` gave it back. Standard library only.

    snapshot.py take HOME                             prints every folder and file with its mode and hash, as JSON
    snapshot.py same BEFORE AFTER                     the two are equal
    snapshot.py restored NAMED HOME BEFORE CONNECTED LEFT AFTER
        Of the files that NAMED lists and their folders, those that the agent did not write since they were connected are byte for
        byte as before, and the others do not name the program. LEFT is the moment before they were given back.

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


def restored(named, home, before, connected, left, after):
    """Other files may have changed as well: connecting can ask an agent something, and agents write what they like."""
    with open(named) as file:
        files = set(file.read().split())
    touched = [path for path in changed(before, connected) if any(name == path or name.startswith(path + "/") for name in files)]
    is_right = bool(files) and files <= set(touched)
    for path in touched:
        if left.get(path) == connected.get(path):
            is_as_before = after.get(path) == before.get(path)
        elif path in after and before.get(path, after[path])[0] != "folder":
            with open(os.path.join(home, path)) as file:
                is_as_before = os.path.join(home, "bin/nacre") not in file.read()
        else:
            is_as_before = path not in before
        print(path, "as before" if is_as_before else "CHANGED", "" if left.get(path) == connected.get(path) else "(the agent wrote it)")
        is_right &= is_as_before
    return is_right


def main(what, *args):
    if what == "take":
        print(json.dumps(take(args[0])))
        return True
    if what == "restored":
        return restored(args[0], args[1], *map(load, args[2:]))
    found = changed(*map(load, args))
    print(*found, sep="\n")
    return not found


def load(path):
    with open(path) as file:
        return json.load(file)


sys.exit(0 if main(*sys.argv[1:]) else 1)
