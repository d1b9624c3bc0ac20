"""The intervals at which a task's state is polled."""

from __future__ import annotations

import time
from collections.abc import Iterator

from ._errors import NacreError

FIRST_SECONDS = 0.02
LONGEST_SECONDS = 0.5


def pauses(task: str, timeout: float | None) -> Iterator[float]:
    """Yields increasing delays in seconds until `timeout` is over."""
    end = None if timeout is None else time.monotonic() + timeout
    pause = FIRST_SECONDS
    while True:
        left = pause if end is None else end - time.monotonic()
        if left <= 0:
            raise NacreError("timeout", f"Task {task} was not over after {timeout} s", hints=["It goes on"])
        yield min(pause, left)
        pause = min(pause * 1.5, LONGEST_SECONDS)
