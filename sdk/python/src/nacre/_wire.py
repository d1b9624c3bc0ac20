"""Converts requests and responses, without a connection, so that both clients share the code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from ._call import DEFAULT, Call, Timeout
from ._discovery import Endpoint
from ._errors import NacreError, disconnected, from_response, protocol, timed_out, unreachable

VERSION = "0.1.0"

# The connection timeout; the server is on this machine or nearby.
CONNECT_SECONDS = 5.0


def path_of(call: Call[Any]) -> str:
    """Returns the path with its values. Values that would select another route are refused."""
    values = {}
    for name, value in call.path_values.items():
        if value in ("", ".", ".."):
            raise NacreError("usage", f"`{name}` must not be {value!r}")
        values[name] = quote(value, safe="")
    return call.path.format_map(values)


def query_of(query: Mapping[str, object]) -> list[tuple[str, str | int | float | bool | None]]:
    """Builds the query; lists repeat their key."""
    return [(name, text(item)) for name, value in query.items() if value is not None for item in items(value)]


def items(value: object) -> Iterable[object]:
    return value if isinstance(value, (list, tuple, set, frozenset)) else (value,)


def text(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def body_of(body: Mapping[str, object]) -> bytes:
    return json.dumps({name: value for name, value in body.items() if value is not None}, default=list).encode()


def headers_of(endpoint: Endpoint) -> dict[str, str]:
    headers = {"Accept": "application/json", "User-Agent": f"nacre-python/{VERSION}"}
    if endpoint.token:
        headers["Authorization"] = f"Bearer {endpoint.token}"
    return headers


def timeout_of(timeout: Timeout, otherwise: float | None) -> httpx.Timeout:
    seconds = otherwise if timeout is DEFAULT else timeout
    return httpx.Timeout(seconds, connect=CONNECT_SECONDS if seconds is None else min(seconds, CONNECT_SECONDS))


def request_of(call: Call[Any], endpoint: Endpoint, project: str | None, timeout: float | None) -> httpx.Request:
    """Builds the complete request."""
    headers = headers_of(endpoint)
    content = None
    if call.body is not None:
        headers["Content-Type"] = "application/json"
        content = body_of(call.body)
    if call.if_match is not None:
        headers["If-Match"] = quoted(call.if_match)
    if call.stream:
        headers["Accept"] = "text/event-stream"
    if call.last_event_id is not None:
        headers["Last-Event-ID"] = call.last_event_id
    query = query_of({**call.query, "project": call.project or project})
    extensions = {"timeout": timeout_of(call.timeout, timeout).as_dict()}
    url = endpoint.base_url + path_of(call)
    try:
        return httpx.Request(
            call.method, url, params=query or None, headers=headers, content=content, extensions=extensions
        )
    except (httpx.InvalidURL, UnicodeEncodeError) as error:
        raise NacreError("usage", f"{endpoint.base_url} is not an address of a server", causes=[str(error)]) from None


def quoted(version: str) -> str:
    """Formats a version as an entity tag."""
    return version if version == "*" or version.startswith(('"', 'W/"')) else f'"{version}"'


def report_of(response: httpx.Response, endpoint: Endpoint) -> Any:
    """Returns the report in a response, or raises its error."""
    if response.status_code >= 300:
        raise from_response(response.status_code, response.content, response.headers.get("Retry-After"))
    if response.status_code == 204 or not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise protocol(endpoint.shown, "it is not JSON") from None


def is_stream(response: httpx.Response) -> bool:
    kind = str(response.headers.get("Content-Type", ""))
    return response.status_code == 200 and kind.startswith("text/event-stream")


def refused_stream(response: httpx.Response, endpoint: Endpoint) -> NacreError:
    """Returns the error of a failed stream request, once its response was read."""
    if response.status_code < 300:
        return protocol(endpoint.shown, "it is not a stream of events")
    return from_response(response.status_code, response.content, response.headers.get("Retry-After"))


def task_of(report: Any, endpoint: Endpoint) -> str:
    """Returns the id of the started task."""
    if isinstance(report, dict) and isinstance(report.get("task"), str):
        return str(report["task"])
    raise protocol(endpoint.shown, "it names no task")


def failure_of(error: httpx.HTTPError, endpoint: Endpoint) -> NacreError:
    """An error for a failed connection, without the request, whose headers contain the token."""
    if isinstance(error, (httpx.ConnectTimeout, httpx.ConnectError)):
        return unreachable(endpoint.shown, str(error))
    if isinstance(error, httpx.TimeoutException):
        return timed_out(endpoint.shown, str(error))
    if isinstance(error, httpx.DecodingError):
        return protocol(endpoint.shown, str(error))
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        # Leave out the error's text, because it may quote a header.
        return NacreError("usage", f"The request to {endpoint.shown} is not valid HTTP")
    return disconnected(endpoint.shown, str(error))
