"""Counts what traces of further agents hold, one JSON object a file on stdout.

Usage: more_counts.py AGENT FILE...   for gemini, qwen, copilot, pi, droid, cline, continue, aider, and exports of opencode

Written from the descriptions of the formats; shares nothing with the Rust readers. `assistant` and `user` are texts with the
line (or number) at which they stand, `persons` how many messages hold words of a person.
"""
import json
import re
import sys

from common import clean, records

# Blocks that programs put around or beside a person's words.
ADDED = re.compile(
    r"<(system[-_]reminder|system_notification|session_context|environment_details|hook_context|nacre-[a-z]+|mode_notice"
    r"|qwen:[a-z-]+|current_datetime|state_snapshot|skill)\b[^>]*>.*?</\1>",
    re.S,
)
QUESTION = "[Question from Nacre]"


def has_words(text):
    return bool(ADDED.sub("", text).strip()) and not text.startswith(QUESTION)


def new():
    return {"assistant": [], "user": [], "persons": 0, "calls": 0, "results": 0}


def said(out, role, number, text):
    if text and text.strip():
        out[role].append([number, clean(text)])


def person(out, texts):
    out["persons"] += any(has_words(text) for text in texts if text)


def parts(content):
    """Google's parts of a message: a string or a list."""
    if isinstance(content, str):
        return [{"text": content}]
    return [part for part in content or [] if isinstance(part, dict)]


def blocks(content):
    """Anthropic's blocks of a message: a string or a list."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]


def whole(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return json.load(file)


def gemini(path):
    """A log of messages, in which the same id again replaces the message, or one document."""
    out, messages, order = new(), {}, []

    def put(number, message, is_context):
        key = message.get("id") or f"#{len(order)}"
        if key not in messages:
            order.append((number, key))
        elif is_context:
            return
        messages[key] = message

    if path.endswith(".json"):
        document = whole(path)
        for number, message in enumerate(document.get("messages") or document.get("history") or []):
            put(number, message, False)
    else:
        for number, record in records(path):
            if "$set" in record:
                for message in record["$set"].get("messages") or []:
                    put(number, message, True)
            elif "id" in record:
                put(number, record, False)
    results = set()
    for number, key in order:
        message = messages[key]
        kind, content = message.get("type") or message.get("role"), message.get("content") or message.get("parts")
        if kind == "user":
            texts = [part.get("text") for part in parts(content)]
            for text in texts:
                said(out, "user", number, text)
            person(out, texts)
            for part in parts(content):
                if "functionResponse" in part:
                    results.add(part["functionResponse"]["id"])
        elif kind in ("gemini", "model"):
            for part in parts(content):
                if not part.get("thought"):
                    said(out, "assistant", number, part.get("text"))
            calls = message.get("toolCalls") or []
            out["calls"] += len(calls)
            results.update(call["id"] for call in calls if call.get("status") in ("success", "error", "cancelled"))
    out["results"] = len(results)
    return out


def qwen(path):
    out = new()
    for number, record in records(path):
        kind, content = record.get("type"), (record.get("message") or {}).get("parts")
        if kind == "user":
            for part in parts(content):
                said(out, "user", number, part.get("text"))
            if record.get("subtype") not in ("notification", "cron"):
                person(out, [part.get("text") for part in parts(content)])
        elif kind == "assistant":
            for part in parts(content):
                if not part.get("thought"):
                    said(out, "assistant", number, part.get("text"))
                out["calls"] += "functionCall" in part
        elif kind == "tool_result":
            out["results"] += sum("functionResponse" in part for part in parts(content))
        elif record.get("subtype") == "slash_command":
            payload = record.get("systemPayload") or {}
            words = (payload.get("rawCommand") or "").split(None, 1)
            out["persons"] += payload.get("phase") != "result" and len(words) == 2
    return out


def copilot(path):
    """A call is told up to twice, when it is asked for and when it starts: it is one until its result."""
    out, waiting = new(), set()
    for number, record in records(path):
        kind, data = record.get("type"), record.get("data") or {}
        asked = data.get("toolRequests") or [] if kind == "assistant.message" else []
        for call in asked + ([data] if kind == "tool.execution_start" else []):
            out["calls"] += call.get("toolCallId") not in waiting
            waiting.add(call.get("toolCallId"))
        if kind == "user.message":
            said(out, "user", number, data.get("content"))
            said(out, "user", number, data.get("transformedContent"))
            person(out, [data.get("content")])
        elif kind == "assistant.message":
            said(out, "assistant", number, data.get("content"))
        elif kind == "tool.execution_complete":
            out["results"] += 1
            waiting.discard(data.get("toolCallId"))
    return out


def pi(path):
    out = new()
    for number, record in records(path):
        message = record.get("message") or {}
        role, content = message.get("role"), blocks(message.get("content"))
        if record.get("type") != "message":
            continue
        texts = [block.get("text") for block in content if block.get("type") == "text"]
        if role == "user":
            for text in texts:
                said(out, "user", number, text)
            person(out, texts or ["[image]"])
        elif role == "assistant":
            for text in texts:
                said(out, "assistant", number, text)
            out["calls"] += sum(block.get("type") == "toolCall" for block in content)
        elif role == "bashExecution":
            said(out, "user", number, message.get("command"))
            out["persons"] += 1
        out["results"] += role == "toolResult"
    return out


def anthropic(messages):
    out = new()
    for number, message in messages:
        content, role = blocks(message.get("content")), message.get("role")
        texts = [block.get("text") for block in content if block.get("type") == "text"]
        if role in ("user", "assistant"):
            for text in texts:
                said(out, role, number, text)
        if role == "user":
            person(out, texts)
        out["calls"] += sum(block.get("type") == "tool_use" for block in content)
        out["results"] += sum(block.get("type") == "tool_result" for block in content)
    return out


def droid(path):
    return anthropic((n, r.get("message") or {}) for n, r in records(path) if r.get("type") == "message")


def cline(path):
    document = whole(path)
    return anthropic(enumerate(document if isinstance(document, list) else document.get("messages") or []))


def continue_(path):
    out = new()
    for number, item in enumerate(whole(path).get("history") or []):
        message = item.get("message") or {}
        role, texts = message.get("role"), [block.get("text") for block in blocks(message.get("content"))]
        if role in ("user", "assistant"):
            for text in texts:
                said(out, role, number, text)
        if role == "user":
            person(out, texts)
        out["calls"] += len(message.get("toolCalls") or [])
        states = item.get("toolCallStates") or []
        out["results"] += sum(state.get("status") in ("done", "errored", "canceled") for state in states)
    return out


def aider(path):
    """Blocks of lines: `####` is the person, `>` the program, the rest the model."""
    out = new()
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for session in re.split(r"^# aider chat started at .*$", text, flags=re.M)[1:]:
        # A line of the program that does not end in two blanks goes on in the next ones.
        session = re.sub(r"^>(?:.*[^ \n]|.*[^ \n] )\n(?:.+\n)*?.*  $", "", session, flags=re.M)
        for _, block in re.findall(r"((?:^####.*\n)+)|((?:^(?!####|>).*\n)+)", session, flags=re.M):
            said(out, "assistant", 0, block)
        for block in re.findall(r"(?:^####.*\n?)+", session, flags=re.M):
            words = re.sub(r"^#### ?", "", block, flags=re.M).strip()
            is_command = re.match(r"/[a-z-]+(\s|$)", words)
            is_talk = re.match(r"/(ask|code|architect|context|help|run|test|git)\s+\S", words)
            out["persons"] += bool(words) and (not is_command or bool(is_talk))
    for text in out["assistant"]:
        text[1] = text[1].strip()
    return out


def opencode(path):
    out = new()
    for message in whole(path).get("messages") or []:
        role = message["info"]["role"]
        texts = []
        for part in message.get("parts") or []:
            if part["type"] == "text" and not part.get("synthetic"):
                said(out, role, 0, part["text"])
                texts.append(part["text"])
            elif part["type"] == "tool":
                out["calls"] += 1
                out["results"] += part["state"]["status"] in ("completed", "error")
        if role == "user":
            person(out, texts)
    return out


COUNTERS = {
    "gemini": gemini, "qwen": qwen, "copilot": copilot, "pi": pi, "droid": droid, "cline": cline,
    "continue": continue_, "aider": aider, "opencode": opencode,
}

if __name__ == "__main__":
    for path in sys.argv[2:]:
        print(json.dumps({"path": path, **COUNTERS[sys.argv[1]](path)}))
