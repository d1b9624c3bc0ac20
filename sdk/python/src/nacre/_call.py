"""One call of the API, before it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Generic, Literal, TypeVar, Union

T = TypeVar("T")


class Default(Enum):
    """Stands for what the client was set to; `None` is a value of its own."""

    DEFAULT = 0


DEFAULT: Literal[Default.DEFAULT] = Default.DEFAULT

# Seconds; `None` waits for ever.
Timeout = Union[float, None, Literal[Default.DEFAULT]]


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call whose answer is a `T`. Values that are `None` are not sent: the server's defaults hold."""

    method: str
    # With names in braces, which `path_values` fills.
    path: str
    path_values: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    if_match: str | None = None
    project: str | None = None
    timeout: Timeout = DEFAULT
    # The answer is a stream of events, which goes on after the one with this id.
    stream: bool = False
    last_event_id: str | None = None

    def waiting(self) -> Call[T]:
        """The same, answered when the task is over. It may take any time unless the caller set a limit."""
        timeout = None if self.timeout is DEFAULT else self.timeout
        return replace(self, query={**self.query, "wait": True}, timeout=timeout)
