#!/usr/bin/env python3
"""A model on loopback that reads sessions by a script, for `tools/e2e-agents.sh`. Standard library only.

    scripted_model.py FOLDER

Listens on a free port of 127.0.0.1 and writes its number to FOLDER/port. Speaks, streamed or not, as much of Anthropic Messages,
OpenAI Responses and OpenAI Chat Completions as the agents need. FOLDER/mode says how it answers, and is read for every request:

    answer        what the asked shape needs, with the claim and the quote of FOLDER/claim.json
    script        the turns of FOLDER/script.json, a list: {"tool": NAME, "input": {...}} calls the offered tool whose name ends
                  so, {"text": WORDS} says something, both after "seconds", if given. The number of tool results in the request says which turn it is, so that
                  a session that starts again begins with the first. A request that offers no tools, such as one for a title,
                  gets "ok"
    text          the same as plain text, where a tool was offered for it
    slow          the same, after a minute
    unauthorized  status 401
    quota         the account is used up

Every request is one line of FOLDER/log.jsonl: its path and its body.
"""
import json, os, re, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER = sys.argv[1]
LOCK = threading.Lock()
USAGE = (1000, 50)


def path(name):
    return os.path.join(FOLDER, name)


def mode():
    with open(path("mode")) as file:
        return file.read().strip()


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def filled(schema, known):
    """A value that fits the schema: what is known by its key, else the least."""
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return filled(options[-1], known)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if kind == "object":
        return {name: filled(part, known[name]) if isinstance(known.get(name), dict) else known[name] if name in known else
                filled(part, known) for name, part in schema.get("properties", {}).items()}
    if schema.get("enum"):
        return schema["enum"][0]
    return {"array": [], "integer": 0, "number": 0, "boolean": False, "string": "nothing"}.get(kind)


def asked_schema(body):
    """The schema of the answer: of the one tool, of the text format, or in the words of the instructions."""
    for tool in body.get("tools") or []:
        if tool.get("name") == "StructuredOutput":
            return tool["input_schema"], "StructuredOutput"
    form = (body.get("text") or {}).get("format") or {}
    if form.get("schema"):
        return form["schema"], None
    for text in strings(body):
        at = text.find("fits this JSON Schema")
        if at >= 0:
            return json.JSONDecoder().raw_decode(text, text.index("{", at))[0], None
    return None, None


def answer(body):
    """What is said, and the tool by which it is handed in."""
    schema, tool = asked_schema(body)
    if schema is None:
        return "pearl", None
    with open(path("claim.json")) as file:
        claim = json.load(file)
    quote, whole = claim["quote"], "\n".join(strings(body))
    # The number of the event that the quote stands in.
    before = whole[:whole.find(quote)] if quote in whole else ""
    numbers = re.findall(r"^\[(\d+)\]", before, re.M)
    event = int(numbers[-1]) if numbers else 0
    candidates = schema.get("properties", {}).get("candidates")
    # To a second look at what was found nothing is said against it.
    known = {"candidates": [], "entries": []}
    if candidates and quote in whole:
        item = dict(claim["candidate"], quotes=[{"event": event, "text": quote}])
        known["candidates"] = [filled(candidates["items"], item)]
    return filled(schema, known), tool


def offered(body):
    """The tools of a request: name and namespace. Codex declares those of a server in a namespace, or in an item of the input."""
    tools = list(body.get("tools") or [])
    for item in body.get("input") or []:
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            tools += item.get("tools") or []
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from ((part.get("name"), tool["name"]) for part in tool.get("tools") or [])
        else:
            yield tool.get("name") or (tool.get("function") or {}).get("name") or "", None


def n_results(body):
    """How many results of tools the request brings back, in any of the three dialects."""
    n_found = sum(1 for item in body.get("input") or [] if isinstance(item, dict) and item.get("type") == "function_call_output")
    for message in body.get("messages") or []:
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        n_found += message.get("role") == "tool"
        n_found += sum(1 for part in parts if isinstance(part, dict) and part.get("type") == "tool_result")
    return n_found


def scripted(body):
    """The turn of the script: what is said, the tool that is called, and its namespace."""
    tools = list(offered(body))
    if not tools:
        return "ok", None, None
    with open(path("script.json")) as file:
        script = json.load(file)
    turn = script[min(n_results(body), len(script) - 1)]
    time.sleep(turn.get("seconds", 0))
    if "text" in turn:
        return turn["text"], None, None
    found = next(((name, space) for name, space in tools if name.endswith(turn["tool"])), None)
    if found is None:
        return f"no tool {turn['tool']}", None, None
    return turn["input"], *found


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body, kind="application/json", code=200):
        data = body.encode()
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events):
        lines = []
        for name, data in events:
            lines.append((f"event: {name}\n" if name else "") + "data: " + (data if isinstance(data, str) else json.dumps(data)) + "\n\n")
        self.send("".join(lines), "text/event-stream")

    def do_HEAD(self):
        self.send("")

    def do_GET(self):
        self.send(json.dumps({"object": "list", "data": [{"id": "fake", "object": "model", "type": "model"}], "models": []}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        where = self.path.split("?")[0]
        with LOCK, open(path("log.jsonl"), "a") as log:
            log.write(json.dumps({"path": where, "body": body}) + "\n")
        speak = next((speak for end, speak in (("/messages", self.as_anthropic), ("/responses", self.as_responses),
                                               ("/chat/completions", self.as_chat)) if where.endswith(end)), None)
        if speak is None:
            return self.send(json.dumps({"input_tokens": 10}))
        how = mode()
        if how == "unauthorized":
            return self.send(json.dumps({"error": {"type": "authentication_error", "message": "Incorrect API key provided"}}), code=401)
        if how == "quota":
            error = {"type": "insufficient_quota", "code": "insufficient_quota", "message": "Your credit balance is too low."}
            return self.send(json.dumps({"type": "error", "error": error}), code=400 if where.endswith("/messages") else 429)
        if how == "slow":
            time.sleep(60)
        said, tool, space = scripted(body) if how == "script" else (*answer(body), None)
        call = {"id": f"call_{n_results(body)}", "name": tool, "space": space, "input": said} if tool and how != "text" else None
        try:
            speak(body, said if isinstance(said, str) else json.dumps(said), call)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def as_anthropic(self, body, text, call):
        usage = {"input_tokens": USAGE[0], "output_tokens": USAGE[1], "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        if call:
            start = {"type": "tool_use", "id": "toolu_" + call["id"], "name": call["name"], "input": {}}
            block, delta, stop = dict(start, input=call["input"]), {"type": "input_json_delta", "partial_json": text}, "tool_use"
        else:
            start, block = {"type": "text", "text": ""}, {"type": "text", "text": text}
            delta, stop = {"type": "text_delta", "text": text}, "end_turn"
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.send(json.dumps(dict(message, content=[block], stop_reason=stop)))
        events = [("message_start", {"message": dict(message, content=[], stop_reason=None)}),
                  ("content_block_start", {"index": 0, "content_block": start}),
                  ("content_block_delta", {"index": 0, "delta": delta}), ("content_block_stop", {"index": 0}),
                  ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": USAGE[1]}}),
                  ("message_stop", {})]
        self.stream([(name, dict(data, type=name)) for name, data in events])

    def as_responses(self, body, text, call):
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}
        if call:
            item = {"type": "function_call", "id": "fc_" + call["id"], "call_id": call["id"], "name": call["name"], "arguments": text,
                    "status": "completed", **({"namespace": call["space"]} if call["space"] else {})}
        usage = {"input_tokens": USAGE[0], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": USAGE[1],
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": sum(USAGE)}
        response = {"id": "resp_1", "object": "response", "model": body.get("model"), "status": "completed", "output": [item], "usage": usage}
        events = [("response.created", {"response": dict(response, status="in_progress", output=[])}),
                  ("response.output_item.added", {"output_index": 0, "item": item}),
                  ("response.output_item.done", {"output_index": 0, "item": item}), ("response.completed", {"response": response})]
        if not call:
            said = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": text}
            events.insert(2, ("response.output_text.delta", said))
        self.stream([(name, dict(data, type=name)) for name, data in events])

    def as_chat(self, body, text, call):
        usage = {"prompt_tokens": USAGE[0], "completion_tokens": USAGE[1], "total_tokens": sum(USAGE)}
        base = {"id": "chat_1", "created": 1, "model": body.get("model")}
        message, stop = {"role": "assistant", "content": text}, "stop"
        if call:
            function = {"name": call["name"], "arguments": text}
            message = {"role": "assistant", "content": None, "tool_calls": [{"index": 0, "id": call["id"], "type": "function", "function": function}]}
            stop = "tool_calls"
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": stop}
            return self.send(json.dumps(dict(base, object="chat.completion", choices=[choice], usage=usage)))
        chunk = dict(base, object="chat.completion.chunk")
        self.stream([(None, dict(chunk, choices=[{"index": 0, "delta": message, "finish_reason": None}])),
                     (None, dict(chunk, choices=[{"index": 0, "delta": {}, "finish_reason": stop}], usage=usage)), (None, "[DONE]")])


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(path("port.new"), "w") as file:
    file.write(str(server.server_address[1]))
os.rename(path("port.new"), path("port"))
server.serve_forever()
