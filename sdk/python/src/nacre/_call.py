"""An API call before it is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Generic, Literal, TypeVar, Union

T = TypeVar("T")


class Default(Enum):
    """Selects the client's setting, because `None` is a value with its own meaning."""

    DEFAULT = 0


DEFAULT: Literal[Default.DEFAULT] = Default.DEFAULT

# Seconds; `None` means no limit.
Timeout = Union[float, None, Literal[Default.DEFAULT]]


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call that returns a `T`. `None` values are not sent; the server uses its defaults."""

    method: str
    # A template; `path_values` fills in the names in braces.
    path: str
    path_values: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    if_match: str | None = None
    project: str | None = None
    timeout: Timeout = DEFAULT
    # The response is an event stream that continues after the event with this id.
    stream: bool = False
    last_event_id: str | None = None

    def waiting(self) -> Call[T]:
        """Returns a copy that waits for the task's report, without a limit unless the caller set one."""
        timeout = None if self.timeout is DEFAULT else self.timeout
        return replace(self, query={**self.query, "wait": True}, timeout=timeout)
