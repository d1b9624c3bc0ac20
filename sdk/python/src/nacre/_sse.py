"""Server-sent events: the parser and the reconnection delays, without I/O."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ._errors import NacreError

# The server writes a comment every 15 seconds; after three missed ones, the connection is considered dead.
SILENCE_SECONDS = 45.0

# How long to read a finished task's stream, for events written before the connection.
DRAIN_SECONDS = 1.0

LONGEST_DELAY_SECONDS = 10.0


@dataclass
class Parser:
    """Splits bytes into events. Lines end only with CR, LF or both: JSON may contain other breaks."""

    last_id: str | None = None
    retry_seconds: float | None = None
    _rest: bytes = b""
    _data: list[str] = field(default_factory=list)
    _id: str | None = None

    def feed(self, chunk: bytes) -> Iterator[Any]:
        """Returns the events completed by `chunk`, as JSON values."""
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
            # Events that are not JSON are not from Nacre.
            return

    def cut(self) -> None:
        """Drops an incomplete event at the end of a connection; the server sends it again."""
        self._rest, self._data, self._id = b"", [], None


def split_lines(data: bytes) -> list[bytes]:
    """Splits text into lines; the last one is incomplete. Keeps a final CR, because an LF may follow."""
    held = b"\r" if data.endswith(b"\r") else b""
    body = data[: len(data) - len(held)]
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    lines[-1] += held
    return lines


@dataclass(frozen=True)
class StreamOptions:
    """Where a stream starts, and how often it reconnects."""

    last_event_id: str | None = None
    project: str | None = None
    # The maximum number of consecutive failed attempts; 0 never reconnects.
    attempts: int = 10
    # Seconds before the first attempt.
    retry_delay: float = 0.5


@dataclass
class Backoff:
    """Delays between attempts, longer each time."""

    base: float
    attempts: int
    tried: int = 0

    def next(self, error: NacreError, asked: float | None) -> float:
        """Returns the seconds before the next attempt. Raises `error` if no retry is left or can help."""
        if self.tried >= self.attempts or not is_passing(error):
            raise error
        delay = min(self.base * 2.0**self.tried, LONGEST_DELAY_SECONDS)
        self.tried += 1
        # Prevents many clients from reconnecting at the same time after a server restart.
        return max(asked or 0.0, error.retry_after or 0.0, delay * random.uniform(0.5, 1.0))

    def reset(self) -> None:
        self.tried = 0


def is_passing(error: NacreError) -> bool:
    """Whether another attempt may succeed."""
    return error.code in ("unreachable", "disconnected", "timeout") or error.status in (429, 502, 503, 504)


def ended_stream() -> NacreError:
    return NacreError("disconnected", "The server ended the stream of events")
