"""The wire types: the JSON of requests and reports as it is sent.

Written by sdk/generate/generate.py. Do not edit: change routes.toml or the wire types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class ActionCounts(TypedDict):
    """How many candidates became what."""

    add: int
    update: int
    no_op: int
    supersede: int


class ActionScores(TypedDict):
    """How likely each question about a candidate and its nearest memory is answered with yes, from 0 to 1."""

    about: float
    against: float
    more: float


class AffectedFile(TypedDict):
    """A file that uses a symbol that changed its shape or is gone."""

    path: str
    depth: int
    """Imports between it and what changed: 1 for a file that imports it itself, or needs no import."""
    symbols: list[str]
    """What it uses; empty for a file that imports one that is gone."""


class AffectedFolder(TypedDict):
    """A folder with affected files in it."""

    path: str
    """Empty for the root."""
    files: int


class AgentActivity(TypedDict):
    """What one agent did in the whole time."""

    agent: str
    sessions: int
    input_tokens: int
    """Without what came from a cache."""
    cached_tokens: int
    """Read from a cache or written to it."""
    output_tokens: int
    last: str
    """When it was last active."""


class AgentEntry(TypedDict):
    """An agent, its traces and what its files have of Nacre."""

    agent: str
    connected: bool
    """Whether its traces are read."""
    sources: int
    """How many files and databases hold its traces."""
    roots: list[str]
    problems: list[str]
    """Places that could not be looked into."""
    traces: WiringState
    mcp: WiringState
    hooks: WiringState
    skill: WiringState


class AgentSessions(TypedDict):
    """How many sessions of one agent there are."""

    agent: str
    title: str
    """The agent as people call it."""
    sessions: int


# How closely a text was analysed.
AnalysisDepth: TypeAlias = Literal["none", "glance", "full"]


class AnswerSentence(TypedDict):
    """A sentence that holds."""

    text: str
    """What its sources say, each with its id."""
    ids: list[str]
    """The memories that prove it."""
    messages: list[str]
    """The messages of sessions that do."""
    quotes: list[SourceQuote]
    """The words of each source, as they stand there."""


# An answer, by who gave it.
AskReport: TypeAlias = "AskReportModel | AskReportMemories"


class AskReportMemories(TypedDict):
    """The memories that fit the question are the answer."""

    by: Literal["memories"]
    question: str
    known: bool
    memories: list[RecalledMemory]
    broken: int
    """How many files could not be read."""
    answer: NotRequired[str | None]
    """The first memory in a few words."""
    error: NotRequired[str | None]
    """Why no model answered, where one should have."""


class AskReportModel(TypedDict):
    """A model wrote it, and each of its sentences was checked."""

    by: Literal["model"]
    question: str
    known: bool
    sentences: list[AnswerSentence]
    memories: list[CitedMemory]
    """The memories that the sentences cite."""
    messages: list[str]
    """The messages of sessions that they cite."""
    left_out: dict[str, int]
    """How many sentences were left out, by reason."""
    broken: int
    """How many files could not be read."""
    steps: int
    tool_calls: int
    tokens: TokenUse
    answer: NotRequired[str | None]
    """The sentences as one text."""
    cost_usd: NotRequired[float | None]
    error: NotRequired[str | None]
    """Why the answer is not whole."""
    failure: NotRequired[Failure | None]
    """The same with what may help."""


class AskRequest(TypedDict):
    """What is asked, and what it may be answered from."""

    question: str
    all_projects: NotRequired[bool]
    """Answer from every registered project that may be read, instead of this one."""
    limit: NotRequired[int | None]
    """At most this many memories, 1 to 20. Without it, 5."""
    no_model: NotRequired[bool]
    """Answer with the memories themselves, also where a model is set."""
    scope: NotRequired[Scope | None]
    scripted: NotRequired[str | None]
    """A file with the model's answers, for tests."""


# Whether the numbers alone decide.
Band: TypeAlias = Literal["clear", "grey"]


class BriefItem(TypedDict):
    """A memory in a line."""

    id: str
    scope: StoreScope
    text: str


class BriefReport(TypedDict):
    """A brief, by topic and as one text."""

    budget: int
    tokens: int
    """How many of them the text counts."""
    sections: list[BriefSection]
    left_out: int
    """How many memories hold and are not in it."""
    unproven: list[str]
    """Those that are not in it because nothing shows who wrote them."""
    text: str
    """The brief as Markdown; empty when there is nothing to tell or no room for it."""
    broken: NotRequired[list[str]]
    """Files that could not be read, by path."""
    candidates: NotRequired[int]
    """How many candidates are not in it because they wait for `nacre review`."""


class BriefRequest(TypedDict):
    """What a brief is for, and how long it may be."""

    budget: NotRequired[int | None]
    """At most this many tokens. Without it, 2000."""
    files: NotRequired[list[str]]
    """Files that it is about."""
    scope: NotRequired[Scope | None]
    task: NotRequired[str | None]
    """What is to be done, in words."""


class BriefSection(TypedDict):
    """The memories of one topic, best first."""

    topic: BriefTopic
    items: list[BriefItem]


# What a section tells of.
BriefTopic: TypeAlias = Literal["decisions", "preferences", "pitfalls", "knowledge", "recent_work", "open_ends"]


class BrokenFile(TypedDict):
    """A file that could not be read."""

    path: str
    message: str
    line: NotRequired[int | None]


# How the map came to be up to date.
CacheStatus: TypeAlias = Literal["hit", "miss", "refreshed", "stale_rebuild"]


# What is done with a candidate.
CandidateVerb: TypeAlias = Literal["add", "update", "no-op", "supersede"]


class ChangeEntry(TypedDict):
    """A change, in a line."""

    id: str
    command: str
    """What was typed, without `nacre`."""
    at: str
    runs: int
    """How many runs it has: a sync has one for each session."""
    added: int
    changed: int
    removed: int
    memories: list[str]
    """Some of the memories."""
    undoable: bool
    """Whether `nacre undo` can take it back."""
    about: NotRequired[str]
    """What else it is about: a file, agents or projects."""
    undoes: NotRequired[str | None]
    """The change that it took back."""
    undone_by: NotRequired[str | None]
    """The undo that took it back."""


# What happens to a file.
ChangeKind: TypeAlias = Literal["create", "change", "remove"]


# What changed.
ChangedThing: TypeAlias = Literal["memories", "queue", "projects", "config", "map", "service"]


class CheckedCopy(TypedDict):
    """A place that was looked into after a memory was forgotten."""

    place: CopyPlace
    state: CopyState
    detail: NotRequired[str | None]
    """Why it waits, or which server."""


class ChecklistStep(TypedDict):
    """One step of a run, and how far it is."""

    step: str
    state: StepState


class CitedMemory(TypedDict):
    """A memory that an answer cites, as it is now."""

    id: str
    type: str
    """Its type; of a learning, its kind."""
    title: str
    status: str
    scope: StoreScope
    path: str
    not_verified: list[str]
    """What it overturned by nothing but its own claim."""
    also_in: list[StoreScope]
    """Which other stores have the same id."""
    project: NotRequired[str | None]
    """Its project, where all projects were asked."""
    quote: NotRequired[str | None]
    speaker: NotRequired[Speaker | None]
    """Who said that."""


class CodeApart(TypedDict):
    """Files of code that are not the project's own sources."""

    tests: int
    aside: int
    """Examples, benchmarks and documents."""
    vendored: int
    generated: int


class CodeArea(TypedDict):
    """A part of the project: a package, or a folder."""

    path: str
    """Empty for what lies in no folder."""
    files: int
    lines: int
    about: NotRequired[str | None]
    """What its manifest or README says it is."""


# What became of a file or a symbol.
CodeChange: TypeAlias = Literal["added", "modified", "removed", "renamed"]


class CodeDelta(TypedDict):
    """What changed, as much of it as was asked for; the counts are of all."""

    since: Since
    added: int
    modified: int
    removed: int
    renamed: int
    files: list[FileDelta]
    affected: list[AffectedFile]
    """Files that use what changed, as many as fit a budget."""
    affected_total: int
    """How many there are in all."""
    affected_folders: list[AffectedFolder]
    """How many of all lie in each folder, most first; empty for a short list that is whole."""
    next: NotRequired[str | None]
    """The path to continue after, when there is more."""


# How a query is read: as words and identifiers in any form, ranked; as a piece of text as it stands; or as a regular
# expression, line by line.
CodeSearchMode: TypeAlias = Literal["words", "fixed", "regex"]


# What a command is for.
CommandPurpose: TypeAlias = Literal["build", "run", "test", "lint"]


class ConfigSetReport(TypedDict):
    """A key that was set or unset."""

    key: str
    path: str
    """The file that was changed."""
    change: NotRequired[str | None]
    """The id that `nacre undo` takes; nothing where the file was so already."""
    value: NotRequired[str | None]
    """`null` when it was taken out."""


class ConfigSetRequest(TypedDict):
    """Sets or unsets one key."""

    key: str
    repo: NotRequired[bool]
    """Whether to write to the repository's own settings, which are shared through git."""
    value: NotRequired[str | None]
    """A list is comma separated. Without a value, the key is taken out of the file."""


class ConfigShowReport(TypedDict):
    """Settings by key."""

    settings: dict[str, Setting]
    not_set: NotRequired[list[str]]
    """Keys that have no value until somebody sets one."""


class ConfigShowRequest(TypedDict):
    """Which settings to show."""

    prefix: NotRequired[str | None]
    """Only keys that begin with this."""


class ConnectReport(TypedDict):
    """Every agent that can be connected, and what changed."""

    agents: list[AgentEntry]
    change: NotRequired[str | None]
    """The id that `nacre undo` takes."""
    changes: NotRequired[list[FileChange]]
    """The files that were changed, or would be."""
    left_out: NotRequired[list[str]]
    """Agents that were left out, and why."""
    no_longer_read: NotRequired[list[str]]
    """Agents whose sessions are no longer read since this change."""
    notes: NotRequired[list[str]]
    """What the person has to do for it to work."""
    now_read: NotRequired[list[str]]
    """Agents whose sessions are read since this change."""
    plan: NotRequired[str | None]
    """Names what would change, for agreeing to it."""


# What to change about the connected agents.
ConnectRequest: TypeAlias = (
    "ConnectRequestList"
    " | ConnectRequestAuto"
    " | ConnectRequestAdd"
    " | ConnectRequestRemove"
    " | ConnectRequestTrust"
)


class ConnectRequestAdd(TypedDict):
    """Connect agents."""

    action: Literal["add"]
    agents: list[str]
    paths: NotRequired[list[str]]
    """Where the agent keeps its traces; none for its usual places. With a path only the traces are connected."""
    wiring: NotRequired[WiringOptions]


class ConnectRequestAuto(TypedDict):
    """Connect every agent that is used on this machine. It turns nothing off."""

    action: Literal["auto"]
    wiring: NotRequired[WiringOptions]


class ConnectRequestList(TypedDict):
    """Nothing: list them."""

    action: Literal["list"]


class ConnectRequestRemove(TypedDict):
    """No longer read agents, and take out of their files what was written."""

    action: Literal["remove"]
    agents: list[str]
    wiring: NotRequired[WiringOptions]


class ConnectRequestTrust(TypedDict):
    """Let Codex run the hooks that were written for it."""

    action: Literal["trust"]
    wiring: NotRequired[WiringOptions]


class ContestedPair(TypedDict):
    """Two memories of a project that contradict each other."""

    newer: str
    newer_title: str
    older: str
    older_title: str
    likelihood: float
    """How sure it is, from 0 to 1."""


class ContextFile(TypedDict):
    """A file, and what of it fits."""

    path: str
    why: list[WhyRelevant]
    symbols: list[ContextSymbol]
    """In the order of the file."""
    words: NotRequired[list[str]]
    """What it has of the task, the rarest first."""


class ContextReport(TypedDict):
    """What a task needs, and of which state of the project that was said."""

    command: MapCommand
    project_root: str
    project_id: str
    cache_status: CacheStatus
    revision: MapRevision
    stats: MapStats
    budget: int
    files: list[ContextFile]
    """The most relevant first."""
    left_out: LeftOut


class ContextRequest(TypedDict):
    """Which task to collect code for, and how much of it."""

    budget: NotRequired[int | None]
    """Tokens that the answer may have; 4000 unless said otherwise."""
    client: NotRequired[str | None]
    """The client that has then seen the map as it is now."""
    files: NotRequired[list[str]]
    """Files that are surely meant, seen from the current folder or from the root."""
    files_only: NotRequired[bool]
    """List files alone, without their code."""
    format: NotRequired[MapFormat]
    """The form that the budget is counted in."""
    project: NotRequired[str | None]
    """A folder inside the project, or a registered name. Without it, the project around the current folder."""
    refresh: NotRequired[bool]
    """Read every file again instead of trusting its times."""
    strict: NotRequired[bool]
    """Fail when the map was not up to date, and write nothing."""
    task: NotRequired[str | None]
    """What is to be done, in words. Without it, `files` says what the task is about."""


class ContextSymbol(TypedDict):
    """A symbol, in as much detail as fits."""

    name: str
    kind: SymbolKind
    first_line: int
    last_line: int
    form: SymbolForm
    text: NotRequired[str]
    """The whole symbol, its signature, or nothing."""


# A place that may hold a copy of a memory.
CopyPlace: TypeAlias = Literal["files", "runs", "index", "notes", "shared_index", "server"]


# What was found in a place.
CopyState: TypeAlias = Literal["gone", "waits"]


# How the database is.
DatabaseState: TypeAlias = Literal["connected", "slow", "away", "unusable"]


class DatabaseStatus(TypedDict):
    """The database that servers share, as one of them sees it."""

    state: DatabaseState
    since: str
    """Since when this process has seen it so."""
    is_leader: bool
    """Whether this server does what only one is to do."""
    detail: NotRequired[str | None]
    """Why it cannot be used."""


# Who decided about a candidate.
DecidedBy: TypeAlias = Literal["rule", "lead"]


class DeltaReport(TypedDict):
    """What changed, and up to which state of the project."""

    command: MapCommand
    project_root: str
    project_id: str
    cache_status: CacheStatus
    revision: MapRevision
    stats: MapStats
    delta: CodeDelta


class DeltaRequest(TypedDict):
    """Since when to list changes, and how many."""

    after: NotRequired[str | None]
    """Continue after this path, the `next` of the answer before."""
    budget: NotRequired[int | None]
    """Tokens that the answer may have, counted on its JSON: affected files are left to the counts by folder, then files to
    the next page, until it fits.
    """
    client: NotRequired[str | None]
    """The client that has then seen the map as it is now."""
    limit: NotRequired[int | None]
    """List at most this many files; 0 or nothing for all."""
    project: NotRequired[str | None]
    """A folder inside the project, or a registered name. Without it, the project around the current folder."""
    refresh: NotRequired[bool]
    """Read every file again instead of trusting its times."""
    since: NotRequired[Since | None]
    """Without it, `git:HEAD`, or where there is no commit, since the map was first made."""
    strict: NotRequired[bool]
    """Fail when the map was not up to date, and write nothing."""


class DoctorReport(TypedDict):
    """What is wrong with the stores."""

    health: Health
    stores: list[StoreCheck]
    errors: int
    warnings: int
    change: NotRequired[str | None]
    """The id that `nacre undo` takes."""
    config: NotRequired[str | None]
    """What is wrong with the settings of the repository."""
    gone: NotRequired[list[ProjectEntry]]
    """Registered projects whose store is gone; each is an error."""
    mended: NotRequired[list[MendedFile]]
    """What was mended before the check."""


class DoctorRequest(TypedDict):
    """What to check."""

    evidence: NotRequired[bool]
    """Look up every quote in the transcript it is from."""
    fix: NotRequired[bool]
    """Mend first what needs nobody's judgement: links that lead nowhere, and evidence of no memory."""
    scope: NotRequired[Scope | None]
    strict: NotRequired[bool]
    """Warnings make it broken, too."""


# How two memories belong together.
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
    """A model that turns texts into vectors."""

    name: str
    state: EmbedderState
    about: str
    dims: NotRequired[int | None]
    id: NotRequired[str | None]
    """The name and the content: vectors of another id cannot be compared with its own."""


# Whether a model can be used.
EmbedderState: TypeAlias = Literal["ready"]


# What begins in a file.
EntryKind: TypeAlias = Literal["readme", "program", "library", "manifest", "script"]


class EntryPoint(TypedDict):
    """A file to begin with."""

    path: str
    kind: EntryKind
    name: NotRequired[str | None]
    """What a manifest calls the program or library."""


# Why an operation failed, for programs.
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
    """The object that stands in the place of a report."""

    error: Failure


class EventCounts(TypedDict):
    """How many events of each kind there are; injected and inherited ones are counted apart."""

    user: int
    """The person's messages."""
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
    """What a project is, and of which state of it that was said."""

    command: MapCommand
    project_root: str
    project_id: str
    cache_status: CacheStatus
    revision: MapRevision
    stats: MapStats
    detail: MapDetail
    commands: Listed
    """How to build, run, test and check the project."""
    areas: Listed2
    """The parts that the project's own code is made of, largest first."""
    apart: CodeApart
    """Files of code that are not the project's own sources."""
    languages: list[LanguageCount]
    entry_points: Listed3
    hot_paths: Listed4
    top_imports: Listed5
    module_graph: ModuleGraph
    public_surface: Listed7
    tests: Listed9
    problems: dict[str, int]
    """Files whose analysis is not whole, by why."""
    about: NotRequired[str | None]
    """The first paragraph of the README, or what a manifest says."""


class ExploreRequest(TypedDict):
    """Which project to give an overview of, and how."""

    budget: NotRequired[int | None]
    """Tokens that the answer may have; its lists are cut until it fits."""
    client: NotRequired[str | None]
    """The client that has then seen the map as it is now."""
    detail: NotRequired[MapDetail | None]
    """Compact unless said otherwise."""
    format: NotRequired[MapFormat]
    """The form that the budget is counted in."""
    project: NotRequired[str | None]
    """A folder inside the project, or a registered name. Without it, the project around the current folder."""
    refresh: NotRequired[bool]
    """Read every file again instead of trusting its times."""
    strict: NotRequired[bool]
    """Fail when the map was not up to date, and write nothing."""


class ExplorerFinding(TypedDict):
    """What an explorer found about one candidate."""

    candidate_id: str
    action_hint: LeadAction
    """What it would do; the lead decides."""
    overlap: float
    """How much of the candidate the file says, from 0 to 1, as the explorer sees it."""
    evidence: str
    """Words of the file."""
    matched_file: NotRequired[str | None]


class ExplorerMetrics(TypedDict):
    """How one explorer did."""

    task: str
    candidates: list[str]
    state: str
    findings: list[ExplorerFinding]
    ms: int
    model_calls: int


class Failure(TypedDict):
    """An operation that could not be carried out."""

    code: ErrorCode
    message: str
    """What could not be done."""
    causes: list[str]
    """Why, outermost first."""
    hints: list[str]
    """What the person can do, with the command to type."""


class FeedbackReport(TypedDict):
    """What the verdict changed."""

    id: str
    verdict: Verdict
    confidence_before: float
    confidence: float
    scope: StoreScope
    also_in: list[OtherPlace]
    """Where else its id stands."""
    change: NotRequired[str | None]
    """The id that `nacre undo` takes."""


class FeedbackRequest(TypedDict):
    """A person's word on a memory."""

    id: str
    """Its id, or the start of it."""
    verdict: Verdict
    note: NotRequired[str | None]
    """Why, in a sentence; kept on this machine."""
    scope: NotRequired[Scope | None]


class FileChange(TypedDict):
    """A file of an agent that changes."""

    path: str
    change: ChangeKind
    diff: str
    """What changes, as a unified diff. Secrets around it are redacted."""


# What became of one file.
FileDelta = TypedDict(
    "FileDelta",
    {
        "path": "str",
        "change": "CodeChange",
        # Where a renamed file was.
        "from": "NotRequired[str | None]",
        "new_hash": "NotRequired[str | None]",
        "old_hash": "NotRequired[str | None]",
        # What became of the symbols of a modified file; absent where what it held before is not known any more.
        "symbols": "NotRequired[SymbolDeltas | None]",
    },
)


class Finding(TypedDict):
    """Something that is wrong with a file."""

    severity: Severity
    path: str
    """Below the store."""
    message: str
    hint: NotRequired[str | None]
    line: NotRequired[int | None]


class FolderSessions(TypedDict):
    """How many sessions of one folder there are."""

    path: str
    sessions: int


class FoundMemory(TypedDict):
    """A memory that was found."""

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
    """The words around what was asked for."""
    why: WhyFound
    history: list[MemoryEntry]
    """What it overturned, newest first."""
    not_verified: list[str]
    """Those of them whose own files do not say so."""
    applies: NotRequired[list[str]]
    """Situations in which it should be told."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """What kind of learning it is."""
    trust: NotRequired[TrustLevel | None]
    """How far it is trusted on this machine, where it is less than the agent's own word."""
    updated: NotRequired[str | None]


# Whether a session is worth reading at all.
Gate: TypeAlias = Literal["open", "not_a_persons", "no_words", "abandoned", "mechanical"]


# An edge between two memories. `supersedes` goes from the newer to the older.
GraphEdge = TypedDict(
    "GraphEdge",
    {
        # A memory's id.
        "from": "str",
        "to": "str",
        "kind": "EdgeKind",
        # The session, file, symbol or tag that both have.
        "shared": "NotRequired[str | None]",
    },
)


class GraphNode(TypedDict):
    """A memory in a graph."""

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
    """How many memories it is tied to, shown or not."""
    applies: NotRequired[list[str]]
    """Situations in which it should be told."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """What kind of learning it is."""
    trust: NotRequired[TrustLevel | None]
    """How far it is trusted on this machine, where it is less than the agent's own word."""
    updated: NotRequired[str | None]


class GraphReport(TypedDict):
    """Memories and their edges. Where there are too many memories, those with most edges are shown."""

    nodes: list[GraphNode]
    """Those with most edges first."""
    edges: list[GraphEdge]
    """Between two memories at most one; both of its ends are among the nodes."""
    left_out: int
    """How many memories are not shown."""
    left_out_edges: int
    """How many edges between shown memories are not shown."""


class GraphRequest(TypedDict):
    """Which memories to put into the graph."""

    all: NotRequired[bool]
    """Summaries of sessions too."""
    archived: NotRequired[bool]
    """Archived ones too."""
    limit: NotRequired[int | None]
    """At most this many memories, 5000 at most. Without it, 500."""
    scope: NotRequired[Scope | None]


class HandOverReport(TypedDict):
    """Memories with their files. One that is gone meanwhile is left out."""

    memories: list[MovedMemory]


class HandOverRequest(TypedDict):
    """Which memories to hand over."""

    ids: list[str]


# Whether the stores can be used as they are. Only a completed check may say so.
Health: TypeAlias = Literal["ok", "broken", "unchecked"]


class HealthReport(TypedDict):
    """That the server answers."""

    status: str
    """`ok`."""
    version: str
    database: NotRequired[DatabaseState | None]
    """The database that servers share, where one is set."""


class HotPath(TypedDict):
    """A file that much depends on and that changes often."""

    path: str
    heat: int
    """Rank times recent commits, in thousandths of an average file's."""
    importers: int
    commits: int


class InstalledAgent(TypedDict):
    """An agent that is installed and can answer as a model."""

    name: str
    """As in the name of a model: `claude-code`."""
    label: str
    """What people call it."""
    path: str
    """Where its command lies."""
    model: str
    """A model of it, as `roles.default.model` takes it."""
    version: NotRequired[str | None]
    """`null` where it did not say."""


# Where a session stands.
JobState: TypeAlias = Literal["running", "pending", "done", "empty", "skipped", "dead"]


class KeptFile(TypedDict):
    """A file that was changed since."""

    path: str
    by: NotRequired[str | None]
    """The later change; nothing where somebody edited the file."""


class LanguageCount(TypedDict):
    """How many files there are of a language."""

    language: str
    files: int
    lines: int


class LaterSessions(TypedDict):
    """Sessions that are due later."""

    sessions: int
    ready_at: str
    """When the last of them is due."""
    ready_in: int
    """Until then, in seconds."""
    example: str
    """The id of one of them."""


# What a lead or an explorer would do with a candidate.
LeadAction: TypeAlias = Literal["add", "update", "no_op", "supersede"]


class LeadMetrics(TypedDict):
    """How one call of a lead ended."""

    task: str
    runtime: str
    """What it was run with: `nacre` or `claude`; empty for runs from before there was a choice."""
    state: str
    rulings: int
    ms: int
    tool_calls: int
    """Of the lead alone, as the next two."""
    tokens: TokenCounts
    cost_usd: float
    error: NotRequired[str | None]


# What the lead of a sync is run with.
LeadRuntime: TypeAlias = Literal["nacre", "claude"]


# What a sync did to a memory.
LearnedChange: TypeAlias = Literal["added", "updated"]


class LearnedMemory(TypedDict):
    """A memory that a sync made or changed."""

    id: str
    type: MemoryType
    title: str
    project: str
    """The project that it belongs to."""
    change: LearnedChange
    is_candidate: bool
    """Whether it waits for `nacre review`."""


# What kind of learning a memory is.
LearningKind: TypeAlias = Literal["insight", "procedure", "pitfall", "friction", "preference", "convention", "context"]


class LeftOut(TypedDict):
    """What was relevant and did not fit."""

    symbols: int
    files: int
    listed: list[list[str | int]]
    """Some of those files with the number of their symbols, the most relevant first."""


class Listed(TypedDict):
    """A list that may be shown in part; the total is of all."""

    total: int
    items: list[ProjectCommand]


class Listed2(TypedDict):
    """A list that may be shown in part; the total is of all."""

    total: int
    items: list[CodeArea]


class Listed3(TypedDict):
    """A list that may be shown in part; the total is of all."""

    total: int
    items: list[EntryPoint]


class Listed4(TypedDict):
    """A list that may be shown in part; the total is of all."""

    total: int
    items: list[HotPath]


class Listed5(TypedDict):
    """A list that may be shown in part; the total is of all."""

    total: int
    items: list[TopImport]


class Listed6(TypedDict):
    """A list that may be shown in part; the total is of all."""

    total: int
    items: list[ModuleNode]


class Listed7(TypedDict):
    """A list that may be shown in part; the total is of all."""

    total: int
    items: list[PublicSurface]


class Listed8(TypedDict):
    """A list that may be shown in part; the total is of all."""

    total: int
    items: list[SurfaceSymbol]


class Listed9(TypedDict):
    """A list that may be shown in part; the total is of all."""

    total: int
    items: list[str]


class LookedIn(TypedDict):
    """A place where an agent keeps its sessions."""

    agent: str
    path: str
    exists: bool
    """Whether there is anything at that path."""


class LoopEntry(TypedDict):
    """Something that is done again and again."""

    name: LoopName
    state: LoopState
    every_s: int
    """How often, in seconds."""
    last: NotRequired[str | None]
    """When it was last begun."""
    last_error: NotRequired[str | None]
    """What was wrong the last time."""
    last_result: NotRequired[str | None]
    """What it did the last time, in a few words."""
    next: NotRequired[str | None]
    """When it is due."""


# What is done again and again.
LoopName: TypeAlias = Literal["sync", "maintain", "index", "map", "prune"]


# What a loop does now.
LoopState: TypeAlias = Literal["idle", "running", "paused", "waiting"]


# One thing that was done to a memory, and why.
MaintainAction = TypedDict(
    "MaintainAction",
    {
        "action": "MaintainVerb",
        # The memory that it was done to.
        "target": "str",
        "title": "str",
        "reason": "str",
        # Names this very action, so that what a person undoes is not done again.
        "key": "str",
        # How sure it is, from 0 to 1, where that was measured.
        "likelihood": "NotRequired[float | None]",
        # The memory it went into, or the one that overturned it.
        "with": "NotRequired[str | None]",
    },
)


class MaintainDurations(TypedDict):
    """How long each step of a maintenance took, in milliseconds."""

    read: int
    compare: int
    whole: int


class MaintainMetrics(TypedDict):
    """What a maintenance took."""

    run_id: str
    memories: int
    broken: int
    pairs: int
    """Memories that were compared, two by two."""
    counts: MaintainMetricsCounts
    model_calls: int
    tokens: int
    cost_usd: float
    denied_writes: int
    explorers: list[ExplorerMetrics]
    """A maintenance sends out none."""
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


# How a maintenance ended.
MaintainOutcome: TypeAlias = Literal["done", "clean", "skipped"]


class MaintainReport(TypedDict):
    """What was done in each store."""

    dry_run: bool
    projects: list[MaintainedStore]


class MaintainRequest(TypedDict):
    """What to maintain, and how."""

    all: NotRequired[bool]
    """Every registered project and the global memories."""
    dry_run: NotRequired[bool]
    """Tell what would be done, and change nothing."""
    force: NotRequired[bool]
    """Run even if nothing has changed."""
    rewrite: NotRequired[bool]
    """Let the model of the role `lead` write what is merged."""
    scripted: NotRequired[str | None]
    """A file with the model's answers, for tests."""


# How the maintenance of a store ended.
MaintainState: TypeAlias = Literal["done", "failed", "clean", "skipped"]


# What is done to a memory.
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
    """One store: a report, or the reason why there is none."""

    project: str
    """The name of the project, or `global`."""
    state: MaintainState
    ms: int
    causes: NotRequired[list[str] | None]
    changes: NotRequired[list[PlannedChange] | None]
    """What would change, where nothing was to be changed."""
    hints: NotRequired[list[str] | None]
    reason: NotRequired[str | None]
    """Why it failed."""
    report: NotRequired[StoreMaintenance | None]


# Which command an answer is of.
MapCommand: TypeAlias = Literal["explore", "context", "delta", "refresh", "explain", "watch", "search_code"]


# How much an overview tells.
MapDetail: TypeAlias = Literal["compact", "normal", "verbose"]


# The form of a payload. A budget is counted on the bytes of that form.
MapFormat: TypeAlias = Literal["text", "json"]


# A state of a project's files, such as `6af1b3c4.17`. Each change of them makes the next one.
MapRevision: TypeAlias = "str"


class MapStats(TypedDict):
    """What bringing the map up to date cost, and what it saw."""

    file_count: int
    total_bytes: int
    reused_entries: int
    rehashed_entries: int
    unread_files: int
    """Files that are too large, or that may not be read."""
    postponed_files: int
    """Files that there was no time for; the next command reads them."""
    skipped: SkippedCounts


class MatchGroup(TypedDict):
    """Lines that lie in the same symbol, or outside of all."""

    lines: list[MatchedLine]
    symbol: NotRequired[MatchSymbol | None]


class MatchSymbol(TypedDict):
    """The innermost symbol that lines lie in."""

    name: str
    kind: SymbolKind
    first_line: int
    last_line: int
    signature: NotRequired[str]


class MatchedFile(TypedDict):
    """A file with lines that match."""

    path: str
    is_definition: bool
    """Whether it defines what was asked for."""
    matches: int
    """Lines of it that match, shown or not; 0 where they were not counted."""
    groups: NotRequired[list[MatchGroup]]
    """In the order of the file."""


class MatchedLine(TypedDict):
    """A line of a file."""

    line: int
    """From 1."""
    text: str
    """As far as it is shown."""
    is_context: NotRequired[bool]
    """Whether it stands near a match and is none."""


class MemoryAddRequest(TypedDict):
    """A memory in a person's own words."""

    title: str
    """What was decided or learned, in one line."""
    applies: NotRequired[list[str]]
    """Situations in which it should be told, each in one line."""
    body: NotRequired[str]
    """The reason and the details, as Markdown."""
    confidence: NotRequired[float | None]
    """From 0 to 1. Without it, what a person says is trusted."""
    kind: NotRequired[LearningKind | None]
    """Only of a learning; without it, an insight."""
    related: NotRequired[list[str]]
    """The ids of related memories, or the starts of them."""
    scope: NotRequired[Scope | None]
    supersedes: NotRequired[str | None]
    """The memory that it supersedes, by its id or the start of it."""
    tags: NotRequired[list[str]]
    type: NotRequired[MemoryType | None]
    """A decision or a learning. Without it, a decision."""


class MemoryAnswer(TypedDict):
    """Memories as the answer: the first answers, the others are near it."""

    question: str
    known: bool
    memories: list[RecalledMemory]
    broken: int
    """How many files could not be read."""
    answer: NotRequired[str | None]
    """The first memory in a few words."""
    error: NotRequired[str | None]
    """Why no model answered, where one should have."""


# What was done to a memory.
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
    """What was done to one memory."""

    done: MemoryChange
    id: str
    change: NotRequired[str | None]
    """The id that `nacre undo` takes."""
    path: NotRequired[str | None]
    """Its file, where it is new."""


class MemoryChangesReport(TypedDict):
    """What was done to several memories, each in a change set of its own."""

    done: MemoryChange
    ids: list[str]
    failed: list[MemoryFailure]
    change: NotRequired[str | None]
    """The id that `nacre undo` takes."""
    copies: NotRequired[list[CheckedCopy]]
    """Of what was forgotten: each place that may hold a copy, as it was found afterwards."""


class MemoryEdge(TypedDict):
    """What ties a memory to another."""

    kind: EdgeKind
    id: str
    shared: NotRequired[str | None]
    """The tag, file or symbol that both have."""


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
    """Situations in which it should be told."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """What kind of learning it is."""
    trust: NotRequired[TrustLevel | None]
    """How far it is trusted on this machine, where it is less than the agent's own word."""
    updated: NotRequired[str | None]


class MemoryEvidence(TypedDict):
    """What proves a memory."""

    version: int
    """Of the format of the file that holds it."""
    id: str
    quotes: list[MemoryQuote]
    unproven: NotRequired[bool]
    """The file was changed by something else than Nacre since this machine last knew it: its quotes prove nothing."""


class MemoryFailure(TypedDict):
    """A memory that nothing was done to, and why."""

    id: str
    """As it was named."""
    code: ErrorCode
    message: str
    """What could not be done."""
    causes: list[str]
    """Why, outermost first."""
    hints: list[str]
    """What the person can do, with the command to type."""


class MemoryFeedback(TypedDict):
    """What a person said of a memory."""

    verdict: Verdict
    at: str
    note: NotRequired[str | None]


class MemoryGrowth(TypedDict):
    """How many memories there were at the end of a day."""

    day: str
    """As `YYYY-MM-DD`."""
    total: int


class MemoryIdsRequest(TypedDict):
    """Which memories to archive, restore or forget."""

    ids: list[str]
    """To forget, whole ids; else the starts of them will do."""
    scope: NotRequired[Scope | None]


class MemoryLink(TypedDict):
    """One end of a link between two memories. It is verified where the older file says it itself."""

    id: str
    verified: bool


class MemoryListReport(TypedDict):
    """Memories, in the order that was asked for."""

    memories: list[MemoryEntry]
    total: int
    """How many there are, listed or not."""
    broken: list[BrokenFile]
    hidden_summaries: NotRequired[int | None]
    """How many summaries were left out."""


class MemoryListRequest(TypedDict):
    """Which memories to list."""

    all: NotRequired[bool]
    """Summaries too, which are left out unless `type` asks for them."""
    archived: NotRequired[bool]
    """Archived ones instead."""
    kind: NotRequired[LearningKind | None]
    """Only learnings of this kind."""
    limit: NotRequired[int | None]
    """At most this many; 0 for all. Without it, the setting `memory.max_results`."""
    offset: NotRequired[int]
    """How many to pass over."""
    scope: NotRequired[Scope | None]
    sort: NotRequired[MemorySort | None]
    """Without it, the project's first, and of each store the newest first."""
    status: NotRequired[MemoryStatus | None]
    tag: NotRequired[str | None]
    type: NotRequired[MemoryType | None]


class MemoryQuote(TypedDict):
    """Words that were said, and where."""

    text: str
    speaker: Speaker
    place: str
    at: str


class MemoryRelatedReport(TypedDict):
    """The memories that belong to one, nearest first."""

    id: str
    related: list[RelatedMemory]
    total: int
    """How many there are, listed or not."""
    also_in: list[OtherPlace]
    """Where else its id stands."""


class MemoryRelatedRequest(TypedDict):
    """Which memory to look around."""

    id: str
    """Its id, or the start of it."""
    limit: NotRequired[int | None]
    """At most this many; 0 for all. Without it, the setting `memory.max_results`."""
    scope: NotRequired[Scope | None]


class MemorySearchReport(TypedDict):
    """The memories that were found: the project's first, and of each store the best first."""

    query: str
    hits: list[FoundMemory]
    total: int
    """How many there are, listed or not."""
    broken: list[BrokenFile]


class MemorySearchRequest(TypedDict):
    """What to search for."""

    query: str
    """Words, "quoted phrases" and filters such as `tag:auth`."""
    all_projects: NotRequired[bool]
    """Those of every registered project, whatever `scope` says."""
    archived: NotRequired[bool]
    """Archived ones too."""
    limit: NotRequired[int | None]
    """At most this many; 0 for all. Without it, the setting `memory.max_results`."""
    mode: NotRequired[SearchMode]
    scope: NotRequired[Scope | None]
    since: NotRequired[str | None]
    """Only memories that changed since this day, moment or age, such as `2026-01` or `7d`."""
    tag: NotRequired[str | None]
    type: NotRequired[MemoryType | None]


class MemoryShowReport(TypedDict):
    """One memory."""

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
    """Where else its id stands."""
    supersedes: list[MemoryLink]
    superseded_by: list[MemoryLink]
    body: str
    version: str
    """Names the content of its file: whoever writes it back says which content they read."""
    applies: NotRequired[list[str]]
    """Situations in which it should be told."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    evidence: NotRequired[MemoryEvidence | None]
    feedback: NotRequired[MemoryFeedback | None]
    """A person's last word on it."""
    history: NotRequired[list[MemoryVersion] | None]
    kind: NotRequired[str | None]
    """What kind of learning it is."""
    text: NotRequired[str | None]
    """The whole Markdown file, where it was asked for."""
    trust: NotRequired[TrustLevel | None]
    """How far it is trusted on this machine, where it is less than the agent's own word."""
    updated: NotRequired[str | None]


class MemoryShowRequest(TypedDict):
    """Which memory to show, and how much of it."""

    id: str
    """Its id, or the start of it."""
    evidence: NotRequired[bool]
    """With the quotes that prove it."""
    history: NotRequired[bool]
    """With how it came to be what it is."""
    scope: NotRequired[Scope | None]
    text: NotRequired[bool]
    """With the whole Markdown file, frontmatter and body."""


# By what memories are put in order, over all stores. What has no such value comes last.
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


# How a memory stands.
MemoryStatus: TypeAlias = Literal["active", "candidate", "superseded", "stale", "archived"]


# What a memory is.
MemoryType: TypeAlias = Literal["decision", "learning", "summary"]


class MemoryUse(TypedDict):
    """How often a memory was used."""

    id: str
    title: str
    uses: int
    citations: int
    confirmations: int
    effective: float
    """What age and use left of its confidence."""


class MemoryVersion(TypedDict):
    """A memory as it was once: by a commit, or by a run where there is no git."""

    when: str
    who: str
    what: str
    commit: NotRequired[str | None]
    run: NotRequired[str | None]


class MemoryWriteRequest(TypedDict):
    """A text that takes the place of a memory's file."""

    id: str
    """Its id, or the start of it."""
    text: str
    """The whole Markdown file, frontmatter and body."""
    scope: NotRequired[Scope | None]
    version: NotRequired[str | None]
    """The version that was read; where the file has another now, nothing is written."""


class MendedFile(TypedDict):
    """A file that was mended."""

    path: str
    what: str


# Who says a message.
MessageRole: TypeAlias = Literal["user", "assistant", "tool", "system"]


class ModelAnswer(TypedDict):
    """What a model wrote, as far as it holds."""

    question: str
    known: bool
    sentences: list[AnswerSentence]
    memories: list[CitedMemory]
    """The memories that the sentences cite."""
    messages: list[str]
    """The messages of sessions that they cite."""
    left_out: dict[str, int]
    """How many sentences were left out, by reason."""
    broken: int
    """How many files could not be read."""
    steps: int
    tool_calls: int
    tokens: TokenUse
    answer: NotRequired[str | None]
    """The sentences as one text."""
    cost_usd: NotRequired[float | None]
    error: NotRequired[str | None]
    """Why the answer is not whole."""
    failure: NotRequired[Failure | None]
    """The same with what may help."""


class ModelListReport(TypedDict):
    """The models that are set, who serves them, and those that search by meaning."""

    roles: list[RoleEntry]
    providers: list[ProviderEntry]
    """Those that serve the models of the roles."""
    agents: list[InstalledAgent]
    """The agents on this machine that can answer, whether or not a role uses them."""
    models: list[EmbedderEntry]
    """Those that search by meaning."""


class ModelListRequest(TypedDict):
    """Lists models. None of them is asked."""


# A job that a model can be set for.
ModelRole: TypeAlias = Literal["lead", "explorer", "extract", "summarize", "ask", "chat"]


class ModelStats(TypedDict):
    """What one model used."""

    model: str
    calls: int
    input: int
    cached: int
    output: int
    cost_nano_dollars: NotRequired[int | None]
    """In billionths of a dollar; `None` where one of the calls has no known price."""


class ModelTestReport(TypedDict):
    """What the model answered, how long it took and what it cost."""

    role: ModelRole
    model: str
    """As `provider/model`."""
    text: str
    total_ms: int
    tokens: ModelTestTokens
    cost_usd: NotRequired[float | None]
    """`null` when no price is known."""
    first_word_ms: NotRequired[int | None]


class ModelTestRequest(TypedDict):
    """Asks a model for one word."""

    role: NotRequired[ModelRole]
    """The model of this role."""


class ModelTestTokens(TypedDict):
    """What one call used."""

    input: int
    output: int


class ModuleGraph(TypedDict):
    """Which folders import which; only imports that lead to a file count."""

    nodes: int
    """Files."""
    edges: int
    """Pairs of a file and one that it imports."""
    unresolved: int
    """Imports that should lead to a file of the project and do not."""
    modules: Listed6


class ModuleNode(TypedDict):
    """A folder, and the folders that its files import."""

    module: str
    files: int
    imports: list[str]


class MovedMemory(TypedDict):
    """A memory on its way between two machines: its files as they are."""

    id: str
    type: MemoryType
    text: str
    evidence: NotRequired[str | None]
    replaces: NotRequired[str | None]
    """The hash of the version that it may replace."""


class OfferReport(TypedDict):
    """Memories of a project with the hashes of their files, in the order of ids."""

    memories: list[OfferedMemory]
    more: NotRequired[str | None]
    """Where there are more: the id to ask for those behind."""


class OfferRequest(TypedDict):
    """Which memories a server has."""

    after: NotRequired[str | None]
    """Only those behind this id, in the order of ids."""


class OfferedMemory(TypedDict):
    id: str
    hash: str


class OpenContradiction(TypedDict):
    """Two memories that contradict each other, for a person to decide."""

    newer: str
    older: str
    likelihood: float
    reason: str


class OtherPlace(TypedDict):
    """Another file of the same id."""

    scope: StoreScope
    path: str


class OverviewDay(TypedDict):
    """What happened on one day."""

    day: str
    """As `YYYY-MM-DD`."""
    sessions: dict[str, int]
    """Sessions whose last activity was on that day, by agent."""
    learned: int
    """Memories of today that came on that day."""
    input_tokens: int
    """Of the agents' sessions, without what came from a cache."""
    cached_tokens: int
    """Read from a cache or written to it."""
    output_tokens: int
    runs: int
    """Runs of sync and maintain whose folders are kept."""
    cost_nano_dollars: NotRequired[int | None]
    """What Nacre's own model calls cost, in billionths of a dollar; `None` where one of them has no known price."""


class OverviewReport(TypedDict):
    """What happened in the project, or in all of them where there is none. Days are those of UTC."""

    since: str
    until: str
    days: list[OverviewDay]
    """Every day, the oldest first, also where nothing happened."""
    agents: list[AgentActivity]
    """The agents that had sessions, by name."""
    memories: dict[str, int]
    """Decisions and learnings now, by status."""
    growth: list[MemoryGrowth]
    """How many of today's memories there were at the end of each day, archived ones left out."""
    models: list[ModelStats]
    """What models used, over all time."""
    tools: list[ToolStats]
    """How tools fared, over all time."""


class OverviewRequest(TypedDict):
    """How far to look back."""

    since: NotRequired[str | None]
    """A day, a moment or an age, such as `2026-11-15` or `7d`. Without it, 30 days. Ten years at most."""


class PausedSession(TypedDict):
    """A session that waits for a model."""

    id: str
    reason: str
    limit: NotRequired[str | None]
    """The limit that was reached, by its key; without one, the model cannot be reached."""


class PlannedChange(TypedDict):
    """A file that would be made, changed or removed."""

    path: str
    """Below the store."""
    after: NotRequired[str | None]
    """Its text then; `None` where it would be removed."""
    before: NotRequired[str | None]
    """Its text now; `None` where it would be made."""


class ProjectAddReport(TypedDict):
    """A registered repository that has a store."""

    path: str
    root: str
    is_git: bool
    created: list[str]
    """What was made now; nothing when the store was there already."""
    memories: int
    shares_summaries: bool
    """Whether git shares the summaries of sessions."""
    next: str
    """A command to try next."""
    change: NotRequired[str | None]
    """The id that `nacre undo` takes; nothing where nothing changed."""
    foreign: NotRequired[int]
    """Of these, memories that came from elsewhere and wait for `nacre trust`."""
    has_agents: NotRequired[bool]
    """Whether any agent's sessions were found, of whatever folder."""
    is_partial: NotRequired[bool]
    """There may be more sessions: the look was ended early."""
    new_sessions: NotRequired[int]
    """Of these, sessions that no sync has finished."""
    project: NotRequired[str | None]
    """`null` when it could not be registered."""
    sessions: NotRequired[list[AgentSessions]]
    """The sessions of this repository that the agents hold."""
    switched_off: NotRequired[list[str]]
    """Agents that left sessions here and that a person took out, so that they are not read."""


class ProjectAddRequest(TypedDict):
    """Prepares the repository at a path, as `init` does for the one around the current folder."""

    path: str
    """The repository's folder."""
    name: NotRequired[str | None]
    """Its name; without it, the one it has, or the folder's."""


# A command, and the file that says so.
ProjectCommand = TypedDict(
    "ProjectCommand",
    {
        "purpose": "CommandPurpose",
        "command": "str",
        "from": "str",
    },
)


class ProjectContradiction(TypedDict):
    """Two decisions of different projects that contradict each other."""

    newer: ProjectMemory
    older: ProjectMemory
    likelihood: float
    """How sure it is, from 0 to 1."""


class ProjectEntry(TypedDict):
    """One registered project."""

    name: str
    path: str
    state: ProjectState


class ProjectListReport(TypedDict):
    """The registered projects, in the order of the register."""

    projects: list[ProjectEntry]


class ProjectListRequest(TypedDict):
    """Lists the registered projects."""


class ProjectMemory(TypedDict):
    """A memory of a project."""

    project: str
    id: str
    title: str


class ProjectRemoveReport(TypedDict):
    """A project that is no longer registered."""

    removed: str
    """Its name."""
    change: NotRequired[str | None]
    """The id that `nacre undo` takes; nothing where nothing changed."""


class ProjectRemoveRequest(TypedDict):
    """Takes a project out of the register. Its files stay."""

    name: str


# What there is at the path of a project.
ProjectState: TypeAlias = Literal["ready", "no store", "missing"]


class ProviderEntry(TypedDict):
    """A service that answers for models."""

    name: str
    address: str
    key: str
    """Whether there is a key and in which variable; never the key."""
    origin: str


class PublicSurface(TypedDict):
    """The public symbols of a file."""

    path: str
    symbols: Listed8


# What a server did with a memory.
PushState: TypeAlias = Literal["taken", "known", "differs", "forgotten", "invalid"]


# What was done to sessions of the queue.
QueueChange: TypeAlias = Literal["queued", "skipped"]


class QueueChangeReport(TypedDict):
    """The sessions that were changed."""

    done: QueueChange
    ids: list[str]


class QueueChangeRequest(TypedDict):
    """Which sessions to put back or to take out: one by its id, or all."""

    all: NotRequired[bool]
    """All that are dead (retry) or pending (skip)."""
    id: NotRequired[str | None]
    """The start of a session's id."""


class QueueJob(TypedDict):
    """A session's place in the queue."""

    id: str
    """The session's id."""
    state: JobState
    attempts: int
    changed: str
    agent: str
    not_before: NotRequired[str | None]
    """It is not tried again before this time."""
    project: NotRequired[str | None]
    reason: NotRequired[str | None]
    run: NotRequired[str | None]
    """The run that it became part of."""
    title: NotRequired[str | None]


class QueueListReport(TypedDict):
    """Sessions of the queue, the latest change first."""

    jobs: list[QueueJob]
    total: int
    """How many there are, listed or not."""


class QueueListRequest(TypedDict):
    """Which sessions of the queue to list."""

    limit: NotRequired[int | None]
    """At most this many; 0 for all. Without it, the setting `memory.max_results`."""
    status: NotRequired[JobState | None]


class QuoteCheck(TypedDict):
    """How many quotes were found where they are said to be from."""

    verified: int
    by_hand: int
    """Given by a person to Nacre itself."""
    unchecked: int
    """Their transcript is not on this machine."""
    missing: int
    unreadable: int
    """Files that could not be read."""


class ReadReport(TypedDict):
    """How well a trace could be read."""

    lines: int
    """Whole lines or rows that were read."""
    bad_lines: int
    """Of these, lines of which nothing could be used."""
    mended_lines: int
    """Lines saved in part."""
    invalid_utf8: int
    """Lines with bytes that are not UTF-8."""
    long_lines: int
    """Lines beyond the line cap."""
    unknown_records: int
    """Records of a type that is not known."""
    unknown_types: dict[str, int]
    """Their types and counts, at most 32."""
    cut_texts: int
    """Texts that lost their middle."""
    repeated: int
    """Messages that the trace holds twice."""
    left_out: int
    """Events beyond those that are read of one session."""
    torn_tail: NotRequired[int | None]
    """Where an unfinished last line starts."""


class RecalledMemory(TypedDict):
    """A memory that fits a question."""

    id: str
    type: str
    """Its type; of a learning, its kind."""
    title: str
    status: str
    scope: StoreScope
    score: float
    line: str
    """The line of its text that is nearest to the question; empty where the title says it all."""
    not_verified: list[str]
    """What it overturned by nothing but its own claim."""
    also_in: list[StoreScope]
    """Which other stores have the same id."""
    project: NotRequired[str | None]
    """Its project, where all projects were asked."""
    proof: NotRequired[RecalledQuote | None]
    """The first quote that says more than the memory itself."""
    quote: NotRequired[str | None]
    trust: NotRequired[TrustLevel | None]
    """How far it is trusted on this machine, where it is less than the agent's own word."""


class RecalledQuote(TypedDict):
    """What proves a memory."""

    text: str
    speaker: Speaker
    at: str


class RefreshRequest(TypedDict):
    """Which project to read again, and how many of its changes to list."""

    after: NotRequired[str | None]
    """Continue after this path, the `next` of the answer before."""
    limit: NotRequired[int | None]
    """List at most this many files; 0 or nothing for all."""
    project: NotRequired[str | None]
    """A folder inside the project, or a registered name. Without it, the project around the current folder."""


class RelatedMemory(TypedDict):
    """A memory that belongs to another."""

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
    """Situations in which it should be told."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """What kind of learning it is."""
    trust: NotRequired[TrustLevel | None]
    """How far it is trusted on this machine, where it is less than the agent's own word."""
    updated: NotRequired[str | None]


# How a candidate stands to a memory.
Relation: TypeAlias = Literal["different", "contradicts", "refines", "same"]


class ReviewCandidate(TypedDict):
    """A candidate with what proves it."""

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
    """Situations in which it should be told."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """What kind of learning it is."""
    reason: NotRequired[str | None]
    """Why it is quarantined, where it is."""
    trust: NotRequired[TrustLevel | None]
    """How far it is trusted on this machine, where it is less than the agent's own word."""
    updated: NotRequired[str | None]


class ReviewDecideRequest(TypedDict):
    """What a person decided, and about which candidates."""

    ids: list[str]
    """Their ids, or the starts of them."""
    decision: ReviewDecision
    scope: NotRequired[Scope | None]
    supersedes: NotRequired[str | None]
    """The memory that the one accepted candidate supersedes, by its id or the start of it."""


# What a person decides about a candidate.
ReviewDecision: TypeAlias = Literal["accept", "reject"]


class ReviewListReport(TypedDict):
    """Candidates, the newest first."""

    candidates: list[ReviewCandidate]
    total: int
    """How many there are, listed or not."""
    broken: list[BrokenFile]


class ReviewListRequest(TypedDict):
    """Which candidates to list."""

    limit: NotRequired[int | None]
    """At most this many; 0 for all. Without it, the setting `memory.max_results`."""
    scope: NotRequired[Scope | None]


class RoleEntry(TypedDict):
    """A role and the models that do its job."""

    role: str
    """`default` is for all that are not set."""
    models: list[str]
    """In the order in which they are asked."""
    origin: str
    problem: NotRequired[str | None]
    """Why the role cannot be used, as far as the settings tell."""


# How often a run did what.
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
    """A run, in a line."""

    id: str
    of: str
    """The trace that it read, or the run that it took back."""
    counts: NotRequired[RunCounts | None]
    """An undo counts nothing."""
    mode: NotRequired[RunMode | None]
    """Nothing where its report cannot be read."""


class RunListReport(TypedDict):
    """The runs of a project, newest first."""

    runs: list[RunEntry]
    total: int
    """How many there are, listed or not."""


class RunListRequest(TypedDict):
    """How many runs to list."""

    limit: NotRequired[int | None]
    """At most this many; 0 for all. Without it, the setting `memory.max_results`."""


class RunMessage(TypedDict):
    """Something that was said in a run."""

    role: MessageRole
    text: str
    at: NotRequired[str | None]
    tool: NotRequired[str | None]
    """The tool that was called, or that answered."""


class RunMessagesReport(TypedDict):
    """What a run folder keeps of the talk with models; nothing where none was asked."""

    run: str
    messages: list[RunMessage]
    """In their order: the lead's, then its explorers'."""
    left_out: int
    """How many there are beyond these."""


# What a run took.
RunMetrics: TypeAlias = "SyncMetrics | MaintainMetrics"


# What a run is for.
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


class RunOfChange(TypedDict):
    """One run of a change that is several."""

    id: str
    metrics: NotRequired[RunMetrics | None]
    """What it took; an undo measures nothing."""
    report: NotRequired[RunReport | None]
    """What it did; nothing where that cannot be read."""


# What a run did.
RunReport: TypeAlias = "SessionRun | StoreMaintenance | UndoRunReport"


class RunShowReport(TypedDict):
    """One run."""

    id: str
    metrics: NotRequired[RunMetrics | None]
    """What it took; an undo measures nothing."""
    report: NotRequired[RunReport | None]
    """What it did; nothing where that cannot be read."""
    runs: NotRequired[list[RunOfChange]]
    """The runs of a change that is several: one a session of a sync."""


class RunShowRequest(TypedDict):
    """Which run to show."""

    id: str
    """Its id, or the start or end of it."""


class RunStatsReport(TypedDict):
    """How tools and models fared, over all tasks."""

    models: list[ModelStats]
    tools: list[ToolStats]


# Where to look.
Scope: TypeAlias = Literal["project_fallback_global", "project_only", "global_only"]


class SearchCodeReport(TypedDict):
    """What was found, and in which state of the project."""

    command: MapCommand
    project_root: str
    project_id: str
    cache_status: CacheStatus
    revision: MapRevision
    stats: MapStats
    query: str
    mode: CodeSearchMode
    total_matches: int
    """Lines that match, shown or not. For words, those of the files that were looked into."""
    total_files: int
    """Files that have a match, shown or not. For words, those that have any of them."""
    files: list[MatchedFile]
    """The best first: files that define what is asked for, then by score."""
    more_matches: int
    """Lines that match and are not shown, and files that have such lines."""
    more_files: int
    unsearched_files: int
    """Files that could match and were not searched: they cannot be read, or there was no time."""


class SearchCodeRequest(TypedDict):
    """What to search for, where, and how much of it to show."""

    budget: NotRequired[int | None]
    """Tokens that the answer may have; 4000 unless said otherwise."""
    context: NotRequired[int | None]
    """Lines to show before and behind each match, at most 10."""
    files_only: NotRequired[bool]
    """List files alone, without their lines."""
    format: NotRequired[MapFormat]
    """The form that the budget is counted in."""
    ignore_case: NotRequired[bool | None]
    """Whether a pattern takes upper and lower case for the same. Without it, unless the pattern has a letter in upper
    case.
    """
    language: NotRequired[str | None]
    """Only files of this language."""
    limit: NotRequired[int | None]
    """Lines that match to show, or files with `files_only`: 30 unless said otherwise, at most 500."""
    mode: NotRequired[CodeSearchMode | None]
    """How the query is read. Without it, as words; in double quotes, as a piece of text."""
    paths: NotRequired[list[str]]
    """Globs of paths, of which one must match; those with a leading `!` leave files out."""
    project: NotRequired[str | None]
    """A folder inside the project, or a registered name. Without it, the project around the current folder."""
    query: NotRequired[str]
    """Words, a piece of text, or a regular expression."""
    refresh: NotRequired[bool]
    """Read every file again instead of trusting its times."""
    strict: NotRequired[bool]
    """Fail when the map was not up to date, and write nothing."""


# What to rank by.
SearchMode: TypeAlias = Literal["hybrid", "lexical", "semantic"]


class ServiceReport(TypedDict):
    """What the server is doing by itself."""

    version: str
    started: str
    address: str
    """Where it listens."""
    pid: int
    """The number of its process."""
    paused: bool
    listeners: int
    """How many clients listen for events."""
    loops: list[LoopEntry]
    """None where the server was told to do nothing by itself."""
    database: NotRequired[DatabaseStatus | None]
    """The database that servers share, where one is set."""


class ServiceStatus(TypedDict):
    """A server that runs."""

    address: str
    """As `host:port`."""
    paused: bool
    """A person paused what it does by itself."""


class SessionAction(TypedDict):
    """What became of one candidate."""

    candidate: str
    title: str
    signal: Signal
    """What in the session gave it."""
    action: CandidateVerb
    band: Band
    reason: str
    by: DecidedBy
    likelihood: NotRequired[float | None]
    nearest: NotRequired[str | None]
    """The memory that it was compared with."""
    note: NotRequired[str | None]
    """The lead's own words, and those of the memory or candidate that it goes by."""
    quote: NotRequired[str | None]
    relation: NotRequired[Relation | None]
    scores: NotRequired[ActionScores | None]
    supersedes: NotRequired[str | None]
    target: NotRequired[str | None]
    """The memory that was made, changed or found to say it."""


# Whether a session was at rest when it was read.
SessionEnding: TypeAlias = Literal["finished", "unknown", "active"]


class SessionEntry(TypedDict):
    """A session that was seen."""

    id: str
    path: str
    """The file or database that holds it."""
    state: JobState
    facts: SessionFacts
    report: ReadReport
    inner_id: NotRequired[str | None]
    """Its name inside a source that holds several."""
    project: NotRequired[str | None]
    """The root of its project, where that is registered."""
    reason: NotRequired[str | None]
    """Why it is in that state."""


class SessionFacts(TypedDict):
    """A session as a whole."""

    agent: str
    id: str
    """The agent's own id of the session."""
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
    """The version of the agent's program that wrote the trace last."""
    cwd: NotRequired[str | None]
    """The working directory the session began in."""
    git_branch: NotRequired[str | None]
    last_activity: NotRequired[str | None]
    repository: NotRequired[str | None]
    """The repository's address, without credentials."""
    started: NotRequired[str | None]
    title: NotRequired[str | None]


class SessionLink(TypedDict):
    """Another session that this one depends on."""

    kind: SessionLinkKind
    session: str
    """The other session's id."""
    call: NotRequired[str | None]
    """The call in the other session that made this one."""


# How two sessions are linked.
SessionLinkKind: TypeAlias = Literal["parent", "fork_of", "continues"]


# Whether a session had anything to read.
SessionOutcome: TypeAlias = Literal["done", "unchanged"]


# What a session was for.
SessionRole: TypeAlias = Literal["main", "sub_agent", "helper"]


class SessionRun(TypedDict):
    """What a run over one session did."""

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
    """Proposals that were turned away, by reason."""
    written_paths: list[str]
    cost_usd: float
    strategy: Strategy
    fallback: NotRequired[str | None]
    """Why the session was not read as it should have been."""
    lead_error: NotRequired[str | None]
    """Why the lead settled nothing, so that the rule did."""
    limit: NotRequired[str | None]
    """The limit that stood in the way, by its key."""
    summary_path: NotRequired[str | None]


class SessionStatus(TypedDict):
    """The sessions of one agent in one project."""

    agent: str
    seen: int
    states: dict[str, int]
    """How many are in each state."""
    skipped: dict[str, int]
    """How many were skipped, by reason."""
    project: NotRequired[str | None]


class SessionTokens(TypedDict):
    """Tokens of all model calls of a session."""

    input: int
    """Without what came from a cache."""
    output: int
    cached: int
    """Read from a cache."""
    cache_write: int
    """Written to a cache."""
    reasoning: int
    """Part of `output`, where the agent tells it apart."""


class Setting(TypedDict):
    """One setting."""

    value: SettingValue
    origin: str
    """Where it was set; a list may come from several places."""


# What a key holds.
SettingValue: TypeAlias = "str | int | float | bool | list[str]"


# How bad a finding is.
Severity: TypeAlias = Literal["error", "warning"]


# What in a session gave a candidate.
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


# Where a delta begins: a revision, `git:REF`, `client:NAME`, or `0` for everything.
Since: TypeAlias = "str"


class SkippedCounts(TypedDict):
    """What lies in the project and is not part of the map, counted by why."""

    denied: int
    """Where keys and passwords usually lie."""
    links: int
    special: int
    """Pipes, sockets and devices."""
    unreadable: int
    """Folders that could not be opened."""
    unnamable: int
    """Names that are not valid UTF-8."""
    nested: int
    """Repositories that are not submodules of this one."""
    too_deep: int
    """Folders that lie too deep, and tracked files that do or are too many."""
    unread_rules: int
    """Folders left out because their rules are beyond what is read."""


class SourceProblem(TypedDict):
    """A source that could not be read, and why."""

    path: str
    reason: str


class SourceQuote(TypedDict):
    """Words of a source."""

    source: str
    """The id of a memory, or the place of a message."""
    text: str


# Whose words a quote holds.
Speaker: TypeAlias = Literal["assistant", "tool", "human", "user"]


# What a sum of spending covers.
SpendingScope: TypeAlias = Literal["day", "project"]


class SpendingStatus(TypedDict):
    """What models used in one scope."""

    scope: SpendingScope
    calls: int
    tokens: int
    limit_tokens: int
    cost_usd: float
    limit_usd: float
    unpriced_calls: int
    """Calls whose price is not known: only their tokens are counted."""
    is_reached: bool
    """Whether nothing more may be asked."""


class StatusReport(TypedDict):
    """What there is."""

    scope: Scope
    """Where recall looks."""
    stores: list[StoreStatus]
    projects: int
    """How many projects are registered."""
    sessions: list[SessionStatus]
    sessions_add_up: bool
    """Whether every session seen is in exactly one state."""
    spending: list[SpendingStatus]
    """What models used, beside what they may."""
    health: Health
    """What the last check said."""
    checked: NotRequired[str | None]
    """When that was."""
    config: NotRequired[str | None]
    """What is wrong with the settings of the repository."""
    database: NotRequired[DatabaseStatus | None]
    """The database that servers share, where one is set."""
    last_sync: NotRequired[str | None]
    project: NotRequired[str | None]
    """The name of the project around the current folder."""
    root: NotRequired[str | None]
    service: NotRequired[ServiceStatus | None]
    """The server that runs for this home."""
    switched_off: NotRequired[list[str]]
    """Agents that left sessions here and that a person took out, so that they are not read."""
    waiting: NotRequired[WaitingSessions]
    """The sessions of all projects that no sync has finished."""


class StatusRequest(TypedDict):
    """Counts what there is."""


# How far a step is.
StepState: TypeAlias = Literal["pending", "in_progress", "done", "failed", "gated", "skipped"]


class StoreCheck(TypedDict):
    """What is wrong with one store."""

    scope: StoreScope
    path: str
    memories: int
    evidence: int
    findings: list[Finding]
    foreign: NotRequired[int]
    """Memories that came from elsewhere and wait for `nacre trust`."""
    quarantined: NotRequired[int]
    """Memories that give an order which the person did not give."""
    quotes: NotRequired[QuoteCheck | None]
    """Where quotes were looked up."""


class StoreMaintenance(TypedDict):
    """What a maintenance of one store did."""

    outcome: MaintainOutcome
    mode: RunMode
    finished_at: str
    memories: int
    broken: int
    """Files that could not be read; they were left alone."""
    counts: StoreMaintenanceCounts
    """Of every verb."""
    actions: list[MaintainAction]
    contradictions: list[OpenContradiction]
    written_paths: list[str]
    model_calls: int
    tokens: int
    cost_usd: float
    run_id: NotRequired[str | None]
    """Where something was done, the run that did it."""


class StoreMaintenanceCounts(TypedDict):
    """Of every verb."""

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


# Which store a memory is in.
StoreScope: TypeAlias = Literal["project", "global"]


class StoreStatus(TypedDict):
    """The memories of one store."""

    scope: StoreScope
    path: str
    memories: list[TypeCount]
    candidates: int
    """Candidates that wait for a person's word."""
    broken: int
    """Files that cannot be read."""
    foreign: NotRequired[int]
    """Memories that came from elsewhere and wait for `nacre trust`."""
    quarantined: NotRequired[int]
    """Memories that give an order which the person did not give."""
    updated: NotRequired[str | None]
    """When the newest memory was updated."""


# How a session was read.
Strategy: TypeAlias = Literal["offline", "windows", "rlm"]


# How sessions are to be read.
StrategyChoice: TypeAlias = Literal["auto", "offline", "windows", "rlm"]


# One event of the stream.
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
    """Something is not what it was: ask for it again."""

    at: str
    by: NotRequired[str | None]
    """Who did it; nobody is named for the person whose machine it is."""
    project: NotRequired[str | None]
    """The project's name, where one was named."""
    task: NotRequired[str | None]
    """The task that it belongs to."""
    event: Literal["changed"]
    what: ChangedThing


class StreamEventMissed(TypedDict):
    """Events were lost: ask for everything again."""

    at: str
    by: NotRequired[str | None]
    """Who did it; nobody is named for the person whose machine it is."""
    project: NotRequired[str | None]
    """The project's name, where one was named."""
    task: NotRequired[str | None]
    """The task that it belongs to."""
    event: Literal["missed"]


class StreamEventNote(TypedDict):
    """What an agent does."""

    at: str
    by: NotRequired[str | None]
    """Who did it; nobody is named for the person whose machine it is."""
    project: NotRequired[str | None]
    """The project's name, where one was named."""
    task: NotRequired[str | None]
    """The task that it belongs to."""
    event: Literal["note"]
    text: str


class StreamEventProgress(TypedDict):
    """How far it is."""

    at: str
    by: NotRequired[str | None]
    """Who did it; nobody is named for the person whose machine it is."""
    project: NotRequired[str | None]
    """The project's name, where one was named."""
    task: NotRequired[str | None]
    """The task that it belongs to."""
    event: Literal["progress"]
    done: int
    total: int
    bytes: int


class StreamEventSentence(TypedDict):
    """A sentence of an answer, with everything that it cites looked up."""

    at: str
    by: NotRequired[str | None]
    """Who did it; nobody is named for the person whose machine it is."""
    project: NotRequired[str | None]
    """The project's name, where one was named."""
    task: NotRequired[str | None]
    """The task that it belongs to."""
    event: Literal["sentence"]
    text: str
    starts_line: bool


class StreamEventStep(TypedDict):
    """What is being done now, in a few words."""

    at: str
    by: NotRequired[str | None]
    """Who did it; nobody is named for the person whose machine it is."""
    project: NotRequired[str | None]
    """The project's name, where one was named."""
    task: NotRequired[str | None]
    """The task that it belongs to."""
    event: Literal["step"]
    text: str


class StreamEventTask(TypedDict):
    """A task has another state."""

    at: str
    by: NotRequired[str | None]
    """Who did it; nobody is named for the person whose machine it is."""
    project: NotRequired[str | None]
    """The project's name, where one was named."""
    task: NotRequired[str | None]
    """The task that it belongs to."""
    event: Literal["task"]
    state: TaskState
    agent: str
    title: str


class StreamEventWarning(TypedDict):
    """Something a person should know."""

    at: str
    by: NotRequired[str | None]
    """Who did it; nobody is named for the person whose machine it is."""
    project: NotRequired[str | None]
    """The project's name, where one was named."""
    task: NotRequired[str | None]
    """The task that it belongs to."""
    event: Literal["warning"]
    message: str
    hint: NotRequired[str | None]


class StreamEventWords(TypedDict):
    """A piece of what a model says. Nothing of it was checked."""

    at: str
    by: NotRequired[str | None]
    """Who did it; nobody is named for the person whose machine it is."""
    project: NotRequired[str | None]
    """The project's name, where one was named."""
    task: NotRequired[str | None]
    """The task that it belongs to."""
    event: Literal["words"]
    text: str


class SurfaceSymbol(TypedDict):
    """A public symbol."""

    name: str
    kind: SymbolKind
    line: int
    signature: str


class SymbolDelta(TypedDict):
    """What became of one symbol of a modified file."""

    name: str
    kind: SymbolKind
    change: CodeChange
    is_signature: bool
    """Whether the code that uses it may have to change, too."""


class SymbolDeltas(TypedDict):
    """What became of the symbols of a modified file."""

    depth: AnalysisDepth
    """How closely both texts were analysed; a glance does not see into bodies."""
    changed: list[SymbolDelta]


# How much of a symbol is shown.
SymbolForm: TypeAlias = Literal["name", "signature", "body"]


# What a symbol is.
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
    """How long each step of a sync took, in milliseconds."""

    read: int
    decide: int
    lead: int


class SyncMetrics(TypedDict):
    """What a sync of one session took."""

    run_id: str
    strategy: Strategy
    gate: Gate
    """Whether the session was worth a look."""
    windows: int
    unread_windows: int
    """Windows whose answers could not be used, or that were too many."""
    unread_events: int
    """Events that a model did not get to see because the session is too long."""
    steps: int
    """Pieces of code that a model wrote to explore it."""
    candidates: int
    dropped: dict[str, int]
    """Proposals that were turned away, by reason."""
    denied_writes: int
    leads: list[LeadMetrics]
    explorers: list[ExplorerMetrics]
    model_calls: int
    tokens: TokenCounts
    cost_usd: float
    unpriced_calls: int
    """Calls of models whose price is not known."""
    redactions: dict[str, int]
    """Secrets that were kept out, by their kind."""
    events: int
    durations_ms: SyncDurations
    fallback: NotRequired[str | None]


# What the runs of a sync are for; their folders are named by it.
SyncMode: TypeAlias = Literal["sync", "hot", "cold"]


class SyncReport(TypedDict):
    """What a sync did."""

    run: str
    """The name of this sync."""
    sources: int
    """Files and databases that were found."""
    unchanged: int
    """Of these, not opened."""
    read: int
    """Sessions that were read."""
    resumed: int
    """Of these, resumed where the last read ended."""
    bytes: int
    reworded: int
    """Sessions that other words of `redact.extra` were taken out of."""
    readmitted: int
    """Sessions whose project was registered since they were read."""
    gone: int
    """Queued sessions whose trace is gone."""
    left: int
    """Sources left for the next sync."""
    problems: list[SourceProblem]
    sessions: list[SyncedSession]
    paused: list[PausedSession]
    """Sessions that wait for a model: the first of each project."""
    busy: NotRequired[bool]
    """Another process holds a store; the rest stays in the queue."""
    learned: NotRequired[list[LearnedMemory]]
    """The memories that were made or changed, as they are now."""
    looked_in: NotRequired[list[LookedIn]]
    """Where sessions were looked for, where none was found."""
    next: NotRequired[str | None]
    """A command to try next."""
    not_set_up_here: NotRequired[FolderSessions | None]
    """The folder that the command was run in, where it is not set up."""
    switched_off: NotRequired[list[str]]
    """Agents that left sessions here and that a person took out, so that they are not read."""
    totals: NotRequired[SyncTotals]
    waiting: NotRequired[WaitingSessions]


class SyncRequest(TypedDict):
    """What to sync, and how."""

    agents: NotRequired[list[str]]
    """Only these agents; none for all that are connected."""
    force: NotRequired[bool]
    """Read also what did not change."""
    ignore_lock: NotRequired[bool]
    """Run although another sync is running."""
    max_sessions: NotRequired[int | None]
    """Stop after this many sessions."""
    mode: NotRequired[SyncMode]
    no_extract: NotRequired[bool]
    """Read and queue sessions without making memories of them."""
    run_id: NotRequired[str | None]
    """The name of this run."""
    runtime: NotRequired[LeadRuntime | None]
    """In place of what is set."""
    since: NotRequired[str | None]
    """Only traces changed since this day, moment or age."""
    strategy: NotRequired[StrategyChoice | None]
    until: NotRequired[str | None]
    """Only traces changed before this day, moment or age."""


class SyncTotals(TypedDict):
    """The sums of a sync."""

    sessions: int
    """Sessions that were made into memories."""
    failed: int
    """Sessions that failed."""
    added: int
    """New memories."""
    active: int
    """Of these, in use at once."""
    to_review: int
    """Of these, waiting for `nacre review`."""
    updated: int
    """Memories that say more now."""
    superseded: int
    """Memories that were overturned."""
    summaries: int
    """Summaries of sessions."""
    cost_usd: float
    """What models cost."""


# A session that was worked off.
SyncedSession: TypeAlias = "SyncedSessionDone | SyncedSessionFailed"


class SyncedSessionDone(TypedDict):
    id: str
    agent: str
    title: str
    ms: int
    """How long it took, in milliseconds."""
    project: NotRequired[str]
    """The root of the project that it belongs to."""
    state: Literal["done"]
    report: SessionRun
    dropped: int
    """How many proposals were turned away."""


class SyncedSessionFailed(TypedDict):
    id: str
    agent: str
    title: str
    ms: int
    """How long it took, in milliseconds."""
    project: NotRequired[str]
    """The root of the project that it belongs to."""
    state: Literal["failed"]
    reason: str


class TakeInReport(TypedDict):
    """What became of each."""

    memories: list[TakenMemory]


class TakeInRequest(TypedDict):
    """Memories that a person sends to a server."""

    memories: list[MovedMemory]


class TakenMemory(TypedDict):
    id: str
    state: PushState


class TaskCancelReport(TypedDict):
    """What became of a task that was cancelled, and of those that it had started."""

    task: str
    ended: list[str]
    """They were waiting, and are over."""
    asked: list[str]
    """They are running; the process that runs them ends them."""


class TaskCancelRequest(TypedDict):
    """Which task to cancel."""

    task: str
    """Its id, or the start of it."""


# Which others a task has to wait for.
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
        # How many events it has.
        "events": "int",
        "ended": "NotRequired[str | None]",
        # The task that started it.
        "parent": "NotRequired[str | None]",
        "project": "NotRequired[str | None]",
        # Why it ended.
        "reason": "NotRequired[str | None]",
        "started": "NotRequired[str | None]",
    },
)


class TaskEvent(TypedDict):
    """One event. Its fields are what the version that ran the task wrote; `event` is its name."""

    sequence: int
    at: str


class TaskListReport(TypedDict):
    """Tasks, the latest first."""

    tasks: list[TaskEntry]


class TaskListRequest(TypedDict):
    """How many tasks to list."""

    limit: NotRequired[int | None]
    """At most this many; 0 for all. Without it, 20."""


class TaskShowReport(TypedDict):
    """A task and its events, in order."""

    task: TaskEntry
    events: list[TaskEvent]


class TaskShowRequest(TypedDict):
    """Which events of which task to show."""

    task: str
    """Its id, or the start of it."""
    after: NotRequired[int]
    """Only events with a higher number."""
    limit: NotRequired[int | None]
    """At most this many events; 0 for all. Without it, 1000."""
    wait: NotRequired[bool]
    """Wait until there are any, or the task is over."""


class TaskStarted(TypedDict):
    """A task that was begun."""

    task: str


# Where a task is.
TaskState: TypeAlias = Literal["accepted", "queued", "running", "completed", "failed", "cancelled"]


class TeamProject(TypedDict):
    """What is told of one project."""

    project: str
    learned: list[MemoryUse]
    """What was learned since and is in use, the newest first."""
    n_learned: int
    """How much of that there is, listed or not."""
    contested: list[ContestedPair]
    """Memories that contradict each other, the surest first."""
    unused: list[MemoryUse]
    """Memories that nobody used in two weeks or more, the weakest first."""
    n_unused: int


class TeamReport(TypedDict):
    """What is told of every project that the caller may read."""

    since: str
    until: str
    projects: list[TeamProject]
    """Projects with something to tell, by name."""
    n_projects: int
    """How many projects were looked at."""
    across: list[ProjectContradiction]
    """Decisions of one project of which another says otherwise. Told, and left to people."""
    n_not_compared: int
    """How many memories were not compared: there are more than one report compares."""
    unreadable: list[str]
    """Projects that could not be read."""


class TeamReportRequest(TypedDict):
    """Since when."""

    since: NotRequired[str | None]
    """A day, a moment or an age. Without it, `7d`."""


class TokenCounts(TypedDict):
    """Tokens that models read and wrote."""

    input: int
    output: int


class TokenUse(TypedDict):
    """How many tokens models read and wrote."""

    input: int
    output: int


class ToolStats(TypedDict):
    """How one tool fared."""

    tool: str
    calls: int
    p50_us: int
    p95_us: int
    errors: dict[str, int]
    """Failed calls by their fault."""
    cache_hits: int
    bytes_out: int
    shown_bytes: int
    """What of it models were shown."""


class TopImport(TypedDict):
    """A package from outside the project, and how many files import it."""

    module: str
    files: int


class TraceEvent(TypedDict):
    """Something that was said or done in a session."""

    sequence: int
    kind: TraceEventKind
    place: TracePlace
    lane: TraceLane
    error: bool
    text: str
    """The text, or its beginning where it was cut."""
    text_end: str
    """The end of a text that was cut."""
    full_bytes: int
    """The size before it was cut."""
    at: NotRequired[str | None]
    call: NotRequired[str | None]
    """Links a tool result to its call."""
    injected: NotRequired[str | None]
    """Why the text is not a person's, where it was injected."""
    key: NotRequired[str | None]
    """The agent's own id of the record."""
    person: NotRequired[str | None]
    """Where a person's words came from."""
    tool: NotRequired[str | None]


# What an event is.
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
    """A message that was found."""

    id: str
    """The session's id."""
    agent: str
    sequence: int
    kind: str
    snippet: str
    """The words around what was found."""
    score: float
    why: TraceHitReason
    at: NotRequired[str | None]
    project: NotRequired[str | None]
    title: NotRequired[str | None]


class TraceHitReason(TypedDict):
    """Why a message was found."""

    terms: list[str]
    """Terms of the query that it contains."""
    similarity: float
    """How near its meaning is to the query's, from 0 to 1."""


# Whose part of a session an event belongs to.
TraceLane: TypeAlias = Literal["main", "sidechain", "inherited"]


class TraceListReport(TypedDict):
    """Sessions, the latest first."""

    sessions: list[SessionEntry]
    total: int
    """How many there are, listed or not."""


class TraceListRequest(TypedDict):
    """Which sessions to list."""

    agent: NotRequired[str | None]
    all: NotRequired[bool]
    """Sessions of all projects, not only of this one."""
    limit: NotRequired[int | None]
    """At most this many; 0 for all. Without it, the setting `memory.max_results`."""
    offset: NotRequired[int]
    """How many to pass over."""
    since: NotRequired[str | None]
    """Only sessions active since this day, moment or age."""


# Where in its trace an event was read.
TracePlace: TypeAlias = "TracePlaceLine | TracePlaceRow"


class TracePlaceLine(TypedDict):
    """A line, counted from 1, and the byte at which it starts."""

    line: TracePlaceLineLine


class TracePlaceLineLine(TypedDict):
    line: int
    offset: int


class TracePlaceRow(TypedDict):
    """A row of a database."""

    row: TracePlaceRowRow


class TracePlaceRowRow(TypedDict):
    key: str


class TraceSearchReport(TypedDict):
    """Messages that were found, best first."""

    query: str
    hits: list[TraceHit]


class TraceSearchRequest(TypedDict):
    """What to look for in what was said."""

    query: str
    """Words, quoted phrases and filters."""
    agent: NotRequired[str | None]
    all: NotRequired[bool]
    """Sessions of all projects, not only of this one."""
    limit: NotRequired[int | None]
    """At most this many. Without it, the setting `memory.max_results`."""
    mode: NotRequired[SearchMode]
    since: NotRequired[str | None]
    """Only what was said since this day, moment or age."""


class TraceShowReport(TypedDict):
    """One session and its events, in order."""

    session: SessionEntry
    events: list[TraceEvent]


class TraceShowRequest(TypedDict):
    """Which session to show, and how much of it."""

    id: str
    """Its id, or the start of it; `ID:SEQUENCE` starts at one event."""
    full: NotRequired[bool]
    """Also reasoning, injected text and records of unknown kinds."""
    limit: NotRequired[int | None]
    """At most this many events."""


class TranscriptEntry(TypedDict):
    """A transcript on a server."""

    id: str
    agent: str
    session: str
    hash: str
    """The hash of what was sent."""
    bytes: int
    at: str
    """When it was whole."""
    shared: bool
    """Whether everybody may read it who may read the project."""
    person: NotRequired[str | None]
    """Who sent it; nobody is the owner of the server."""


class TranscriptForgetReport(TypedDict):
    """A transcript that is gone from the server."""

    id: str


class TranscriptListReport(TypedDict):
    """The transcripts of a project that the caller may read: their own, and what others shared. The newest first."""

    transcripts: list[TranscriptEntry]


class TranscriptListRequest(TypedDict):
    """Which transcripts a server has."""


class TranscriptPutReport(TypedDict):
    """What a server has of a transcript now."""

    state: TranscriptState
    received: int
    """Where the next piece begins."""


class TranscriptPutRequest(TypedDict):
    """A piece of a transcript, in Nacre's own format."""

    agent: str
    """The agent whose session it is."""
    session: str
    """The session's name on the machine that it comes from."""
    hash: str
    """The hash of the whole transcript, as it is sent."""
    bytes: int
    """How many bytes the whole transcript has."""
    offset: int
    """Where this piece begins."""
    text: str
    share: NotRequired[bool]
    """Let everybody read it who may read the project."""


class TranscriptRequest(TypedDict):
    """Which transcript is meant."""

    id: str


class TranscriptShowReport(TypedDict):
    """A transcript with its text."""

    transcript: TranscriptEntry
    text: str


# What a server did with a piece.
TranscriptState: TypeAlias = Literal["taken", "known", "partial", "too_large", "full", "invalid"]


class TrustItem(TypedDict):
    """One of them."""

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
    """Why it waits."""
    changed: bool
    """Whether it was trusted once, and something else than Nacre changed it since."""
    hash: str
    """The hash of its file."""
    trusted: bool
    """Whether the person's word was just taken."""
    applies: NotRequired[list[str]]
    """Situations in which it should be told."""
    before: NotRequired[str | None]
    """Its file as it was trusted before, where git still has that."""
    committed: NotRequired[str | None]
    """On which day."""
    committed_by: NotRequired[str | None]
    """Who committed it last, as git says."""
    confidence: NotRequired[float | None]
    created: NotRequired[str | None]
    kind: NotRequired[str | None]
    """What kind of learning it is."""
    text: NotRequired[str | None]
    """Its file."""
    trust: NotRequired[TrustLevel | None]
    """How far it is trusted on this machine, where it is less than the agent's own word."""
    updated: NotRequired[str | None]


# How far a memory is trusted on this machine, lowest first.
TrustLevel: TypeAlias = Literal["quarantined", "foreign", "derived", "assistant", "user", "human"]


class TrustReport(TypedDict):
    """The memories that wait for a person, or that were just trusted."""

    memories: list[TrustItem]
    foreign: int
    """How many still came from elsewhere."""
    quarantined: int
    """How many are still quarantined."""
    trusted: int
    """How many were trusted."""
    dry_run: bool
    change: NotRequired[str | None]
    """The id that `nacre undo` takes; nothing where nothing changed."""
    more: NotRequired[int]
    """How many wait besides these: so many at once are neither shown nor trusted."""


class TrustRequest(TypedDict):
    """Which memories to look at, and whether the person agrees."""

    all: NotRequired[bool]
    """All that came from elsewhere. What is quarantined has to be named."""
    diff: NotRequired[bool]
    """With their texts, and the texts that were trusted before."""
    dry_run: NotRequired[bool]
    """Show what would be trusted, and change nothing."""
    ids: NotRequired[list[str]]
    """Their ids, or the starts of them; without any, all that wait are listed."""
    scope: NotRequired[Scope | None]
    seen: NotRequired[list[str]]
    """The hashes of the texts that the person saw: others are not trusted."""


class TypeCount(TypedDict):
    """How many memories of one type there are."""

    type: MemoryType
    active: int
    archived: int


class UndoAction(TypedDict):
    """A file that was put back."""

    action: UndoVerb
    target: str
    """The memory that the file belongs to."""


class UndoListReport(TypedDict):
    """The changes of this project and of the person's own store, the newest first."""

    changes: list[ChangeEntry]
    total: int
    """How many there are, listed or not."""


class UndoListRequest(TypedDict):
    """How many changes to list."""

    limit: NotRequired[int | None]
    """At most this many; 0 for all. Without it, the setting `memory.max_results`."""


class UndoReport(TypedDict):
    """What was put back."""

    run: str
    """The change that did it, which can itself be undone."""
    of: str
    """The change that was taken back."""
    command: str
    """What was typed then, without `nacre`."""
    dry_run: bool
    paths: list[str]
    memories: list[UndoneMemory]
    kept: list[KeptFile]
    """What was left as it is, because it was changed since."""
    changes: NotRequired[list[PlannedChange] | None]
    """The files as they are and as they would be; only in a dry run."""
    notes: NotRequired[list[str]]
    """What is to be known besides."""


class UndoRequest(TypedDict):
    """Which change to take back, and how."""

    dry_run: NotRequired[bool]
    """Say what would be put back, and change nothing."""
    keep_changed: NotRequired[bool]
    """Leave memories as they are that were changed since, and put back the others."""
    last: NotRequired[bool]
    """The newest change that is not undone."""
    run: NotRequired[str]
    """The id of a change or of one run, or the start or end of it. Nothing with `last`."""


class UndoRunReport(TypedDict):
    """What an undo did, as its run folder says."""

    run_id: str
    mode: RunMode
    of: str
    """The change that was taken back."""
    finished_at: str
    actions: list[UndoAction]
    written_paths: list[str]
    runs: NotRequired[list[str]]
    """Its runs in this store."""


# What an undo does.
UndoVerb: TypeAlias = Literal["put back"]


# Events `from..=to` that the person took back.
UndoneEvents = TypedDict(
    "UndoneEvents",
    {
        "from": "int",
        "to": "int",
    },
)


# What an undo did to a memory.
UndoneHow: TypeAlias = Literal["removed", "restored", "reverted"]


class UndoneMemory(TypedDict):
    """A memory that an undo changed."""

    id: str
    done: UndoneHow


# How a memory served.
Verdict: TypeAlias = Literal["useful", "wrong", "outdated"]


class WaitingSessions(TypedDict):
    """The sessions that no sync has finished, and why."""

    ready: int
    """Due now."""
    not_set_up: list[FolderSessions]
    """Of folders that are not set up, most sessions first."""
    active: NotRequired[LaterSessions | None]
    """Written to a moment ago."""
    retried: NotRequired[LaterSessions | None]
    """Failed, and tried again later."""


class WakeRequest(TypedDict):
    """What is to be done soon."""

    loops: NotRequired[list[LoopName]]
    """Without any: the sync."""


class Warning(TypedDict):
    """Something a person should know, and what to do about it."""

    message: str
    hint: NotRequired[str | None]


class WhyFound(TypedDict):
    """Why a memory was found."""

    terms: list[str]
    """Terms of the question that it holds."""
    lexical: float
    """Its part of the score that comes from words."""
    similarity: float
    """How near its meaning is to the question's, from 0 to 1."""
    edges: list[MemoryEdge]
    """Memories that pointed at it."""


# Why a file is part of an answer.
WhyRelevant: TypeAlias = Literal["asked", "words", "near", "meaning", "memory"]


class WiringOptions(TypedDict):
    """What is written into an agent's files, and whether it is written at all."""

    dry_run: NotRequired[bool]
    """Say what would change, and change nothing."""
    guard: NotRequired[bool]
    """Hooks also look at tools before they run. A guard that is on stays on."""
    parts: NotRequired[list[WiringPart]]
    """Only these parts; none for all that the agent can take, and its traces."""
    plan: NotRequired[str | None]
    """The `plan` of a dry run that a person agreed to; another one is refused."""


# A part of what is written into an agent's files.
WiringPart: TypeAlias = Literal["mcp", "hooks", "skill"]


# Whether a part of the connection is there.
WiringState: TypeAlias = Literal["on", "off", "outdated", "not_possible"]
