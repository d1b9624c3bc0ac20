"""Counts what a Claude Code transcript holds, one JSON object a file on stdout."""
import json
import sys

from common import clean, records


def texts(content):
    if isinstance(content, str):
        return [content]
    out = []
    for block in content or []:
        if isinstance(block, str):
            out.append(block)
        elif isinstance(block, dict) and block.get("type") == "text":
            out.append(block.get("text") or "")
    return out


def blocks(content, kinds):
    if not isinstance(content, list):
        return 0
    return sum(isinstance(b, dict) and (b.get("type") or "").endswith(kinds) for b in content)


def count(path):
    out = {"path": path, "assistant": [], "user": [], "queued": [], "calls": 0, "results": 0}
    for number, record in records(path):
        kind, message = record.get("type"), record.get("message")
        if kind in ("user", "assistant"):
            content = message.get("content") if isinstance(message, dict) else message
            said = texts(content)
            out[kind] += [[number, clean(text)] for text in said]
            out["calls"] += blocks(content, ("tool_use",)) if kind == "assistant" else 0
            out["results"] += blocks(content, ("tool_result",))
        elif kind == "attachment" and (record.get("attachment") or {}).get("type") == "queued_command":
            prompt = record["attachment"].get("prompt")
            out["queued"] += [[number, clean(text)] for text in texts(prompt)]
        elif kind == "queue-operation" and record.get("operation") == "enqueue":
            out["queued"] += [[number, clean(text)] for text in texts(record.get("content"))]
    return out


for path in sys.argv[1:]:
    print(json.dumps(count(path)))
