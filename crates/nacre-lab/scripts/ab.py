#!/usr/bin/env python3
"""Measures whether memory changes what an agent writes: an A/B test on MemoryCode's dialogues.

Usage:
  ab.py prepare NACRE DIALOGUES OUT [N]   for N dialogues (12), store each session as a Claude Code transcript, run `nacre sync`
                                          without a model, and write a task per arm: OUT/TASK/{none,hooks,tools}/task.md
  ab.py judge OUT                         check every OUT/TASK/ARM/solution.py with the dialogue's own rules

A rule that was changed later counts only in its last form. The agent gets `task.md` and writes `solution.py` beside it. In the arm
`hooks`, the file contains what Nacre's hooks add at the start and at the prompt; in the arm `tools`, it also says which commands
are there. Nothing in a task names the rules.
"""

import ast
import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

START = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.timezone.utc)
TOOLS = (
    "This project has a memory of earlier sessions. In its folder, with the environment in `env.json`, you can run: {nacre} brief, "
    "{nacre} ask QUESTION, {nacre} memory search WORDS, {nacre} memory show ID, {nacre} trace search WORDS, {nacre} trace show ID.\n"
)


def turns(session):
    """The mentor is the user, and the mentee is the agent."""
    mentor = session["text"].split(":", 1)[0]
    found = []
    for part in re.split(r"\n\n(?=[A-Z][\w .'-]{0,40}:)", session["text"]):
        name, _, text = part.partition(":")
        found.append(("user" if name == mentor else "assistant", text.strip()))
    return found


def write_sessions(dialogue, folder, repo):
    folder.mkdir(parents=True)
    for number, session in enumerate(dialogue["sessions"]):
        at, parent, lines = START + datetime.timedelta(days=number), None, []
        name = f"5e551011-0000-4000-8000-{number:012}"
        for index, (role, text) in enumerate(turns(session)):
            uuid = f"{number:08}-0000-4000-8000-{index:012}"
            at += datetime.timedelta(minutes=1)
            content = text if role == "user" else [{"type": "text", "text": text}]
            message = {"role": role, "content": content}
            if role == "assistant":
                message |= {"id": f"msg_{uuid}", "type": "message", "model": "m", "stop_reason": "end_turn"}
            line = {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": name, "cwd": str(repo), "version": "2.1.0"}
            lines.append(line | {"timestamp": at.isoformat().replace("+00:00", "Z"), "userType": "external", "message": message})
            parent = uuid
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(path, (at.timestamp(), at.timestamp()))


def prepare(nacre, dialogues, out, count):
    asked = [(path, json.loads(path.read_text())) for path in sorted(Path(dialogues).glob("*.json"))]
    asked = [(path, one) for path, one in asked if len(one["sessions"]) >= 4 and one["sessions"][-1]["history_eval_query"]]
    for path, dialogue in asked[:: max(1, len(asked) // count)][:count]:
        base = Path(out).resolve() / path.stem
        repo, home = base / "repo", base / "home"
        repo.mkdir(parents=True)
        write_sessions(dialogue, home / ".claude/projects/p", repo)
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "NACRE_HOME": str(home / ".nacre"), "NO_COLOR": "1"}
        env["NACRE_HOOKS_DEADLINE_MS"] = "10000"
        run = lambda args, **more: subprocess.run(args, env=env, cwd=repo, capture_output=True, text=True, **more).stdout
        run(["git", "init", "-q", "."])
        run([nacre, "init"])
        (base / "sync.txt").write_text(run([nacre, "sync"]))
        last = dialogue["sessions"][-1]
        prompt = "Write one Python file with: " + "; ".join(last["history_eval_query"]) + "."
        hook = lambda event, more: run(
            [nacre, "hook", "claude", event], input=json.dumps({"session_id": "ab", "cwd": str(repo), "source": "startup"} | more)
        )
        texts = [hook("start", {}), hook("prompt", {"prompt": prompt})]
        given = [json.loads(text)["hookSpecificOutput"]["additionalContext"] for text in texts if text.strip()]
        (base / "rules.json").write_text(json.dumps(last["history_regex"]))
        (base / "env.json").write_text(json.dumps(env))
        for arm, context in (("none", []), ("hooks", given), ("tools", [TOOLS.format(nacre=nacre), *given])):
            (base / arm).mkdir()
            (base / arm / "task.md").write_text("\n\n".join([*context, "# Task\n\n" + prompt + "\n"]))
        print(path.stem, len(last["history_regex"]), "rules;", sum(map(len, given)), "characters given")


def names(tree, kind):
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    methods = {id(one) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for one in node.body}
    of_class = [one for one in functions if id(one) in methods]
    free = [one for one in functions if id(one) not in methods]
    plain = lambda ones: [one for one in ones if not (one.name.startswith("__") and one.name.endswith("__"))]
    match kind.split()[0]:
        case "method":
            return plain(of_class)
        case "function" if kind != "function argument":
            return free
        case "class":
            return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    if kind == "function argument":
        return [one.arg for node in free for one in node.args.args + node.args.kwonlyargs]
    stores = [node for node in ast.walk(tree) if isinstance(getattr(node, "ctx", None), ast.Store)]
    if kind == "variable":
        return [node.id for node in stores if isinstance(node, ast.Name)]
    return [node.attr for node in stores if isinstance(node, ast.Attribute)]


def follows(source, kind, rule):
    """Returns whether the code follows a rule, or None if it contains nothing that the rule is about."""
    tree = ast.parse(source)
    if kind == "comment":
        return "#" in source
    if kind == "import":
        imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        return rule[0] in {name for node in imports for name in [getattr(node, "module", None), *(one.name for one in node.names)]}
    ones, part = names(tree, kind), kind.split()[-1]
    if not ones:
        return None
    if isinstance(rule, str):
        return all(re.match(rule, one if isinstance(one, str) else one.name) for one in ones)
    within = lambda node, what: any(isinstance(inner, what) for inner in ast.walk(node))
    decorators = lambda node: {getattr(getattr(one, "func", one), "id", "") for one in node.decorator_list}
    check = {
        "annotation": lambda node: node.returns is not None or any(one.annotation for one in node.args.args),
        "try": lambda node: within(node, ast.Try),
        "assert": lambda node: within(node, ast.Assert),
        "docstring": lambda node: ast.get_docstring(node) is not None,
        "decorator": lambda node: rule[0] in decorators(node),
    }[part]
    return all(map(check, ones))


def judge(out):
    totals = {}
    for base in sorted(path for path in Path(out).iterdir() if (path / "rules.json").exists()):
        row = []
        for arm in ("none", "hooks", "tools"):
            solution = base / arm / "solution.py"
            if not solution.exists():
                row.append("-")
                continue
            results = [follows(solution.read_text(), *rule) for rule in json.loads((base / "rules.json").read_text())]
            results = [one for one in results if one is not None]
            row.append(f"{sum(results)} of {len(results)}")
            total = totals.setdefault(arm, [0, 0, 0, 0])
            for index, more in enumerate((all(results), 1, sum(results), len(results))):
                total[index] += more
        print(base.name, *row, sep="\t")
    for arm, (right, tasks, kept, rules) in totals.items():
        print(f"{arm}: {right} of {tasks} tasks follow every rule; {kept} of {rules} rules followed")


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "prepare":
        prepare(os.path.realpath(rest[0]), rest[1], rest[2], int(rest[3]) if len(rest) > 3 else 12)
    else:
        judge(rest[0])
