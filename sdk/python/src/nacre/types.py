"""The wire types: the JSON of requests and reports as it is sent.

Written by sdk/generate/generate.py. Do not edit: change routes.toml or the wire types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class ActionCounts(TypedDict):
    """Number of candidates for each action."""

    add: int
    update: int
    no_op: int
    supersede: int


class ActionScores(TypedDict):
    """For each question about a candidate and its nearest memory, the estimated probability, from 0 to 1, that the answer
    is yes.
    """

    about: float
    against: float
    more: float


class AffectedFile(TypedDict):
    """A file that uses a symbol that was removed or whose signature changed."""

    path: str
    depth: int
    """Number of imports that separate the file from the change. It is 1 if the file imports the changed file directly, or
    needs no import to use it.
    """
    symbols: list[str]
    """Changed symbols that the file uses. Empty if the file imports a removed file."""


class AffectedFolder(TypedDict):
    """A directory with affected files."""

    path: str
    """Path of the directory; empty for the project root."""
    files: int


class AgentActivity(TypedDict):
    """Activity of one agent over the period."""

    agent: str
    sessions: int
    input_tokens: int
    """Input tokens, excluding cached tokens."""
    cached_tokens: int
    """Tokens read from or written to a cache."""
    output_tokens: int
    last: str
    """Time of the agent's last activity."""


class AgentEntry(TypedDict):
    """An agent, its transcripts, and Nacre's entries in its settings."""

    agent: str
    connected: bool
    """Whether the agent's transcripts are read."""
    sources: int
    """Number of files and databases that contain the agent's transcripts."""
    roots: list[str]
    problems: list[str]
    """Paths that could not be read."""
    traces: WiringState
    mcp: WiringState
    hooks: WiringState
    skill: WiringState


class AgentSessions(TypedDict):
    """Number of an agent's sessions."""

    agent: str
    title: str
    """The display name of the agent."""
    sessions: int


# How thoroughly a file was analyzed.
AnalysisDepth: TypeAlias = Literal["none", "glance", "full"]


class AnswerSentence(TypedDict):
    """A sentence that cites valid sources."""

    text: str
    """The sentence as the model wrote it, with the IDs of its sources."""
    ids: list[str]
    """IDs of the supporting memories."""
    messages: list[str]
    """The supporting session messages."""
    quotes: list[SourceQuote]
    """The supporting passage from each source."""
    verified: NotRequired[bool]
    """Whether the sentence's names and numbers, and most of its words, occur in the cited sources."""


# An answer written by a model, or the matching memories.
AskReport: TypeAlias = "AskReportModel | AskReportMemories"


class AskReportMemories(TypedDict):
    """The matching memories, if no model was used."""

    by: Literal["memories"]
    question: str
    known: bool
    """Whether the first memory answers the question. Otherwise, the memories are only close to it."""
    memories: list[RecalledMemory]
    broken: int
    """Number of unreadable files."""
    answer: NotRequired[str | None]
    """A short version of the first memory, if it answers the question."""
    error: NotRequired[str | None]
    """Why the configured model did not answer."""
    said: NotRequired[SaidInSession | None]
    """What the user said in a session, if no memory answers the question."""


class AskReportModel(TypedDict):
    """An answer written by a model. Each sentence cites its sources."""

    by: Literal["model"]
    question: str
    known: bool
    sentences: list[AnswerSentence]
    memories: list[CitedMemory]
    """The memories that the sentences cite."""
    messages: list[str]
    """The session messages that the sentences cite."""
    left_out: dict[str, int]
    """Number of removed sentences, by reason."""
    broken: int
    """Number of unreadable files."""
    steps: int
    tool_calls: int
    tokens: TokenCounts
    answer: NotRequired[str | None]
    """The sentences joined into one string, with `[not verified]` after each sentence whose wording is not supported by
    its sources.
    """
    cost_usd: NotRequired[float | None]
    error: NotRequired[str | None]
    """Why the answer is incomplete."""
    failure: NotRequired[Failure | None]
    """The same error as in `error`, with hints."""


class AskRequest(TypedDict):
    """A question to answer from stored memories."""

    question: str
    all_projects: NotRequired[bool]
    """Search all readable registered projects instead of the current one."""
    limit: NotRequired[int | None]
    """Maximum number of memories, from 1 to 20. Defaults to 5."""
    no_model: NotRequired[bool]
    """Answer with memories only, even if a model is configured."""
    scope: NotRequired[Scope | None]
    scripted: NotRequired[str | None]
    """Path of a file with scripted model responses, for tests."""


# Whether the scores alone determine the action.
Band: TypeAlias = Literal["clear", "grey"]


class BriefItem(TypedDict):
    """A one-line summary of a memory."""

    id: str
    scope: StoreScope
    text: str


class BriefReport(TypedDict):
    """A brief, both as sections and as Markdown text."""

    budget: int
    tokens: int
    """Number of tokens in the text."""
    sections: list[BriefSection]
    left_out: int
    """Number of valid memories that are not included."""
    unproven: list[str]
    """IDs of memories excluded because their author could not be verified."""
    text: str
    """The brief as Markdown; empty if no memory is relevant or fits."""
    broken: NotRequired[list[str]]
    """Paths of unreadable files."""
    candidates: NotRequired[int]
    """Number of candidates excluded because they are pending in `nacre review`."""


class BriefRequest(TypedDict):
    """The purpose and the maximum length of a brief."""

    budget: NotRequired[int | None]
    """Maximum number of tokens. Defaults to 2000."""
    files: NotRequired[list[str]]
    """Files affected by the task."""
    scope: NotRequired[Scope | None]
    task: NotRequired[str | None]
    """Description of the task."""


class BriefSection(TypedDict):
    """Memories on one topic, best first."""

    topic: BriefTopic
    items: list[BriefItem]


# Topic of a section.
BriefTopic: TypeAlias = Literal["decisions", "preferences", "pitfalls", "knowledge", "recent_work", "open_ends"]


class BrokenFile(TypedDict):
    """A file that cannot be read."""

    path: str
    message: str
    line: NotRequired[int | None]


# How the map was updated for a response.
CacheStatus: TypeAlias = Literal["hit", "miss", "refreshed", "stale_rebuild"]


# The action taken for a candidate.
CandidateVerb: TypeAlias = Literal["add", "update", "no-op", "supersede"]


class ChangeEntry(TypedDict):
    """A change in a list."""

    id: str
    command: str
    """The command that made the change, without `nacre`."""
    at: str
    runs: int
    """Number of runs in the change. A sync has one run per session."""
    added: int
    changed: int
    removed: int
    memories: list[str]
    """Examples of changed memories."""
    undoable: bool
    """Whether `nacre undo` can undo this change."""
    about: NotRequired[str]
    """Other changed objects, such as a file, agents or projects."""
    undoes: NotRequired[str | None]
    """The change that this one undid."""
    undone_by: NotRequired[str | None]
    """The undo that reverted this change, if any."""


# Kind of a file change.
ChangeKind: TypeAlias = Literal["create", "change", "remove"]


# The kind of data that changed.
ChangedThing: TypeAlias = Literal["memories", "queue", "projects", "config", "map", "service"]


class CheckedCopy(TypedDict):
    """A location that was checked for copies after a memory was forgotten."""

    place: CopyPlace
    state: CopyState
    detail: NotRequired[str | None]
    """Why a copy still exists, or the name of the server concerned."""


class ChecklistStep(TypedDict):
    """A step of a run, and its state."""

    step: str
    state: StepState


class CitedMemory(TypedDict):
    """The current state of a memory cited by an answer."""

    id: str
    type: str
    """The memory's type or, for a learning, its kind."""
    title: str
    status: str
    scope: StoreScope
    path: str
    not_verified: list[str]
    """IDs of memories that this one claims to supersede, but whose own files do not confirm it."""
    also_in: list[StoreScope]
    """Other stores that contain the same ID."""
    place: NotRequired[str | None]
    """The message, or the line of an imported file, that the quote comes from."""
    project: NotRequired[str | None]
    """The memory's project, if all projects were searched."""
    quote: NotRequired[str | None]
    speaker: NotRequired[Speaker | None]
    """Who made the statement."""
    updated: NotRequired[str | None]
    """When the memory was stated or last changed."""


class CodeApart(TypedDict):
    """Number of code files outside the project's own sources, by kind."""

    tests: int
    aside: int
    """Number of examples, benchmarks and documents."""
    vendored: int
    generated: int


class CodeArea(TypedDict):
    """A part of the project: a package or a directory."""

    path: str
    """Path of the directory; empty for files in the project root."""
    files: int
    lines: int
    about: NotRequired[str | None]
    """Description from the area's manifest or README."""


# How a file or symbol changed.
CodeChange: TypeAlias = Literal["added", "modified", "removed", "renamed"]


class CodeDelta(TypedDict):
    """The requested page of changes. Counts cover all pages."""

    since: Since
    added: int
    modified: int
    removed: int
    renamed: int
    files: list[FileDelta]
    affected: list[AffectedFile]
    """Files that use changed symbols, as many as fit the budget."""
    affected_total: int
    """Total number of affected files."""
    affected_folders: list[AffectedFolder]
    """Number of affected files in each directory, largest first. Empty if `affected` is short and lists all files."""
    next: NotRequired[str | None]
    """The path after which the next page starts. Absent on the last page."""


# How to interpret a query: as words and identifiers in any form, with ranked results; as literal text; or as a regular
# expression that is matched against each line.
CodeSearchMode: TypeAlias = Literal["words", "fixed", "regex"]


# What a command is for.
CommandPurpose: TypeAlias = Literal["build", "run", "test", "lint"]


class ConfigSetReport(TypedDict):
    """The result of setting or unsetting a key."""

    key: str
    path: str
    """Path of the changed file."""
    change: NotRequired[str | None]
    """The change ID to pass to `nacre undo`. Absent if nothing changed."""
    value: NotRequired[str | None]
    """The new value, or `null` if the key was removed."""


class ConfigSetRequest(TypedDict):
    """Sets or unsets one key."""

    key: str
    repo: NotRequired[bool]
    """Whether to change the repository's settings, which are shared through git."""
    value: NotRequired[str | None]
    """The new value. Separate list items with commas. If no value is given, the key is removed from the file."""


class ConfigShowReport(TypedDict):
    """Settings by key."""

    settings: dict[str, Setting]
    not_set: NotRequired[list[str]]
    """Keys without a value."""


class ConfigShowRequest(TypedDict):
    """Filter for a list of settings."""

    prefix: NotRequired[str | None]
    """Only keys with this prefix."""


class ConnectReport(TypedDict):
    """All supported agents, and the changes made to their settings."""

    agents: list[AgentEntry]
    change: NotRequired[str | None]
    """The change ID to pass to `nacre undo`."""
    changes: NotRequired[list[FileChange]]
    """Files that were changed, or would be changed by a dry run."""
    left_out: NotRequired[list[str]]
    """Agents that were not connected, with the reason."""
    no_longer_read: NotRequired[list[str]]
    """Agents whose sessions will no longer be read."""
    notes: NotRequired[list[str]]
    """Steps that the user must take to complete the connection."""
    now_read: NotRequired[list[str]]
    """Agents whose sessions will be read from now on."""
    plan: NotRequired[str | None]
    """Identifier of the planned changes, used to approve them."""


# A request to list, connect or disconnect agents.
ConnectRequest: TypeAlias = (
    "ConnectRequestList"
    " | ConnectRequestAuto"
    " | ConnectRequestAdd"
    " | ConnectRequestRemove"
    " | ConnectRequestTrust"
)


class ConnectRequestAdd(TypedDict):
    """Connect the given agents."""

    action: Literal["add"]
    agents: list[str]
    paths: NotRequired[list[str]]
    """Paths of the agent's transcripts. Defaults to the paths where the agent stores them. If paths are given, only
    transcripts are connected.
    """
    wiring: NotRequired[WiringOptions]


class ConnectRequestAuto(TypedDict):
    """Connect every agent used on this machine. No agent is disconnected."""

    action: Literal["auto"]
    wiring: NotRequired[WiringOptions]


class ConnectRequestList(TypedDict):
    """List all agents without changing anything."""

    action: Literal["list"]


class ConnectRequestRemove(TypedDict):
    """Disconnect agents and remove Nacre's entries from their settings."""

    action: Literal["remove"]
    agents: list[str]
    wiring: NotRequired[WiringOptions]


class ConnectRequestTrust(TypedDict):
    """Allow Codex to run its Nacre hooks."""

    action: Literal["trust"]
    wiring: NotRequired[WiringOptions]


class ContestedPair(TypedDict):
    """Two contradictory memories of a project."""

    newer: str
    newer_title: str
    older: str
    older_title: str
    likelihood: float
    """Likelihood of a contradiction, from 0 to 1."""


class ContextFile(TypedDict):
    """A file, with as much of its code as fits the budget."""

    path: str
    why: list[WhyRelevant]
    symbols: list[ContextSymbol]
    """Symbols in file order."""
    words: NotRequired[list[str]]
    """Words from the task that occur in the file, rarest first."""


class ContextReport(TypedDict):
    """Code relevant to a task, and the state of the project."""

    command: MapCommand
    project_root: str
    project_id: str
    cache_status: CacheStatus
    revision: MapRevision
    stats: MapStats
    budget: int
    files: list[ContextFile]
    """The most relevant file first."""
    left_out: LeftOut


class ContextRequest(TypedDict):
    """The task to collect code for, and the maximum size of the result."""

    budget: NotRequired[int | None]
    """Maximum number of tokens in the response. Defaults to 4000."""
    client: NotRequired[str | None]
    """Name of a client to mark as up to date with this revision. A later delta can start at `client:NAME`."""
    detail: NotRequired[MapDetail | None]
    """Accepted as in other requests, but has no effect: the budget sets the level of detail."""
    files: NotRequired[list[str]]
    """Files known to be relevant, relative to the current directory or the project root."""
    files_only: NotRequired[bool]
    """List files without their code."""
    format: NotRequired[MapFormat]
    """The output format used to calculate the token budget."""
    project: NotRequired[str | None]
    """A directory in the project, or the name of a registered project. Defaults to the project that contains the current
    directory.
    """
    refresh: NotRequired[bool]
    """Reread every file instead of relying on modification times."""
    strict: NotRequired[bool]
    """Do not write the map; fail if it is out of date."""
    task: NotRequired[str | None]
    """Description of the task. If absent, the task is defined by `files`."""


class ContextSymbol(TypedDict):
    """A symbol, with as much detail as fits the budget."""

    name: str
    kind: SymbolKind
    first_line: int
    last_line: int
    form: SymbolForm
    text: NotRequired[str]
    """The whole symbol, only its signature, or an empty string."""


# A kind of location that may contain a copy of a memory.
CopyPlace: TypeAlias = Literal["files", "runs", "index", "notes", "shared_index", "server"]


# The result of checking a location.
CopyState: TypeAlias = Literal["gone", "waits"]


# The state of the shared database.
DatabaseState: TypeAlias = Literal["connected", "slow", "away", "unusable"]


class DatabaseStatus(TypedDict):
    """The state of the shared database as seen by one server."""

    state: DatabaseState
    since: str
    """When this process first observed the current state."""
    is_leader: bool
    """Whether this server does the work that is reserved for one server at a time."""
    detail: NotRequired[str | None]
    """Why the database cannot be used."""


# The component that decided on a candidate.
DecidedBy: TypeAlias = Literal["rule", "lead"]


class DeltaReport(TypedDict):
    """The changes, and the state of the project."""

    command: MapCommand
    project_root: str
    project_id: str
    cache_status: CacheStatus
    revision: MapRevision
    stats: MapStats
    delta: CodeDelta


class DeltaRequest(TypedDict):
    """Selects the changes to list."""

    after: NotRequired[str | None]
    """Start after this path. Use the `next` value from the previous response."""
    budget: NotRequired[int | None]
    """Maximum number of tokens in the response as JSON. If the response is too long, the list of affected files is first
    reduced to counts by directory; then changed files are moved to the next page.
    """
    client: NotRequired[str | None]
    """Name of a client to mark as up to date with this revision. A later delta can start at `client:NAME`."""
    detail: NotRequired[MapDetail | None]
    """Accepted as in other requests, but has no effect: all changes are listed alike."""
    limit: NotRequired[int | None]
    """Maximum number of files; 0 or absent means all."""
    project: NotRequired[str | None]
    """A directory in the project, or the name of a registered project. Defaults to the project that contains the current
    directory.
    """
    refresh: NotRequired[bool]
    """Reread every file instead of relying on modification times."""
    since: NotRequired[Since | None]
    """Where the delta starts. Defaults to `git:HEAD`. If there is no commit, it starts at the creation of the map."""
    strict: NotRequired[bool]
    """Do not write the map, and fail if it is out of date."""


class DoctorReport(TypedDict):
    """Problems found in the stores."""

    health: Health
    stores: list[StoreCheck]
    errors: int
    warnings: int
    change: NotRequired[str | None]
    """The change ID to pass to `nacre undo`."""
    config: NotRequired[str | None]
    """A problem with the repository settings."""
    gone: NotRequired[list[ProjectEntry]]
    """Registered projects whose store no longer exists. Each one is an error."""
    mended: NotRequired[list[MendedFile]]
    """Files fixed before the check."""


class DoctorRequest(TypedDict):
    """Options for the check."""

    evidence: NotRequired[bool]
    """Compare each quote with its source transcript."""
    fix: NotRequired[bool]
    """Before checking, fix problems that need no decision, such as broken links and evidence files without a memory."""
    scope: NotRequired[Scope | None]
    strict: NotRequired[bool]
    """Treat warnings as errors."""


# The kind of link between two memories.
EdgeKind: TypeAlias = Literal[
    "supersedes",
    "superseded by",
    "contradicts",
    "related",
    "same session",
    "same file",
    "same symbol",
    "shared tag",
    "newer than",
]


class EmbedderEntry(TypedDict):
    """An embedding model."""

    name: str
    state: str
    """State of the model, such as `ready`."""
    about: str
    dims: NotRequired[int | None]
    id: NotRequired[str | None]
    """Identifier derived from the model's name and content. Vectors with different identifiers cannot be compared."""


class EmptyRequest(TypedDict):
    """A request without arguments."""


# The kind of entry point.
EntryKind: TypeAlias = Literal["readme", "program", "library", "manifest", "script"]


class EntryPoint(TypedDict):
    """A file that is a good starting point for reading the code."""

    path: str
    kind: EntryKind
    name: NotRequired[str | None]
    """Name of the program or library, from a manifest."""


# Machine-readable reason for a failure.
ErrorCode: TypeAlias = Literal[
    "usage",
    "not_found",
    "ambiguous",
    "no_project",
    "conflict",
    "busy",
    "refused",
    "not_set",
    "invalid",
    "too_large",
    "unavailable",
    "database_away",
    "limit_reached",
    "cancelled",
    "output_closed",
    "failed",
]


class ErrorReport(TypedDict):
    """The JSON object returned instead of a report when an operation fails."""

    error: Failure


class EventCounts(TypedDict):
    """Number of events by kind. Injected and inherited events are counted separately."""

    user: int
    """Number of user messages."""
    assistant: int
    reasoning: int
    tool_calls: int
    tool_results: int
    summaries: int
    compactions: int
    meta: int
    injected: int
    sidechain: int
    inherited: int
    errors: int


class ExploreReport(TypedDict):
    """A project overview, and the state of the project."""

    command: MapCommand
    project_root: str
    project_id: str
    cache_status: CacheStatus
    revision: MapRevision
    stats: MapStats
    detail: MapDetail
    commands: Listed
    """Commands to build, run, test and check the project."""
    areas: Listed2
    """Parts of the project's own code, largest first."""
    apart: CodeApart
    """Number of code files outside the project's own sources, by kind."""
    languages: list[LanguageCount]
    entry_points: Listed3
    hot_paths: Listed4
    top_imports: Listed5
    module_graph: ModuleGraph
    public_surface: Listed7
    tests: Listed9
    problems: dict[str, int]
    """Number of incompletely analyzed files, by reason."""
    about: NotRequired[str | None]
    """The first paragraph of the README, or the description from a manifest."""


class ExploreRequest(TypedDict):
    """A request for a project overview."""

    budget: NotRequired[int | None]
    """Maximum number of tokens in the response. Lists are shortened to fit."""
    client: NotRequired[str | None]
    """Name of a client to mark as up to date with this revision. A later delta can start at `client:NAME`."""
    detail: NotRequired[MapDetail | None]
    """Level of detail. Defaults to compact."""
    format: NotRequired[MapFormat]
    """The output format used to calculate the token budget."""
    project: NotRequired[str | None]
    """A directory in the project, or the name of a registered project. Defaults to the project that contains the current
    directory.
    """
    refresh: NotRequired[bool]
    """Reread every file instead of relying on modification times."""
    strict: NotRequired[bool]
    """Do not write the map, and fail if it is out of date."""


class ExplorerFinding(TypedDict):
    """An explorer's finding about one candidate."""

    candidate_id: str
    action_hint: LeadAction
    """The action that the explorer suggests. The lead agent decides."""
    overlap: float
    """The explorer's estimate of how much of the candidate the memory file already covers, from 0 to 1."""
    evidence: str
    """A quote from the file."""
    matched_file: NotRequired[str | None]


class ExplorerMetrics(TypedDict):
    """The metrics of one explorer."""

    task: str
    candidates: list[str]
    state: str
    findings: list[ExplorerFinding]
    ms: int
    model_calls: int


class Failure(TypedDict):
    """An operation that failed."""

    code: ErrorCode
    message: str
    """The error message."""
    causes: list[str]
    """The causes, outermost first."""
    hints: list[str]
    """What the user can do, with commands to run."""


class FeedbackReport(TypedDict):
    """The changes that resulted from the feedback."""

    id: str
    verdict: Verdict
    confidence_before: float
    confidence: float
    scope: StoreScope
    also_in: list[OtherPlace]
    """Other memory files with the same ID."""
    change: NotRequired[str | None]
    """The change ID to pass to `nacre undo`."""


class FeedbackRequest(TypedDict):
    """Feedback from a user on a memory."""

    id: str
    """The memory's ID or a prefix of it."""
    verdict: Verdict
    note: NotRequired[str | None]
    """A one-sentence reason. It is stored only on this machine."""
    scope: NotRequired[Scope | None]


class FileChange(TypedDict):
    """A changed agent settings file."""

    path: str
    change: ChangeKind
    diff: str
    """The change as a unified diff with redacted secrets."""
    agents: NotRequired[list[str]]
    """Agents with entries in the file."""


# The changes in one file.
FileDelta = TypedDict(
    "FileDelta",
    {
        "path": "str",
        "change": "CodeChange",
        # Previous path of a renamed file.
        "from": "NotRequired[str | None]",
        "new_hash": "NotRequired[str | None]",
        "old_hash": "NotRequired[str | None]",
        # Changed symbols of a modified file. Absent if its previous content is unknown.
        "symbols": "NotRequired[SymbolDeltas | None]",
    },
)


class Finding(TypedDict):
    """A problem with a file."""

    severity: Severity
    path: str
    """Path relative to the store."""
    message: str
    hint: NotRequired[str | None]
    line: NotRequired[int | None]


class FolderSessions(TypedDict):
    """Number of sessions in a directory."""

    path: str
    sessions: int
    clone_of: NotRequired[str | None]
    """The path of the registered project that is a clone of the same repository."""


class FoundMemory(TypedDict):
    """A matching memory."""

    id: str
    type: MemoryType
    title: str
    status: str
    tags: list[str]
    related: list[str]
    archived: bool
    scope: StoreScope
    path: str
    score: float
    snippet: str
    """The text around the match."""
    why: WhyFound
    history: list[MemoryEntry]
    """Memories that this one supersedes, newest first."""
    not_verified: list[str]
    """IDs of memories that this one claims to supersede, but whose own files do not confirm it."""
    applies: NotRequired[list[str]]
    """Situations in which the memory is relevant."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """The kind of learning."""
    replaced_by: NotRequired[str | None]
    """ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
    but the later memory contradicts this one.
    """
    same: NotRequired[list[str]]
    """IDs of further matching summaries with the same title, which are not listed."""
    trust: NotRequired[TrustLevel | None]
    """The trust level on this machine, if lower than the level of an agent's own statements."""
    updated: NotRequired[str | None]


# Whether a session is worth processing and, if not, why.
Gate: TypeAlias = Literal["open", "not_a_persons", "no_words", "abandoned", "mechanical"]


# An edge between two memories. A `supersedes` edge points from the newer to the older memory.
GraphEdge = TypedDict(
    "GraphEdge",
    {
        # The ID of a memory.
        "from": "str",
        "to": "str",
        "kind": "EdgeKind",
        # The session, file, symbol or tag that the two memories share.
        "shared": "NotRequired[str | None]",
    },
)


class GraphNode(TypedDict):
    """A memory in the graph."""

    id: str
    type: MemoryType
    title: str
    status: str
    tags: list[str]
    related: list[str]
    archived: bool
    scope: StoreScope
    path: str
    degree: int
    """Number of linked memories, including omitted ones."""
    applies: NotRequired[list[str]]
    """Situations in which the memory is relevant."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """The kind of learning."""
    replaced_by: NotRequired[str | None]
    """ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
    but the later memory contradicts this one.
    """
    trust: NotRequired[TrustLevel | None]
    """The trust level on this machine, if lower than the level of an agent's own statements."""
    updated: NotRequired[str | None]


class GraphReport(TypedDict):
    """Memories and the edges between them. Above the limit, only the memories with the most edges are included."""

    nodes: list[GraphNode]
    """Memories, sorted by number of edges in descending order."""
    edges: list[GraphEdge]
    """Edges between included memories, at most one per pair."""
    left_out: int
    """Number of memories omitted."""
    left_out_edges: int
    """Number of omitted edges between included memories."""


class GraphRequest(TypedDict):
    """Selects the memories in the graph."""

    all: NotRequired[bool]
    """Include session summaries."""
    archived: NotRequired[bool]
    """Include archived memories."""
    limit: NotRequired[int | None]
    """Maximum number of memories, at most 5000. Defaults to 500."""
    scope: NotRequired[Scope | None]


class HandOverRequest(TypedDict):
    """The memories to transfer."""

    ids: list[str]


# Whether the stores are usable. The stores are reported as healthy only after a complete check.
Health: TypeAlias = Literal["ok", "broken", "unchecked"]


class HealthReport(TypedDict):
    """Confirms that the server is running."""

    status: str
    """Always `ok`."""
    version: str
    database: NotRequired[DatabaseState | None]
    """The state of the shared database, if one is configured."""


class HotPath(TypedDict):
    """A frequently changed file on which many others depend."""

    path: str
    heat: int
    """The file's rank multiplied by its number of recent commits. An average file has the value 1000."""
    importers: int
    commits: int


class InstalledAgent(TypedDict):
    """An installed agent that can be used as a model."""

    name: str
    """The agent part of a model name, such as `claude-code`."""
    label: str
    """Display name."""
    path: str
    """Path of the agent's executable."""
    model: str
    """A model name for this agent, as accepted by `roles.default.model`."""
    version: NotRequired[str | None]
    """Version, or `null` if the agent did not report one."""


class ItemId(TypedDict):
    """An item such as a run or a transcript."""

    id: str
    """The ID of the item. For a run, a prefix or suffix of the ID is enough."""


# The state of a session in the queue.
JobState: TypeAlias = Literal["running", "pending", "done", "empty", "skipped", "dead"]


class KeptFile(TypedDict):
    """A file that was kept because it was changed later."""

    path: str
    by: NotRequired[str | None]
    """The later change. Absent if the file was edited outside Nacre."""


class LanguageCount(TypedDict):
    """Number of files in a language."""

    language: str
    files: int
    lines: int


class LaterSessions(TypedDict):
    """Sessions that are due later."""

    sessions: int
    ready_at: str
    """When the last of these sessions is due."""
    ready_in: int
    """Seconds until the last of these sessions is due."""
    example: str
    """The ID of one of these sessions."""


# The action that a lead agent or explorer chooses for a candidate.
LeadAction: TypeAlias = Literal["add", "update", "no_op", "supersede"]


class LeadMetrics(TypedDict):
    """The metrics of one lead agent call."""

    task: str
    state: str
    rulings: int
    ms: int
    tool_calls: int
    """Number of tool calls by the lead agent. This count and the next two exclude explorer calls."""
    tokens: TokenCounts
    cost_usd: float
    error: NotRequired[str | None]


# The change that a sync made to a memory.
LearnedChange: TypeAlias = Literal["added", "updated"]


class LearnedMemory(TypedDict):
    """A memory that a sync created or changed."""

    id: str
    type: MemoryType
    title: str
    project: str
    """The project of the memory."""
    change: LearnedChange
    is_candidate: bool
    """Whether the memory is pending in `nacre review`."""


# The kind of learning.
LearningKind: TypeAlias = Literal["insight", "procedure", "pitfall", "friction", "preference", "convention", "context"]


class LeftOut(TypedDict):
    """Relevant files that did not fit the budget."""

    symbols: int
    files: int
    listed: list[list[str | int]]
    """Some of these files, most relevant first, each with its number of symbols."""


class LimitRequest(TypedDict):
    """A limit on the number of listed entries."""

    limit: NotRequired[int | None]
    """Maximum number of results; 0 means no limit. Defaults to 20 for tasks, and otherwise to the `memory.max_results`
    setting.
    """


class Listed(TypedDict):
    """A list that may be incomplete, and the total number of items."""

    total: int
    items: list[ProjectCommand]


class Listed2(TypedDict):
    """A list that may be incomplete, and the total number of items."""

    total: int
    items: list[CodeArea]


class Listed3(TypedDict):
    """A list that may be incomplete, and the total number of items."""

    total: int
    items: list[EntryPoint]


class Listed4(TypedDict):
    """A list that may be incomplete, and the total number of items."""

    total: int
    items: list[HotPath]


class Listed5(TypedDict):
    """A list that may be incomplete, and the total number of items."""

    total: int
    items: list[TopImport]


class Listed6(TypedDict):
    """A list that may be incomplete, and the total number of items."""

    total: int
    items: list[ModuleNode]


class Listed7(TypedDict):
    """A list that may be incomplete, and the total number of items."""

    total: int
    items: list[PublicSurface]


class Listed8(TypedDict):
    """A list that may be incomplete, and the total number of items."""

    total: int
    items: list[SurfaceSymbol]


class Listed9(TypedDict):
    """A list that may be incomplete, and the total number of items."""

    total: int
    items: list[str]


class LookedIn(TypedDict):
    """A location where an agent stores its sessions."""

    agent: str
    path: str
    exists: bool


class LoopEntry(TypedDict):
    """A background loop."""

    name: LoopName
    state: LoopState
    every_s: int
    """Interval in seconds."""
    last: NotRequired[str | None]
    """When the last iteration started."""
    last_error: NotRequired[str | None]
    """The error from the last iteration."""
    last_result: NotRequired[str | None]
    """A short description of the last iteration's result."""
    next: NotRequired[str | None]
    """When the next iteration is due."""


# The name of a background loop.
LoopName: TypeAlias = Literal["sync", "maintain", "index", "map", "prune"]


# The current state of a loop.
LoopState: TypeAlias = Literal["idle", "running", "paused", "waiting"]


# An action on a memory, with its reason.
MaintainAction = TypedDict(
    "MaintainAction",
    {
        "action": "MaintainVerb",
        # ID of the memory.
        "target": "str",
        "title": "str",
        "reason": "str",
        # Key that identifies the action. An action undone by the user is not repeated.
        "key": "str",
        # Confidence from 0 to 1, if it was measured.
        "likelihood": "NotRequired[float | None]",
        # ID of the memory that it was merged into or superseded by.
        "with": "NotRequired[str | None]",
    },
)


class MaintainDurations(TypedDict):
    """How long each step of a maintenance run took, in milliseconds."""

    read: int
    compare: int
    whole: int


class MaintainMetrics(TypedDict):
    """Resources that a maintenance run used."""

    run_id: str
    memories: int
    broken: int
    pairs: int
    """Number of memory pairs compared."""
    counts: MaintainMetricsCounts
    model_calls: int
    tokens: int
    cost_usd: float
    denied_writes: int
    explorers: list[ExplorerMetrics]
    """Always empty, because maintenance never starts explorers."""
    durations_ms: MaintainDurations


class MaintainMetricsCounts(TypedDict):
    archive: NotRequired[int]
    consolidate: NotRequired[int]
    doubt: NotRequired[int]
    establish: NotRequired[int]
    freshen: NotRequired[int]
    merge: NotRequired[int]
    relink: NotRequired[int]
    restore: NotRequired[int]
    stale: NotRequired[int]
    supersede: NotRequired[int]
    validate: NotRequired[int]


class MaintainReport(TypedDict):
    """The result for each store."""

    dry_run: bool
    projects: list[MaintainedStore]


class MaintainRequest(TypedDict):
    """Options for a maintenance run."""

    all: NotRequired[bool]
    """Maintain all registered projects and the global memories."""
    dry_run: NotRequired[bool]
    """Report the changes without making them."""
    force: NotRequired[bool]
    """Run even if nothing has changed."""
    rewrite: NotRequired[bool]
    """Let the model with the role `lead` write the merged memories."""
    scripted: NotRequired[str | None]
    """Path of a file with scripted model responses, for tests."""


# How a store's maintenance ended.
MaintainState: TypeAlias = Literal["done", "failed", "clean", "skipped"]


# A kind of action on a memory.
MaintainVerb: TypeAlias = Literal[
    "merge",
    "consolidate",
    "supersede",
    "archive",
    "stale",
    "restore",
    "freshen",
    "establish",
    "validate",
    "doubt",
    "relink",
]


class MaintainedStore(TypedDict):
    """The result for one store: its report, or why it has none."""

    project: str
    """Name of the project, or `global`."""
    state: MaintainState
    ms: int
    causes: NotRequired[list[str] | None]
    changes: NotRequired[list[PlannedChange] | None]
    """The planned changes of a dry run."""
    hints: NotRequired[list[str] | None]
    reason: NotRequired[str | None]
    """Why it failed."""
    report: NotRequired[StoreMaintenance | None]


# The map command that produced a response.
MapCommand: TypeAlias = Literal["explore", "context", "delta", "refresh", "explain", "watch", "search_code"]


# How detailed an overview is.
MapDetail: TypeAlias = Literal["compact", "normal", "verbose"]


# The output format of the map. The token budget is calculated for this format.
MapFormat: TypeAlias = Literal["text", "json"]


# A revision of the project's files, such as `6af1b3c4.17`. It is incremented when files change.
MapRevision: TypeAlias = "str"


class MapStats(TypedDict):
    """The cost of updating the map, and the number of files examined."""

    file_count: int
    total_bytes: int
    reused_entries: int
    rehashed_entries: int
    unread_files: int
    """Files that are too large or unreadable."""
    postponed_files: int
    """Files skipped because the time limit was reached. The next command reads them."""
    skipped: SkippedCounts


class MatchGroup(TypedDict):
    """Matching lines within the same symbol, or outside all symbols."""

    lines: list[MatchedLine]
    symbol: NotRequired[MatchSymbol | None]


class MatchSymbol(TypedDict):
    """The innermost symbol that contains the lines."""

    name: str
    kind: SymbolKind
    first_line: int
    last_line: int
    signature: NotRequired[str]


class MatchedFile(TypedDict):
    """A file with matching lines."""

    path: str
    is_definition: bool
    """Whether the file defines the searched symbol."""
    matches: int
    """Number of matching lines, including those not shown; 0 if they were not counted."""
    groups: NotRequired[list[MatchGroup]]
    """Groups in file order."""


class MatchedLine(TypedDict):
    """A line of a file."""

    line: int
    """Line number, starting at 1."""
    text: str
    """The text of the line, which may be truncated."""
    is_context: NotRequired[bool]
    """Whether this is a context line rather than a match."""


class MemoryAddRequest(TypedDict):
    """A new memory written by the user."""

    title: str
    """A one-line statement of the decision or learning."""
    applies: NotRequired[list[str]]
    """Situations in which the memory is relevant, one line each."""
    body: NotRequired[str]
    """The reason and details in Markdown."""
    confidence: NotRequired[float | None]
    """Confidence from 0 to 1. By default, the user's statements have full confidence."""
    kind: NotRequired[LearningKind | None]
    """The kind of learning. Defaults to insight."""
    related: NotRequired[list[str]]
    """IDs of related memories, or prefixes of them."""
    scope: NotRequired[Scope | None]
    supersedes: NotRequired[str | None]
    """ID of the memory that this one supersedes, or a prefix of that ID."""
    tags: NotRequired[list[str]]
    type: NotRequired[MemoryType | None]
    """The type: a decision or a learning. Defaults to decision."""


class MemoryAnswer(TypedDict):
    """Memories that answer a question or are close to it, best match first."""

    question: str
    known: bool
    """Whether the first memory answers the question. Otherwise, the memories are only close to it."""
    memories: list[RecalledMemory]
    broken: int
    """Number of unreadable files."""
    answer: NotRequired[str | None]
    """A short version of the first memory, if it answers the question."""
    error: NotRequired[str | None]
    """Why the configured model did not answer."""
    said: NotRequired[SaidInSession | None]
    """What the user said in a session, if no memory answers the question."""


# The change made to a memory.
MemoryChange: TypeAlias = Literal[
    "added",
    "edited",
    "left unchanged",
    "archived",
    "restored",
    "forgot",
    "accepted",
    "rejected",
]


class MemoryChangeReport(TypedDict):
    """The result of changing a memory."""

    done: MemoryChange
    id: str
    change: NotRequired[str | None]
    """The change ID to pass to `nacre undo`."""
    path: NotRequired[str | None]
    """The path of the memory file, if it is new."""


class MemoryChangesReport(TypedDict):
    """The changes made to several memories. Each memory has its own change set."""

    done: MemoryChange
    ids: list[str]
    failed: list[MemoryFailure]
    change: NotRequired[str | None]
    """The change ID to pass to `nacre undo`."""
    copies: NotRequired[list[CheckedCopy]]
    """Other locations that were checked for remaining copies after a memory was forgotten."""


class MemoryEdge(TypedDict):
    """A link from one memory to another."""

    kind: EdgeKind
    id: str
    shared: NotRequired[str | None]
    """The tag, file or symbol that the two memories share."""


class MemoryEntry(TypedDict):
    """A memory without its text."""

    id: str
    type: MemoryType
    title: str
    status: str
    tags: list[str]
    related: list[str]
    archived: bool
    scope: StoreScope
    path: str
    applies: NotRequired[list[str]]
    """Situations in which the memory is relevant."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """The kind of learning."""
    replaced_by: NotRequired[str | None]
    """ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
    but the later memory contradicts this one.
    """
    trust: NotRequired[TrustLevel | None]
    """The trust level on this machine, if lower than the level of an agent's own statements."""
    updated: NotRequired[str | None]


class MemoryEvidence(TypedDict):
    """The quotes that support a memory."""

    version: int
    """Format version of the evidence file."""
    id: str
    quotes: list[MemoryQuote]
    unproven: NotRequired[bool]
    """Whether a program other than Nacre changed the memory file. If so, the quotes no longer prove its content."""


class MemoryFailure(TypedDict):
    """A memory that could not be changed, and why."""

    id: str
    """The ID from the request."""
    code: ErrorCode
    message: str
    """The error message."""
    causes: list[str]
    """The causes, outermost first."""
    hints: list[str]
    """What the user can do, with commands to run."""


class MemoryFeedback(TypedDict):
    """Feedback on a memory."""

    verdict: Verdict
    by: SaidBy
    at: str
    note: NotRequired[str | None]


class MemoryGrowth(TypedDict):
    """Number of memories at the end of a day."""

    day: str
    """Date as `YYYY-MM-DD`."""
    total: int


class MemoryIdsRequest(TypedDict):
    """The memories to archive, restore or forget."""

    ids: list[str]
    """IDs of memories. Prefixes are accepted, except when forgetting."""
    scope: NotRequired[Scope | None]


class MemoryLink(TypedDict):
    """A link between this memory and another one. The link is verified if the older memory's file also records it."""

    id: str
    verified: bool


class MemoryListReport(TypedDict):
    """The listed memories."""

    memories: list[MemoryEntry]
    total: int
    """Total number of matching memories, including those not listed."""
    broken: list[BrokenFile]
    hidden_summaries: NotRequired[int | None]
    """Number of summaries left out."""


class MemoryListRequest(TypedDict):
    """Selects the memories to list."""

    all: NotRequired[bool]
    """Include summaries. By default, summaries are excluded unless `type` selects them."""
    archived: NotRequired[bool]
    """List archived memories instead of current ones."""
    kind: NotRequired[LearningKind | None]
    """Only learnings of this kind."""
    limit: NotRequired[int | None]
    """Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting."""
    offset: NotRequired[int]
    """Number of memories to skip."""
    scope: NotRequired[Scope | None]
    sort: NotRequired[MemorySort | None]
    """The sort order. By default, project memories come first, and memories within each store are sorted newest first."""
    status: NotRequired[MemoryStatus | None]
    tag: NotRequired[str | None]
    type: NotRequired[MemoryType | None]


class MemoryQuote(TypedDict):
    """A quote from a session, and its source."""

    text: str
    speaker: Speaker
    place: str
    at: str


class MemoryRelatedReport(TypedDict):
    """Memories related to one memory, closest first."""

    id: str
    related: list[RelatedMemory]
    total: int
    """Total number of related memories, including those not listed."""
    also_in: list[OtherPlace]
    """Other memory files with the same ID."""


class MemoryRelatedRequest(TypedDict):
    """The memory whose related memories are listed."""

    id: str
    """The memory's ID or a prefix of it."""
    limit: NotRequired[int | None]
    """Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting."""
    scope: NotRequired[Scope | None]


class MemorySearchReport(TypedDict):
    """Search results. Project memories come first, and each store is sorted by best match."""

    query: str
    hits: list[FoundMemory]
    total: int
    """Total number of matches, including those not listed."""
    broken: list[BrokenFile]


class MemorySearchRequest(TypedDict):
    """A search query and its limits."""

    query: str
    """Words, "quoted phrases" and filters such as `tag:auth`."""
    all_projects: NotRequired[bool]
    """Search all registered projects, regardless of `scope`."""
    archived: NotRequired[bool]
    """Include archived memories."""
    limit: NotRequired[int | None]
    """Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting."""
    mode: NotRequired[SearchMode]
    scope: NotRequired[Scope | None]
    since: NotRequired[str | None]
    """Only memories changed since this date, time or age, such as `2026-01` or `7d`."""
    tag: NotRequired[str | None]
    type: NotRequired[MemoryType | None]


class MemoryShowReport(TypedDict):
    """A memory with its details."""

    id: str
    type: MemoryType
    title: str
    status: str
    tags: list[str]
    related: list[str]
    archived: bool
    scope: StoreScope
    path: str
    also_in: list[OtherPlace]
    """Other memory files with the same ID."""
    supersedes: list[MemoryLink]
    superseded_by: list[MemoryLink]
    body: str
    version: str
    """The version of the file's content. Pass it back in a write request to detect conflicting changes."""
    applies: NotRequired[list[str]]
    """Situations in which the memory is relevant."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    evidence: NotRequired[MemoryEvidence | None]
    feedback: NotRequired[MemoryFeedback | None]
    """The latest user feedback on this memory."""
    history: NotRequired[list[MemoryVersion] | None]
    kind: NotRequired[str | None]
    """The kind of learning."""
    replaced_by: NotRequired[str | None]
    """ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
    but the later memory contradicts this one.
    """
    session: NotRequired[str | None]
    """The session from which the memory was created, as `AGENT:SESSION`."""
    text: NotRequired[str | None]
    """The whole Markdown file, if requested."""
    trust: NotRequired[TrustLevel | None]
    """The trust level on this machine, if lower than the level of an agent's own statements."""
    updated: NotRequired[str | None]


class MemoryShowRequest(TypedDict):
    """The memory to show, and which details to include."""

    id: str
    """The memory's ID or a prefix of it."""
    evidence: NotRequired[bool]
    """Include the quotes that support the memory."""
    history: NotRequired[bool]
    """Include the earlier versions."""
    scope: NotRequired[Scope | None]
    text: NotRequired[bool]
    """Include the whole Markdown file, with frontmatter and body."""


# The sort key of a list. Memories that have no value for this key come last.
MemorySort: TypeAlias = Literal[
    "updated",
    "-updated",
    "created",
    "-created",
    "title",
    "-title",
    "confidence",
    "-confidence",
]


# The status of a memory.
MemoryStatus: TypeAlias = Literal["active", "candidate", "superseded", "stale", "archived"]


# The type of a memory.
MemoryType: TypeAlias = Literal["decision", "learning", "summary"]


class MemoryUse(TypedDict):
    """How often a memory was used."""

    id: str
    title: str
    uses: int
    citations: int
    confirmations: int
    effective: float
    """Confidence after adjustment for age and use."""


class MemoryVersion(TypedDict):
    """An earlier version of a memory, from a Git commit or a run."""

    when: str
    who: str
    what: str
    commit: NotRequired[str | None]
    run: NotRequired[str | None]


class MemoryWriteRequest(TypedDict):
    """The new content of a memory file."""

    id: str
    """The memory's ID or a prefix of it."""
    text: str
    """The whole Markdown file, with frontmatter and body."""
    scope: NotRequired[Scope | None]
    version: NotRequired[str | None]
    """The version that was read. The write fails if the file has changed since that version."""


class MendedFile(TypedDict):
    """A file that was fixed."""

    path: str
    what: str


# The sender of a message.
MessageRole: TypeAlias = Literal["user", "assistant", "tool", "system"]


class ModelAnswer(TypedDict):
    """A model's answer, excluding sentences that cite no valid source."""

    question: str
    known: bool
    sentences: list[AnswerSentence]
    memories: list[CitedMemory]
    """The memories that the sentences cite."""
    messages: list[str]
    """The session messages that the sentences cite."""
    left_out: dict[str, int]
    """Number of removed sentences, by reason."""
    broken: int
    """Number of unreadable files."""
    steps: int
    tool_calls: int
    tokens: TokenCounts
    answer: NotRequired[str | None]
    """The sentences joined into one string, with `[not verified]` after each sentence whose wording is not supported by
    its sources.
    """
    cost_usd: NotRequired[float | None]
    error: NotRequired[str | None]
    """Why the answer is incomplete."""
    failure: NotRequired[Failure | None]
    """The same error as in `error`, with hints."""


class ModelListReport(TypedDict):
    """The configured models, their providers, and the embedding models."""

    roles: list[RoleEntry]
    providers: list[ProviderEntry]
    """Providers of the configured models."""
    agents: list[InstalledAgent]
    """Installed agents that can be used as models, including agents not assigned to a role."""
    models: list[EmbedderEntry]
    """Embedding models."""


# A role to which a model can be assigned.
ModelRole: TypeAlias = Literal["lead", "explorer", "extract", "summarize", "ask", "chat"]


class ModelStats(TypedDict):
    """Usage statistics of one model."""

    model: str
    calls: int
    input: int
    cached: int
    output: int
    cost_nano_dollars: NotRequired[int | None]
    """Cost in billionths of a dollar, or `None` if the price of a call is unknown."""


class ModelTestReport(TypedDict):
    """The tested model's response, with its duration and cost."""

    role: ModelRole
    model: str
    """Name of the model as `provider/model`."""
    text: str
    total_ms: int
    tokens: TokenCounts
    cost_usd: NotRequired[float | None]
    """Cost in US dollars, or `null` if no price is known."""
    first_word_ms: NotRequired[int | None]


class ModelTestRequest(TypedDict):
    """Tests a model by asking it for a one-word response."""

    role: NotRequired[ModelRole]
    """The role whose model is tested."""


class ModuleGraph(TypedDict):
    """Imports between directories. Only imports that resolve to a file are included."""

    nodes: int
    """Number of files."""
    edges: int
    """Number of imports, where each pair of importing and imported files counts once."""
    unresolved: int
    """Number of imports that should resolve to a project file but do not."""
    modules: Listed6


class ModuleNode(TypedDict):
    """A directory, and the directories that its files import from."""

    module: str
    files: int
    imports: list[str]


class MovedMemories(TypedDict):
    """Memories transferred between two machines. A response omits memories that no longer exist."""

    memories: list[MovedMemory]


class MovedMemory(TypedDict):
    """A memory transferred between two machines, with the content of its files."""

    id: str
    type: MemoryType
    text: str
    evidence: NotRequired[str | None]
    replaces: NotRequired[str | None]
    """The hash of the version that this memory may replace."""


class OfferReport(TypedDict):
    """A project's memories with the hashes of their files, in ID order."""

    memories: list[OfferedMemory]
    more: NotRequired[str | None]
    """The ID after which the next page starts. Absent on the last page."""


class OfferRequest(TypedDict):
    """Selects which of a server's memories to list."""

    after: NotRequired[str | None]
    """Only memories after this ID, sorted by ID."""


class OfferedMemory(TypedDict):
    id: str
    hash: str


class OpenContradiction(TypedDict):
    """Two contradictory memories that need the user's decision."""

    newer: str
    older: str
    likelihood: float
    reason: str


class OtherPlace(TypedDict):
    """Another file with the same ID."""

    scope: StoreScope
    path: str


class OverviewDay(TypedDict):
    """Activity on one day."""

    day: str
    """Date as `YYYY-MM-DD`."""
    sessions: dict[str, int]
    """Number of sessions last active on that day, by agent."""
    learned: int
    """Number of memories learned on that day that still exist."""
    input_tokens: int
    """Input tokens of agent sessions, excluding cached tokens."""
    cached_tokens: int
    """Tokens read from or written to a cache."""
    output_tokens: int
    runs: int
    """Number of sync and maintenance runs whose directories still exist."""
    cost_nano_dollars: NotRequired[int | None]
    """Cost of Nacre's own model calls in billionths of a dollar, or `None` if the price of a call is unknown."""
    sessions_read: NotRequired[int]
    """Number of sessions that Nacre read and summarized on that day."""


class OverviewReport(TypedDict):
    """Activity in the project, or in all projects if none is selected. Days are in UTC."""

    since: str
    until: str
    days: list[OverviewDay]
    """All days of the period, oldest first, including those without activity."""
    agents: list[AgentActivity]
    """Agents with sessions in the period, sorted by name."""
    memories: dict[str, int]
    """Current number of decisions and learnings, by status."""
    growth: list[MemoryGrowth]
    """Number of memories at the end of each day, excluding archived ones. Counts only memories that still exist."""
    models: list[ModelStats]
    """All-time model usage."""
    tools: list[ToolStats]
    """All-time tool usage."""


class PausedSession(TypedDict):
    """A session that is paused until a model is available."""

    id: str
    reason: str
    limit: NotRequired[str | None]
    """The settings key of the limit that was reached. Absent if the model is unreachable."""


class PlannedChange(TypedDict):
    """A file that would be created, changed or removed."""

    path: str
    """Path relative to the store."""
    after: NotRequired[str | None]
    """New text, or `None` if the file would be removed."""
    before: NotRequired[str | None]
    """Current text, or `None` if the file would be created."""


class ProjectAddReport(TypedDict):
    """A registered project."""

    path: str
    root: str
    is_git: bool
    created: list[str]
    """Paths created by this command; empty if the store already existed."""
    memories: int
    shares_summaries: bool
    """Whether session summaries are shared through git."""
    next: str
    """Suggested next command."""
    change: NotRequired[str | None]
    """The change ID to pass to `nacre undo`. Absent if nothing changed."""
    foreign: NotRequired[int]
    """Number of memories that were not recorded on this machine and await review with `nacre trust`."""
    has_agents: NotRequired[bool]
    """Whether any agent sessions were found on this machine."""
    is_partial: NotRequired[bool]
    """Whether the session search stopped early. If so, more sessions may exist."""
    new_sessions: NotRequired[int]
    """Number of sessions in this repository that have not been processed yet."""
    project: NotRequired[str | None]
    """Name of the project, or `null` if it could not be registered."""
    sessions: NotRequired[list[AgentSessions]]
    """Number of sessions in this repository, by agent."""
    switched_off: NotRequired[list[str]]
    """Disconnected agents that have sessions in this repository. Their sessions are not read."""


class ProjectAddRequest(TypedDict):
    """Initializes the repository at a path and registers it as a project."""

    path: str
    """The repository directory."""
    also: NotRequired[list[str]]
    """Other directories whose sessions belong to the project, such as its path before it moved."""
    name: NotRequired[str | None]
    """Name of the project. Defaults to the project's current name or, for a new project, to the directory name."""


# A command, and the file that defines it.
ProjectCommand = TypedDict(
    "ProjectCommand",
    {
        "purpose": "CommandPurpose",
        "command": "str",
        "from": "str",
    },
)


class ProjectContradiction(TypedDict):
    """Two contradictory decisions from different projects."""

    newer: ProjectMemory
    older: ProjectMemory
    likelihood: float
    """Likelihood of a contradiction, from 0 to 1."""


class ProjectEntry(TypedDict):
    """One registered project."""

    name: str
    path: str
    state: ProjectState
    also: NotRequired[list[str]]
    """Other directories whose sessions belong to the project."""


class ProjectListReport(TypedDict):
    """The registered projects, in the order of registration."""

    projects: list[ProjectEntry]


class ProjectMemory(TypedDict):
    """A memory of a project."""

    project: str
    id: str
    title: str


class ProjectRemoveReport(TypedDict):
    """The result of unregistering a project."""

    removed: str
    """Name of the unregistered project."""
    change: NotRequired[str | None]
    """The change ID to pass to `nacre undo`. Absent if nothing changed."""


class ProjectRemoveRequest(TypedDict):
    """Unregisters a project. Its files are kept."""

    name: str


# State of a project directory.
ProjectState: TypeAlias = Literal["ready", "no store", "missing"]


class ProviderEntry(TypedDict):
    """A model provider."""

    name: str
    address: str
    key: str
    """Name of the environment variable that holds the API key, and whether it is set. Never contains the key itself."""
    origin: str


class PublicSurface(TypedDict):
    """The public symbols of a file."""

    path: str
    symbols: Listed8


# What the server did with a pushed memory.
PushState: TypeAlias = Literal["taken", "known", "differs", "forgotten", "invalid"]


# The change made to queued sessions.
QueueChange: TypeAlias = Literal["queued", "skipped"]


class QueueChangeReport(TypedDict):
    """The changed sessions."""

    done: QueueChange
    ids: list[str]


class QueueChangeRequest(TypedDict):
    """The sessions to retry or skip: a single one by ID, or all of them."""

    all: NotRequired[bool]
    """Select all dead sessions for a retry, or all pending sessions for a skip."""
    id: NotRequired[str | None]
    """A prefix of the session ID."""


class QueueJob(TypedDict):
    """A session in the queue."""

    id: str
    """The session ID."""
    state: JobState
    attempts: int
    changed: str
    agent: str
    not_before: NotRequired[str | None]
    """The session is not retried before this time."""
    project: NotRequired[str | None]
    reason: NotRequired[str | None]
    run: NotRequired[str | None]
    """The run that processed the session."""
    title: NotRequired[str | None]


class QueueListReport(TypedDict):
    """Queued sessions, most recently changed first."""

    jobs: list[QueueJob]
    total: int
    """Total number of sessions, including those not listed."""


class QueueListRequest(TypedDict):
    """Selects the queued sessions to list."""

    limit: NotRequired[int | None]
    """Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting."""
    status: NotRequired[JobState | None]


class QuoteCheck(TypedDict):
    """Number of quotes that match their transcripts."""

    verified: int
    by_hand: int
    """Quotes that the user entered directly in Nacre."""
    unchecked: int
    """Quotes whose transcript is not on this machine."""
    missing: int
    unreadable: int
    """Transcripts that cannot be read."""


class ReadReport(TypedDict):
    """Statistics about reading a trace."""

    lines: int
    """Complete lines or rows read."""
    bad_lines: int
    """Lines without usable content."""
    mended_lines: int
    """Damaged lines that were partly recovered."""
    invalid_utf8: int
    """Lines that are not valid UTF-8."""
    long_lines: int
    """Lines longer than the limit."""
    unknown_records: int
    """Records of unknown type."""
    unknown_types: dict[str, int]
    """Number of records by unknown type, for at most 32 types."""
    cut_texts: int
    """Number of text blocks whose middle was removed."""
    repeated: int
    """Number of messages that occur more than once in the trace."""
    left_out: int
    """Events omitted because the session exceeded the event limit."""
    torn_tail: NotRequired[int | None]
    """Start offset of an incomplete last line, if any."""


class RecalledMemory(TypedDict):
    """A memory that matches a question."""

    id: str
    type: str
    """The memory type, or the kind for a learning."""
    title: str
    status: str
    scope: StoreScope
    score: float
    line: str
    """The line of the memory's text that matches best; empty if the title is sufficient."""
    not_verified: list[str]
    """IDs of memories that this memory claims to supersede, although their own files do not confirm it."""
    also_in: list[StoreScope]
    """Other stores that contain the same ID."""
    project: NotRequired[str | None]
    """The memory's project, if all projects were searched."""
    proof: NotRequired[RecalledQuote | None]
    """The first quote that adds something to the memory's text."""
    quote: NotRequired[str | None]
    replaced_by: NotRequired[str | None]
    """ID of a later memory that contradicts this one."""
    trust: NotRequired[TrustLevel | None]
    """Trust level on this machine, if it is lower than that of an agent's own statements."""
    updated: NotRequired[str | None]
    """When the memory was stated or last changed."""


class RecalledQuote(TypedDict):
    """A quote that supports a memory."""

    text: str
    speaker: Speaker
    place: str
    """The message, or the line of an imported file, that the quote comes from."""
    at: str


class RefreshRequest(TypedDict):
    """Updates a project's map and lists the changes."""

    after: NotRequired[str | None]
    """Start after this path. Use the `next` value of the previous response."""
    detail: NotRequired[MapDetail | None]
    """Accepted as in other requests, but has no effect: all changes are listed alike."""
    limit: NotRequired[int | None]
    """Maximum number of files; 0 or absent means all."""
    project: NotRequired[str | None]
    """A directory in the project, or the name of a registered project. Defaults to the project that contains the current
    directory.
    """
    refresh: NotRequired[bool]
    """Accepted as in other requests, but has no effect: every file is reread."""


class RelatedMemory(TypedDict):
    """A related memory."""

    edge: MemoryEdge
    id: str
    type: MemoryType
    title: str
    status: str
    tags: list[str]
    related: list[str]
    archived: bool
    scope: StoreScope
    path: str
    applies: NotRequired[list[str]]
    """Situations in which the memory is relevant."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """The kind of learning."""
    replaced_by: NotRequired[str | None]
    """ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
    but the later memory contradicts this one.
    """
    trust: NotRequired[TrustLevel | None]
    """The trust level on this machine, if lower than the level of an agent's own statements."""
    updated: NotRequired[str | None]


# The relation between a candidate and a memory.
Relation: TypeAlias = Literal["different", "contradicts", "refines", "same"]


class ReviewCandidate(TypedDict):
    """A candidate with its evidence."""

    id: str
    type: MemoryType
    title: str
    status: str
    tags: list[str]
    related: list[str]
    archived: bool
    scope: StoreScope
    path: str
    body: str
    quotes: list[MemoryQuote]
    applies: NotRequired[list[str]]
    """Situations in which the memory is relevant."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """The kind of learning."""
    project: NotRequired[str | None]
    """The project of the candidate, if all projects are listed."""
    reason: NotRequired[str | None]
    """Why the candidate is quarantined, if it is."""
    replaced_by: NotRequired[str | None]
    """ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
    but the later memory contradicts this one.
    """
    trust: NotRequired[TrustLevel | None]
    """The trust level on this machine, if lower than the level of an agent's own statements."""
    updated: NotRequired[str | None]


class ReviewDecideRequest(TypedDict):
    """The user's decision, and the candidates that it applies to."""

    ids: list[str]
    """IDs of the candidates or prefixes of them. `import:FILE` stands for all statements that were imported from a file."""
    decision: ReviewDecision
    scope: NotRequired[Scope | None]
    supersedes: NotRequired[str | None]
    """ID of the memory that the accepted candidate supersedes, or a prefix of that ID. Requires exactly one candidate."""


# The user's decision about a candidate.
ReviewDecision: TypeAlias = Literal["accept", "reject"]


class ReviewListReport(TypedDict):
    """Candidates from sessions, newest first, and then those from imported files. Unless there are only a few, the
    statements of a file are listed as one candidate with the ID `import:FILE`.
    """

    candidates: list[ReviewCandidate]
    total: int
    """Total number of candidates, including those not listed."""
    broken: list[BrokenFile]


class ReviewListRequest(TypedDict):
    """Limits the list of candidates."""

    all_projects: NotRequired[bool]
    """List the candidates of all registered projects, regardless of `scope`."""
    file: NotRequired[str | None]
    """List the statements imported from this file one by one."""
    limit: NotRequired[int | None]
    """Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting."""
    scope: NotRequired[Scope | None]


class RoleEntry(TypedDict):
    """A role and its models."""

    role: str
    """Name of the role. `default` applies to every role without models of its own."""
    models: list[str]
    """Models in the order in which they are tried."""
    origin: str
    problem: NotRequired[str | None]
    """Why the role cannot be used with its current settings."""


# How many actions of each kind a run took.
RunCounts: TypeAlias = "ActionCounts | RunCountsVariant2"


class RunCountsVariant2(TypedDict):
    archive: NotRequired[int]
    consolidate: NotRequired[int]
    doubt: NotRequired[int]
    establish: NotRequired[int]
    freshen: NotRequired[int]
    merge: NotRequired[int]
    relink: NotRequired[int]
    restore: NotRequired[int]
    stale: NotRequired[int]
    supersede: NotRequired[int]
    validate: NotRequired[int]


class RunEntry(TypedDict):
    """A run in a list."""

    id: str
    of: str
    """The trace that the run processed, or the change that it undid."""
    counts: NotRequired[RunCounts | None]
    """Absent for an undo."""
    mode: NotRequired[RunMode | None]
    """Absent if the report cannot be read."""


class RunListReport(TypedDict):
    """The runs of a project, newest first."""

    runs: list[RunEntry]
    total: int
    """Total number of runs, including those not listed."""


class RunMessage(TypedDict):
    """A message of a run."""

    role: MessageRole
    text: str
    at: NotRequired[str | None]
    tool: NotRequired[str | None]
    """The tool that was called or that returned the result."""


class RunMessagesReport(TypedDict):
    """The stored messages exchanged with models. Empty if the run used no model."""

    run: str
    messages: list[RunMessage]
    """Messages in order: the lead agent's first, followed by those of its explorers."""
    left_out: int
    """Number of omitted messages."""


# The metrics of a run.
RunMetrics: TypeAlias = "SyncMetrics | MaintainMetrics"


# The purpose of a run.
RunMode: TypeAlias = Literal[
    "sync",
    "maintain",
    "undo",
    "import",
    "hot",
    "cold",
    "memory",
    "review",
    "connect",
    "config",
    "export",
    "project",
    "trust",
]


# The actions of a run.
RunReport: TypeAlias = "SessionRun | StoreMaintenance | UndoRunReport"


class RunShowReport(TypedDict):
    """A run."""

    id: str
    metrics: NotRequired[RunMetrics | None]
    """Durations, token counts and other metrics. Absent for an undo."""
    report: NotRequired[RunReport | None]
    """The run's actions. Absent if the report cannot be read."""
    runs: NotRequired[list[RunShowReport]]
    """The individual runs if a change spans several, such as a sync with one run per session."""


class RunStatsReport(TypedDict):
    """Tool and model usage statistics across all tasks."""

    models: list[ModelStats]
    tools: list[ToolStats]


# The author of feedback.
SaidBy: TypeAlias = Literal["owner", "agent", "person", "unknown"]


class SaidInSession(TypedDict):
    """A user message that matches a question."""

    text: str
    place: str
    """The position of the message, as `SESSION:SEQUENCE`."""
    at: NotRequired[str | None]


# The stores to search.
Scope: TypeAlias = Literal["project_fallback_global", "project_only", "global_only"]


class SearchCodeReport(TypedDict):
    """Search results, and the state of the project."""

    command: MapCommand
    project_root: str
    project_id: str
    cache_status: CacheStatus
    revision: MapRevision
    stats: MapStats
    query: str
    mode: CodeSearchMode
    total_matches: int
    """Number of matching lines, including those not shown. In a word search, only the files that were searched are
    counted.
    """
    total_files: int
    """Number of matching files, including those not shown. In a word search, a file matches if it contains any of the
    words.
    """
    files: list[MatchedFile]
    """Files, sorted by score. Files that define the searched symbol come first."""
    more_matches: int
    """Number of matching lines that are not shown, and number of files that contain them."""
    more_files: int
    unsearched_files: int
    """Number of candidate files not searched because they were unreadable or the time limit was reached."""


class SearchCodeRequest(TypedDict):
    """A code search."""

    budget: NotRequired[int | None]
    """Maximum number of tokens in the response. Defaults to 4000."""
    context: NotRequired[int | None]
    """Number of lines to show before and after each match, at most 10."""
    files_only: NotRequired[bool]
    """List files without their lines."""
    format: NotRequired[MapFormat]
    """The output format used to calculate the token budget."""
    ignore_case: NotRequired[bool | None]
    """Whether to ignore case in a pattern. By default, case is ignored unless the pattern contains an uppercase letter."""
    language: NotRequired[str | None]
    """Only files in this language."""
    limit: NotRequired[int | None]
    """Maximum number of matching lines, or of files with `files_only`. Defaults to 30, at most 500."""
    mode: NotRequired[CodeSearchMode | None]
    """How to interpret the query. Defaults to words, or to literal text if the query is in double quotes."""
    paths: NotRequired[list[str]]
    """Path globs. A file must match at least one of these globs. Globs with a leading `!` exclude files."""
    project: NotRequired[str | None]
    """A directory in the project, or the name of a registered project. Defaults to the project that contains the current
    directory.
    """
    query: NotRequired[str]
    """Words, literal text, or a regular expression."""
    refresh: NotRequired[bool]
    """Reread every file instead of relying on modification times."""
    strict: NotRequired[bool]
    """Do not write the map, and fail if it is out of date."""


# The ranking method.
SearchMode: TypeAlias = Literal["hybrid", "lexical", "semantic"]


class ServiceReport(TypedDict):
    """The state of the server and its background loops."""

    version: str
    started: str
    address: str
    """The server's address."""
    pid: int
    """The server's process ID."""
    paused: bool
    listeners: int
    """Number of clients subscribed to events."""
    loops: list[LoopEntry]
    """The background loops. Empty if the server runs without them."""
    database: NotRequired[DatabaseStatus | None]
    """The state of the shared database, if one is configured."""


class ServiceStatus(TypedDict):
    """A running server."""

    address: str
    """The server's address, as `host:port`."""
    paused: bool
    """Whether a user paused the background loops."""


class SessionAction(TypedDict):
    """The action taken for one candidate."""

    candidate: str
    title: str
    signal: Signal
    """The kind of session content that led to the candidate."""
    action: CandidateVerb
    band: Band
    reason: str
    by: DecidedBy
    likelihood: NotRequired[float | None]
    nearest: NotRequired[str | None]
    """The memory that the candidate was compared with."""
    note: NotRequired[str | None]
    """The lead agent's explanation, quoting the memory or candidate that it refers to."""
    quote: NotRequired[str | None]
    relation: NotRequired[Relation | None]
    scores: NotRequired[ActionScores | None]
    supersedes: NotRequired[str | None]
    target: NotRequired[str | None]
    """The memory that was created, changed, or found to say the same thing already."""


# Whether a session was idle when it was last read.
SessionEnding: TypeAlias = Literal["finished", "unknown", "active"]


class SessionEntry(TypedDict):
    """A session in a list."""

    id: str
    path: str
    """The file or database that contains the session."""
    state: JobState
    facts: SessionFacts
    report: ReadReport
    inner_id: NotRequired[str | None]
    """The session's name within its source, if the source contains several sessions."""
    project: NotRequired[str | None]
    """The root directory of its project, if the project is registered."""
    reason: NotRequired[str | None]
    """The reason for the session's state."""


class SessionFacts(TypedDict):
    """Metadata of a session."""

    agent: str
    id: str
    """The session ID assigned by the agent."""
    role: SessionRole
    other_cwds: list[str]
    other_branches: list[str]
    models: list[str]
    counts: EventCounts
    tokens: SessionTokens
    links: list[SessionLink]
    undone: list[UndoneEvents]
    ending: SessionEnding
    agent_version: NotRequired[str | None]
    """The agent version that last wrote the trace."""
    cwd: NotRequired[str | None]
    """The initial working directory of the session."""
    git_branch: NotRequired[str | None]
    last_activity: NotRequired[str | None]
    repository: NotRequired[str | None]
    """The URL of the Git remote, without credentials."""
    started: NotRequired[str | None]
    title: NotRequired[str | None]


class SessionLink(TypedDict):
    """A link to the session on which this one is based."""

    kind: SessionLinkKind
    session: str
    """The ID of the other session."""
    call: NotRequired[str | None]
    """The call in the other session that started this one."""


# The relation between two sessions.
SessionLinkKind: TypeAlias = Literal["parent", "fork_of", "continues"]


# Whether a session had new content to process.
SessionOutcome: TypeAlias = Literal["done", "unchanged"]


# The purpose of a session.
SessionRole: TypeAlias = Literal["main", "sub_agent", "helper"]


class SessionRun(TypedDict):
    """The actions of a run that processed one session."""

    run_id: str
    mode: RunMode
    outcome: SessionOutcome
    trace_path: str
    session: str
    agent: str
    """The coding agent that wrote the trace."""
    memory_root: str
    workspace_root: str
    run_folder: str
    finished_at: str
    checklist: list[ChecklistStep]
    actions: list[SessionAction]
    counts: ActionCounts
    dropped: dict[str, int]
    """Rejected proposals by reason."""
    written_paths: list[str]
    cost_usd: float
    strategy: Strategy
    fallback: NotRequired[str | None]
    """Why the session was processed with a fallback strategy."""
    lead_error: NotRequired[str | None]
    """Why the lead agent failed. The decisions were then made by the rules."""
    limit: NotRequired[str | None]
    """The settings key of the limit that was reached."""
    summary_path: NotRequired[str | None]


class SessionStatus(TypedDict):
    """One agent's sessions in one project."""

    agent: str
    seen: int
    states: dict[str, int]
    """Number of sessions by state."""
    skipped: dict[str, int]
    """Number of skipped sessions by reason."""
    project: NotRequired[str | None]


class SessionTokens(TypedDict):
    """Token counts for all model calls in a session."""

    input: int
    """Input tokens, excluding cached tokens."""
    output: int
    cached: int
    """Tokens read from a cache."""
    cache_write: int
    """Tokens written to a cache."""
    reasoning: int
    """Reasoning tokens, if the agent reports them separately. They are included in `output`."""


class Setting(TypedDict):
    """One setting."""

    value: SettingValue
    origin: str
    """Where the value was set. A list can combine values from several origins."""


# Value of a setting.
SettingValue: TypeAlias = "str | int | float | bool | list[str]"


# The severity of a finding.
Severity: TypeAlias = Literal["error", "warning"]


# The kind of session content that led to a candidate.
Signal: TypeAlias = Literal[
    "remember",
    "correction",
    "preference",
    "decision",
    "choice",
    "convention",
    "context",
    "failure",
    "procedure",
    "model",
]


# The start of a delta: a revision, a git ref (`git:REF` or `REF`), `client:NAME`, or `0` for everything.
Since: TypeAlias = "str"


class SinceRequest(TypedDict):
    """The period of a report."""

    since: NotRequired[str | None]
    """A date, a time or an age, such as `2026-01` or `30d`. The default depends on the operation."""


class SkippedCounts(TypedDict):
    """Number of project entries excluded from the map, by reason."""

    denied: int
    """Files that usually contain secrets, such as keys and passwords."""
    links: int
    special: int
    """Pipes, sockets and devices."""
    unreadable: int
    """Directories that cannot be opened."""
    unnamable: int
    """Names that are not valid UTF-8."""
    nested: int
    """Git repositories inside the project that are not submodules."""
    too_deep: int
    """Directories and files that are nested too deeply, and tracked files that exceed the limit."""
    unread_rules: int
    """Directories skipped because their ignore rules exceed a limit."""


class SourceProblem(TypedDict):
    """A source that cannot be read, and why."""

    path: str
    reason: str


class SourceQuote(TypedDict):
    """The part of a source that best matches a sentence."""

    source: str
    """A memory ID, or the position of a session message."""
    text: str


# The speaker of a quote.
Speaker: TypeAlias = Literal["assistant", "tool", "human", "user"]


# The scope of a spending limit.
SpendingScope: TypeAlias = Literal["day", "project"]


class SpendingStatus(TypedDict):
    """Model usage in one scope."""

    scope: SpendingScope
    calls: int
    tokens: int
    limit_tokens: int
    cost_usd: float
    limit_usd: float
    unpriced_calls: int
    """Calls whose price is unknown. Only their tokens are counted."""
    is_reached: bool
    """Whether the limit has been reached, in which case no more model calls are made."""


class StatusReport(TypedDict):
    """An overview of the stores, sessions and services."""

    scope: Scope
    """The stores included in searches."""
    stores: list[StoreStatus]
    projects: int
    """Number of registered projects."""
    sessions: list[SessionStatus]
    sessions_add_up: bool
    """Whether every known session is in exactly one state."""
    spending: list[SpendingStatus]
    """Model usage and its limits."""
    health: Health
    """The result of the last check."""
    checked: NotRequired[str | None]
    """The time of the last check."""
    config: NotRequired[str | None]
    """A problem with the repository settings."""
    database: NotRequired[DatabaseStatus | None]
    """The shared database, if one is configured."""
    last_sync: NotRequired[str | None]
    project: NotRequired[str | None]
    """The name of the current project."""
    root: NotRequired[str | None]
    service: NotRequired[ServiceStatus | None]
    """The running server for this Nacre home directory."""
    switched_off: NotRequired[list[str]]
    """Disconnected agents that have sessions on this machine. Their sessions are not processed."""
    waiting: NotRequired[WaitingSessions]
    """Unfinished sessions in all projects."""


# The state of a step.
StepState: TypeAlias = Literal["pending", "in_progress", "done", "failed", "gated", "skipped"]


class StoreCheck(TypedDict):
    """Problems found in one store."""

    scope: StoreScope
    path: str
    memories: int
    evidence: int
    findings: list[Finding]
    foreign: NotRequired[int]
    """Memories from other sources that are pending in `nacre trust`."""
    quarantined: NotRequired[int]
    """Memories with instructions that did not come from the user."""
    quotes: NotRequired[QuoteCheck | None]
    """Results of comparing the quotes, if requested."""


class StoreMaintenance(TypedDict):
    """What a maintenance run did in one store."""

    outcome: MaintainState
    mode: RunMode
    finished_at: str
    memories: int
    broken: int
    """Number of unreadable files, which were left unchanged."""
    counts: StoreMaintenanceCounts
    """Number of actions, by kind."""
    actions: list[MaintainAction]
    contradictions: list[OpenContradiction]
    written_paths: list[str]
    model_calls: int
    tokens: int
    cost_usd: float
    run_id: NotRequired[str | None]
    """ID of the run. Absent if nothing changed."""


class StoreMaintenanceCounts(TypedDict):
    """Number of actions, by kind."""

    archive: NotRequired[int]
    consolidate: NotRequired[int]
    doubt: NotRequired[int]
    establish: NotRequired[int]
    freshen: NotRequired[int]
    merge: NotRequired[int]
    relink: NotRequired[int]
    restore: NotRequired[int]
    stale: NotRequired[int]
    supersede: NotRequired[int]
    validate: NotRequired[int]


# The store that contains a memory.
StoreScope: TypeAlias = Literal["project", "global"]


class StoreStatus(TypedDict):
    """Statistics about one memory store."""

    scope: StoreScope
    path: str
    memories: list[TypeCount]
    candidates: int
    """Candidates that no user has reviewed yet."""
    broken: int
    """Files that cannot be read."""
    foreign: NotRequired[int]
    """Memories from other sources that are pending in `nacre trust`."""
    quarantined: NotRequired[int]
    """Memories with instructions that did not come from the user."""
    updated: NotRequired[str | None]
    """Time of the last update of any memory."""


# How a session was processed.
Strategy: TypeAlias = Literal["offline", "windows"]


# How sessions are processed.
StrategyChoice: TypeAlias = Literal["auto", "offline", "windows"]


# An event in the event stream.
StreamEvent: TypeAlias = (
    "StreamEventTask"
    " | StreamEventWarning"
    " | StreamEventStep"
    " | StreamEventProgress"
    " | StreamEventNote"
    " | StreamEventWords"
    " | StreamEventSentence"
    " | StreamEventChanged"
    " | StreamEventMissed"
)


class StreamEventChanged(TypedDict):
    """Some data changed, and the client must request it again."""

    at: str
    by: NotRequired[str | None]
    """The user who caused the event. Absent for the owner of this machine."""
    project: NotRequired[str | None]
    """The project name, if the request specified one."""
    task: NotRequired[str | None]
    """The task that the event belongs to."""
    event: Literal["changed"]
    what: ChangedThing


class StreamEventMissed(TypedDict):
    """Events were lost, and the client must request all data again."""

    at: str
    by: NotRequired[str | None]
    """The user who caused the event. Absent for the owner of this machine."""
    project: NotRequired[str | None]
    """The project name, if the request specified one."""
    task: NotRequired[str | None]
    """The task that the event belongs to."""
    event: Literal["missed"]


class StreamEventNote(TypedDict):
    """A note about an agent's work."""

    at: str
    by: NotRequired[str | None]
    """The user who caused the event. Absent for the owner of this machine."""
    project: NotRequired[str | None]
    """The project name, if the request specified one."""
    task: NotRequired[str | None]
    """The task that the event belongs to."""
    event: Literal["note"]
    text: str


class StreamEventProgress(TypedDict):
    """Progress of the current step."""

    at: str
    by: NotRequired[str | None]
    """The user who caused the event. Absent for the owner of this machine."""
    project: NotRequired[str | None]
    """The project name, if the request specified one."""
    task: NotRequired[str | None]
    """The task that the event belongs to."""
    event: Literal["progress"]
    done: int
    total: int
    bytes: int


class StreamEventSentence(TypedDict):
    """An answer sentence with verified citations."""

    at: str
    by: NotRequired[str | None]
    """The user who caused the event. Absent for the owner of this machine."""
    project: NotRequired[str | None]
    """The project name, if the request specified one."""
    task: NotRequired[str | None]
    """The task that the event belongs to."""
    event: Literal["sentence"]
    text: str
    starts_line: bool


class StreamEventStep(TypedDict):
    """A short description of the current step."""

    at: str
    by: NotRequired[str | None]
    """The user who caused the event. Absent for the owner of this machine."""
    project: NotRequired[str | None]
    """The project name, if the request specified one."""
    task: NotRequired[str | None]
    """The task that the event belongs to."""
    event: Literal["step"]
    text: str


class StreamEventTask(TypedDict):
    """The state of a task changed."""

    at: str
    by: NotRequired[str | None]
    """The user who caused the event. Absent for the owner of this machine."""
    project: NotRequired[str | None]
    """The project name, if the request specified one."""
    task: NotRequired[str | None]
    """The task that the event belongs to."""
    event: Literal["task"]
    state: TaskState
    agent: str
    title: str


class StreamEventWarning(TypedDict):
    """A warning for the user."""

    at: str
    by: NotRequired[str | None]
    """The user who caused the event. Absent for the owner of this machine."""
    project: NotRequired[str | None]
    """The project name, if the request specified one."""
    task: NotRequired[str | None]
    """The task that the event belongs to."""
    event: Literal["warning"]
    message: str
    hint: NotRequired[str | None]


class StreamEventWords(TypedDict):
    """Streamed model output that has not been verified yet."""

    at: str
    by: NotRequired[str | None]
    """The user who caused the event. Absent for the owner of this machine."""
    project: NotRequired[str | None]
    """The project name, if the request specified one."""
    task: NotRequired[str | None]
    """The task that the event belongs to."""
    event: Literal["words"]
    text: str


class SurfaceSymbol(TypedDict):
    """A public symbol."""

    name: str
    kind: SymbolKind
    line: int
    signature: str


class SymbolDelta(TypedDict):
    """A changed symbol in a modified file."""

    name: str
    kind: SymbolKind
    change: CodeChange
    is_signature: bool
    """Whether the signature changed, in which case callers may need to change too."""


class SymbolDeltas(TypedDict):
    """Changed symbols of a modified file."""

    depth: AnalysisDepth
    """How thoroughly both versions were analyzed. A shallow analysis does not cover function bodies."""
    changed: list[SymbolDelta]


# How much of a symbol is shown.
SymbolForm: TypeAlias = Literal["name", "signature", "body"]


# The kind of a symbol.
SymbolKind: TypeAlias = Literal[
    "function",
    "method",
    "class",
    "struct",
    "enum",
    "implementation",
    "type",
    "constant",
    "macro",
    "interface",
    "module",
]


class SyncDurations(TypedDict):
    """The duration of each step of a sync, in milliseconds."""

    read: int
    decide: int
    lead: int
    total: NotRequired[int]
    """All steps, and the time between them."""


class SyncMetrics(TypedDict):
    """The metrics for syncing one session."""

    run_id: str
    strategy: Strategy
    gate: Gate
    """Whether the session was worth processing."""
    windows: int
    unread_windows: int
    """Windows skipped because the model's response was unusable or the session had too many windows."""
    unread_events: int
    """Events not passed to a model because the session was too long."""
    candidates: int
    dropped: dict[str, int]
    """Rejected proposals by reason."""
    denied_writes: int
    leads: list[LeadMetrics]
    explorers: list[ExplorerMetrics]
    model_calls: int
    tokens: TokenCounts
    cost_usd: float
    unpriced_calls: int
    """Model calls with an unknown price."""
    redactions: dict[str, int]
    """Removed secrets by kind."""
    events: int
    durations_ms: SyncDurations
    fallback: NotRequired[str | None]


# The purpose of a sync run. The mode is part of the run directory's name.
SyncMode: TypeAlias = Literal["sync", "hot", "cold"]


class SyncReport(TypedDict):
    """The result of a sync."""

    run: str
    """The name of the sync run."""
    sources: int
    """Number of files and databases found."""
    unchanged: int
    """Number of sources that were unchanged and not opened."""
    read: int
    """Number of sessions read."""
    resumed: int
    """Number of sessions that were read starting from where the previous sync stopped."""
    bytes: int
    reworded: int
    """Number of stored sessions that were redacted again because `redact.extra` changed."""
    readmitted: int
    """Number of sessions queued because their project was registered only after they were read."""
    gone: int
    """Number of queued sessions whose trace no longer exists."""
    left: int
    """Number of sources left for the next sync."""
    problems: list[SourceProblem]
    sessions: list[SyncedSession]
    paused: list[PausedSession]
    """Sessions paused until a model is available. Only the first session of each project is listed."""
    busy: NotRequired[bool]
    """Whether another process has locked a store. The remaining sessions stay in the queue."""
    learned: NotRequired[list[LearnedMemory]]
    """Current state of the memories that this sync created or changed."""
    looked_in: NotRequired[list[LookedIn]]
    """The locations that were searched, if no session was found."""
    next: NotRequired[str | None]
    """Suggested next command."""
    not_set_up_here: NotRequired[FolderSessions | None]
    """The current directory and how many sessions it has, if the directory is not set up."""
    switched_off: NotRequired[list[str]]
    """Disconnected agents that have sessions on this machine. Their sessions are not processed."""
    totals: NotRequired[SyncTotals]
    waiting: NotRequired[WaitingSessions]


class SyncRequest(TypedDict):
    """The sessions to sync, and how to process them."""

    agents: NotRequired[list[str]]
    """Sync only these agents' sessions. If empty, all connected agents are included."""
    ended: NotRequired[str | None]
    """The agent's ID for a session that has ended, so that the session is not treated as still active."""
    force: NotRequired[bool]
    """Also read unchanged traces."""
    ignore_lock: NotRequired[bool]
    """Run even if another sync is running."""
    max_sessions: NotRequired[int | None]
    """Stop after this many sessions."""
    mode: NotRequired[SyncMode]
    no_extract: NotRequired[bool]
    """Read and queue sessions without extracting memories."""
    run_id: NotRequired[str | None]
    """The name of the sync run."""
    since: NotRequired[str | None]
    """Only traces changed since this date, time or age."""
    strategy: NotRequired[StrategyChoice | None]
    until: NotRequired[str | None]
    """Only traces changed before this date, time or age."""


class SyncTotals(TypedDict):
    """Totals of a sync."""

    sessions: int
    """Number of processed sessions."""
    failed: int
    """Number of failed sessions."""
    added: int
    """Number of new memories."""
    active: int
    """Number of new memories that are active."""
    to_review: int
    """Number of new memories that are pending in `nacre review`."""
    updated: int
    """Number of existing memories to which details were added."""
    superseded: int
    """Number of superseded memories."""
    summaries: int
    """Number of session summaries."""
    cost_usd: float
    """Cost of model calls in US dollars."""


# A processed session.
SyncedSession: TypeAlias = "SyncedSessionDone | SyncedSessionFailed"


class SyncedSessionDone(TypedDict):
    id: str
    agent: str
    title: str
    ms: int
    """Duration in milliseconds."""
    project: NotRequired[str]
    """The root directory of the session's project."""
    state: Literal["done"]
    report: SessionRun
    dropped: int
    """Number of rejected proposals."""


class SyncedSessionFailed(TypedDict):
    id: str
    agent: str
    title: str
    ms: int
    """Duration in milliseconds."""
    project: NotRequired[str]
    """The root directory of the session's project."""
    state: Literal["failed"]
    reason: str


class TakeInReport(TypedDict):
    """What the server did with each pushed memory."""

    memories: list[TakenMemory]


class TakenMemory(TypedDict):
    id: str
    state: PushState


class TaskCancelReport(TypedDict):
    """The result of cancelling a task and its subtasks."""

    task: str
    ended: list[str]
    """Queued tasks that were cancelled immediately."""
    asked: list[str]
    """Running tasks, which their own processes will stop."""


# The priority of a task.
TaskClass: TypeAlias = Literal["interactive", "background"]


# A task without its events.
TaskEntry = TypedDict(
    "TaskEntry",
    {
        "id": "str",
        "session": "str",
        "agent": "str",
        "class": "TaskClass",
        "title": "str",
        "state": "TaskState",
        "created": "str",
        # Number of events.
        "events": "int",
        "ended": "NotRequired[str | None]",
        # The task that started this one.
        "parent": "NotRequired[str | None]",
        "project": "NotRequired[str | None]",
        # Why the task ended.
        "reason": "NotRequired[str | None]",
        "started": "NotRequired[str | None]",
    },
)


class TaskEvent(TypedDict):
    """An event of a task. `event` is its name; the other fields depend on the version of Nacre that ran the task."""

    sequence: int
    at: str


class TaskListReport(TypedDict):
    """Tasks, newest first."""

    tasks: list[TaskEntry]


class TaskRef(TypedDict):
    """A task."""

    task: str
    """The task ID. Requests also accept a prefix of the ID."""


class TaskShowReport(TypedDict):
    """A task and its events, in order."""

    task: TaskEntry
    events: list[TaskEvent]


class TaskShowRequest(TypedDict):
    """The task, and which of its events to show."""

    task: str
    """The ID of the task, or a prefix of it."""
    after: NotRequired[int]
    """Only events with a higher sequence number."""
    limit: NotRequired[int | None]
    """Maximum number of events; 0 means all. The default is 1000."""
    wait: NotRequired[bool]
    """Wait for new events or the end of the task."""


# The state of a task.
TaskState: TypeAlias = Literal["accepted", "queued", "running", "completed", "failed", "cancelled"]


class TeamProject(TypedDict):
    """The memories of one project."""

    project: str
    learned: list[MemoryUse]
    """Memories learned in the period that are in use, newest first."""
    n_learned: int
    """Total number of memories learned in the period, including those not listed."""
    contested: list[ContestedPair]
    """Pairs of contradictory memories, the most likely contradictions first."""
    unused: list[MemoryUse]
    """Memories unused for two weeks or more, lowest confidence first."""
    n_unused: int


class TeamReport(TypedDict):
    """Memories from all projects that the caller can read."""

    since: str
    until: str
    projects: list[TeamProject]
    """Projects with content in this report, sorted by name."""
    n_projects: int
    """Number of projects examined."""
    across: list[ProjectContradiction]
    """Decisions from different projects that contradict each other and must be resolved by users."""
    n_not_compared: int
    """Number of memories that were not compared because the report reached its limit."""
    unreadable: list[str]
    """Projects that cannot be read."""


class TokenCounts(TypedDict):
    """Input and output token counts."""

    input: int
    output: int


class ToolStats(TypedDict):
    """Usage statistics of one tool."""

    tool: str
    calls: int
    p50_us: int
    p95_us: int
    errors: dict[str, int]
    """Number of failed calls by kind of error."""
    bytes_out: int
    shown_bytes: int
    """Size in bytes of the results passed to models."""


class TopImport(TypedDict):
    """An external package, and the number of files that import it."""

    module: str
    files: int


class TraceEvent(TypedDict):
    """An event of a session."""

    sequence: int
    kind: TraceEventKind
    place: TracePlace
    lane: TraceLane
    error: bool
    text: str
    """The text, or only its beginning if the text was shortened."""
    text_end: str
    """The end of the text if it was shortened."""
    full_bytes: int
    """Size in bytes before shortening."""
    at: NotRequired[str | None]
    call: NotRequired[str | None]
    """The ID shared by a tool call and its result."""
    injected: NotRequired[str | None]
    """Why the text is considered injected, if it is."""
    key: NotRequired[str | None]
    """The record ID assigned by the agent."""
    person: NotRequired[str | None]
    """How the user entered the text, if the user wrote it."""
    tool: NotRequired[str | None]


# The kind of an event.
TraceEventKind: TypeAlias = Literal[
    "user",
    "assistant",
    "reasoning",
    "tool_call",
    "tool_result",
    "summary",
    "compaction",
    "meta",
]


class TraceHit(TypedDict):
    """A matching message."""

    id: str
    """The session ID."""
    agent: str
    sequence: int
    kind: str
    snippet: str
    """The text around the matching words."""
    score: float
    why: TraceHitReason
    at: NotRequired[str | None]
    project: NotRequired[str | None]
    title: NotRequired[str | None]


class TraceHitReason(TypedDict):
    """Why a message matched."""

    terms: list[str]
    """Query terms that the message contains."""
    similarity: float
    """Semantic similarity to the query, from 0 to 1."""


# The part of a session to which an event belongs.
TraceLane: TypeAlias = Literal["main", "sidechain", "inherited"]


class TraceListReport(TypedDict):
    """Sessions, newest first."""

    sessions: list[SessionEntry]
    total: int
    """Total number of sessions, including those not listed."""


class TraceListRequest(TypedDict):
    """Selects the sessions to list."""

    agent: NotRequired[str | None]
    all: NotRequired[bool]
    """Include sessions of all projects."""
    limit: NotRequired[int | None]
    """Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting."""
    offset: NotRequired[int]
    """Number of sessions to skip."""
    since: NotRequired[str | None]
    """Only sessions active since this date, time or age."""


# The position of an event in its trace.
TracePlace: TypeAlias = "TracePlaceLine | TracePlaceRow"


class TracePlaceLine(TypedDict):
    """A line number, starting at 1, and the line's byte offset."""

    line: TracePlaceLineLine


class TracePlaceLineLine(TypedDict):
    line: int
    offset: int


class TracePlaceRow(TypedDict):
    """The key of a database row."""

    row: TracePlaceRowRow


class TracePlaceRowRow(TypedDict):
    key: str


class TraceSearchReport(TypedDict):
    """Matching messages, best match first."""

    query: str
    hits: list[TraceHit]


class TraceSearchRequest(TypedDict):
    """A query for searching session messages."""

    query: str
    """Words, quoted phrases and filters."""
    agent: NotRequired[str | None]
    all: NotRequired[bool]
    """Include sessions of all projects."""
    limit: NotRequired[int | None]
    """Maximum number of results. Defaults to the `memory.max_results` setting."""
    mode: NotRequired[SearchMode]
    since: NotRequired[str | None]
    """Only messages since this date, time or age."""


class TraceShowReport(TypedDict):
    """A session and its events in order."""

    session: SessionEntry
    events: list[TraceEvent]


class TraceShowRequest(TypedDict):
    """The session to show, and which details to include."""

    id: str
    """The session ID or a prefix of it. `ID:SEQUENCE` shows 20 events from this one on, unless `limit` is set."""
    full: NotRequired[bool]
    """Include reasoning, injected text and records of unknown kinds."""
    limit: NotRequired[int | None]
    """Maximum number of events."""


class TranscriptEntry(TypedDict):
    """A transcript on a server."""

    id: str
    agent: str
    session: str
    hash: str
    """The hash of the transcript as sent."""
    bytes: int
    at: str
    """When the upload was completed."""
    shared: bool
    """Whether everyone who can read the project can also read the transcript."""
    person: NotRequired[str | None]
    """The user who sent the transcript. Absent for the owner of the server."""


class TranscriptListReport(TypedDict):
    """A project's transcripts that are shared or belong to the caller, newest first."""

    transcripts: list[TranscriptEntry]


class TranscriptPutReport(TypedDict):
    """The state of a transcript on the server."""

    state: TranscriptState
    received: int
    """Number of bytes received so far, which is the offset of the next part."""


class TranscriptPutRequest(TypedDict):
    """A part of a transcript in Nacre's format."""

    agent: str
    """The agent of the session."""
    session: str
    """The name of the session on its original machine."""
    hash: str
    """The hash of the complete transcript as sent."""
    bytes: int
    """Size of the complete transcript in bytes."""
    offset: int
    """Offset of this part in bytes."""
    text: str
    share: NotRequired[bool]
    """Share the transcript with everyone who can read the project."""


class TranscriptShowReport(TypedDict):
    """A transcript, including its text."""

    transcript: TranscriptEntry
    text: str


# What the server did with a part of a transcript.
TranscriptState: TypeAlias = Literal["taken", "known", "partial", "too_large", "full", "invalid"]


class TrustItem(TypedDict):
    """A memory in a trust report."""

    id: str
    type: MemoryType
    title: str
    status: str
    tags: list[str]
    related: list[str]
    archived: bool
    scope: StoreScope
    path: str
    reason: str
    """Why the memory is not yet trusted."""
    changed: bool
    """Whether a program other than Nacre changed the memory after it was last trusted."""
    hash: str
    """The hash of the memory file."""
    trusted: bool
    """Whether this request marked the memory as trusted."""
    applies: NotRequired[list[str]]
    """Situations in which the memory is relevant."""
    before: NotRequired[str | None]
    """The content when the memory was last trusted, if Git still has it."""
    committed: NotRequired[str | None]
    """The date of the memory's last commit."""
    committed_by: NotRequired[str | None]
    """The author of the memory's last commit, from Git."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """The kind of learning."""
    replaced_by: NotRequired[str | None]
    """ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
    but the later memory contradicts this one.
    """
    text: NotRequired[str | None]
    """The content of the memory file."""
    trust: NotRequired[TrustLevel | None]
    """The trust level on this machine, if lower than the level of an agent's own statements."""
    updated: NotRequired[str | None]


# The trust level of a memory on this machine, lowest first.
TrustLevel: TypeAlias = Literal["quarantined", "foreign", "derived", "assistant", "user", "human"]


class TrustReport(TypedDict):
    """Memories pending review or trusted by this request."""

    memories: list[TrustItem]
    foreign: int
    """Number of memories from other sources that are still pending."""
    quarantined: int
    """Number of memories that are still quarantined."""
    trusted: int
    """Number of memories trusted by this request."""
    dry_run: bool
    change: NotRequired[str | None]
    """The change ID to pass to `nacre undo`. Absent if nothing changed."""
    more: NotRequired[int]
    """Number of matching memories beyond the request limit."""


class TrustRequest(TypedDict):
    """The memories to review for trust, and the user's decision."""

    all: NotRequired[bool]
    """Select all memories from other sources. Quarantined memories must be selected by ID."""
    diff: NotRequired[bool]
    """Include the content of each memory, both current and as last trusted."""
    dry_run: NotRequired[bool]
    """Show which memories would be trusted, without changing anything."""
    ids: NotRequired[list[str]]
    """IDs of the memories or prefixes of them. If empty, all pending memories are listed."""
    scope: NotRequired[Scope | None]
    seen: NotRequired[list[str]]
    """Hashes of the memory files that the user has reviewed. A file with any other hash is not trusted."""


class TypeCount(TypedDict):
    """Number of memories of one type."""

    type: MemoryType
    active: int
    archived: int


class UndoAction(TypedDict):
    """A restored file."""

    action: str
    """Always `put back`."""
    target: str
    """The memory to which the file belongs."""


class UndoListReport(TypedDict):
    """Changes in this project and in the user's global store, newest first."""

    changes: list[ChangeEntry]
    total: int
    """Total number of changes, including those not listed."""


class UndoReport(TypedDict):
    """The result of an undo."""

    run: str
    """The ID of this undo, which can itself be undone."""
    of: str
    """The change that was undone."""
    command: str
    """The undone command, without `nacre`."""
    dry_run: bool
    paths: list[str]
    memories: list[UndoneMemory]
    kept: list[KeptFile]
    """Files that were kept because they were changed later."""
    changes: NotRequired[list[PlannedChange] | None]
    """Current and restored file contents. Only present in a dry run."""
    notes: NotRequired[list[str]]
    """Additional notes for the user."""


class UndoRequest(TypedDict):
    """The change to undo."""

    dry_run: NotRequired[bool]
    """Show the files that would be restored, without changing anything."""
    keep_changed: NotRequired[bool]
    """Keep memories that were changed since then, and restore the rest."""
    last: NotRequired[bool]
    """Undo the newest change that has not been undone yet."""
    run: NotRequired[str]
    """A prefix or suffix of the ID of a change or run. Leave it empty with `last`."""


class UndoRunReport(TypedDict):
    """What an undo did, as stored in its run directory."""

    run_id: str
    mode: RunMode
    of: str
    """The change that was undone."""
    finished_at: str
    actions: list[UndoAction]
    written_paths: list[str]
    runs: NotRequired[list[str]]
    """The undone runs in this store."""


# Events `from..=to` that the user reverted in the agent.
UndoneEvents = TypedDict(
    "UndoneEvents",
    {
        "from": "int",
        "to": "int",
    },
)


# The change that an undo made to a memory.
UndoneHow: TypeAlias = Literal["removed", "restored", "reverted"]


class UndoneMemory(TypedDict):
    """A memory that an undo changed."""

    id: str
    done: UndoneHow


# A user's verdict on how useful a memory is.
Verdict: TypeAlias = Literal["useful", "wrong", "outdated"]


class WaitingSessions(TypedDict):
    """Unfinished sessions, grouped by reason."""

    ready: int
    """Number of sessions ready to be processed."""
    not_set_up: list[FolderSessions]
    """Sessions in directories that are not set up. Directories with the most sessions come first."""
    active: NotRequired[LaterSessions | None]
    """Sessions that were modified recently and may still be running."""
    retried: NotRequired[LaterSessions | None]
    """Failed sessions that will be retried."""
    without_folder: NotRequired[list[AgentSessions]]
    """Sessions whose traces name no directory. `nacre sync --trace` assigns them to a project."""


class WakeRequest(TypedDict):
    """Loops to run as soon as possible."""

    loops: NotRequired[list[LoopName]]
    """The loops to run. If empty, the sync loop runs."""


class Warning(TypedDict):
    """A warning for the user, and what to do about it."""

    message: str
    hint: NotRequired[str | None]


class WhyFound(TypedDict):
    """Why a memory matched."""

    terms: list[str]
    """Query terms that the memory contains."""
    lexical: float
    """The part of the score based on word matches."""
    similarity: float
    """Semantic similarity to the query, from 0 to 1."""
    edges: list[MemoryEdge]
    """Links from other memories that increased the score."""


# Why a file was included.
WhyRelevant: TypeAlias = Literal["asked", "words", "near", "meaning", "memory"]


class WiringOptions(TypedDict):
    """Which parts to write to an agent's settings, and whether this is a dry run."""

    dry_run: NotRequired[bool]
    """Report the changes without making them."""
    guard: NotRequired[bool]
    """Also run a guard hook before each tool call. An existing guard stays enabled."""
    parts: NotRequired[list[WiringPart]]
    """Parts to connect. Defaults to the transcripts and all parts that the agent supports."""
    plan: NotRequired[str | None]
    """The `plan` from the dry run that the user approved. The request is rejected if the changes no longer match the plan."""


# A part that can be written to an agent's settings.
WiringPart: TypeAlias = Literal["mcp", "hooks", "skill"]


# State of a part of the connection.
WiringState: TypeAlias = Literal["on", "off", "outdated", "not_possible"]
