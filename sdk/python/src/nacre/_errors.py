"""The package's only exception class."""

from __future__ import annotations

import json
from collections.abc import Sequence


class NacreError(Exception):
    """A call that failed.

    `code` is one of the server's codes (`not_found`, `conflict`, `busy`, ... see `nacre.types.ErrorCode`), or where no
    server answered: `unreachable` (nothing was sent), `disconnected`, `timeout`, `protocol`. `status` is then `None`.
    """

    code: str
    message: str
    causes: list[str]
    hints: list[str]
    status: int | None
    #: Seconds to wait before retrying, if the server sent them.
    retry_after: float | None

    def __init__(
        self,
        code: str,
        message: str,
        *,
        causes: Sequence[str] = (),
        hints: Sequence[str] = (),
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.causes = list(causes)
        self.hints = list(hints)
        self.status = status
        self.retry_after = retry_after

    def __str__(self) -> str:
        lines = [f"{self.message} ({self.code})"]
        lines += [f"caused by: {cause}" for cause in self.causes]
        lines += [f"hint: {hint}" for hint in self.hints]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"NacreError(code={self.code!r}, status={self.status!r}, message={self.message!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.code, self.message, self.causes, self.hints, self.status, self.retry_after))


def _rebuild(
    code: str, message: str, causes: list[str], hints: list[str], status: int | None, retry_after: float | None
) -> NacreError:
    """Makes exceptions picklable for process pools; the default passes only the message."""
    return NacreError(code, message, causes=causes, hints=hints, status=status, retry_after=retry_after)


def from_response(status: int, body: bytes, retry_after: str | None) -> NacreError:
    """Returns the server's error, or an error for a response that is not from Nacre."""
    seconds = _seconds(retry_after)
    try:
        failure = json.loads(body)["error"]
        return NacreError(
            str(failure["code"]),
            str(failure["message"]),
            causes=[str(cause) for cause in failure.get("causes", [])],
            hints=[str(hint) for hint in failure.get("hints", [])],
            status=status,
            retry_after=seconds,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return NacreError("failed", f"The server responded with status {status}", status=status, retry_after=seconds)


def _seconds(retry_after: str | None) -> float | None:
    try:
        return float(retry_after) if retry_after is not None else None
    except ValueError:
        return None


def unreachable(address: str, reason: str) -> NacreError:
    return NacreError(
        "unreachable",
        f"Cannot reach the server at {address}",
        causes=[reason] if reason else [],
        hints=["Start it with `nacre up`"],
    )


def disconnected(address: str, reason: str) -> NacreError:
    return NacreError("disconnected", f"The connection to {address} was lost", causes=[reason] if reason else [])


def timed_out(address: str, reason: str) -> NacreError:
    return NacreError("timeout", f"The server at {address} did not answer in time", causes=[reason] if reason else [])


def protocol(address: str, reason: str) -> NacreError:
    return NacreError("protocol", f"The answer of {address} is not one of Nacre's", causes=[reason] if reason else [])
