"""The calls used by tasks and streams, and the meaning of their responses."""

from __future__ import annotations

from typing import Any

from . import types
from ._call import Call
from ._errors import NacreError
from ._sse import StreamOptions

# An id that no server uses. The server then sends a `missed` event and all stored events of the task.
FROM_THE_START = "0"

# The number of requests for a finished task's report.
LOOKS_FOR_REPORT = 10

TASK_OVER = ("completed", "failed", "cancelled")


def status_call(task: str) -> Call[types.TaskShowReport]:
    return Call("GET", "/api/tasks/{id}", path_values={"id": task}, query={"limit": 1})


def report_call(task: str) -> Call[Any]:
    return Call("GET", "/api/tasks/{id}/report", path_values={"id": task})


def cancel_call(task: str) -> Call[types.TaskCancelReport]:
    return Call("POST", "/api/tasks/{id}/cancel", path_values={"id": task}, body={})


def stream_call(options: StreamOptions, task: str | None, last_id: str | None, silence: float) -> Call[Any]:
    """`silence` is how many seconds may pass without a byte."""
    return Call(
        "GET",
        "/api/events",
        query={"task": task},
        project=options.project,
        timeout=silence,
        stream=True,
        last_event_id=last_id,
    )


def is_missed(event: types.StreamEvent) -> bool:
    return event["event"] == "missed"


def is_over(event: types.StreamEvent) -> bool:
    """Whether an event reports the end of its task."""
    return event["event"] == "task" and event["state"] in TASK_OVER


def final_event(entry: types.TaskEntry) -> types.StreamEventTask:
    """The last event of a task, for a client that missed it."""
    return {
        "at": entry.get("ended") or entry["created"],
        "task": entry["id"],
        "project": entry.get("project"),
        "event": "task",
        "state": entry["state"],
        "agent": entry["agent"],
        "title": entry["title"],
    }


def already_over() -> NacreError:
    """A call that finished before it became a task."""
    return NacreError("not_found", "It was over at once: there is no task", hints=["Its report is there"])


def missing_report(entry: types.TaskEntry, error: NacreError) -> NacreError:
    """Why a finished task has no report: its own error, or a general failure if the server lost the error."""
    if error.code != "not_found" or entry["state"] == "completed":
        return error
    code = "cancelled" if entry["state"] == "cancelled" else "failed"
    reason = entry.get("reason")
    message = f"Task {entry['id']} was cancelled" if code == "cancelled" else f"Task {entry['id']} failed"
    return NacreError(code, message, causes=[reason] if reason else [])
