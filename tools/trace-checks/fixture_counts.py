"""Counts what the small traces of the tests hold; one JSON object a session on stdout.

Usage: fixture_counts.py FOLDER, which holds a folder for each agent. Shares nothing with the Rust
readers. What a person said is told from what was injected by the marks that each agent leaves.
"""
import json
import os
import sys

from common import records
from more_counts import COUNTERS


def files(folder, ending):
    for below, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(ending):
                yield os.path.join(below, name)


def claude(folder):
    for path in files(folder, ".jsonl"):
        n = dict.fromkeys(("user", "assistant", "tool_calls", "tool_results"), 0)
        for _, record in records(path):
            if record.get("type") not in ("user", "assistant") or record.get("isMeta"):
                continue
            content = record["message"]["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            n[record["type"]] += sum(b["type"] == "text" for b in blocks)
            n["tool_calls"] += sum(b["type"] == "tool_use" for b in blocks)
            n["tool_results"] += sum(b["type"] == "tool_result" for b in blocks)
        yield os.path.basename(path)[:-6], n


def codex(folder):
    for path in files(folder, ".jsonl"):
        n, session = dict.fromkeys(("user", "assistant", "tool_calls", "tool_results"), 0), ""
        for _, record in records(path):
            kind, payload = record["type"], record["payload"]
            name = payload.get("type")
            if kind == "session_meta":
                session = payload["id"]
            n["user"] += (kind, name) == ("event_msg", "user_message")
            n["assistant"] += (kind, name) == ("event_msg", "agent_message")
            n["tool_calls"] += (kind, name) == ("response_item", "function_call")
            n["tool_results"] += (kind, name) == ("response_item", "function_call_output")
        yield session, n


def cursor(folder):
    for path in files(folder, ".jsonl"):
        n = dict.fromkeys(("user", "assistant", "tool_calls", "tool_results"), 0)
        for _, record in records_of_any_kind(path):
            for block in record["message"]["content"]:
                n[record["role"]] += block["type"] == "text"
                n["tool_calls"] += block["type"] == "tool_use"
                n["tool_results"] += block["type"] == "tool_result"
        yield os.path.basename(path)[:-6], n


def records_of_any_kind(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            yield number, json.loads(line)


def opencode(folder):
    storage = os.path.join(folder, "storage")
    for info in files(os.path.join(storage, "session"), ".json"):
        with open(info, encoding="utf-8") as file:
            session = json.load(file)["id"]
        n = dict.fromkeys(("user", "assistant", "tool_calls", "tool_results"), 0)
        for path in files(os.path.join(storage, "message", session), ".json"):
            with open(path, encoding="utf-8") as file:
                message = json.load(file)
            for part_path in files(os.path.join(storage, "part", message["id"]), ".json"):
                with open(part_path, encoding="utf-8") as file:
                    part = json.load(file)
                n[message["role"]] += part["type"] == "text"
                n["tool_calls"] += part["type"] == "tool"
                n["tool_results"] += part["type"] == "tool" and part["state"]["status"] in ("completed", "error")
        yield session, n


def generic(folder):
    for path in files(folder, ".jsonl"):
        n, session = dict.fromkeys(("user", "assistant", "tool_calls", "tool_results"), 0), ""
        names = {"user": "user", "assistant": "assistant", "tool_call": "tool_calls", "tool_result": "tool_results"}
        for _, record in records(path):
            if record["type"] == "session":
                session = record["id"]
            elif record["type"] in names:
                n[names[record["type"]]] += 1
        yield session, n


# Of the further agents: how the files end that hold sessions, and how a session is named.
MORE = {
    "gemini": (".jsonl", lambda path: first(path)["sessionId"]),
    "qwen": (".jsonl", lambda path: first(path)["sessionId"]),
    "copilot": ("events.jsonl", lambda path: first(path)["data"]["sessionId"]),
    "pi": (".jsonl", lambda path: first(path)["id"]),
    "droid": (".jsonl", lambda path: first(path)["id"]),
    "cline": (".messages.json", lambda path: os.path.basename(path)[: -len(".messages.json")]),
    "continue": (".json", lambda path: os.path.basename(path)[:-5]),
    "aider": (".md", lambda path: "2026-11-01T10-00-00"),
}


def first(path):
    return next(records(path))[1]


def more(agent, folder):
    ending, name = MORE[agent]
    for path in files(folder, ending):
        if os.path.basename(path) == "sessions.json":
            continue
        found = COUNTERS[agent](path)
        n = {"user": found["persons"], "assistant": len(found["assistant"])}
        yield name(path), {**n, "tool_calls": found["calls"], "tool_results": found["results"]}


def main():
    for count in (claude, codex, cursor, opencode, generic):
        for session, n in count(os.path.join(sys.argv[1], count.__name__)):
            print(json.dumps({"agent": count.__name__, "id": session, **n}))
    for agent in MORE:
        for session, n in more(agent, os.path.join(sys.argv[1], agent)):
            print(json.dumps({"agent": agent, "id": session, **n}))


main()
