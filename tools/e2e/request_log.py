#!/usr/bin/env python3
"""Asks the log of `tools/scripted_model.py` what a model was told of Nacre. Standard library only.

    request_log.py LOG told TAG WORDS        every request of the session holds a block <TAG> with these words
    request_log.py LOG untold TAG WORDS      no block <TAG> of any request holds them
    request_log.py LOG result WORDS          the result of a tool holds them
    request_log.py LOG once WORDS            no request holds them in more than one block
    request_log.py LOG silent                no request holds a block of Nacre's
    request_log.py LOG budget START PROMPT   the blocks of each request keep within these tokens, and brief and memories are there
    request_log.py count < TEXT              how many tokens Nacre counts

A session is the requests that offer tools; an agent asks for a title without them. Tokens are counted as
`crates/nacre-memory/src/recall/tokens.rs` counts them.
"""
import json, re, sys

BLOCK = re.compile(r"<(nacre-[a-z]+)>\n?(.*?)\n?</\1>", re.S)
TOKEN = 9
KINDS = (("letter", 1, r"[a-z]"), ("letter", 2, r"[A-Z]"), ("digit", 3, r"[0-9]"), ("line", TOKEN, r"\n"), ("space", 0, r"\s"), ("mark", 3, r"[ -~]"), ("letter", 6, r"[^\W\d_]"), ("mark", TOKEN, r"(?s:.)"))


def count(text):
    n_tokens, run, kind_before, was_capital = 0, 0, "space", False
    for c in text:
        kind, weight = next((kind, weight) for kind, weight, pattern in KINDS if re.fullmatch(pattern, c))
        is_capital = "A" <= c <= "Z"
        if kind != kind_before or is_capital and not was_capital:
            n_tokens, run = n_tokens - -run // TOKEN, 0
        run, kind_before, was_capital = run + weight, kind, is_capital
    return n_tokens - -run // TOKEN


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def requests(log):
    """The requests of the session. Some agents declare tools in an item of the input."""
    with open(log) as file:
        bodies = [json.loads(line)["body"] for line in file]
    declares = lambda body: any(isinstance(item, dict) and item.get("type") == "additional_tools" for item in body.get("input") or [])
    return [body for body in bodies if body.get("tools") or declares(body)]


def said(body):
    """What is said in a request: not the tools, which name themselves as they like."""
    return [text for key in ("system", "instructions", "messages", "input") for text in strings(body.get(key))]


def blocks(body):
    return [found for text in said(body) for found in BLOCK.findall(text)]


def results(body):
    """The results of tools, in any of the three dialects."""
    for item in body.get("input") or []:
        if isinstance(item, dict) and item.get("type") == "function_call_output":
            yield "\n".join(strings(item.get("output")))
    for message in body.get("messages") or []:
        if message.get("role") == "tool":
            yield "\n".join(strings(message.get("content")))
        for part in message.get("content") if isinstance(message.get("content"), list) else []:
            if isinstance(part, dict) and part.get("type") == "tool_result":
                yield "\n".join(strings(part.get("content")))


def budget(bodies, start, prompt):
    is_kept = bool(bodies)
    for body in bodies:
        found = blocks(body)
        spent = {tag: sum(count(text) for name, text in found if name == tag) for tag in ("nacre-brief", "nacre-memory")}
        others = [name for name, _ in found if name not in spent]
        print(f"brief {spent['nacre-brief']} of {start}, memories {spent['nacre-memory']} of {prompt}, others {others}")
        is_kept &= 0 < spent["nacre-brief"] <= start and spent["nacre-memory"] <= prompt and not others
    return is_kept


def main(log, what, *words):
    bodies = requests(log)
    if not bodies:
        sys.exit("the log holds no request of a session")
    if what == "budget":
        return budget(bodies, *map(int, words))
    if what == "result":
        found = list(results(bodies[-1]))
        print(*found, sep="\n---\n")
        return any(words[0] in text for text in found)
    told = [blocks(body) for body in bodies]
    for found in told:
        print(*(f"<{tag}> {text}" for tag, text in found) or ["nothing of Nacre's"], sep="\n")
    if what == "silent":
        return not any(told)
    if what == "once":
        return all(sum(words[0] in text for _, text in found) == 1 for found in told)
    holds = [any(tag == words[0] and words[1] in text for tag, text in found) for found in told]
    return {"told": all(holds), "untold": not any(holds)}[what]


if sys.argv[1] == "count":
    print(count(sys.stdin.read()))
else:
    sys.exit(0 if main(*sys.argv[1:]) else 1)
