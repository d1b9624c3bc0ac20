"""Counts what a Codex rollout holds, one JSON object a file on stdout."""
import collections
import json
import subprocess
import sys
import tempfile

from common import clean, records


def texts(content):
    if isinstance(content, str):
        return [content]
    return [part.get("text") or "" for part in content or [] if isinstance(part, dict) and "text" in part]


def items(path):
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            for number, item in enumerate(json.load(file)["items"]):
                yield number, "response_item", item
        return
    for number, record in records(path):
        if "payload" in record:
            yield number, record.get("type"), record["payload"]
        elif record.get("type"):
            yield number, "response_item", record


def count(path):
    said = collections.defaultdict(lambda: collections.Counter())
    out = {"path": path, "assistant": [], "user": [], "prompts": [], "calls": 0, "results": 0}
    real = path
    if path.endswith(".zst"):
        with tempfile.NamedTemporaryFile(suffix=".jsonl", delete=False) as file:
            file.write(subprocess.run(["zstd", "-dc", path], check=True, capture_output=True).stdout)
        real = file.name
    for number, kind, payload in items(real):
        if not isinstance(payload, dict):
            continue
        name = payload.get("type")
        if kind == "response_item" and name == "message":
            text = clean("\n".join(texts(payload.get("content"))))
            if payload.get("role") == "assistant" and text.strip():
                said[text.strip()]["items"] += 1
            elif payload.get("role") == "user":
                out["user"] += [[number, clean(part)] for part in texts(payload.get("content"))]
        elif kind == "response_item" and name and name.endswith("_output"):
            out["results"] += 1
        elif kind == "response_item" and name and name.endswith("_call") and name != "tool_call":
            out["calls"] += 1
        elif kind == "event_msg" and name == "agent_message" and (payload.get("message") or "").strip():
            said[clean(payload["message"]).strip()]["shown"] += 1
        elif kind == "event_msg" and name == "user_message":
            out["prompts"].append([number, clean(payload.get("message") or "")])
        elif kind == "event_msg" and name == "item_completed":
            item = payload.get("item") or {}
            text = "\n".join(texts(item.get("content"))) or item.get("text") or ""
            if item.get("type") in ("AgentMessage", "Plan") and text.strip():
                said[clean(text).strip()]["completed"] += 1
            elif item.get("type") == "UserMessage":
                out["prompts"].append([number, clean(text)])
    for text, counts in said.items():
        out["assistant"] += [[0, text]] * max(counts.values())
    return out


for path in sys.argv[1:]:
    print(json.dumps(count(path)))
