"""The blocking methods, one for each route.

Written by sdk/generate/generate.py. Do not edit: change routes.toml or the wire types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast, overload

from . import types
from ._call import DEFAULT, Call, Timeout
from ._sync import Caller, Task


class Service:
    """The server process and its loops."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ServiceReport:
        """Show the server: version, address, loops, clients.

        `GET /api/service`
        """
        return self._caller.call(
            Call[types.ServiceReport](
                "GET",
                "/api/service",
                project=project,
                timeout=timeout,
            )
        )

    def pause(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ServiceReport:
        """Pause the background loops.

        `POST /api/service/pause`
        """
        return self._caller.call(
            Call[types.ServiceReport](
                "POST",
                "/api/service/pause",
                body={},
                project=project,
                timeout=timeout,
            )
        )

    def resume(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ServiceReport:
        """Resume the background loops.

        `POST /api/service/resume`
        """
        return self._caller.call(
            Call[types.ServiceReport](
                "POST",
                "/api/service/resume",
                body={},
                project=project,
                timeout=timeout,
            )
        )

    def wake(
        self,
        *,
        loops: Sequence[types.LoopName] | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ServiceReport:
        """Run loops soon, the sync first.

        `POST /api/service/wake`

        Args:
            loops: The loops to run. If empty, the sync loop runs.
        """
        return self._caller.call(
            Call[types.ServiceReport](
                "POST",
                "/api/service/wake",
                body={
                    "loops": loops,
                },
                project=project,
                timeout=timeout,
            )
        )

    def stop(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Any:
        """Stop the server. What runs may end for a few seconds, then it is cancelled.

        `POST /api/service/stop`
        """
        return self._caller.call(
            Call[Any](
                "POST",
                "/api/service/stop",
                body={},
                project=project,
                timeout=timeout,
            )
        )


class Memories:
    """Memories of a project, and those kept for all projects."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        all: bool | None = None,
        archived: bool | None = None,
        kind: types.LearningKind | None = None,
        limit: int | None = None,
        offset: int | None = None,
        scope: types.Scope | None = None,
        sort: types.MemorySort | None = None,
        status: types.MemoryStatus | None = None,
        tag: str | None = None,
        type: types.MemoryType | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemoryListReport:
        """List memories. `sort` is `updated`, `created`, `title` or `confidence`; `-` before it reverses the order.

        `GET /api/memories`

        Args:
            all: Include summaries. By default, summaries are excluded unless `type` selects them.
            archived: List archived memories instead of current ones.
            kind: Only learnings of this kind.
            limit: Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
            offset: Number of memories to skip.
            sort: The sort order. By default, project memories come first, and memories within each store are sorted
                newest first.
        """
        return self._caller.call(
            Call[types.MemoryListReport](
                "GET",
                "/api/memories",
                query={
                    "all": all,
                    "archived": archived,
                    "kind": kind,
                    "limit": limit,
                    "offset": offset,
                    "scope": scope,
                    "sort": sort,
                    "status": status,
                    "tag": tag,
                    "type": type,
                },
                project=project,
                timeout=timeout,
            )
        )

    def add(
        self,
        title: str,
        *,
        applies: Sequence[str] | None = None,
        body: str | None = None,
        confidence: float | None = None,
        kind: types.LearningKind | None = None,
        related: Sequence[str] | None = None,
        scope: types.Scope | None = None,
        supersedes: str | None = None,
        tags: Sequence[str] | None = None,
        type: types.MemoryType | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemoryChangeReport:
        """Add a memory in your own words.

        `POST /api/memories`

        Args:
            title: A one-line statement of the decision or learning.
            applies: Situations in which the memory is relevant, one line each.
            body: The reason and details in Markdown.
            confidence: Confidence from 0 to 1. By default, the user's statements have full confidence.
            kind: The kind of learning. Defaults to insight.
            related: IDs of related memories, or prefixes of them.
            supersedes: ID of the memory that this one supersedes, or a prefix of that ID.
            type: The type: a decision or a learning. Defaults to decision.
        """
        return self._caller.call(
            Call[types.MemoryChangeReport](
                "POST",
                "/api/memories",
                body={
                    "title": title,
                    "applies": applies,
                    "body": body,
                    "confidence": confidence,
                    "kind": kind,
                    "related": related,
                    "scope": scope,
                    "supersedes": supersedes,
                    "tags": tags,
                    "type": type,
                },
                project=project,
                timeout=timeout,
            )
        )

    def get(
        self,
        id: str,
        *,
        evidence: bool | None = None,
        history: bool | None = None,
        scope: types.Scope | None = None,
        text: bool | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemoryShowReport:
        """Show one memory. With `text`, the whole Markdown file too; `version` names its content.

        `GET /api/memories/{id}`

        Args:
            evidence: Include the quotes that support the memory.
            history: Include the earlier versions.
            text: Include the whole Markdown file, with frontmatter and body.
        """
        return self._caller.call(
            Call[types.MemoryShowReport](
                "GET",
                "/api/memories/{id}",
                path_values={"id": id},
                query={
                    "evidence": evidence,
                    "history": history,
                    "scope": scope,
                    "text": text,
                },
                project=project,
                timeout=timeout,
            )
        )

    def write(
        self,
        id: str,
        text: str,
        *,
        if_match: str,
        scope: types.Scope | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemoryChangeReport:
        """Replace the whole Markdown file of a memory, frontmatter and body.

        `PUT /api/memories/{id}`

        Args:
            text: The whole Markdown file, with frontmatter and body.
        """
        return self._caller.call(
            Call[types.MemoryChangeReport](
                "PUT",
                "/api/memories/{id}",
                path_values={"id": id},
                body={
                    "text": text,
                    "scope": scope,
                },
                if_match=if_match,
                project=project,
                timeout=timeout,
            )
        )

    def archive(
        self,
        id: str,
        *,
        scope: types.Scope | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemoryChangesReport:
        """Archive a memory. It can be restored.

        `DELETE /api/memories/{id}`
        """
        return self._caller.call(
            Call[types.MemoryChangesReport](
                "DELETE",
                "/api/memories/{id}",
                path_values={"id": id},
                query={
                    "scope": scope,
                },
                project=project,
                timeout=timeout,
            )
        )

    def restore(
        self,
        id: str,
        *,
        scope: types.Scope | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemoryChangesReport:
        """Restore an archived memory.

        `POST /api/memories/{id}/restore`
        """
        return self._caller.call(
            Call[types.MemoryChangesReport](
                "POST",
                "/api/memories/{id}/restore",
                path_values={"id": id},
                body={
                    "scope": scope,
                },
                project=project,
                timeout=timeout,
            )
        )

    def forget(
        self,
        id: str,
        *,
        scope: types.Scope | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemoryChangesReport:
        """Delete a memory, so that it is not learned again.

        `POST /api/memories/{id}/forget`
        """
        return self._caller.call(
            Call[types.MemoryChangesReport](
                "POST",
                "/api/memories/{id}/forget",
                path_values={"id": id},
                body={
                    "scope": scope,
                },
                project=project,
                timeout=timeout,
            )
        )

    def feedback(
        self,
        id: str,
        verdict: types.Verdict,
        *,
        note: str | None = None,
        scope: types.Scope | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.FeedbackReport:
        """Say whether a memory is right and useful.

        `POST /api/memories/{id}/feedback`

        Args:
            note: A one-sentence reason. It is stored only on this machine.
        """
        return self._caller.call(
            Call[types.FeedbackReport](
                "POST",
                "/api/memories/{id}/feedback",
                path_values={"id": id},
                body={
                    "verdict": verdict,
                    "note": note,
                    "scope": scope,
                },
                project=project,
                timeout=timeout,
            )
        )

    def related(
        self,
        id: str,
        *,
        limit: int | None = None,
        scope: types.Scope | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemoryRelatedReport:
        """List the memories that are connected to one.

        `GET /api/memories/{id}/related`

        Args:
            limit: Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
        """
        return self._caller.call(
            Call[types.MemoryRelatedReport](
                "GET",
                "/api/memories/{id}/related",
                path_values={"id": id},
                query={
                    "limit": limit,
                    "scope": scope,
                },
                project=project,
                timeout=timeout,
            )
        )


class Review:
    """Candidates that wait for a person's decision."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        all_projects: bool | None = None,
        file: str | None = None,
        limit: int | None = None,
        scope: types.Scope | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ReviewListReport:
        """List candidates with the quotes that support them.

        `GET /api/review`

        Args:
            all_projects: List the candidates of all registered projects, regardless of `scope`.
            file: List the statements imported from this file one by one.
            limit: Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
        """
        return self._caller.call(
            Call[types.ReviewListReport](
                "GET",
                "/api/review",
                query={
                    "all_projects": all_projects,
                    "file": file,
                    "limit": limit,
                    "scope": scope,
                },
                project=project,
                timeout=timeout,
            )
        )

    def decide(
        self,
        ids: Sequence[str],
        decision: types.ReviewDecision,
        *,
        scope: types.Scope | None = None,
        supersedes: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemoryChangesReport:
        """Accept or reject candidates.

        `POST /api/review`

        Args:
            ids: IDs of the candidates or prefixes of them. `import:FILE` stands for all statements that were
                imported from a file.
            supersedes: ID of the memory that the accepted candidate supersedes, or a prefix of that ID. Requires
                exactly one candidate.
        """
        return self._caller.call(
            Call[types.MemoryChangesReport](
                "POST",
                "/api/review",
                body={
                    "ids": ids,
                    "decision": decision,
                    "scope": scope,
                    "supersedes": supersedes,
                },
                project=project,
                timeout=timeout,
            )
        )


class Team:
    """Memories between the machines of a team."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def push(
        self,
        memories: Sequence[types.MovedMemory],
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TakeInReport:
        """Take in memories that somebody sends.

        `POST /api/push`
        """
        return self._caller.call(
            Call[types.TakeInReport](
                "POST",
                "/api/push",
                body={
                    "memories": memories,
                },
                project=project,
                timeout=timeout,
            )
        )

    def offer(
        self,
        *,
        after: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.OfferReport:
        """List the memories that can be brought, with the hashes of their versions.

        `GET /api/pull`

        Args:
            after: Only memories after this ID, sorted by ID.
        """
        return self._caller.call(
            Call[types.OfferReport](
                "GET",
                "/api/pull",
                query={
                    "after": after,
                },
                project=project,
                timeout=timeout,
            )
        )

    def pull(
        self,
        ids: Sequence[str],
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MovedMemories:
        """Hand memories over, with their files.

        `POST /api/pull`
        """
        return self._caller.call(
            Call[types.MovedMemories](
                "POST",
                "/api/pull",
                body={
                    "ids": ids,
                },
                project=project,
                timeout=timeout,
            )
        )

    def report(
        self,
        *,
        since: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TeamReport:
        """What all projects learned, what is contested, and what nobody uses.

        `GET /api/team/report`

        Args:
            since: A date, a time or an age, such as `2026-01` or `30d`. The default depends on the operation.
        """
        return self._caller.call(
            Call[types.TeamReport](
                "GET",
                "/api/team/report",
                query={
                    "since": since,
                },
                project=project,
                timeout=timeout,
            )
        )

    def put_transcript(
        self,
        agent: str,
        session: str,
        hash: str,
        bytes: int,
        offset: int,
        text: str,
        *,
        share: bool | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TranscriptPutReport:
        """Take in a piece of a transcript that somebody sends.

        `POST /api/transcripts`

        Args:
            agent: The agent of the session.
            session: The name of the session on its original machine.
            hash: The hash of the complete transcript as sent.
            bytes: Size of the complete transcript in bytes.
            offset: Offset of this part in bytes.
            share: Share the transcript with everyone who can read the project.
        """
        return self._caller.call(
            Call[types.TranscriptPutReport](
                "POST",
                "/api/transcripts",
                body={
                    "agent": agent,
                    "session": session,
                    "hash": hash,
                    "bytes": bytes,
                    "offset": offset,
                    "text": text,
                    "share": share,
                },
                project=project,
                timeout=timeout,
            )
        )

    def transcripts(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TranscriptListReport:
        """List your transcripts and shared ones.

        `GET /api/transcripts`
        """
        return self._caller.call(
            Call[types.TranscriptListReport](
                "GET",
                "/api/transcripts",
                project=project,
                timeout=timeout,
            )
        )

    def transcript(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TranscriptShowReport:
        """Show a transcript.

        `GET /api/transcripts/{id}`
        """
        return self._caller.call(
            Call[types.TranscriptShowReport](
                "GET",
                "/api/transcripts/{id}",
                path_values={"id": id},
                project=project,
                timeout=timeout,
            )
        )

    def share_transcript(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TranscriptShowReport:
        """Let everybody read a transcript who may read the project.

        `POST /api/transcripts/{id}/share`
        """
        return self._caller.call(
            Call[types.TranscriptShowReport](
                "POST",
                "/api/transcripts/{id}/share",
                path_values={"id": id},
                body={},
                project=project,
                timeout=timeout,
            )
        )

    def forget_transcript(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ItemId:
        """Delete a transcript of yours from the server.

        `POST /api/transcripts/{id}/forget`
        """
        return self._caller.call(
            Call[types.ItemId](
                "POST",
                "/api/transcripts/{id}/forget",
                path_values={"id": id},
                body={},
                project=project,
                timeout=timeout,
            )
        )


class Sessions:
    """Recorded sessions of coding agents."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        agent: str | None = None,
        all: bool | None = None,
        limit: int | None = None,
        offset: int | None = None,
        since: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TraceListReport:
        """List recorded sessions.

        `GET /api/sessions`

        Args:
            all: Include sessions of all projects.
            limit: Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
            offset: Number of sessions to skip.
            since: Only sessions active since this date, time or age.
        """
        return self._caller.call(
            Call[types.TraceListReport](
                "GET",
                "/api/sessions",
                query={
                    "agent": agent,
                    "all": all,
                    "limit": limit,
                    "offset": offset,
                    "since": since,
                },
                project=project,
                timeout=timeout,
            )
        )

    def search(
        self,
        query: str,
        *,
        agent: str | None = None,
        all: bool | None = None,
        limit: int | None = None,
        mode: types.SearchMode | None = None,
        since: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TraceSearchReport:
        """Search what was said in sessions.

        `GET /api/sessions/search`

        Args:
            query: Words, quoted phrases and filters.
            all: Include sessions of all projects.
            limit: Maximum number of results. Defaults to the `memory.max_results` setting.
            since: Only messages since this date, time or age.
        """
        return self._caller.call(
            Call[types.TraceSearchReport](
                "GET",
                "/api/sessions/search",
                query={
                    "query": query,
                    "agent": agent,
                    "all": all,
                    "limit": limit,
                    "mode": mode,
                    "since": since,
                },
                project=project,
                timeout=timeout,
            )
        )

    def get(
        self,
        id: str,
        *,
        full: bool | None = None,
        limit: int | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TraceShowReport:
        """Show one session. `ID:SEQ` begins at a message.

        `GET /api/sessions/{id}`

        Args:
            full: Include reasoning, injected text and records of unknown kinds.
            limit: Maximum number of events.
        """
        return self._caller.call(
            Call[types.TraceShowReport](
                "GET",
                "/api/sessions/{id}",
                path_values={"id": id},
                query={
                    "full": full,
                    "limit": limit,
                },
                project=project,
                timeout=timeout,
            )
        )


class Connect:
    """Connected coding agents."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ConnectReport:
        """List coding agents and how they are connected.

        `GET /api/connect`
        """
        return self._caller.call(
            Call[types.ConnectReport](
                "GET",
                "/api/connect",
                project=project,
                timeout=timeout,
            )
        )

    def change(
        self,
        request: types.ConnectRequest,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ConnectReport:
        """Connect or disconnect agents; `action` says which.

        `POST /api/connect`
        """
        return self._caller.call(
            Call[types.ConnectReport](
                "POST",
                "/api/connect",
                body=cast(dict[str, object], request),
                project=project,
                timeout=timeout,
            )
        )

    def remove(
        self,
        agent: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ConnectReport:
        """Disconnect one agent.

        `DELETE /api/connect/{agent}`
        """
        return self._caller.call(
            Call[types.ConnectReport](
                "DELETE",
                "/api/connect/{agent}",
                path_values={"agent": agent},
                project=project,
                timeout=timeout,
            )
        )


class Projects:
    """Registered projects."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ProjectListReport:
        """List registered projects.

        `GET /api/project/list`
        """
        return self._caller.call(
            Call[types.ProjectListReport](
                "GET",
                "/api/project/list",
                project=project,
                timeout=timeout,
            )
        )

    def add(
        self,
        path: str,
        *,
        also: Sequence[str] | None = None,
        name: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ProjectAddReport:
        """Register the repository at a path.

        `POST /api/project/add`

        Args:
            path: The repository directory.
            also: Other directories whose sessions belong to the project, such as its path before it moved.
            name: Name of the project. Defaults to the project's current name or, for a new project, to the
                directory name.
        """
        return self._caller.call(
            Call[types.ProjectAddReport](
                "POST",
                "/api/project/add",
                body={
                    "path": path,
                    "also": also,
                    "name": name,
                },
                project=project,
                timeout=timeout,
            )
        )

    def remove(
        self,
        name: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ProjectRemoveReport:
        """Take a project out of the register. Its files stay.

        `POST /api/project/remove`
        """
        return self._caller.call(
            Call[types.ProjectRemoveReport](
                "POST",
                "/api/project/remove",
                body={
                    "name": name,
                },
                project=project,
                timeout=timeout,
            )
        )


class Runs:
    """Runs of agents: what they did, what they cost, and how to undo them."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.RunListReport:
        """List runs, the latest first.

        `GET /api/runs`

        Args:
            limit: Maximum number of results; 0 means no limit. Defaults to 20 for tasks, and otherwise to the
                `memory.max_results` setting.
        """
        return self._caller.call(
            Call[types.RunListReport](
                "GET",
                "/api/runs",
                query={
                    "limit": limit,
                },
                project=project,
                timeout=timeout,
            )
        )

    def stats(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.RunStatsReport:
        """What models and tools used.

        `GET /api/runs/stats`
        """
        return self._caller.call(
            Call[types.RunStatsReport](
                "GET",
                "/api/runs/stats",
                project=project,
                timeout=timeout,
            )
        )

    def get(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.RunShowReport:
        """Show one run.

        `GET /api/runs/{id}`
        """
        return self._caller.call(
            Call[types.RunShowReport](
                "GET",
                "/api/runs/{id}",
                path_values={"id": id},
                project=project,
                timeout=timeout,
            )
        )

    def messages(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.RunMessagesReport:
        """The messages of a run. A run without a model has none.

        `GET /api/runs/{id}/messages`
        """
        return self._caller.call(
            Call[types.RunMessagesReport](
                "GET",
                "/api/runs/{id}/messages",
                path_values={"id": id},
                project=project,
                timeout=timeout,
            )
        )

    def undo(
        self,
        id: str,
        *,
        dry_run: bool | None = None,
        keep_changed: bool | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.UndoReport:
        """Take back what a run changed.

        `POST /api/runs/{id}/undo`

        Args:
            dry_run: Show the files that would be restored, without changing anything.
            keep_changed: Keep memories that were changed since then, and restore the rest.
        """
        return self._caller.call(
            Call[types.UndoReport](
                "POST",
                "/api/runs/{id}/undo",
                path_values={"id": id},
                body={
                    "dry_run": dry_run,
                    "keep_changed": keep_changed,
                },
                project=project,
                timeout=timeout,
            )
        )


class Queue:
    """Sessions that wait to be synced."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        status: types.JobState | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.QueueListReport:
        """List the sessions of the queue.

        `GET /api/queue`

        Args:
            limit: Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
        """
        return self._caller.call(
            Call[types.QueueListReport](
                "GET",
                "/api/queue",
                query={
                    "limit": limit,
                    "status": status,
                },
                project=project,
                timeout=timeout,
            )
        )

    def retry(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.QueueChangeReport:
        """Put a failed session back into the queue.

        `POST /api/queue/{id}/retry`
        """
        return self._caller.call(
            Call[types.QueueChangeReport](
                "POST",
                "/api/queue/{id}/retry",
                path_values={"id": id},
                body={},
                project=project,
                timeout=timeout,
            )
        )

    def skip(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.QueueChangeReport:
        """Take a session out of the queue.

        `POST /api/queue/{id}/skip`
        """
        return self._caller.call(
            Call[types.QueueChangeReport](
                "POST",
                "/api/queue/{id}/skip",
                path_values={"id": id},
                body={},
                project=project,
                timeout=timeout,
            )
        )


class Config:
    """Settings."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get(
        self,
        *,
        prefix: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ConfigShowReport:
        """Show effective settings, each with its source.

        `GET /api/config`

        Args:
            prefix: Only keys with this prefix.
        """
        return self._caller.call(
            Call[types.ConfigShowReport](
                "GET",
                "/api/config",
                query={
                    "prefix": prefix,
                },
                project=project,
                timeout=timeout,
            )
        )

    def set(
        self,
        key: str,
        *,
        repo: bool | None = None,
        value: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ConfigSetReport:
        """Set or unset one setting. Settings that send data anywhere are refused: use the command line.

        `PATCH /api/config`

        Args:
            repo: Whether to change the repository's settings, which are shared through git.
            value: The new value. Separate list items with commas. If no value is given, the key is removed from the
                file.
        """
        return self._caller.call(
            Call[types.ConfigSetReport](
                "PATCH",
                "/api/config",
                body={
                    "key": key,
                    "repo": repo,
                    "value": value,
                },
                project=project,
                timeout=timeout,
            )
        )


class Models:
    """Configured models."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ModelListReport:
        """List models. None of them is called.

        `GET /api/models`
        """
        return self._caller.call(
            Call[types.ModelListReport](
                "GET",
                "/api/models",
                project=project,
                timeout=timeout,
            )
        )

    def test(
        self,
        *,
        role: types.ModelRole | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ModelTestReport:
        """Call a model once, to see that it answers.

        `POST /api/models/test`

        Args:
            role: The role whose model is tested.
        """
        return self._caller.call(
            Call[types.ModelTestReport](
                "POST",
                "/api/models/test",
                body={
                    "role": role,
                },
                project=project,
                timeout=timeout,
            )
        )


class Tasks:
    """Tasks of this server."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def list(
        self,
        *,
        limit: int | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TaskListReport:
        """List tasks, the latest first.

        `GET /api/tasks`

        Args:
            limit: Maximum number of results; 0 means no limit. Defaults to 20 for tasks, and otherwise to the
                `memory.max_results` setting.
        """
        return self._caller.call(
            Call[types.TaskListReport](
                "GET",
                "/api/tasks",
                query={
                    "limit": limit,
                },
                project=project,
                timeout=timeout,
            )
        )

    def get(
        self,
        id: str,
        *,
        after: int | None = None,
        limit: int | None = None,
        wait: bool | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TaskShowReport:
        """Show a task and its events.

        `GET /api/tasks/{task}`

        Args:
            after: Only events with a higher sequence number.
            limit: Maximum number of events; 0 means all. The default is 1000.
            wait: Wait for new events or the end of the task.
        """
        return self._caller.call(
            Call[types.TaskShowReport](
                "GET",
                "/api/tasks/{task}",
                path_values={"task": id},
                query={
                    "after": after,
                    "limit": limit,
                    "wait": wait,
                },
                project=project,
                timeout=timeout,
            )
        )

    def report(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Any:
        """The report of a task that is over. `not_found` before that, and after it was dropped.

        `GET /api/tasks/{task}/report`
        """
        return self._caller.call(
            Call[Any](
                "GET",
                "/api/tasks/{task}/report",
                path_values={"task": id},
                project=project,
                timeout=timeout,
            )
        )

    def cancel(
        self,
        id: str,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TaskCancelReport:
        """Cancel a task.

        `POST /api/tasks/{task}/cancel`
        """
        return self._caller.call(
            Call[types.TaskCancelReport](
                "POST",
                "/api/tasks/{task}/cancel",
                path_values={"task": id},
                body={},
                project=project,
                timeout=timeout,
            )
        )


class Map:
    """The code map of a project (`/v1`)."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def explore(
        self,
        *,
        budget: int | None = None,
        client: str | None = None,
        detail: types.MapDetail | None = None,
        format: types.MapFormat | None = None,
        refresh: bool | None = None,
        strict: bool | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ExploreReport:
        """Give an overview of the project's code.

        `POST /v1/explore`

        Args:
            budget: Maximum number of tokens in the response. Lists are shortened to fit.
            client: Name of a client to mark as up to date with this revision. A later delta can start at
                `client:NAME`.
            detail: Level of detail. Defaults to compact.
            format: The output format used to calculate the token budget.
            refresh: Reread every file instead of relying on modification times.
            strict: Do not write the map, and fail if it is out of date.
        """
        return self._caller.call(
            Call[types.ExploreReport](
                "POST",
                "/v1/explore",
                body={
                    "budget": budget,
                    "client": client,
                    "detail": detail,
                    "format": format,
                    "refresh": refresh,
                    "strict": strict,
                },
                project=project,
                timeout=timeout,
            )
        )

    def delta(
        self,
        *,
        after: str | None = None,
        budget: int | None = None,
        client: str | None = None,
        detail: types.MapDetail | None = None,
        limit: int | None = None,
        refresh: bool | None = None,
        since: types.Since | None = None,
        strict: bool | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.DeltaReport:
        """List what changed in the code since a point in time.

        `POST /v1/delta`

        Args:
            after: Start after this path. Use the `next` value from the previous response.
            budget: Maximum number of tokens in the response as JSON. If the response is too long, the list of
                affected files is first reduced to counts by directory; then changed files are moved to the next page.
            client: Name of a client to mark as up to date with this revision. A later delta can start at
                `client:NAME`.
            detail: Accepted as in other requests, but has no effect: all changes are listed alike.
            limit: Maximum number of files; 0 or absent means all.
            refresh: Reread every file instead of relying on modification times.
            since: Where the delta starts. Defaults to `git:HEAD`. If there is no commit, it starts at the creation
                of the map.
            strict: Do not write the map, and fail if it is out of date.
        """
        return self._caller.call(
            Call[types.DeltaReport](
                "POST",
                "/v1/delta",
                body={
                    "after": after,
                    "budget": budget,
                    "client": client,
                    "detail": detail,
                    "limit": limit,
                    "refresh": refresh,
                    "since": since,
                    "strict": strict,
                },
                project=project,
                timeout=timeout,
            )
        )

    def context(
        self,
        *,
        budget: int | None = None,
        client: str | None = None,
        detail: types.MapDetail | None = None,
        files: Sequence[str] | None = None,
        files_only: bool | None = None,
        format: types.MapFormat | None = None,
        refresh: bool | None = None,
        strict: bool | None = None,
        task: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.ContextReport:
        """Collect the code that matters for a task, within a budget of tokens.

        `POST /v1/context`

        Args:
            budget: Maximum number of tokens in the response. Defaults to 4000.
            client: Name of a client to mark as up to date with this revision. A later delta can start at
                `client:NAME`.
            detail: Accepted as in other requests, but has no effect: the budget sets the level of detail.
            files: Files known to be relevant, relative to the current directory or the project root.
            files_only: List files without their code.
            format: The output format used to calculate the token budget.
            refresh: Reread every file instead of relying on modification times.
            strict: Do not write the map; fail if it is out of date.
            task: Description of the task. If absent, the task is defined by `files`.
        """
        return self._caller.call(
            Call[types.ContextReport](
                "POST",
                "/v1/context",
                body={
                    "budget": budget,
                    "client": client,
                    "detail": detail,
                    "files": files,
                    "files_only": files_only,
                    "format": format,
                    "refresh": refresh,
                    "strict": strict,
                    "task": task,
                },
                project=project,
                timeout=timeout,
            )
        )

    def search_code(
        self,
        *,
        budget: int | None = None,
        context: int | None = None,
        files_only: bool | None = None,
        format: types.MapFormat | None = None,
        ignore_case: bool | None = None,
        language: str | None = None,
        limit: int | None = None,
        mode: types.CodeSearchMode | None = None,
        paths: Sequence[str] | None = None,
        query: str | None = None,
        refresh: bool | None = None,
        strict: bool | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.SearchCodeReport:
        """Search the code by words, by a piece of text, or by a regular expression.

        `POST /v1/search-code`

        Args:
            budget: Maximum number of tokens in the response. Defaults to 4000.
            context: Number of lines to show before and after each match, at most 10.
            files_only: List files without their lines.
            format: The output format used to calculate the token budget.
            ignore_case: Whether to ignore case in a pattern. By default, case is ignored unless the pattern
                contains an uppercase letter.
            language: Only files in this language.
            limit: Maximum number of matching lines, or of files with `files_only`. Defaults to 30, at most 500.
            mode: How to interpret the query. Defaults to words, or to literal text if the query is in double
                quotes.
            paths: Path globs. A file must match at least one of these globs. Globs with a leading `!` exclude
                files.
            query: Words, literal text, or a regular expression.
            refresh: Reread every file instead of relying on modification times.
            strict: Do not write the map, and fail if it is out of date.
        """
        return self._caller.call(
            Call[types.SearchCodeReport](
                "POST",
                "/v1/search-code",
                body={
                    "budget": budget,
                    "context": context,
                    "files_only": files_only,
                    "format": format,
                    "ignore_case": ignore_case,
                    "language": language,
                    "limit": limit,
                    "mode": mode,
                    "paths": paths,
                    "query": query,
                    "refresh": refresh,
                    "strict": strict,
                },
                project=project,
                timeout=timeout,
            )
        )

    @overload
    def refresh(
        self,
        *,
        after: str | None = None,
        detail: types.MapDetail | None = None,
        limit: int | None = None,
        refresh: bool | None = None,
        wait: Literal[False] = False,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.DeltaReport]: ...

    @overload
    def refresh(
        self,
        *,
        after: str | None = None,
        detail: types.MapDetail | None = None,
        limit: int | None = None,
        refresh: bool | None = None,
        wait: Literal[True],
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.DeltaReport: ...

    @overload
    def refresh(
        self,
        *,
        after: str | None = None,
        detail: types.MapDetail | None = None,
        limit: int | None = None,
        refresh: bool | None = None,
        wait: bool,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.DeltaReport] | types.DeltaReport: ...

    def refresh(
        self,
        *,
        after: str | None = None,
        detail: types.MapDetail | None = None,
        limit: int | None = None,
        refresh: bool | None = None,
        wait: bool = False,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.DeltaReport] | types.DeltaReport:
        """Read the project's files again. Starts a task; with `wait` its report is returned when it is over.

        `POST /v1/refresh`

        Args:
            after: Start after this path. Use the `next` value of the previous response.
            detail: Accepted as in other requests, but has no effect: all changes are listed alike.
            limit: Maximum number of files; 0 or absent means all.
            refresh: Accepted as in other requests, but has no effect: every file is reread.
        """
        call = Call[types.DeltaReport](
            "POST",
            "/v1/refresh",
            body={
                "after": after,
                "detail": detail,
                "limit": limit,
                "refresh": refresh,
            },
            project=project,
            timeout=timeout,
        )
        if wait:
            return self._caller.call_waiting(call)
        return self._caller.start(call)


class Api:
    """Every route of the server."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.service = Service(caller)
        """The server process and its loops."""
        self.memories = Memories(caller)
        """Memories of a project, and those kept for all projects."""
        self.review = Review(caller)
        """Candidates that wait for a person's decision."""
        self.team = Team(caller)
        """Memories between the machines of a team."""
        self.sessions = Sessions(caller)
        """Recorded sessions of coding agents."""
        self.connect = Connect(caller)
        """Connected coding agents."""
        self.projects = Projects(caller)
        """Registered projects."""
        self.runs = Runs(caller)
        """Runs of agents: what they did, what they cost, and how to undo them."""
        self.queue = Queue(caller)
        """Sessions that wait to be synced."""
        self.config = Config(caller)
        """Settings."""
        self.models = Models(caller)
        """Configured models."""
        self.tasks = Tasks(caller)
        """Tasks of this server."""
        self.map = Map(caller)
        """The code map of a project (`/v1`)."""

    def health(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.HealthReport:
        """Check that the server answers. Needs no token.

        `GET /api/health`
        """
        return self._caller.call(
            Call[types.HealthReport](
                "GET",
                "/api/health",
                project=project,
                timeout=timeout,
            )
        )

    def ready(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.HealthReport:
        """Check that requests can be answered now: fails with 503 while a shared database is away. Needs no token.

        `GET /api/ready`
        """
        return self._caller.call(
            Call[types.HealthReport](
                "GET",
                "/api/ready",
                project=project,
                timeout=timeout,
            )
        )

    def openapi(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Any:
        """The server's own description of its routes and types (OpenAPI 3.1). Needs no token.

        `GET /api/openapi.json`
        """
        return self._caller.call(
            Call[Any](
                "GET",
                "/api/openapi.json",
                project=project,
                timeout=timeout,
            )
        )

    def status(
        self,
        *,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.StatusReport:
        """Count what there is: memories, sessions, queue, runs.

        `GET /api/status`
        """
        return self._caller.call(
            Call[types.StatusReport](
                "GET",
                "/api/status",
                project=project,
                timeout=timeout,
            )
        )

    def doctor(
        self,
        *,
        evidence: bool | None = None,
        scope: types.Scope | None = None,
        strict: bool | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.DoctorReport:
        """Check the installation and the project.

        `GET /api/doctor`

        Args:
            evidence: Compare each quote with its source transcript.
            strict: Treat warnings as errors.
        """
        return self._caller.call(
            Call[types.DoctorReport](
                "GET",
                "/api/doctor",
                query={
                    "evidence": evidence,
                    "scope": scope,
                    "strict": strict,
                },
                project=project,
                timeout=timeout,
            )
        )

    def overview(
        self,
        *,
        since: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.OverviewReport:
        """Activity by day: sessions, what was learned, tokens and cost.

        `GET /api/overview`

        Args:
            since: A date, a time or an age, such as `2026-01` or `30d`. The default depends on the operation.
        """
        return self._caller.call(
            Call[types.OverviewReport](
                "GET",
                "/api/overview",
                query={
                    "since": since,
                },
                project=project,
                timeout=timeout,
            )
        )

    @overload
    def ask(
        self,
        question: str,
        *,
        all_projects: bool | None = None,
        limit: int | None = None,
        no_model: bool | None = None,
        scope: types.Scope | None = None,
        wait: Literal[False] = False,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.AskReport]: ...

    @overload
    def ask(
        self,
        question: str,
        *,
        all_projects: bool | None = None,
        limit: int | None = None,
        no_model: bool | None = None,
        scope: types.Scope | None = None,
        wait: Literal[True],
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.AskReport: ...

    @overload
    def ask(
        self,
        question: str,
        *,
        all_projects: bool | None = None,
        limit: int | None = None,
        no_model: bool | None = None,
        scope: types.Scope | None = None,
        wait: bool,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.AskReport] | types.AskReport: ...

    def ask(
        self,
        question: str,
        *,
        all_projects: bool | None = None,
        limit: int | None = None,
        no_model: bool | None = None,
        scope: types.Scope | None = None,
        wait: bool = False,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.AskReport] | types.AskReport:
        """Answer a question from the memories. Starts a task; with `wait` its report is returned when it is over.

        `POST /api/ask`

        Args:
            all_projects: Search all readable registered projects instead of the current one.
            limit: Maximum number of memories, from 1 to 20. Defaults to 5.
            no_model: Answer with memories only, even if a model is configured.
        """
        call = Call[types.AskReport](
            "POST",
            "/api/ask",
            body={
                "question": question,
                "all_projects": all_projects,
                "limit": limit,
                "no_model": no_model,
                "scope": scope,
            },
            project=project,
            timeout=timeout,
        )
        if wait:
            return self._caller.call_waiting(call)
        return self._caller.start(call)

    @overload
    def sync(
        self,
        *,
        agents: Sequence[str] | None = None,
        ended: str | None = None,
        force: bool | None = None,
        ignore_lock: bool | None = None,
        max_sessions: int | None = None,
        mode: types.SyncMode | None = None,
        no_extract: bool | None = None,
        run_id: str | None = None,
        since: str | None = None,
        strategy: types.StrategyChoice | None = None,
        until: str | None = None,
        wait: Literal[False] = False,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.SyncReport]: ...

    @overload
    def sync(
        self,
        *,
        agents: Sequence[str] | None = None,
        ended: str | None = None,
        force: bool | None = None,
        ignore_lock: bool | None = None,
        max_sessions: int | None = None,
        mode: types.SyncMode | None = None,
        no_extract: bool | None = None,
        run_id: str | None = None,
        since: str | None = None,
        strategy: types.StrategyChoice | None = None,
        until: str | None = None,
        wait: Literal[True],
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.SyncReport: ...

    @overload
    def sync(
        self,
        *,
        agents: Sequence[str] | None = None,
        ended: str | None = None,
        force: bool | None = None,
        ignore_lock: bool | None = None,
        max_sessions: int | None = None,
        mode: types.SyncMode | None = None,
        no_extract: bool | None = None,
        run_id: str | None = None,
        since: str | None = None,
        strategy: types.StrategyChoice | None = None,
        until: str | None = None,
        wait: bool,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.SyncReport] | types.SyncReport: ...

    def sync(
        self,
        *,
        agents: Sequence[str] | None = None,
        ended: str | None = None,
        force: bool | None = None,
        ignore_lock: bool | None = None,
        max_sessions: int | None = None,
        mode: types.SyncMode | None = None,
        no_extract: bool | None = None,
        run_id: str | None = None,
        since: str | None = None,
        strategy: types.StrategyChoice | None = None,
        until: str | None = None,
        wait: bool = False,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.SyncReport] | types.SyncReport:
        """Read new sessions and learn from them. Starts a task; with `wait` its report is returned when it is over.

        `POST /api/sync`

        Args:
            agents: Sync only these agents' sessions. If empty, all connected agents are included.
            ended: The agent's ID for a session that has ended, so that the session is not treated as still active.
            force: Also read unchanged traces.
            ignore_lock: Run even if another sync is running.
            max_sessions: Stop after this many sessions.
            no_extract: Read and queue sessions without extracting memories.
            run_id: The name of the sync run.
            since: Only traces changed since this date, time or age.
            until: Only traces changed before this date, time or age.
        """
        call = Call[types.SyncReport](
            "POST",
            "/api/sync",
            body={
                "agents": agents,
                "ended": ended,
                "force": force,
                "ignore_lock": ignore_lock,
                "max_sessions": max_sessions,
                "mode": mode,
                "no_extract": no_extract,
                "run_id": run_id,
                "since": since,
                "strategy": strategy,
                "until": until,
            },
            project=project,
            timeout=timeout,
        )
        if wait:
            return self._caller.call_waiting(call)
        return self._caller.start(call)

    @overload
    def maintain(
        self,
        *,
        all: bool | None = None,
        dry_run: bool | None = None,
        force: bool | None = None,
        rewrite: bool | None = None,
        wait: Literal[False] = False,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.MaintainReport]: ...

    @overload
    def maintain(
        self,
        *,
        all: bool | None = None,
        dry_run: bool | None = None,
        force: bool | None = None,
        rewrite: bool | None = None,
        wait: Literal[True],
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MaintainReport: ...

    @overload
    def maintain(
        self,
        *,
        all: bool | None = None,
        dry_run: bool | None = None,
        force: bool | None = None,
        rewrite: bool | None = None,
        wait: bool,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.MaintainReport] | types.MaintainReport: ...

    def maintain(
        self,
        *,
        all: bool | None = None,
        dry_run: bool | None = None,
        force: bool | None = None,
        rewrite: bool | None = None,
        wait: bool = False,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> Task[types.MaintainReport] | types.MaintainReport:
        """Merge, correct and archive memories. Starts a task; with `wait` its report is returned when it is over.

        `POST /api/maintain`

        Args:
            all: Maintain all registered projects and the global memories.
            dry_run: Report the changes without making them.
            force: Run even if nothing has changed.
            rewrite: Let the model with the role `lead` write the merged memories.
        """
        call = Call[types.MaintainReport](
            "POST",
            "/api/maintain",
            body={
                "all": all,
                "dry_run": dry_run,
                "force": force,
                "rewrite": rewrite,
            },
            project=project,
            timeout=timeout,
        )
        if wait:
            return self._caller.call_waiting(call)
        return self._caller.start(call)

    def search(
        self,
        query: str,
        *,
        all_projects: bool | None = None,
        archived: bool | None = None,
        limit: int | None = None,
        mode: types.SearchMode | None = None,
        scope: types.Scope | None = None,
        since: str | None = None,
        tag: str | None = None,
        type: types.MemoryType | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.MemorySearchReport:
        """Search memories by words and by meaning.

        `GET /api/search`

        Args:
            query: Words, "quoted phrases" and filters such as `tag:auth`.
            all_projects: Search all registered projects, regardless of `scope`.
            archived: Include archived memories.
            limit: Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
            since: Only memories changed since this date, time or age, such as `2026-01` or `7d`.
        """
        return self._caller.call(
            Call[types.MemorySearchReport](
                "GET",
                "/api/search",
                query={
                    "query": query,
                    "all_projects": all_projects,
                    "archived": archived,
                    "limit": limit,
                    "mode": mode,
                    "scope": scope,
                    "since": since,
                    "tag": tag,
                    "type": type,
                },
                project=project,
                timeout=timeout,
            )
        )

    def brief(
        self,
        *,
        budget: int | None = None,
        files: Sequence[str] | None = None,
        scope: types.Scope | None = None,
        task: str | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.BriefReport:
        """Collect what an agent should know before it starts, within a budget of tokens.

        `GET /api/brief`

        Args:
            budget: Maximum number of tokens. Defaults to 2000.
            files: Files affected by the task.
            task: Description of the task.
        """
        return self._caller.call(
            Call[types.BriefReport](
                "GET",
                "/api/brief",
                query={
                    "budget": budget,
                    "files": files,
                    "scope": scope,
                    "task": task,
                },
                project=project,
                timeout=timeout,
            )
        )

    def graph(
        self,
        *,
        all: bool | None = None,
        archived: bool | None = None,
        limit: int | None = None,
        scope: types.Scope | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.GraphReport:
        """Memories and the edges between them.

        `GET /api/graph`

        Args:
            all: Include session summaries.
            archived: Include archived memories.
            limit: Maximum number of memories, at most 5000. Defaults to 500.
        """
        return self._caller.call(
            Call[types.GraphReport](
                "GET",
                "/api/graph",
                query={
                    "all": all,
                    "archived": archived,
                    "limit": limit,
                    "scope": scope,
                },
                project=project,
                timeout=timeout,
            )
        )

    def trust(
        self,
        *,
        diff: bool | None = None,
        scope: types.Scope | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.TrustReport:
        """List the memories that are not trusted on this machine.

        `GET /api/trust`

        Args:
            diff: Include the content of each memory, both current and as last trusted.
        """
        return self._caller.call(
            Call[types.TrustReport](
                "GET",
                "/api/trust",
                query={
                    "diff": diff,
                    "scope": scope,
                },
                project=project,
                timeout=timeout,
            )
        )

    def changes(
        self,
        *,
        limit: int | None = None,
        project: str | None = None,
        timeout: Timeout = DEFAULT,
    ) -> types.UndoListReport:
        """List changes that can be taken back, the latest first.

        `GET /api/changes`

        Args:
            limit: Maximum number of results; 0 means no limit. Defaults to 20 for tasks, and otherwise to the
                `memory.max_results` setting.
        """
        return self._caller.call(
            Call[types.UndoListReport](
                "GET",
                "/api/changes",
                query={
                    "limit": limit,
                },
                project=project,
                timeout=timeout,
            )
        )
