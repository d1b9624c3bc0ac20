"""A server that does what a real one does seldom: it cuts streams, changes its token, answers late or with nonsense.

What it answers is a list of functions, one for each request, in order.
"""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any


@dataclass
class Seen:
    """A request, as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[["Handler"], None]


@dataclass
class Script:
    """What is answered, and what was asked."""

    answers: list[Answer]
    seen: list[Seen] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self, seen: Seen) -> Answer:
        with self.lock:
            self.seen.append(seen)
            return self.answers.pop(0) if self.answers else status(500, {})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.script.next(Seen(self.command, self.path, headers, body))(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def address_string(self) -> str:
        return "client"

    def log_message(self, format: str, *args: Any) -> None:
        pass


def status(code: int, report: object, headers: dict[str, str] | None = None) -> Answer:
    """A whole answer."""

    def answer(handler: Handler) -> None:
        data = json.dumps(report).encode()
        handler.send_response(code)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def failure(code: int, name: str, message: str = "no", headers: dict[str, str] | None = None) -> Answer:
    error = {"code": name, "message": message, "causes": ["because"], "hints": ["do this"]}
    return status(code, {"error": error}, headers)


def stream(*pieces: bytes, hold: threading.Event | None = None) -> Answer:
    """The pieces of a stream, which is cut after them, or held open until the test says so."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for piece in pieces:
            handler.wfile.write(piece)
            handler.wfile.flush()
        if hold is not None:
            hold.wait()
        handler.close_connection = True

    return answer


def silence(until: threading.Event) -> Answer:
    """No answer."""

    def answer(handler: Handler) -> None:
        until.wait()
        handler.close_connection = True

    return answer


def event(number: int, **fields: object) -> bytes:
    """An event as the server writes it."""
    value = {"at": "2026-01-01T00:00:00Z", "task": "t1", "project": None, **fields}
    return f"id: boot-{number}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


class TcpServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class SocketServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


class Running:
    """The fake, listening on a port of this machine or on a socket file."""

    def __init__(self, *answers: Answer, path: Path | None = None) -> None:
        self.script = Script(list(answers))
        handler = type("Scripted", (Handler,), {"script": self.script})
        self.server = SocketServer(str(path), handler) if path else TcpServer(("127.0.0.1", 0), handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def address(self) -> str:
        host, port = self.server.server_address[:2]
        return f"{host!s}:{port}"

    @property
    def seen(self) -> list[Seen]:
        return self.script.seen

    def __enter__(self) -> Running:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def free_address() -> str:
    """An address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"
