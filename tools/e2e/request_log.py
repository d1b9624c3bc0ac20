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
`crates/nacre-memory/src/search/embed/tokens.rs` counts them, with the same vocabulary.
"""
import json, os, re, struct, sys

HERE = os.path.dirname(os.path.abspath(__file__))
CORE = os.path.join(HERE, "../../crates/nacre-memory")
BLOCK = re.compile(r"<(nacre-[a-z]+)>\n?(.*?)\n?</\1>", re.S)
MAX_WORD = 24
HEADER = 40


def vocabulary():
    with open(os.path.join(CORE, "assets/embedding.bin"), "rb") as file:
        data = file.read()
    assert data.startswith(b"NACREMB1"), "it is not the embedding"
    _dims, n_tokens, n_slots, n_text = struct.unpack_from("<4I", data, 8)
    offsets = struct.unpack_from(f"<{n_tokens + 1}I", data, HEADER)
    start = HEADER + 4 * (n_tokens + 1) + 4 * n_slots + 4 * n_tokens
    text = data[start:start + n_text]
    return {text[offsets[idx]:offsets[idx + 1]].decode(errors="replace") for idx in range(n_tokens)}


def common_words():
    with open(os.path.join(CORE, "src/search/embed/tokens.rs")) as file:
        listed = re.search(r"COMMON: &\[&str\] = &\[(.*?)\];", file.read(), re.S).group(1)
    return set(re.findall(r'"([a-z]+)"', listed))


class Counter:
    def __init__(self):
        self.known, self.common = vocabulary(), common_words()

    def count(self, text):
        n_tokens, at, is_after_blank = 0, 0, False
        while at < len(text):
            run = re.match(r"[A-Za-z]+", text[at:])
            if run:
                n_tokens += self.run(run.group(), is_after_blank)
                is_after_blank, at = False, at + run.end()
                continue
            joins = text[at] == " " and re.match(r"[A-Za-z]", text[at + 1:at + 2])
            n_tokens += 0 if joins else len(text[at].encode())
            is_after_blank, at = text[at] == " ", at + 1
        return n_tokens

    def run(self, run, is_first):
        n_tokens = 0
        while run:
            n_capitals = len(re.match(r"[A-Z]*", run).group())
            n_small = len(re.match(r"[a-z]*", run[n_capitals:]).group())
            n = n_capitals + n_small if n_capitals < 2 else n_capitals if n_small == 0 else n_capitals - 1
            n_tokens += self.word(run[:n], is_first)
            is_first, run = False, run[n:]
        return n_tokens

    def word(self, word, is_after_blank):
        is_shouted = len(word) > 1 and word.isupper()
        if is_shouted or len(word) > MAX_WORD or len(word) < 3 and not is_after_blank:
            return len(word)
        if is_after_blank and word.lower() in self.common:
            return 1
        return -(-len(word) // 2) if len(word) > 2 and word.lower() in self.known else len(word)


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
    counter, is_kept = Counter(), bool(bodies)
    for body in bodies:
        found = blocks(body)
        spent = {tag: sum(counter.count(text) for name, text in found if name == tag) for tag in ("nacre-brief", "nacre-memory")}
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
    print(Counter().count(sys.stdin.read()))
else:
    sys.exit(0 if main(*sys.argv[1:]) else 1)
