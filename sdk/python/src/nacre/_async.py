"""The asynchronous side: sending calls, streams of events, tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar, cast

import httpx

from . import types
from ._call import Call
from ._discovery import Source
from ._errors import NacreError
from ._polling import pauses
from ._sse import DRAIN_SECONDS, SILENCE_SECONDS, Backoff, Parser, StreamOptions, ended_stream, is_passing
from ._task_calls import (
    FROM_THE_START,
    LOOKS_FOR_REPORT,
    TASK_OVER,
    already_over,
    cancel_call,
    final_event,
    is_missed,
    is_over,
    missing_report,
    report_call,
    status_call,
    stream_call,
)
from ._wire import failure_of, is_stream, refused_stream, report_of, request_of, task_of

T = TypeVar("T")


async def never() -> bool:
    return False


@asynccontextmanager
async def closed(response: httpx.Response) -> AsyncGenerator[httpx.Response, None]:
    """Closes a response in the end."""
    try:
        yield response
    finally:
        await response.aclose()


class AsyncCaller:
    """Sends calls to the server, and finds it again after a restart."""

    def __init__(self, source: Source, http: httpx.AsyncClient, project: str | None, timeout: float | None) -> None:
        self.source = source
        self.http = http
        self.project = project
        self.timeout = timeout
        self.endpoint = source.find()

    async def call(self, call: Call[T]) -> T:
        return cast(T, report_of(await self._send(call), self.endpoint))

    async def call_waiting(self, call: Call[T]) -> T:
        return await self.call(call.waiting())

    async def start(self, call: Call[T]) -> AsyncTask[T]:
        response = await self._send(call)
        report = report_of(response, self.endpoint)
        if response.status_code == 202:
            return AsyncTask(self, task_of(report, self.endpoint))
        # The call finished before it became a task.
        return AsyncTask(self, None, cast(T, report))

    async def open(self, call: Call[Any]) -> httpx.Response:
        """Returns a response whose body has not been read yet."""
        response = await self._send(call)
        if is_stream(response):
            return response
        try:
            await response.aread()
        except httpx.HTTPError as error:
            raise failure_of(error, self.endpoint) from None
        finally:
            await response.aclose()
        raise refused_stream(response, self.endpoint)

    async def _send(self, call: Call[Any]) -> httpx.Response:
        try:
            response = await self._attempt(call)
        except NacreError as error:
            if not self._is_worth_another(call, error):
                raise
            return await self._attempt(call)
        if response.status_code != 401 or not self._moved():
            return response
        await response.aclose()
        return await self._attempt(call)

    async def _attempt(self, call: Call[Any]) -> httpx.Response:
        request = request_of(call, self.endpoint, self.project, self.timeout)
        try:
            return await self.http.send(request, stream=call.stream, follow_redirects=False)
        except httpx.HTTPError as error:
            # `from None`, because the error contains the request and its token.
            raise failure_of(error, self.endpoint) from None

    def _is_worth_another(self, call: Call[Any], error: NacreError) -> bool:
        """Whether a retry is safe: nothing was sent, or the call only reads."""
        moved = error.code in ("unreachable", "disconnected") and self._moved()
        if error.code == "unreachable":
            return moved
        # The server closes idle connections.
        return error.code == "disconnected" and call.method == "GET" and not call.stream

    def _moved(self) -> bool:
        """Whether the server was restarted, that is, has another address or token."""
        try:
            found = self.source.find()
        except NacreError:
            return False
        changed = found != self.endpoint
        self.endpoint = found
        return changed


class AsyncEventStream:
    """The server's events, in order. If the connection is lost, it reconnects and continues after the last event.

    Iterate over it; an `async with` block connects at once and ends it. `last_id` is the id of the latest event: given
    to `AsyncClient.events(last_event_id=...)` it resumes there.
    """

    def __init__(
        self,
        caller: AsyncCaller,
        options: StreamOptions,
        task: str | None = None,
        over: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self._caller = caller
        self._options = options
        self._task = task
        # Whether the task ended. A client that connects late may have missed the last event.
        self._over = over or never
        self._parser = Parser(options.last_event_id)
        self._events = self._read()
        # The connection opened by `open`, until it is read.
        self._first: httpx.Response | None = None

    @property
    def last_id(self) -> str | None:
        return self._parser.last_id

    def __aiter__(self) -> AsyncEventStream:
        return self

    async def __anext__(self) -> types.StreamEvent:
        return await anext(self._events)

    async def aclose(self) -> None:
        await self._events.aclose()
        if self._first is not None:
            await self._first.aclose()

    async def open(self) -> None:
        """Connect now. Events from then on are kept until they are read. A `with` block also connects."""
        try:
            self._first = self._first or await self._open(SILENCE_SECONDS)
        except NacreError as error:
            # Reading retries the connection.
            if not is_passing(error):
                raise

    async def __aenter__(self) -> AsyncEventStream:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _read(self) -> AsyncGenerator[types.StreamEvent, None]:
        backoff = Backoff(self._options.retry_delay, self._options.attempts)
        draining = False
        while True:
            try:
                async with closed(await self._next(DRAIN_SECONDS if draining else SILENCE_SECONDS)) as response:
                    # Check after the stream is open, so that the task cannot end unnoticed in between.
                    if not draining and await self._over():
                        draining = True
                        continue
                    async for event in self._parse(response):
                        backoff.reset()
                        yield event
                error = ended_stream()
            except NacreError as failure:
                error = failure
            if draining:
                return
            self._parser.cut()
            await asyncio.sleep(backoff.next(error, self._parser.retry_seconds))

    async def _next(self, silence: float) -> httpx.Response:
        """Returns the open connection, or a new one."""
        first, self._first = self._first, None
        return first or await self._open(silence)

    async def _open(self, silence: float) -> httpx.Response:
        return await self._caller.open(stream_call(self._options, self._task, self._parser.last_id, silence))

    async def _parse(self, response: httpx.Response) -> AsyncGenerator[types.StreamEvent, None]:
        try:
            async for chunk in response.aiter_raw():
                for event in self._parser.feed(chunk):
                    yield event
        except httpx.HTTPError as error:
            raise failure_of(error, self._caller.endpoint) from None


class AsyncTask(Generic[T]):
    """A task that ends with a report of type `T`. It continues even if no client waits for it."""

    #: `None` if the call finished before it became a task; its report is then available at once.
    id: str | None

    def __init__(self, caller: AsyncCaller, id: str | None, report: T | None = None) -> None:
        self._caller = caller
        self.id = id
        self._report = report

    def __repr__(self) -> str:
        return f"AsyncTask({self.id!r})"

    async def status(self) -> types.TaskEntry:
        """Return the task's state."""
        return (await self._caller.call(status_call(self._known_id())))["task"]

    async def events(self, *, last_event_id: str | None = None) -> AsyncGenerator[types.StreamEvent, None]:
        """The task's events until it is over. The last one is always a `task` event with the final state."""
        if self.id is None:
            return
        options = StreamOptions(last_event_id or FROM_THE_START)
        at_start = last_event_id is None
        async with AsyncEventStream(self._caller, options, self.id, over=self._is_over) as stream:
            async for event in stream:
                if at_start and is_missed(event):
                    continue
                at_start = False
                yield event
                if is_over(event):
                    return
        yield final_event(await self.status())

    async def _is_over(self) -> bool:
        return (await self.status())["state"] in TASK_OVER

    async def report(self, *, timeout: float | None = None) -> T:
        """Wait until the task is over and return its report.

        Raises `NacreError` where it failed or was cancelled, and with the code `timeout` where it takes longer than
        `timeout` seconds; it then goes on.
        """
        if self.id is None:
            return cast(T, self._report)
        looks = 0
        for pause in pauses(self.id, timeout):
            entry = await self.status()
            if entry["state"] in TASK_OVER:
                looks += 1
                try:
                    return cast(T, await self._caller.call(report_call(self.id)))
                except NacreError as error:
                    # The state is written a moment before the report is there.
                    if error.code != "not_found" or looks == LOOKS_FOR_REPORT:
                        raise missing_report(entry, error) from None
            await asyncio.sleep(pause)
        raise AssertionError("pauses end with an exception")

    async def cancel(self) -> types.TaskCancelReport:
        """Cancel the task. Finished work is kept."""
        return await self._caller.call(cancel_call(self._known_id()))

    def _known_id(self) -> str:
        if self.id is None:
            raise already_over()
        return self.id
