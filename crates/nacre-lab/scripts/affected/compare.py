#!/usr/bin/env python3
"""Compares what `nacre delta` calls affected with the references of a compiler or language server.

  compare.py truth PROJECT LANGUAGE OUT.json [--n 12] [--seed 1]     choose symbols at random, ask who uses them
  compare.py measure PROJECT TRUTH.json NACRE [--show]               change each signature, ask Nacre, compare

PROJECT is a folder with sources; it is copied before anything is changed. Language servers are started by these commands, which
may be set: NACRE_PYRIGHT (pyright-langserver --stdio), NACRE_NODE (node, with NACRE_TYPESCRIPT the path of the package), NACRE_RUST_ANALYZER
(rust-analyzer), NACRE_GO (go), NACRE_JAVA (java).
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import lsp
import symbols

HERE = Path(__file__).resolve().parent
SERVERS = {
    "python": ("NACRE_PYRIGHT", "pyright-langserver --stdio", {"python": {"analysis": {"diagnosticMode": "openFilesOnly", "indexing": True}}}),
    "rust": ("NACRE_RUST_ANALYZER", "rust-analyzer", {"cargo": {"features": "all"}, "checkOnSave": False, "procMacro": {"enable": False}}),
}


def batch_truth(language, root, wanted):
    """Asks the checkers of TypeScript, Go and Java, which take all questions at once."""
    if language == "typescript":
        command = shlex.split(os.environ.get("NACRE_NODE", "node")) + [str(HERE / "tsrefs.cjs"), str(root)]
        lines = [f"{one['path']} {one['at']}" for one in wanted]
    elif language == "go":
        command = shlex.split(os.environ.get("NACRE_GO", "go")) + ["run", str(HERE / "gorefs" / "main.go"), str(root)]
        lines = [f"{one['path']} {one['line'] + 1} {one['column'] + 1}" for one in wanted]
    else:
        command = shlex.split(os.environ.get("NACRE_JAVA", "java")) + ["-Xmx8g", str(HERE / "JavaRefs.java"), str(root)]
        lines = [f"{one['path']} {one['at']}" for one in wanted]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    return [set(line.split()) for line in done.stdout.split("\n")[:len(wanted)]]


def truth(args):
    root = Path(args.project).resolve()
    candidates = symbols.chosen(root, args.language, args.seed)
    server = None
    if args.language in SERVERS:
        variable, default, settings = SERVERS[args.language]
        server = lsp.Server(shlex.split(os.environ.get(variable, default)), root, settings)
        server.settle(quiet_s=5, timeout=600)
        pairs = ((one, server.references(one["path"], one["line"], one["column"])) for one in candidates)
    else:
        wanted = [one for _, one in zip(range(args.n * 8), candidates)]
        pairs = zip(wanted, batch_truth(args.language, root, wanted))
    used, unused = [], []
    for one, files in pairs:
        one["users"] = sorted(files)
        (used if files else unused).append(one)
        print(f"{len(used)} used, {len(unused)} unused: {one['path']} {one['name']} {len(files)}", flush=True)
        if args.n <= len(used) or 8 * args.n <= len(used) + len(unused):
            break
    # A server may answer before it has read everything, so ask again about unused symbols.
    for one in list(unused) if server else []:
        one["users"] = sorted(server.references(one["path"], one["line"], one["column"]))
        if one["users"]:
            unused.remove(one)
            used.append(one)
    Path(args.out).write_text(json.dumps({"language": args.language, "used": used, "unused": unused[:args.n]}))


def nacre(binary, home, root, *args):
    environment = {**os.environ, "HOME": str(home), "NACRE_HOME": str(home / ".nacre")}
    done = subprocess.run([binary, *args, "--json"], cwd=root, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"nacre {' '.join(args)}: {done.stderr}{done.stdout}")
    return json.loads(done.stdout)


def measure(args):
    data = json.loads(Path(args.truth).read_text())
    ends = symbols.ENDS[data["language"]]
    # Background git processes may still write while the directory is being removed.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home, root = Path(folder) / "home", Path(folder) / "project"
        home.mkdir()
        shutil.copytree(args.project, root, symlinks=True)
        quiet = (["config", "gc.auto", "0"], ["config", "maintenance.auto", "false"])
        commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"]
        for command in (["init", "-q"], *quiet, ["add", "-A"], commit):
            subprocess.run(["git", *command], cwd=root, check=True)
        nacre(args.nacre, home, root, "explore")
        rows = []
        for one in data["used"] + data["unused"]:
            path = root / one["path"]
            before = path.read_bytes()
            path.write_text(one["text"])
            delta = nacre(args.nacre, home, root, "delta", "--since", "git:HEAD")["delta"]
            path.write_bytes(before)
            told = {file["path"] for file in delta["affected"] if file["path"].endswith(ends)}
            rows.append((one, set(one["users"]), told, bool(delta["files"])))
        report(rows, args.show)


def report(rows, show):
    n_right = n_told = n_true = n_false_alarms = 0
    recalls, precisions = [], []
    for one, users, told, _ in rows:
        right = users & told
        if users:
            n_right, n_told, n_true = n_right + len(right), n_told + len(told), n_true + len(users)
            recalls.append(len(right) / len(users))
            precisions.append(len(right) / len(told) if told else 1.0)
        else:
            n_false_alarms += bool(told)
        print(f"{one['kind']:8} {one['name']:32} true {len(users):4} told {len(told):4} right {len(right):4}  {one['path']}")
        for mark, files in (("missed", users - told), ("wrong", told - users)) if show else ():
            for path in sorted(files)[:6]:
                print(f"    {mark} {path}")
    n_used = len(recalls)
    mean = lambda all: sum(all) / max(1, len(all))
    print(f"symbols {n_used}: recall {mean(recalls):.3f} precision {mean(precisions):.3f} (mean of symbols); "
          f"recall {n_right / max(1, n_true):.3f} precision {n_right / max(1, n_told):.3f} (files: {n_right} right of {n_true}, {n_told} told); "
          f"without users: {len(rows) - n_used}, of these told somebody {n_false_alarms}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("truth")
    for name in ("project", "language", "out"):
        one.add_argument(name)
    one.add_argument("--n", type=int, default=12)
    one.add_argument("--seed", type=int, default=1)
    one.set_defaults(run=truth)
    one = commands.add_parser("measure")
    for name in ("project", "truth", "nacre"):
        one.add_argument(name)
    one.add_argument("--show", action="store_true")
    one.set_defaults(run=measure)
    args = parser.parse_args()
    args.run(args)


main()
