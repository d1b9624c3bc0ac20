"""The two clients."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from . import types
from ._async import AsyncCaller, AsyncEventStream, AsyncTask
from ._async_api import AsyncApi
from ._call import DEFAULT, Timeout
from ._discovery import Source
from ._errors import NacreError
from ._sse import StreamOptions
from ._sync import Caller, EventStream, Task
from ._sync_api import Api

# The maximum number of attempts for edits that conflict with others.
EDIT_ATTEMPTS = 5

# Slightly longer than the server's limit for operations that are not tasks.
TIMEOUT_SECONDS = 65.0


class Client(Api):
    """A blocking client.

    Without arguments, it finds the server of `NACRE_HOME` or `~/.nacre`.

    Args:
        base_url: Another server, such as `http://127.0.0.1:8765`.
        token: Its token. By default, the token of this machine's server, which is sent only to loopback addresses.
        socket: `True` or a path to use the server's Unix socket, `False` to use its port. By default, the socket if
            there is one.
        home: The global data directory, instead of `NACRE_HOME`.
        project: The registered project for all calls that do not specify another.
        timeout: Seconds without a response after which a call fails; `None` means no limit.
        http_client: Your own `httpx.Client`, for proxies or certificates. It is not closed.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        token: str | None = None,
        socket: bool | str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
        project: str | None = None,
        timeout: float | None = TIMEOUT_SECONDS,
        http_client: httpx.Client | None = None,
    ) -> None:
        source = Source(base_url, token, socket, home)
        self._owned: httpx.Client | None = None
        if http_client is None:
            source = source.with_socket_where_there_is_one()
            http_client = self._owned = _http_client(source)
        super().__init__(Caller(source, http_client, project, timeout))

    def with_options(self, *, project: str | None = None, timeout: Timeout = DEFAULT) -> Client:
        """Returns a client with another project or timeout. It shares the connections; closing it has no effect."""
        caller = self._caller
        return Client(
            caller.source.base_url,
            token=caller.source.token,
            socket=caller.source.socket,
            home=caller.source.home,
            project=project or caller.project,
            timeout=caller.timeout if timeout is DEFAULT else timeout,
            http_client=caller.http,
        )

    def __repr__(self) -> str:
        return f"Client({self._caller.endpoint.shown!r})"

    def close(self) -> None:
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def task(self, id: str) -> Task[Any]:
        """Returns a handle to a task that any client may have started."""
        return Task(self._caller, id)

    def events(
        self,
        *,
        last_event_id: str | None = None,
        project: str | None = None,
        attempts: int = 10,
        retry_delay: float = 0.5,
    ) -> EventStream:
        """Stream the server's events without end.

        `GET /api/events`

        Args:
            last_event_id: Go on after this event.
            project: Only events of this project.
            attempts: How often it tries to connect again before it raises; 0 for never.
            retry_delay: Seconds before the first of them; later ones wait longer.
        """
        return EventStream(self._caller, StreamOptions(last_event_id, project, attempts, retry_delay))

    def edit_memory(
        self, id: str, change: Callable[[str], str], *, project: str | None = None
    ) -> types.MemoryChangeReport | None:
        """Read a memory's Markdown file, pass it to `change`, and write the result.

        Where somebody else wrote it meanwhile, it begins again, so `change` may run several times. `None` where nothing
        changed.
        """
        for attempt in range(1, EDIT_ATTEMPTS + 1):
            before, version = _file(self.memories.get(id, text=True, project=project))
            after = change(before)
            if after == before:
                return None
            try:
                return self.memories.write(id, after, if_match=version, project=project)
            except NacreError as error:
                if error.code != "conflict" or attempt == EDIT_ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")


class AsyncClient(AsyncApi):
    """An asynchronous client. It has the arguments of `Client`; `http_client` is an `httpx.AsyncClient`."""

    def __init__(
        self,
        base_url: str | None = None,
        *,
        token: str | None = None,
        socket: bool | str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
        project: str | None = None,
        timeout: float | None = TIMEOUT_SECONDS,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        source = Source(base_url, token, socket, home)
        self._owned: httpx.AsyncClient | None = None
        if http_client is None:
            source = source.with_socket_where_there_is_one()
            http_client = self._owned = _async_http_client(source)
        super().__init__(AsyncCaller(source, http_client, project, timeout))

    def with_options(self, *, project: str | None = None, timeout: Timeout = DEFAULT) -> AsyncClient:
        """Returns a client with another project or timeout. It shares the connections; closing it has no effect."""
        caller = self._caller
        return AsyncClient(
            caller.source.base_url,
            token=caller.source.token,
            socket=caller.source.socket,
            home=caller.source.home,
            project=project or caller.project,
            timeout=caller.timeout if timeout is DEFAULT else timeout,
            http_client=caller.http,
        )

    def __repr__(self) -> str:
        return f"AsyncClient({self._caller.endpoint.shown!r})"

    async def aclose(self) -> None:
        if self._owned is not None:
            await self._owned.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def task(self, id: str) -> AsyncTask[Any]:
        """Returns a handle to a task that any client may have started."""
        return AsyncTask(self._caller, id)

    def events(
        self,
        *,
        last_event_id: str | None = None,
        project: str | None = None,
        attempts: int = 10,
        retry_delay: float = 0.5,
    ) -> AsyncEventStream:
        """Stream the server's events without end. See `Client.events`.

        `GET /api/events`
        """
        return AsyncEventStream(self._caller, StreamOptions(last_event_id, project, attempts, retry_delay))

    async def edit_memory(
        self, id: str, change: Callable[[str], str | Awaitable[str]], *, project: str | None = None
    ) -> types.MemoryChangeReport | None:
        """Read a memory's Markdown file, pass it to `change`, and write the result.

        See `Client.edit_memory`.
        """
        for attempt in range(1, EDIT_ATTEMPTS + 1):
            before, version = _file(await self.memories.get(id, text=True, project=project))
            changed = change(before)
            after = changed if isinstance(changed, str) else await changed
            if after == before:
                return None
            try:
                return await self.memories.write(id, after, if_match=version, project=project)
            except NacreError as error:
                if error.code != "conflict" or attempt == EDIT_ATTEMPTS:
                    raise
        raise AssertionError("the last attempt returns or raises")


def _http_client(source: Source) -> httpx.Client:
    # `trust_env` would send the token through a proxy set in the environment, even to the local server.
    return httpx.Client(transport=httpx.HTTPTransport(uds=source.find().socket, trust_env=False), trust_env=False)


def _async_http_client(source: Source) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(uds=source.find().socket, trust_env=False)
    return httpx.AsyncClient(transport=transport, trust_env=False)


def _file(report: types.MemoryShowReport) -> tuple[str, str]:
    """Returns the complete Markdown file and its version."""
    return report.get("text") or "", report["version"]
