#!/usr/bin/env python3
"""Counts messages in raw Cursor and OpenCode traces, independently of the adapters.

Usage: count_db.py <agent> <root>...; prints file, session, user records, assistant texts, tool
calls, tool results, reasoning. Databases are copied with their log to a temporary folder first.
"""
import json, os, shutil, sqlite3, sys, tempfile


def copied(path):
    folder = tempfile.mkdtemp()
    for suffix in ("", "-wal"):
        if os.path.exists(path + suffix):
            shutil.copyfile(path + suffix, os.path.join(folder, "x.db" + suffix))
    return sqlite3.connect(os.path.join(folder, "x.db"))


def show(path, session, counts):
    print("\t".join([path, session] + [str(n) for n in counts]))


def said(text):
    return isinstance(text, str) and bool(text.strip())


def bubble_counts(bubbles):
    n = [0] * 5
    for b in bubbles:
        text = b.get("text") if said(b.get("text")) else b.get("rawText")
        kind = b.get("type")
        if kind in (1, "user"):
            pictures = b.get("images") or b.get("selectedImages") or (b.get("context") or {}).get("selectedImages")
            n[0] += bool(said(text) or pictures)
        if kind in (2, "ai"):
            n[1] += said(text)
            tool = b.get("toolFormerData") or {}
            n[2] += bool(tool.get("name") or tool.get("tool"))
            n[3] += bool(tool.get("result"))
            n[4] += bool(b.get("thinking"))
    return n


def cursor_state(path):
    db = copied(path)
    tables = {r[0] for r in db.execute("select name from sqlite_master where type='table'")}
    out = []
    if "ItemTable" in tables:
        get = lambda k: json.loads((db.execute("select value from ItemTable where key=?", (k,)).fetchone() or ["null"])[0])
        for c in (get("composer.composerData") or {}).get("allComposers", []):
            if c.get("conversation"):
                out.append((c["composerId"], bubble_counts(c["conversation"])))
        for t in (get("workbench.panel.aichat.view.aichat.chatdata") or {}).get("tabs", []):
            n = bubble_counts(t["bubbles"])
            if any(said(b.get("text")) or said(b.get("rawText")) for b in t["bubbles"]):
                out.append((t["tabId"], n))
    if "cursorDiskKV" in tables:
        per = {}
        for key, value in db.execute("select key, value from cursorDiskKV where key like 'bubbleId:%'"):
            if value:
                per.setdefault(key.split(":")[1], []).append(json.loads(value))
        out += [(k, bubble_counts(v)) for k, v in per.items()]
    for session, n in sorted(out):
        show(path, session, n)


def cursor_lines(path):
    n = [0] * 5
    for line in open(path):
        r = json.loads(line)
        for i, b in enumerate((r.get("message") or {}).get("content", [])):
            kind = b["type"].replace("_", "-")
            if kind == "text":
                n[0 if r["role"] == "user" else 1] += said(b["text"])
            n[2] += kind in ("tool-use", "tool-call")
            n[3] += kind == "tool-result"
            n[4] += kind == "thinking"
    show(path, os.path.splitext(os.path.basename(path))[0], n)


def opencode_db(path):
    db = copied(path)
    tables = {r[0] for r in db.execute("select name from sqlite_master where type='table'")}
    if "sessions" in tables:
        for (session,) in db.execute("select id from sessions order by id"):
            n = [0] * 5
            for role, parts in db.execute("select role, parts from messages where session_id=?", (session,)):
                parts = json.loads(parts)
                texts = sum(p["type"] == "text" and said(p["data"]["text"]) for p in parts)
                n[0] += role == "user" and texts > 0
                n[1] += texts if role == "assistant" else 0
                for i, kind in ((2, "tool_call"), (3, "tool_result"), (4, "reasoning")):
                    n[i] += sum(p["type"] == kind for p in parts)
            show(path, session, n)


def opencode_tree(storage):
    for folder, _, files in sorted(os.walk(os.path.join(storage, "session"))):
        for name in sorted(files):
            session = json.load(open(os.path.join(folder, name)))["id"]
            n = [0] * 5
            for m in sorted(os.listdir(os.path.join(storage, "message", session))):
                message = json.load(open(os.path.join(storage, "message", session, m)))
                parts = []
                for below, _, names in os.walk(os.path.join(storage, "part")):
                    for p in names:
                        part = json.load(open(os.path.join(below, p)))
                        if part.get("messageID", os.path.basename(below)) == message["id"]:
                            parts.append(part)
                for p in parts:
                    if p["type"] == "text" and said(p["text"]):
                        n[0 if message["role"] == "user" else 1] += 1
                    n[2] += p["type"] == "tool"
                    n[3] += p["type"] == "tool" and p["state"]["status"] not in ("pending", "running")
                    n[4] += p["type"] == "reasoning"
            show(storage, session, n)


def main():
    agent, roots = sys.argv[1], sys.argv[2:]
    for root in roots:
        for folder, folders, files in sorted(os.walk(root)):
            if agent == "opencode" and "session" in folders and "message" in folders:
                opencode_tree(folder)
                folders.clear()
                continue
            for name in sorted(files):
                path = os.path.join(folder, name)
                if agent == "cursor" and name == "state.vscdb":
                    cursor_state(path)
                elif agent == "cursor" and name.endswith(".jsonl"):
                    cursor_lines(path)
                elif agent == "opencode" and name.startswith("opencode") and name.endswith(".db"):
                    opencode_db(path)


main()
