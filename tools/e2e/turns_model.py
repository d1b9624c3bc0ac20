#!/usr/bin/env python3
"""A model on loopback that plays a list of turns, for `tools/e2e/lead-claude.sh`. Standard library only.

    turns_model.py FOLDER

Listens on a free port of 127.0.0.1 and writes its number to FOLDER/port. Speaks as much of Anthropic Messages as Claude Code needs.
FOLDER/turns.json is a list; each request that offers tools takes the next turn: {"tool": NAME, "input": {...}} calls a tool, {"text": WORDS}
says something, {"status": N, "text": WORDS} is an error. After the last one it says "Done.". Every request is one line of FOLDER/log.jsonl.
"""
import json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER = sys.argv[1]
LOCK = threading.Lock()
USAGE = {"input_tokens": 1000, "output_tokens": 50, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}


def path(name):
    return os.path.join(FOLDER, name)


def next_turn(body):
    with LOCK:
        with open(path("log.jsonl"), "a") as log:
            log.write(json.dumps(body) + "\n")
        if not body.get("tools"):
            return {"text": "ok"}, 0
        with open(path("turns.json")) as file:
            turns = json.load(file)
        with open(path("n"), "a+") as count:
            count.seek(0)
            n = len(count.read())
            count.write("x")
        return (turns[n] if n < len(turns) else {"text": "Done."}), n


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
            return self.reply(200, "application/json", json.dumps({"input_tokens": 10}))
        turn, n = next_turn(body)
        if "status" in turn:
            error = {"type": "error", "error": {"type": "api_error", "message": turn["text"]}}
            return self.reply(turn["status"], "application/json", json.dumps(error))
        if "tool" in turn:
            block = {"type": "tool_use", "id": f"toolu_{n}", "name": turn["tool"], "input": turn["input"]}
        else:
            block = {"type": "text", "text": turn["text"]}
        stop = "tool_use" if "tool" in turn else "end_turn"
        message = {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": body.get("model", "m"),
                   "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": USAGE}
        if not body.get("stream"):
            return self.reply(200, "application/json", json.dumps(message))
        self.reply(200, "text/event-stream", "".join(self.events(message, block, stop)))

    def events(self, message, block, stop):
        start = dict(block, input={}) if block["type"] == "tool_use" else dict(block, text="")
        delta = ({"type": "input_json_delta", "partial_json": json.dumps(block["input"])} if block["type"] == "tool_use"
                 else {"type": "text_delta", "text": block["text"]})
        for kind, data in [
            ("message_start", {"message": dict(message, content=[], stop_reason=None)}),
            ("content_block_start", {"index": 0, "content_block": start}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 50}}),
            ("message_stop", {}),
        ]:
            yield f"event: {kind}\ndata: {json.dumps(dict(data, type=kind))}\n\n"

    def reply(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(path("port.new"), "w") as file:
    file.write(str(server.server_address[1]))
os.rename(path("port.new"), path("port"))
server.serve_forever()
