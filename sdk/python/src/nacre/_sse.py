"""Server-sent events: the parser, and when to connect again. Nothing here waits or reads."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ._errors import NacreError

# The server writes a comment every 15 seconds; three missing ones are a dead connection.
SILENCE_SECONDS = 45.0

# How long the stream of a task that is over is read, for events that were written before the connection.
DRAIN_SECONDS = 1.0

LONGEST_DELAY_SECONDS = 10.0


@dataclass
class Parser:
    """Splits bytes into events. Lines end with CR, LF or both, and with nothing else: JSON may hold other breaks."""

    last_id: str | None = None
    retry_seconds: float | None = None
    _rest: bytes = b""
    _data: list[str] = field(default_factory=list)
    _id: str | None = None

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """The events that `chunk` completes, as JSON values."""
        self._rest += chunk
        *lines, self._rest = split_lines(self._rest)
        for line in lines:
            yield from self._line(line.decode("utf-8", "replace"))

    def _line(self, line: str) -> Iterator[Any]:
        if not line:
            yield from self._dispatch()
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isdigit():
            self.retry_seconds = int(value) / 1000

    def _dispatch(self) -> Iterator[Any]:
        if self._id is not None:
            self.last_id = self._id
        data, self._data = "\n".join(self._data), []
        if not data:
            return
        try:
            yield json.loads(data)
        except ValueError:
            # An event that is not JSON is not one of Nacre's.
            return

    def cut(self) -> None:
        """The connection ended: half an event is dropped, the server sends it again."""
        self._rest, self._data, self._id = b"", [], None


def split_lines(data: bytes) -> list[bytes]:
    """Lines, and last what is not ended yet. A final CR waits: an LF may follow."""
    held = b"\r" if data.endswith(b"\r") else b""
    body = data[: len(data) - len(held)]
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    lines[-1] += held
    return lines


@dataclass(frozen=True)
class StreamOptions:
    """Where a stream begins, and how long it tries to connect again."""

    last_event_id: str | None = None
    project: str | None = None
    # Attempts one after the other that fail; 0 never connects again.
    attempts: int = 10
    # Seconds before the first of them.
    retry_delay: float = 0.5


@dataclass
class Backoff:
    """Delays between attempts, longer each time."""

    base: float
    attempts: int
    tried: int = 0

    def next(self, error: NacreError, asked: float | None) -> float:
        """Seconds before the next attempt. Raises `error` where there were enough, or it would come again."""
        if self.tried >= self.attempts or not is_passing(error):
            raise error
        delay = min(self.base * 2.0**self.tried, LONGEST_DELAY_SECONDS)
        self.tried += 1
        # Many clients of a server that restarts must not come back at once.
        return max(asked or 0.0, error.retry_after or 0.0, delay * random.uniform(0.5, 1.0))

    def reset(self) -> None:
        self.tried = 0


def is_passing(error: NacreError) -> bool:
    """Whether another attempt may succeed."""
    return error.code in ("unreachable", "disconnected", "timeout") or error.status in (429, 502, 503, 504)


def ended_stream() -> NacreError:
    return NacreError("disconnected", "The server ended the stream of events")
