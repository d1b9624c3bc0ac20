"""The blocking side: sending calls, streams of events, tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import closing
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


class Caller:
    """Sends calls to the server, and finds it again after a restart."""

    def __init__(self, source: Source, http: httpx.Client, project: str | None, timeout: float | None) -> None:
        self.source = source
        self.http = http
        self.project = project
        self.timeout = timeout
        self.endpoint = source.find()

    def call(self, call: Call[T]) -> T:
        return cast(T, report_of(self._send(call), self.endpoint))

    def call_waiting(self, call: Call[T]) -> T:
        return self.call(call.waiting())

    def start(self, call: Call[T]) -> Task[T]:
        response = self._send(call)
        report = report_of(response, self.endpoint)
        if response.status_code == 202:
            return Task(self, task_of(report, self.endpoint))
        # The call finished before it became a task.
        return Task(self, None, cast(T, report))

    def open(self, call: Call[Any]) -> httpx.Response:
        """Returns a response whose body has not been read yet."""
        response = self._send(call)
        if is_stream(response):
            return response
        try:
            response.read()
        except httpx.HTTPError as error:
            raise failure_of(error, self.endpoint) from None
        finally:
            response.close()
        raise refused_stream(response, self.endpoint)

    def _send(self, call: Call[Any]) -> httpx.Response:
        try:
            response = self._attempt(call)
        except NacreError as error:
            if not self._is_worth_another(call, error):
                raise
            return self._attempt(call)
        if response.status_code != 401 or not self._moved():
            return response
        response.close()
        return self._attempt(call)

    def _attempt(self, call: Call[Any]) -> httpx.Response:
        request = request_of(call, self.endpoint, self.project, self.timeout)
        try:
            return self.http.send(request, stream=call.stream, follow_redirects=False)
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


class EventStream:
    """The server's events, in order. If the connection is lost, it reconnects and continues after the last event.

    Iterate over it; a `with` block connects at once and ends it. `last_id` is the id of the latest event: given to
    `Client.events(last_event_id=...)` it resumes there.
    """

    def __init__(
        self, caller: Caller, options: StreamOptions, task: str | None = None, over: Callable[[], bool] | None = None
    ) -> None:
        self._caller = caller
        self._options = options
        self._task = task
        # Whether the task ended. A client that connects late may have missed the last event.
        self._over = over or (lambda: False)
        self._parser = Parser(options.last_event_id)
        self._events = self._read()
        # The connection opened by `open`, until it is read.
        self._first: httpx.Response | None = None

    @property
    def last_id(self) -> str | None:
        return self._parser.last_id

    def __iter__(self) -> EventStream:
        return self

    def __next__(self) -> types.StreamEvent:
        return next(self._events)

    def close(self) -> None:
        self._events.close()
        if self._first is not None:
            self._first.close()

    def open(self) -> None:
        """Connect now. Events from then on are kept until they are read. A `with` block also connects."""
        try:
            self._first = self._first or self._open(SILENCE_SECONDS)
        except NacreError as error:
            # Reading retries the connection.
            if not is_passing(error):
                raise

    def __enter__(self) -> EventStream:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> Generator[types.StreamEvent, None, None]:
        backoff = Backoff(self._options.retry_delay, self._options.attempts)
        draining = False
        while True:
            try:
                with closing(self._next(DRAIN_SECONDS if draining else SILENCE_SECONDS)) as response:
                    # Check after the stream is open, so that the task cannot end unnoticed in between.
                    if not draining and self._over():
                        draining = True
                        continue
                    for event in self._parse(response):
                        backoff.reset()
                        yield event
                error = ended_stream()
            except NacreError as failure:
                error = failure
            if draining:
                return
            self._parser.cut()
            time.sleep(backoff.next(error, self._parser.retry_seconds))

    def _next(self, silence: float) -> httpx.Response:
        """Returns the open connection, or a new one."""
        first, self._first = self._first, None
        return first or self._open(silence)

    def _open(self, silence: float) -> httpx.Response:
        return self._caller.open(stream_call(self._options, self._task, self._parser.last_id, silence))

    def _parse(self, response: httpx.Response) -> Generator[types.StreamEvent, None, None]:
        try:
            for chunk in response.iter_raw():
                yield from self._parser.feed(chunk)
        except httpx.HTTPError as error:
            raise failure_of(error, self._caller.endpoint) from None


class Task(Generic[T]):
    """A task that ends with a report of type `T`. It continues even if no client waits for it."""

    #: `None` if the call finished before it became a task; its report is then available at once.
    id: str | None

    def __init__(self, caller: Caller, id: str | None, report: T | None = None) -> None:
        self._caller = caller
        self.id = id
        self._report = report

    def __repr__(self) -> str:
        return f"Task({self.id!r})"

    def status(self) -> types.TaskEntry:
        """Return the task's state."""
        return self._caller.call(status_call(self._known_id()))["task"]

    def events(self, *, last_event_id: str | None = None) -> Generator[types.StreamEvent, None, None]:
        """The task's events until it is over. The last one is always a `task` event with the final state."""
        if self.id is None:
            return
        options = StreamOptions(last_event_id or FROM_THE_START)
        at_start = last_event_id is None
        with EventStream(self._caller, options, self.id, over=lambda: self.status()["state"] in TASK_OVER) as stream:
            for event in stream:
                if at_start and is_missed(event):
                    continue
                at_start = False
                yield event
                if is_over(event):
                    return
        yield final_event(self.status())

    def report(self, *, timeout: float | None = None) -> T:
        """Wait until the task is over and return its report.

        Raises `NacreError` where it failed or was cancelled, and with the code `timeout` where it takes longer than
        `timeout` seconds; it then goes on.
        """
        if self.id is None:
            return cast(T, self._report)
        looks = 0
        for pause in pauses(self.id, timeout):
            entry = self.status()
            if entry["state"] in TASK_OVER:
                looks += 1
                try:
                    return cast(T, self._caller.call(report_call(self.id)))
                except NacreError as error:
                    # The state is written a moment before the report is there.
                    if error.code != "not_found" or looks == LOOKS_FOR_REPORT:
                        raise missing_report(entry, error) from None
            time.sleep(pause)
        raise AssertionError("pauses end with an exception")

    def cancel(self) -> types.TaskCancelReport:
        """Cancel the task. Finished work is kept."""
        return self._caller.call(cancel_call(self._known_id()))

    def _known_id(self) -> str:
        if self.id is None:
            raise already_over()
        return self.id
