// The wire types: the JSON of requests and reports as it is sent.
//
// Written by sdk/generate/generate.py. Do not edit: change routes.toml or the wire types.

/** Number of candidates for each action. */
export interface ActionCounts {
  add: number;
  update: number;
  no_op: number;
  supersede: number;
}

/**
 * For each question about a candidate and its nearest memory, the estimated probability, from 0 to 1, that the answer
 * is yes.
 */
export interface ActionScores {
  about: number;
  against: number;
  more: number;
}

/** A file that uses a symbol that was removed or whose signature changed. */
export interface AffectedFile {
  path: string;
  /**
   * Number of imports that separate the file from the change. It is 1 if the file imports the changed file directly, or
   * needs no import to use it.
   */
  depth: number;
  /** Changed symbols that the file uses. Empty if the file imports a removed file. */
  symbols: string[];
}

/** A directory with affected files. */
export interface AffectedFolder {
  /** Path of the directory; empty for the project root. */
  path: string;
  files: number;
}

/** Activity of one agent over the period. */
export interface AgentActivity {
  agent: string;
  sessions: number;
  /** Input tokens, excluding cached tokens. */
  input_tokens: number;
  /** Tokens read from or written to a cache. */
  cached_tokens: number;
  output_tokens: number;
  /** Time of the agent's last activity. */
  last: string;
}

/** An agent, its transcripts, and Nacre's entries in its settings. */
export interface AgentEntry {
  agent: string;
  /** Whether the agent's transcripts are read. */
  connected: boolean;
  /** Number of files and databases that contain the agent's transcripts. */
  sources: number;
  roots: string[];
  /** Paths that could not be read. */
  problems: string[];
  traces: WiringState;
  mcp: WiringState;
  hooks: WiringState;
  skill: WiringState;
}

/** Number of an agent's sessions. */
export interface AgentSessions {
  agent: string;
  /** The display name of the agent. */
  title: string;
  sessions: number;
}

/** How thoroughly a file was analyzed. */
export type AnalysisDepth = "none" | "glance" | "full";

/** A sentence that cites valid sources. */
export interface AnswerSentence {
  /** The sentence as the model wrote it, with the IDs of its sources. */
  text: string;
  /** IDs of the supporting memories. */
  ids: string[];
  /** The supporting session messages. */
  messages: string[];
  /** The supporting passage from each source. */
  quotes: SourceQuote[];
  /** Whether the sentence's names and numbers, and most of its words, occur in the cited sources. */
  verified?: boolean;
}

/** An answer written by a model, or the matching memories. */
export type AskReport = AskReportModel | AskReportMemories;

/** The matching memories, if no model was used. */
export interface AskReportMemories {
  by: "memories";
  question: string;
  /** Whether the first memory answers the question. Otherwise, the memories are only close to it. */
  known: boolean;
  memories: RecalledMemory[];
  /** Number of unreadable files. */
  broken: number;
  /** A short version of the first memory, if it answers the question. */
  answer?: string | null;
  /** Why the configured model did not answer. */
  error?: string | null;
  /** What the user said in a session, if no memory answers the question. */
  said?: SaidInSession | null;
}

/** An answer written by a model. Each sentence cites its sources. */
export interface AskReportModel {
  by: "model";
  question: string;
  known: boolean;
  sentences: AnswerSentence[];
  /** The memories that the sentences cite. */
  memories: CitedMemory[];
  /** The session messages that the sentences cite. */
  messages: string[];
  /** Number of removed sentences, by reason. */
  left_out: Record<string, number>;
  /** Number of unreadable files. */
  broken: number;
  steps: number;
  tool_calls: number;
  tokens: TokenCounts;
  /**
   * The sentences joined into one string, with `[not verified]` after each sentence whose wording is not supported by
   * its sources.
   */
  answer?: string | null;
  cost_usd?: number | null;
  /** Why the answer is incomplete. */
  error?: string | null;
  /** The same error as in `error`, with hints. */
  failure?: Failure | null;
}

/** A question to answer from stored memories. */
export interface AskRequest {
  question: string;
  /** Search all readable registered projects instead of the current one. */
  all_projects?: boolean;
  /** Maximum number of memories, from 1 to 20. Defaults to 5. */
  limit?: number | null;
  /** Answer with memories only, even if a model is configured. */
  no_model?: boolean;
  scope?: Scope | null;
  /** Path of a file with scripted model responses, for tests. */
  scripted?: string | null;
}

/** Whether the scores alone determine the action. */
export type Band = "clear" | "grey";

/** A one-line summary of a memory. */
export interface BriefItem {
  id: string;
  scope: StoreScope;
  text: string;
}

/** A brief, both as sections and as Markdown text. */
export interface BriefReport {
  budget: number;
  /** Number of tokens in the text. */
  tokens: number;
  sections: BriefSection[];
  /** Number of valid memories that are not included. */
  left_out: number;
  /** IDs of memories excluded because their author could not be verified. */
  unproven: string[];
  /** The brief as Markdown; empty if no memory is relevant or fits. */
  text: string;
  /** Paths of unreadable files. */
  broken?: string[];
  /** Number of candidates excluded because they are pending in `nacre review`. */
  candidates?: number;
}

/** The purpose and the maximum length of a brief. */
export interface BriefRequest {
  /** Maximum number of tokens. Defaults to 2000. */
  budget?: number | null;
  /** Files affected by the task. */
  files?: string[];
  scope?: Scope | null;
  /** Description of the task. */
  task?: string | null;
}

/** Memories on one topic, best first. */
export interface BriefSection {
  topic: BriefTopic;
  items: BriefItem[];
}

/** Topic of a section. */
export type BriefTopic = "decisions" | "preferences" | "pitfalls" | "knowledge" | "recent_work" | "open_ends";

/** A file that cannot be read. */
export interface BrokenFile {
  path: string;
  message: string;
  line?: number | null;
}

/** How the map was updated for a response. */
export type CacheStatus = "hit" | "miss" | "refreshed" | "stale_rebuild";

/** The action taken for a candidate. */
export type CandidateVerb = "add" | "update" | "no-op" | "supersede";

/** A change in a list. */
export interface ChangeEntry {
  id: string;
  /** The command that made the change, without `nacre`. */
  command: string;
  at: string;
  /** Number of runs in the change. A sync has one run per session. */
  runs: number;
  added: number;
  changed: number;
  removed: number;
  /** Examples of changed memories. */
  memories: string[];
  /** Whether `nacre undo` can undo this change. */
  undoable: boolean;
  /** Other changed objects, such as a file, agents or projects. */
  about?: string;
  /** The change that this one undid. */
  undoes?: string | null;
  /** The undo that reverted this change, if any. */
  undone_by?: string | null;
}

/** Kind of a file change. */
export type ChangeKind = "create" | "change" | "remove";

/** The kind of data that changed. */
export type ChangedThing = "memories" | "queue" | "projects" | "config" | "map" | "service";

/** A location that was checked for copies after a memory was forgotten. */
export interface CheckedCopy {
  place: CopyPlace;
  state: CopyState;
  /** Why a copy still exists, or the name of the server concerned. */
  detail?: string | null;
}

/** A step of a run, and its state. */
export interface ChecklistStep {
  step: string;
  state: StepState;
}

/** The current state of a memory cited by an answer. */
export interface CitedMemory {
  id: string;
  /** The memory's type or, for a learning, its kind. */
  type: string;
  title: string;
  status: string;
  scope: StoreScope;
  path: string;
  /** IDs of memories that this one claims to supersede, but whose own files do not confirm it. */
  not_verified: string[];
  /** Other stores that contain the same ID. */
  also_in: StoreScope[];
  /** The message, or the line of an imported file, that the quote comes from. */
  place?: string | null;
  /** The memory's project, if all projects were searched. */
  project?: string | null;
  quote?: string | null;
  /** Who made the statement. */
  speaker?: Speaker | null;
  /** When the memory was stated or last changed. */
  updated?: string | null;
}

/** Number of code files outside the project's own sources, by kind. */
export interface CodeApart {
  tests: number;
  /** Number of examples, benchmarks and documents. */
  aside: number;
  vendored: number;
  generated: number;
}

/** A part of the project: a package or a directory. */
export interface CodeArea {
  /** Path of the directory; empty for files in the project root. */
  path: string;
  files: number;
  lines: number;
  /** Description from the area's manifest or README. */
  about?: string | null;
}

/** How a file or symbol changed. */
export type CodeChange = "added" | "modified" | "removed" | "renamed";

/** The requested page of changes. Counts cover all pages. */
export interface CodeDelta {
  since: Since;
  added: number;
  modified: number;
  removed: number;
  renamed: number;
  files: FileDelta[];
  /** Files that use changed symbols, as many as fit the budget. */
  affected: AffectedFile[];
  /** Total number of affected files. */
  affected_total: number;
  /** Number of affected files in each directory, largest first. Empty if `affected` is short and lists all files. */
  affected_folders: AffectedFolder[];
  /** The path after which the next page starts. Absent on the last page. */
  next?: string | null;
}

/**
 * How to interpret a query: as words and identifiers in any form, with ranked results; as literal text; or as a regular
 * expression that is matched against each line.
 */
export type CodeSearchMode = "words" | "fixed" | "regex";

/** What a command is for. */
export type CommandPurpose = "build" | "run" | "test" | "lint";

/** The result of setting or unsetting a key. */
export interface ConfigSetReport {
  key: string;
  /** Path of the changed file. */
  path: string;
  /** The change ID to pass to `nacre undo`. Absent if nothing changed. */
  change?: string | null;
  /** The new value, or `null` if the key was removed. */
  value?: string | null;
}

/** Sets or unsets one key. */
export interface ConfigSetRequest {
  key: string;
  /** Whether to change the repository's settings, which are shared through git. */
  repo?: boolean;
  /** The new value. Separate list items with commas. If no value is given, the key is removed from the file. */
  value?: string | null;
}

/** Settings by key. */
export interface ConfigShowReport {
  settings: Record<string, Setting>;
  /** Keys without a value. */
  not_set?: string[];
}

/** Filter for a list of settings. */
export interface ConfigShowRequest {
  /** Only keys with this prefix. */
  prefix?: string | null;
}

/** All supported agents, and the changes made to their settings. */
export interface ConnectReport {
  agents: AgentEntry[];
  /** The change ID to pass to `nacre undo`. */
  change?: string | null;
  /** Files that were changed, or would be changed by a dry run. */
  changes?: FileChange[];
  /** Agents that were not connected, with the reason. */
  left_out?: string[];
  /** Agents whose sessions will no longer be read. */
  no_longer_read?: string[];
  /** Steps that the user must take to complete the connection. */
  notes?: string[];
  /** Agents whose sessions will be read from now on. */
  now_read?: string[];
  /** Identifier of the planned changes, used to approve them. */
  plan?: string | null;
}

/** A request to list, connect or disconnect agents. */
export type ConnectRequest =
  | ConnectRequestList
  | ConnectRequestAuto
  | ConnectRequestAdd
  | ConnectRequestRemove
  | ConnectRequestTrust;

/** Connect the given agents. */
export interface ConnectRequestAdd {
  action: "add";
  agents: string[];
  /**
   * Paths of the agent's transcripts. Defaults to the paths where the agent stores them. If paths are given, only
   * transcripts are connected.
   */
  paths?: string[];
  wiring?: WiringOptions;
}

/** Connect every agent used on this machine. No agent is disconnected. */
export interface ConnectRequestAuto {
  action: "auto";
  wiring?: WiringOptions;
}

/** List all agents without changing anything. */
export interface ConnectRequestList {
  action: "list";
}

/** Disconnect agents and remove Nacre's entries from their settings. */
export interface ConnectRequestRemove {
  action: "remove";
  agents: string[];
  wiring?: WiringOptions;
}

/** Allow Codex to run its Nacre hooks. */
export interface ConnectRequestTrust {
  action: "trust";
  wiring?: WiringOptions;
}

/** Two contradictory memories of a project. */
export interface ContestedPair {
  newer: string;
  newer_title: string;
  older: string;
  older_title: string;
  /** Likelihood of a contradiction, from 0 to 1. */
  likelihood: number;
}

/** A file, with as much of its code as fits the budget. */
export interface ContextFile {
  path: string;
  why: WhyRelevant[];
  /** Symbols in file order. */
  symbols: ContextSymbol[];
  /** Words from the task that occur in the file, rarest first. */
  words?: string[];
}

/** Code relevant to a task, and the state of the project. */
export interface ContextReport {
  command: MapCommand;
  project_root: string;
  project_id: string;
  cache_status: CacheStatus;
  revision: MapRevision;
  stats: MapStats;
  budget: number;
  /** The most relevant file first. */
  files: ContextFile[];
  left_out: LeftOut;
}

/** The task to collect code for, and the maximum size of the result. */
export interface ContextRequest {
  /** Maximum number of tokens in the response. Defaults to 4000. */
  budget?: number | null;
  /** Name of a client to mark as up to date with this revision. A later delta can start at `client:NAME`. */
  client?: string | null;
  /** Accepted as in other requests, but has no effect: the budget sets the level of detail. */
  detail?: MapDetail | null;
  /** Files known to be relevant, relative to the current directory or the project root. */
  files?: string[];
  /** List files without their code. */
  files_only?: boolean;
  /** The output format used to calculate the token budget. */
  format?: MapFormat;
  /**
   * A directory in the project, or the name of a registered project. Defaults to the project that contains the current
   * directory.
   */
  project?: string | null;
  /** Reread every file instead of relying on modification times. */
  refresh?: boolean;
  /** Do not write the map; fail if it is out of date. */
  strict?: boolean;
  /** Description of the task. If absent, the task is defined by `files`. */
  task?: string | null;
}

/** A symbol, with as much detail as fits the budget. */
export interface ContextSymbol {
  name: string;
  kind: SymbolKind;
  first_line: number;
  last_line: number;
  form: SymbolForm;
  /** The whole symbol, only its signature, or an empty string. */
  text?: string;
}

/** A kind of location that may contain a copy of a memory. */
export type CopyPlace = "files" | "runs" | "index" | "notes" | "shared_index" | "server";

/** The result of checking a location. */
export type CopyState = "gone" | "waits";

/** The state of the shared database. */
export type DatabaseState = "connected" | "slow" | "away" | "unusable";

/** The state of the shared database as seen by one server. */
export interface DatabaseStatus {
  state: DatabaseState;
  /** When this process first observed the current state. */
  since: string;
  /** Whether this server does the work that is reserved for one server at a time. */
  is_leader: boolean;
  /** Why the database cannot be used. */
  detail?: string | null;
}

/** The component that decided on a candidate. */
export type DecidedBy = "rule" | "lead";

/** The changes, and the state of the project. */
export interface DeltaReport {
  command: MapCommand;
  project_root: string;
  project_id: string;
  cache_status: CacheStatus;
  revision: MapRevision;
  stats: MapStats;
  delta: CodeDelta;
}

/** Selects the changes to list. */
export interface DeltaRequest {
  /** Start after this path. Use the `next` value from the previous response. */
  after?: string | null;
  /**
   * Maximum number of tokens in the response as JSON. If the response is too long, the list of affected files is first
   * reduced to counts by directory; then changed files are moved to the next page.
   */
  budget?: number | null;
  /** Name of a client to mark as up to date with this revision. A later delta can start at `client:NAME`. */
  client?: string | null;
  /** Accepted as in other requests, but has no effect: all changes are listed alike. */
  detail?: MapDetail | null;
  /** Maximum number of files; 0 or absent means all. */
  limit?: number | null;
  /**
   * A directory in the project, or the name of a registered project. Defaults to the project that contains the current
   * directory.
   */
  project?: string | null;
  /** Reread every file instead of relying on modification times. */
  refresh?: boolean;
  /** Where the delta starts. Defaults to `git:HEAD`. If there is no commit, it starts at the creation of the map. */
  since?: Since | null;
  /** Do not write the map, and fail if it is out of date. */
  strict?: boolean;
}

/** Problems found in the stores. */
export interface DoctorReport {
  health: Health;
  stores: StoreCheck[];
  errors: number;
  warnings: number;
  /** The change ID to pass to `nacre undo`. */
  change?: string | null;
  /** A problem with the repository settings. */
  config?: string | null;
  /** Registered projects whose store no longer exists. Each one is an error. */
  gone?: ProjectEntry[];
  /** Files fixed before the check. */
  mended?: MendedFile[];
}

/** Options for the check. */
export interface DoctorRequest {
  /** Compare each quote with its source transcript. */
  evidence?: boolean;
  /** Before checking, fix problems that need no decision, such as broken links and evidence files without a memory. */
  fix?: boolean;
  scope?: Scope | null;
  /** Treat warnings as errors. */
  strict?: boolean;
}

/** The kind of link between two memories. */
export type EdgeKind =
  | "supersedes"
  | "superseded by"
  | "contradicts"
  | "related"
  | "same session"
  | "same file"
  | "same symbol"
  | "shared tag"
  | "newer than";

/** An embedding model. */
export interface EmbedderEntry {
  name: string;
  /** State of the model, such as `ready`. */
  state: string;
  about: string;
  dims?: number | null;
  /** Identifier derived from the model's name and content. Vectors with different identifiers cannot be compared. */
  id?: string | null;
}

/** A request without arguments. */
export interface EmptyRequest {
}

/** The kind of entry point. */
export type EntryKind = "readme" | "program" | "library" | "manifest" | "script";

/** A file that is a good starting point for reading the code. */
export interface EntryPoint {
  path: string;
  kind: EntryKind;
  /** Name of the program or library, from a manifest. */
  name?: string | null;
}

/** Machine-readable reason for a failure. */
export type ErrorCode =
  | "usage"
  | "not_found"
  | "ambiguous"
  | "no_project"
  | "conflict"
  | "busy"
  | "refused"
  | "not_set"
  | "invalid"
  | "too_large"
  | "unavailable"
  | "database_away"
  | "limit_reached"
  | "cancelled"
  | "output_closed"
  | "failed";

/** The JSON object returned instead of a report when an operation fails. */
export interface ErrorReport {
  error: Failure;
}

/** Number of events by kind. Injected and inherited events are counted separately. */
export interface EventCounts {
  /** Number of user messages. */
  user: number;
  assistant: number;
  reasoning: number;
  tool_calls: number;
  tool_results: number;
  summaries: number;
  compactions: number;
  meta: number;
  injected: number;
  sidechain: number;
  inherited: number;
  errors: number;
}

/** A project overview, and the state of the project. */
export interface ExploreReport {
  command: MapCommand;
  project_root: string;
  project_id: string;
  cache_status: CacheStatus;
  revision: MapRevision;
  stats: MapStats;
  detail: MapDetail;
  /** Commands to build, run, test and check the project. */
  commands: Listed;
  /** Parts of the project's own code, largest first. */
  areas: Listed2;
  /** Number of code files outside the project's own sources, by kind. */
  apart: CodeApart;
  languages: LanguageCount[];
  entry_points: Listed3;
  hot_paths: Listed4;
  top_imports: Listed5;
  module_graph: ModuleGraph;
  public_surface: Listed7;
  tests: Listed9;
  /** Number of incompletely analyzed files, by reason. */
  problems: Record<string, number>;
  /** The first paragraph of the README, or the description from a manifest. */
  about?: string | null;
}

/** A request for a project overview. */
export interface ExploreRequest {
  /** Maximum number of tokens in the response. Lists are shortened to fit. */
  budget?: number | null;
  /** Name of a client to mark as up to date with this revision. A later delta can start at `client:NAME`. */
  client?: string | null;
  /** Level of detail. Defaults to compact. */
  detail?: MapDetail | null;
  /** The output format used to calculate the token budget. */
  format?: MapFormat;
  /**
   * A directory in the project, or the name of a registered project. Defaults to the project that contains the current
   * directory.
   */
  project?: string | null;
  /** Reread every file instead of relying on modification times. */
  refresh?: boolean;
  /** Do not write the map, and fail if it is out of date. */
  strict?: boolean;
}

/** An explorer's finding about one candidate. */
export interface ExplorerFinding {
  candidate_id: string;
  /** The action that the explorer suggests. The lead agent decides. */
  action_hint: LeadAction;
  /** The explorer's estimate of how much of the candidate the memory file already covers, from 0 to 1. */
  overlap: number;
  /** A quote from the file. */
  evidence: string;
  matched_file?: string | null;
}

/** The metrics of one explorer. */
export interface ExplorerMetrics {
  task: string;
  candidates: string[];
  state: string;
  findings: ExplorerFinding[];
  ms: number;
  model_calls: number;
}

/** An operation that failed. */
export interface Failure {
  code: ErrorCode;
  /** The error message. */
  message: string;
  /** The causes, outermost first. */
  causes: string[];
  /** What the user can do, with commands to run. */
  hints: string[];
}

/** The changes that resulted from the feedback. */
export interface FeedbackReport {
  id: string;
  verdict: Verdict;
  confidence_before: number;
  confidence: number;
  scope: StoreScope;
  /** Other memory files with the same ID. */
  also_in: OtherPlace[];
  /** The change ID to pass to `nacre undo`. */
  change?: string | null;
}

/** Feedback from a user on a memory. */
export interface FeedbackRequest {
  /** The memory's ID or a prefix of it. */
  id: string;
  verdict: Verdict;
  /** A one-sentence reason. It is stored only on this machine. */
  note?: string | null;
  scope?: Scope | null;
}

/** A changed agent settings file. */
export interface FileChange {
  path: string;
  change: ChangeKind;
  /** The change as a unified diff with redacted secrets. */
  diff: string;
  /** Agents with entries in the file. */
  agents?: string[];
}

/** The changes in one file. */
export interface FileDelta {
  path: string;
  change: CodeChange;
  /** Previous path of a renamed file. */
  from?: string | null;
  new_hash?: string | null;
  old_hash?: string | null;
  /** Changed symbols of a modified file. Absent if its previous content is unknown. */
  symbols?: SymbolDeltas | null;
}

/** A problem with a file. */
export interface Finding {
  severity: Severity;
  /** Path relative to the store. */
  path: string;
  message: string;
  hint?: string | null;
  line?: number | null;
}

/** Number of sessions in a directory. */
export interface FolderSessions {
  path: string;
  sessions: number;
  /** The path of the registered project that is a clone of the same repository. */
  clone_of?: string | null;
}

/** A matching memory. */
export interface FoundMemory {
  id: string;
  type: MemoryType;
  title: string;
  status: string;
  tags: string[];
  related: string[];
  archived: boolean;
  scope: StoreScope;
  path: string;
  score: number;
  /** The text around the match. */
  snippet: string;
  why: WhyFound;
  /** Memories that this one supersedes, newest first. */
  history: MemoryEntry[];
  /** IDs of memories that this one claims to supersede, but whose own files do not confirm it. */
  not_verified: string[];
  /** Situations in which the memory is relevant. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** The kind of learning. */
  kind?: string | null;
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
   * but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  /** IDs of further matching summaries with the same title, which are not listed. */
  same?: string[];
  /** The trust level on this machine, if lower than the level of an agent's own statements. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** Whether a session is worth processing and, if not, why. */
export type Gate = "open" | "not_a_persons" | "no_words" | "abandoned" | "mechanical";

/** An edge between two memories. A `supersedes` edge points from the newer to the older memory. */
export interface GraphEdge {
  /** The ID of a memory. */
  from: string;
  to: string;
  kind: EdgeKind;
  /** The session, file, symbol or tag that the two memories share. */
  shared?: string | null;
}

/** A memory in the graph. */
export interface GraphNode {
  id: string;
  type: MemoryType;
  title: string;
  status: string;
  tags: string[];
  related: string[];
  archived: boolean;
  scope: StoreScope;
  path: string;
  /** Number of linked memories, including omitted ones. */
  degree: number;
  /** Situations in which the memory is relevant. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** The kind of learning. */
  kind?: string | null;
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
   * but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  /** The trust level on this machine, if lower than the level of an agent's own statements. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** Memories and the edges between them. Above the limit, only the memories with the most edges are included. */
export interface GraphReport {
  /** Memories, sorted by number of edges in descending order. */
  nodes: GraphNode[];
  /** Edges between included memories, at most one per pair. */
  edges: GraphEdge[];
  /** Number of memories omitted. */
  left_out: number;
  /** Number of omitted edges between included memories. */
  left_out_edges: number;
}

/** Selects the memories in the graph. */
export interface GraphRequest {
  /** Include session summaries. */
  all?: boolean;
  /** Include archived memories. */
  archived?: boolean;
  /** Maximum number of memories, at most 5000. Defaults to 500. */
  limit?: number | null;
  scope?: Scope | null;
}

/** The memories to transfer. */
export interface HandOverRequest {
  ids: string[];
}

/** Whether the stores are usable. The stores are reported as healthy only after a complete check. */
export type Health = "ok" | "broken" | "unchecked";

/** Confirms that the server is running. */
export interface HealthReport {
  /** Always `ok`. */
  status: string;
  version: string;
  /** The state of the shared database, if one is configured. */
  database?: DatabaseState | null;
}

/** A frequently changed file on which many others depend. */
export interface HotPath {
  path: string;
  /** The file's rank multiplied by its number of recent commits. An average file has the value 1000. */
  heat: number;
  importers: number;
  commits: number;
}

/** An installed agent that can be used as a model. */
export interface InstalledAgent {
  /** The agent part of a model name, such as `claude-code`. */
  name: string;
  /** Display name. */
  label: string;
  /** Path of the agent's executable. */
  path: string;
  /** A model name for this agent, as accepted by `roles.default.model`. */
  model: string;
  /** Version, or `null` if the agent did not report one. */
  version?: string | null;
}

/** An item such as a run or a transcript. */
export interface ItemId {
  /** The ID of the item. For a run, a prefix or suffix of the ID is enough. */
  id: string;
}

/** The state of a session in the queue. */
export type JobState = "running" | "pending" | "done" | "empty" | "skipped" | "dead";

/** A file that was kept because it was changed later. */
export interface KeptFile {
  path: string;
  /** The later change. Absent if the file was edited outside Nacre. */
  by?: string | null;
}

/** Number of files in a language. */
export interface LanguageCount {
  language: string;
  files: number;
  lines: number;
}

/** Sessions that are due later. */
export interface LaterSessions {
  sessions: number;
  /** When the last of these sessions is due. */
  ready_at: string;
  /** Seconds until the last of these sessions is due. */
  ready_in: number;
  /** The ID of one of these sessions. */
  example: string;
}

/** The action that a lead agent or explorer chooses for a candidate. */
export type LeadAction = "add" | "update" | "no_op" | "supersede";

/** The metrics of one lead agent call. */
export interface LeadMetrics {
  task: string;
  state: string;
  rulings: number;
  ms: number;
  /** Number of tool calls by the lead agent. This count and the next two exclude explorer calls. */
  tool_calls: number;
  tokens: TokenCounts;
  cost_usd: number;
  error?: string | null;
}

/** The change that a sync made to a memory. */
export type LearnedChange = "added" | "updated";

/** A memory that a sync created or changed. */
export interface LearnedMemory {
  id: string;
  type: MemoryType;
  title: string;
  /** The project of the memory. */
  project: string;
  change: LearnedChange;
  /** Whether the memory is pending in `nacre review`. */
  is_candidate: boolean;
}

/** The kind of learning. */
export type LearningKind =
  | "insight"
  | "procedure"
  | "pitfall"
  | "friction"
  | "preference"
  | "convention"
  | "context";

/** Relevant files that did not fit the budget. */
export interface LeftOut {
  symbols: number;
  files: number;
  /** Some of these files, most relevant first, each with its number of symbols. */
  listed: [string, number][];
}

/** A limit on the number of listed entries. */
export interface LimitRequest {
  /**
   * Maximum number of results; 0 means no limit. Defaults to 20 for tasks, and otherwise to the `memory.max_results`
   * setting.
   */
  limit?: number | null;
}

/** A list that may be incomplete, and the total number of items. */
export interface Listed {
  total: number;
  items: ProjectCommand[];
}

/** A list that may be incomplete, and the total number of items. */
export interface Listed2 {
  total: number;
  items: CodeArea[];
}

/** A list that may be incomplete, and the total number of items. */
export interface Listed3 {
  total: number;
  items: EntryPoint[];
}

/** A list that may be incomplete, and the total number of items. */
export interface Listed4 {
  total: number;
  items: HotPath[];
}

/** A list that may be incomplete, and the total number of items. */
export interface Listed5 {
  total: number;
  items: TopImport[];
}

/** A list that may be incomplete, and the total number of items. */
export interface Listed6 {
  total: number;
  items: ModuleNode[];
}

/** A list that may be incomplete, and the total number of items. */
export interface Listed7 {
  total: number;
  items: PublicSurface[];
}

/** A list that may be incomplete, and the total number of items. */
export interface Listed8 {
  total: number;
  items: SurfaceSymbol[];
}

/** A list that may be incomplete, and the total number of items. */
export interface Listed9 {
  total: number;
  items: string[];
}

/** A location where an agent stores its sessions. */
export interface LookedIn {
  agent: string;
  path: string;
  exists: boolean;
}

/** A background loop. */
export interface LoopEntry {
  name: LoopName;
  state: LoopState;
  /** Interval in seconds. */
  every_s: number;
  /** When the last iteration started. */
  last?: string | null;
  /** The error from the last iteration. */
  last_error?: string | null;
  /** A short description of the last iteration's result. */
  last_result?: string | null;
  /** When the next iteration is due. */
  next?: string | null;
}

/** The name of a background loop. */
export type LoopName = "sync" | "maintain" | "index" | "map" | "prune";

/** The current state of a loop. */
export type LoopState = "idle" | "running" | "paused" | "waiting";

/** An action on a memory, with its reason. */
export interface MaintainAction {
  action: MaintainVerb;
  /** ID of the memory. */
  target: string;
  title: string;
  reason: string;
  /** Key that identifies the action. An action undone by the user is not repeated. */
  key: string;
  /** Confidence from 0 to 1, if it was measured. */
  likelihood?: number | null;
  /** ID of the memory that it was merged into or superseded by. */
  with?: string | null;
}

/** How long each step of a maintenance run took, in milliseconds. */
export interface MaintainDurations {
  read: number;
  compare: number;
  whole: number;
}

/** Resources that a maintenance run used. */
export interface MaintainMetrics {
  run_id: string;
  memories: number;
  broken: number;
  /** Number of memory pairs compared. */
  pairs: number;
  counts: MaintainMetricsCounts;
  model_calls: number;
  tokens: number;
  cost_usd: number;
  denied_writes: number;
  /** Always empty, because maintenance never starts explorers. */
  explorers: ExplorerMetrics[];
  durations_ms: MaintainDurations;
}

export interface MaintainMetricsCounts {
  archive?: number;
  consolidate?: number;
  doubt?: number;
  establish?: number;
  freshen?: number;
  merge?: number;
  relink?: number;
  restore?: number;
  stale?: number;
  supersede?: number;
  validate?: number;
}

/** The result for each store. */
export interface MaintainReport {
  dry_run: boolean;
  projects: MaintainedStore[];
}

/** Options for a maintenance run. */
export interface MaintainRequest {
  /** Maintain all registered projects and the global memories. */
  all?: boolean;
  /** Report the changes without making them. */
  dry_run?: boolean;
  /** Run even if nothing has changed. */
  force?: boolean;
  /** Let the model with the role `lead` write the merged memories. */
  rewrite?: boolean;
  /** Path of a file with scripted model responses, for tests. */
  scripted?: string | null;
}

/** How a store's maintenance ended. */
export type MaintainState = "done" | "failed" | "clean" | "skipped";

/** A kind of action on a memory. */
export type MaintainVerb =
  | "merge"
  | "consolidate"
  | "supersede"
  | "archive"
  | "stale"
  | "restore"
  | "freshen"
  | "establish"
  | "validate"
  | "doubt"
  | "relink";

/** The result for one store: its report, or why it has none. */
export interface MaintainedStore {
  /** Name of the project, or `global`. */
  project: string;
  state: MaintainState;
  ms: number;
  causes?: string[] | null;
  /** The planned changes of a dry run. */
  changes?: PlannedChange[] | null;
  hints?: string[] | null;
  /** Why it failed. */
  reason?: string | null;
  report?: StoreMaintenance | null;
}

/** The map command that produced a response. */
export type MapCommand = "explore" | "context" | "delta" | "refresh" | "explain" | "watch" | "search_code";

/** How detailed an overview is. */
export type MapDetail = "compact" | "normal" | "verbose";

/** The output format of the map. The token budget is calculated for this format. */
export type MapFormat = "text" | "json";

/** A revision of the project's files, such as `6af1b3c4.17`. It is incremented when files change. */
export type MapRevision = string;

/** The cost of updating the map, and the number of files examined. */
export interface MapStats {
  file_count: number;
  total_bytes: number;
  reused_entries: number;
  rehashed_entries: number;
  /** Files that are too large or unreadable. */
  unread_files: number;
  /** Files skipped because the time limit was reached. The next command reads them. */
  postponed_files: number;
  skipped: SkippedCounts;
}

/** Matching lines within the same symbol, or outside all symbols. */
export interface MatchGroup {
  lines: MatchedLine[];
  symbol?: MatchSymbol | null;
}

/** The innermost symbol that contains the lines. */
export interface MatchSymbol {
  name: string;
  kind: SymbolKind;
  first_line: number;
  last_line: number;
  signature?: string;
}

/** A file with matching lines. */
export interface MatchedFile {
  path: string;
  /** Whether the file defines the searched symbol. */
  is_definition: boolean;
  /** Number of matching lines, including those not shown; 0 if they were not counted. */
  matches: number;
  /** Groups in file order. */
  groups?: MatchGroup[];
}

/** A line of a file. */
export interface MatchedLine {
  /** Line number, starting at 1. */
  line: number;
  /** The text of the line, which may be truncated. */
  text: string;
  /** Whether this is a context line rather than a match. */
  is_context?: boolean;
}

/** A new memory written by the user. */
export interface MemoryAddRequest {
  /** A one-line statement of the decision or learning. */
  title: string;
  /** Situations in which the memory is relevant, one line each. */
  applies?: string[];
  /** The reason and details in Markdown. */
  body?: string;
  /** Confidence from 0 to 1. By default, the user's statements have full confidence. */
  confidence?: number | null;
  /** The kind of learning. Defaults to insight. */
  kind?: LearningKind | null;
  /** IDs of related memories, or prefixes of them. */
  related?: string[];
  scope?: Scope | null;
  /** ID of the memory that this one supersedes, or a prefix of that ID. */
  supersedes?: string | null;
  tags?: string[];
  /** The type: a decision or a learning. Defaults to decision. */
  type?: MemoryType | null;
}

/** Memories that answer a question or are close to it, best match first. */
export interface MemoryAnswer {
  question: string;
  /** Whether the first memory answers the question. Otherwise, the memories are only close to it. */
  known: boolean;
  memories: RecalledMemory[];
  /** Number of unreadable files. */
  broken: number;
  /** A short version of the first memory, if it answers the question. */
  answer?: string | null;
  /** Why the configured model did not answer. */
  error?: string | null;
  /** What the user said in a session, if no memory answers the question. */
  said?: SaidInSession | null;
}

/** The change made to a memory. */
export type MemoryChange =
  | "added"
  | "edited"
  | "left unchanged"
  | "archived"
  | "restored"
  | "forgot"
  | "accepted"
  | "rejected";

/** The result of changing a memory. */
export interface MemoryChangeReport {
  done: MemoryChange;
  id: string;
  /** The change ID to pass to `nacre undo`. */
  change?: string | null;
  /** The path of the memory file, if it is new. */
  path?: string | null;
}

/** The changes made to several memories. Each memory has its own change set. */
export interface MemoryChangesReport {
  done: MemoryChange;
  ids: string[];
  failed: MemoryFailure[];
  /** The change ID to pass to `nacre undo`. */
  change?: string | null;
  /** Other locations that were checked for remaining copies after a memory was forgotten. */
  copies?: CheckedCopy[];
}

/** A link from one memory to another. */
export interface MemoryEdge {
  kind: EdgeKind;
  id: string;
  /** The tag, file or symbol that the two memories share. */
  shared?: string | null;
}

/** A memory without its text. */
export interface MemoryEntry {
  id: string;
  type: MemoryType;
  title: string;
  status: string;
  tags: string[];
  related: string[];
  archived: boolean;
  scope: StoreScope;
  path: string;
  /** Situations in which the memory is relevant. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** The kind of learning. */
  kind?: string | null;
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
   * but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  /** The trust level on this machine, if lower than the level of an agent's own statements. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** The quotes that support a memory. */
export interface MemoryEvidence {
  /** Format version of the evidence file. */
  version: number;
  id: string;
  quotes: MemoryQuote[];
  /** Whether a program other than Nacre changed the memory file. If so, the quotes no longer prove its content. */
  unproven?: boolean;
}

/** A memory that could not be changed, and why. */
export interface MemoryFailure {
  /** The ID from the request. */
  id: string;
  code: ErrorCode;
  /** The error message. */
  message: string;
  /** The causes, outermost first. */
  causes: string[];
  /** What the user can do, with commands to run. */
  hints: string[];
}

/** Feedback on a memory. */
export interface MemoryFeedback {
  verdict: Verdict;
  by: SaidBy;
  at: string;
  note?: string | null;
}

/** Number of memories at the end of a day. */
export interface MemoryGrowth {
  /** Date as `YYYY-MM-DD`. */
  day: string;
  total: number;
}

/** The memories to archive, restore or forget. */
export interface MemoryIdsRequest {
  /** IDs of memories. Prefixes are accepted, except when forgetting. */
  ids: string[];
  scope?: Scope | null;
}

/** A link between this memory and another one. The link is verified if the older memory's file also records it. */
export interface MemoryLink {
  id: string;
  verified: boolean;
}

/** The listed memories. */
export interface MemoryListReport {
  memories: MemoryEntry[];
  /** Total number of matching memories, including those not listed. */
  total: number;
  broken: BrokenFile[];
  /** Number of summaries left out. */
  hidden_summaries?: number | null;
}

/** Selects the memories to list. */
export interface MemoryListRequest {
  /** Include summaries. By default, summaries are excluded unless `type` selects them. */
  all?: boolean;
  /** List archived memories instead of current ones. */
  archived?: boolean;
  /** Only learnings of this kind. */
  kind?: LearningKind | null;
  /** Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting. */
  limit?: number | null;
  /** Number of memories to skip. */
  offset?: number;
  scope?: Scope | null;
  /** The sort order. By default, project memories come first, and memories within each store are sorted newest first. */
  sort?: MemorySort | null;
  status?: MemoryStatus | null;
  tag?: string | null;
  type?: MemoryType | null;
}

/** A quote from a session, and its source. */
export interface MemoryQuote {
  text: string;
  speaker: Speaker;
  place: string;
  at: string;
}

/** Memories related to one memory, closest first. */
export interface MemoryRelatedReport {
  id: string;
  related: RelatedMemory[];
  /** Total number of related memories, including those not listed. */
  total: number;
  /** Other memory files with the same ID. */
  also_in: OtherPlace[];
}

/** The memory whose related memories are listed. */
export interface MemoryRelatedRequest {
  /** The memory's ID or a prefix of it. */
  id: string;
  /** Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting. */
  limit?: number | null;
  scope?: Scope | null;
}

/** Search results. Project memories come first, and each store is sorted by best match. */
export interface MemorySearchReport {
  query: string;
  hits: FoundMemory[];
  /** Total number of matches, including those not listed. */
  total: number;
  broken: BrokenFile[];
}

/** A search query and its limits. */
export interface MemorySearchRequest {
  /** Words, "quoted phrases" and filters such as `tag:auth`. */
  query: string;
  /** Search all registered projects, regardless of `scope`. */
  all_projects?: boolean;
  /** Include archived memories. */
  archived?: boolean;
  /** Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting. */
  limit?: number | null;
  mode?: SearchMode;
  scope?: Scope | null;
  /** Only memories changed since this date, time or age, such as `2026-01` or `7d`. */
  since?: string | null;
  tag?: string | null;
  type?: MemoryType | null;
}

/** A memory with its details. */
export interface MemoryShowReport {
  id: string;
  type: MemoryType;
  title: string;
  status: string;
  tags: string[];
  related: string[];
  archived: boolean;
  scope: StoreScope;
  path: string;
  /** Other memory files with the same ID. */
  also_in: OtherPlace[];
  supersedes: MemoryLink[];
  superseded_by: MemoryLink[];
  body: string;
  /** The version of the file's content. Pass it back in a write request to detect conflicting changes. */
  version: string;
  /** Situations in which the memory is relevant. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  evidence?: MemoryEvidence | null;
  /** The latest user feedback on this memory. */
  feedback?: MemoryFeedback | null;
  history?: MemoryVersion[] | null;
  /** The kind of learning. */
  kind?: string | null;
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
   * but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  /** The session from which the memory was created, as `AGENT:SESSION`. */
  session?: string | null;
  /** The whole Markdown file, if requested. */
  text?: string | null;
  /** The trust level on this machine, if lower than the level of an agent's own statements. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** The memory to show, and which details to include. */
export interface MemoryShowRequest {
  /** The memory's ID or a prefix of it. */
  id: string;
  /** Include the quotes that support the memory. */
  evidence?: boolean;
  /** Include the earlier versions. */
  history?: boolean;
  scope?: Scope | null;
  /** Include the whole Markdown file, with frontmatter and body. */
  text?: boolean;
}

/** The sort key of a list. Memories that have no value for this key come last. */
export type MemorySort =
  | "updated"
  | "-updated"
  | "created"
  | "-created"
  | "title"
  | "-title"
  | "confidence"
  | "-confidence";

/** The status of a memory. */
export type MemoryStatus = "active" | "candidate" | "superseded" | "stale" | "archived";

/** The type of a memory. */
export type MemoryType = "decision" | "learning" | "summary";

/** How often a memory was used. */
export interface MemoryUse {
  id: string;
  title: string;
  uses: number;
  citations: number;
  confirmations: number;
  /** Confidence after adjustment for age and use. */
  effective: number;
}

/** An earlier version of a memory, from a Git commit or a run. */
export interface MemoryVersion {
  when: string;
  who: string;
  what: string;
  commit?: string | null;
  run?: string | null;
}

/** The new content of a memory file. */
export interface MemoryWriteRequest {
  /** The memory's ID or a prefix of it. */
  id: string;
  /** The whole Markdown file, with frontmatter and body. */
  text: string;
  scope?: Scope | null;
  /** The version that was read. The write fails if the file has changed since that version. */
  version?: string | null;
}

/** A file that was fixed. */
export interface MendedFile {
  path: string;
  what: string;
}

/** The sender of a message. */
export type MessageRole = "user" | "assistant" | "tool" | "system";

/** A model's answer, excluding sentences that cite no valid source. */
export interface ModelAnswer {
  question: string;
  known: boolean;
  sentences: AnswerSentence[];
  /** The memories that the sentences cite. */
  memories: CitedMemory[];
  /** The session messages that the sentences cite. */
  messages: string[];
  /** Number of removed sentences, by reason. */
  left_out: Record<string, number>;
  /** Number of unreadable files. */
  broken: number;
  steps: number;
  tool_calls: number;
  tokens: TokenCounts;
  /**
   * The sentences joined into one string, with `[not verified]` after each sentence whose wording is not supported by
   * its sources.
   */
  answer?: string | null;
  cost_usd?: number | null;
  /** Why the answer is incomplete. */
  error?: string | null;
  /** The same error as in `error`, with hints. */
  failure?: Failure | null;
}

/** The configured models, their providers, and the embedding models. */
export interface ModelListReport {
  roles: RoleEntry[];
  /** Providers of the configured models. */
  providers: ProviderEntry[];
  /** Installed agents that can be used as models, including agents not assigned to a role. */
  agents: InstalledAgent[];
  /** Embedding models. */
  models: EmbedderEntry[];
}

/** A role to which a model can be assigned. */
export type ModelRole = "lead" | "explorer" | "extract" | "summarize" | "ask" | "chat";

/** Usage statistics of one model. */
export interface ModelStats {
  model: string;
  calls: number;
  input: number;
  cached: number;
  output: number;
  /** Cost in billionths of a dollar, or `None` if the price of a call is unknown. */
  cost_nano_dollars?: number | null;
}

/** The tested model's response, with its duration and cost. */
export interface ModelTestReport {
  role: ModelRole;
  /** Name of the model as `provider/model`. */
  model: string;
  text: string;
  total_ms: number;
  tokens: TokenCounts;
  /** Cost in US dollars, or `null` if no price is known. */
  cost_usd?: number | null;
  first_word_ms?: number | null;
}

/** Tests a model by asking it for a one-word response. */
export interface ModelTestRequest {
  /** The role whose model is tested. */
  role?: ModelRole;
}

/** Imports between directories. Only imports that resolve to a file are included. */
export interface ModuleGraph {
  /** Number of files. */
  nodes: number;
  /** Number of imports, where each pair of importing and imported files counts once. */
  edges: number;
  /** Number of imports that should resolve to a project file but do not. */
  unresolved: number;
  modules: Listed6;
}

/** A directory, and the directories that its files import from. */
export interface ModuleNode {
  module: string;
  files: number;
  imports: string[];
}

/** Memories transferred between two machines. A response omits memories that no longer exist. */
export interface MovedMemories {
  memories: MovedMemory[];
}

/** A memory transferred between two machines, with the content of its files. */
export interface MovedMemory {
  id: string;
  type: MemoryType;
  text: string;
  evidence?: string | null;
  /** The hash of the version that this memory may replace. */
  replaces?: string | null;
}

/** A project's memories with the hashes of their files, in ID order. */
export interface OfferReport {
  memories: OfferedMemory[];
  /** The ID after which the next page starts. Absent on the last page. */
  more?: string | null;
}

/** Selects which of a server's memories to list. */
export interface OfferRequest {
  /** Only memories after this ID, sorted by ID. */
  after?: string | null;
}

export interface OfferedMemory {
  id: string;
  hash: string;
}

/** Two contradictory memories that need the user's decision. */
export interface OpenContradiction {
  newer: string;
  older: string;
  likelihood: number;
  reason: string;
}

/** Another file with the same ID. */
export interface OtherPlace {
  scope: StoreScope;
  path: string;
}

/** Activity on one day. */
export interface OverviewDay {
  /** Date as `YYYY-MM-DD`. */
  day: string;
  /** Number of sessions last active on that day, by agent. */
  sessions: Record<string, number>;
  /** Number of memories learned on that day that still exist. */
  learned: number;
  /** Input tokens of agent sessions, excluding cached tokens. */
  input_tokens: number;
  /** Tokens read from or written to a cache. */
  cached_tokens: number;
  output_tokens: number;
  /** Number of sync and maintenance runs whose directories still exist. */
  runs: number;
  /** Cost of Nacre's own model calls in billionths of a dollar, or `None` if the price of a call is unknown. */
  cost_nano_dollars?: number | null;
  /** Number of sessions that Nacre read and summarized on that day. */
  sessions_read?: number;
}

/** Activity in the project, or in all projects if none is selected. Days are in UTC. */
export interface OverviewReport {
  since: string;
  until: string;
  /** All days of the period, oldest first, including those without activity. */
  days: OverviewDay[];
  /** Agents with sessions in the period, sorted by name. */
  agents: AgentActivity[];
  /** Current number of decisions and learnings, by status. */
  memories: Record<string, number>;
  /** Number of memories at the end of each day, excluding archived ones. Counts only memories that still exist. */
  growth: MemoryGrowth[];
  /** All-time model usage. */
  models: ModelStats[];
  /** All-time tool usage. */
  tools: ToolStats[];
}

/** A session that is paused until a model is available. */
export interface PausedSession {
  id: string;
  reason: string;
  /** The settings key of the limit that was reached. Absent if the model is unreachable. */
  limit?: string | null;
}

/** A file that would be created, changed or removed. */
export interface PlannedChange {
  /** Path relative to the store. */
  path: string;
  /** New text, or `None` if the file would be removed. */
  after?: string | null;
  /** Current text, or `None` if the file would be created. */
  before?: string | null;
}

/** A registered project. */
export interface ProjectAddReport {
  path: string;
  root: string;
  is_git: boolean;
  /** Paths created by this command; empty if the store already existed. */
  created: string[];
  memories: number;
  /** Whether session summaries are shared through git. */
  shares_summaries: boolean;
  /** Suggested next command. */
  next: string;
  /** The change ID to pass to `nacre undo`. Absent if nothing changed. */
  change?: string | null;
  /** Number of memories that were not recorded on this machine and await review with `nacre trust`. */
  foreign?: number;
  /** Whether any agent sessions were found on this machine. */
  has_agents?: boolean;
  /** Whether the session search stopped early. If so, more sessions may exist. */
  is_partial?: boolean;
  /** Number of sessions in this repository that have not been processed yet. */
  new_sessions?: number;
  /** Name of the project, or `null` if it could not be registered. */
  project?: string | null;
  /** Number of sessions in this repository, by agent. */
  sessions?: AgentSessions[];
  /** Disconnected agents that have sessions in this repository. Their sessions are not read. */
  switched_off?: string[];
}

/** Initializes the repository at a path and registers it as a project. */
export interface ProjectAddRequest {
  /** The repository directory. */
  path: string;
  /** Other directories whose sessions belong to the project, such as its path before it moved. */
  also?: string[];
  /** Name of the project. Defaults to the project's current name or, for a new project, to the directory name. */
  name?: string | null;
}

/** A command, and the file that defines it. */
export interface ProjectCommand {
  purpose: CommandPurpose;
  command: string;
  from: string;
}

/** Two contradictory decisions from different projects. */
export interface ProjectContradiction {
  newer: ProjectMemory;
  older: ProjectMemory;
  /** Likelihood of a contradiction, from 0 to 1. */
  likelihood: number;
}

/** One registered project. */
export interface ProjectEntry {
  name: string;
  path: string;
  state: ProjectState;
  /** Other directories whose sessions belong to the project. */
  also?: string[];
}

/** The registered projects, in the order of registration. */
export interface ProjectListReport {
  projects: ProjectEntry[];
}

/** A memory of a project. */
export interface ProjectMemory {
  project: string;
  id: string;
  title: string;
}

/** The result of unregistering a project. */
export interface ProjectRemoveReport {
  /** Name of the unregistered project. */
  removed: string;
  /** The change ID to pass to `nacre undo`. Absent if nothing changed. */
  change?: string | null;
}

/** Unregisters a project. Its files are kept. */
export interface ProjectRemoveRequest {
  name: string;
}

/** State of a project directory. */
export type ProjectState = "ready" | "no store" | "missing";

/** A model provider. */
export interface ProviderEntry {
  name: string;
  address: string;
  /** Name of the environment variable that holds the API key, and whether it is set. Never contains the key itself. */
  key: string;
  origin: string;
}

/** The public symbols of a file. */
export interface PublicSurface {
  path: string;
  symbols: Listed8;
}

/** What the server did with a pushed memory. */
export type PushState = "taken" | "known" | "differs" | "forgotten" | "invalid";

/** The change made to queued sessions. */
export type QueueChange = "queued" | "skipped";

/** The changed sessions. */
export interface QueueChangeReport {
  done: QueueChange;
  ids: string[];
}

/** The sessions to retry or skip: a single one by ID, or all of them. */
export interface QueueChangeRequest {
  /** Select all dead sessions for a retry, or all pending sessions for a skip. */
  all?: boolean;
  /** A prefix of the session ID. */
  id?: string | null;
}

/** A session in the queue. */
export interface QueueJob {
  /** The session ID. */
  id: string;
  state: JobState;
  attempts: number;
  changed: string;
  agent: string;
  /** The session is not retried before this time. */
  not_before?: string | null;
  project?: string | null;
  reason?: string | null;
  /** The run that processed the session. */
  run?: string | null;
  title?: string | null;
}

/** Queued sessions, most recently changed first. */
export interface QueueListReport {
  jobs: QueueJob[];
  /** Total number of sessions, including those not listed. */
  total: number;
}

/** Selects the queued sessions to list. */
export interface QueueListRequest {
  /** Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting. */
  limit?: number | null;
  status?: JobState | null;
}

/** Number of quotes that match their transcripts. */
export interface QuoteCheck {
  verified: number;
  /** Quotes that the user entered directly in Nacre. */
  by_hand: number;
  /** Quotes whose transcript is not on this machine. */
  unchecked: number;
  missing: number;
  /** Transcripts that cannot be read. */
  unreadable: number;
}

/** Statistics about reading a trace. */
export interface ReadReport {
  /** Complete lines or rows read. */
  lines: number;
  /** Lines without usable content. */
  bad_lines: number;
  /** Damaged lines that were partly recovered. */
  mended_lines: number;
  /** Lines that are not valid UTF-8. */
  invalid_utf8: number;
  /** Lines longer than the limit. */
  long_lines: number;
  /** Records of unknown type. */
  unknown_records: number;
  /** Number of records by unknown type, for at most 32 types. */
  unknown_types: Record<string, number>;
  /** Number of text blocks whose middle was removed. */
  cut_texts: number;
  /** Number of messages that occur more than once in the trace. */
  repeated: number;
  /** Events omitted because the session exceeded the event limit. */
  left_out: number;
  /** Start offset of an incomplete last line, if any. */
  torn_tail?: number | null;
}

/** A memory that matches a question. */
export interface RecalledMemory {
  id: string;
  /** The memory type, or the kind for a learning. */
  type: string;
  title: string;
  status: string;
  scope: StoreScope;
  score: number;
  /** The line of the memory's text that matches best; empty if the title is sufficient. */
  line: string;
  /** IDs of memories that this memory claims to supersede, although their own files do not confirm it. */
  not_verified: string[];
  /** Other stores that contain the same ID. */
  also_in: StoreScope[];
  /** The memory's project, if all projects were searched. */
  project?: string | null;
  /** The first quote that adds something to the memory's text. */
  proof?: RecalledQuote | null;
  quote?: string | null;
  /** ID of a later memory that contradicts this one. */
  replaced_by?: string | null;
  /** Trust level on this machine, if it is lower than that of an agent's own statements. */
  trust?: TrustLevel | null;
  /** When the memory was stated or last changed. */
  updated?: string | null;
}

/** A quote that supports a memory. */
export interface RecalledQuote {
  text: string;
  speaker: Speaker;
  /** The message, or the line of an imported file, that the quote comes from. */
  place: string;
  at: string;
}

/** Updates a project's map and lists the changes. */
export interface RefreshRequest {
  /** Start after this path. Use the `next` value of the previous response. */
  after?: string | null;
  /** Accepted as in other requests, but has no effect: all changes are listed alike. */
  detail?: MapDetail | null;
  /** Maximum number of files; 0 or absent means all. */
  limit?: number | null;
  /**
   * A directory in the project, or the name of a registered project. Defaults to the project that contains the current
   * directory.
   */
  project?: string | null;
  /** Accepted as in other requests, but has no effect: every file is reread. */
  refresh?: boolean;
}

/** A related memory. */
export interface RelatedMemory {
  edge: MemoryEdge;
  id: string;
  type: MemoryType;
  title: string;
  status: string;
  tags: string[];
  related: string[];
  archived: boolean;
  scope: StoreScope;
  path: string;
  /** Situations in which the memory is relevant. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** The kind of learning. */
  kind?: string | null;
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
   * but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  /** The trust level on this machine, if lower than the level of an agent's own statements. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** The relation between a candidate and a memory. */
export type Relation = "different" | "contradicts" | "refines" | "same";

/** A candidate with its evidence. */
export interface ReviewCandidate {
  id: string;
  type: MemoryType;
  title: string;
  status: string;
  tags: string[];
  related: string[];
  archived: boolean;
  scope: StoreScope;
  path: string;
  body: string;
  quotes: MemoryQuote[];
  /** Situations in which the memory is relevant. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** The kind of learning. */
  kind?: string | null;
  /** The project of the candidate, if all projects are listed. */
  project?: string | null;
  /** Why the candidate is quarantined, if it is. */
  reason?: string | null;
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
   * but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  /** The trust level on this machine, if lower than the level of an agent's own statements. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** The user's decision, and the candidates that it applies to. */
export interface ReviewDecideRequest {
  /** IDs of the candidates or prefixes of them. `import:FILE` stands for all statements that were imported from a file. */
  ids: string[];
  decision: ReviewDecision;
  scope?: Scope | null;
  /** ID of the memory that the accepted candidate supersedes, or a prefix of that ID. Requires exactly one candidate. */
  supersedes?: string | null;
}

/** The user's decision about a candidate. */
export type ReviewDecision = "accept" | "reject";

/**
 * Candidates from sessions, newest first, and then those from imported files. Unless there are only a few, the
 * statements of a file are listed as one candidate with the ID `import:FILE`.
 */
export interface ReviewListReport {
  candidates: ReviewCandidate[];
  /** Total number of candidates, including those not listed. */
  total: number;
  broken: BrokenFile[];
}

/** Limits the list of candidates. */
export interface ReviewListRequest {
  /** List the candidates of all registered projects, regardless of `scope`. */
  all_projects?: boolean;
  /** List the statements imported from this file one by one. */
  file?: string | null;
  /** Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting. */
  limit?: number | null;
  scope?: Scope | null;
}

/** A role and its models. */
export interface RoleEntry {
  /** Name of the role. `default` applies to every role without models of its own. */
  role: string;
  /** Models in the order in which they are tried. */
  models: string[];
  origin: string;
  /** Why the role cannot be used with its current settings. */
  problem?: string | null;
}

/** How many actions of each kind a run took. */
export type RunCounts = ActionCounts | RunCountsVariant2;

export interface RunCountsVariant2 {
  archive?: number;
  consolidate?: number;
  doubt?: number;
  establish?: number;
  freshen?: number;
  merge?: number;
  relink?: number;
  restore?: number;
  stale?: number;
  supersede?: number;
  validate?: number;
}

/** A run in a list. */
export interface RunEntry {
  id: string;
  /** The trace that the run processed, or the change that it undid. */
  of: string;
  /** Absent for an undo. */
  counts?: RunCounts | null;
  /** Absent if the report cannot be read. */
  mode?: RunMode | null;
}

/** The runs of a project, newest first. */
export interface RunListReport {
  runs: RunEntry[];
  /** Total number of runs, including those not listed. */
  total: number;
}

/** A message of a run. */
export interface RunMessage {
  role: MessageRole;
  text: string;
  at?: string | null;
  /** The tool that was called or that returned the result. */
  tool?: string | null;
}

/** The stored messages exchanged with models. Empty if the run used no model. */
export interface RunMessagesReport {
  run: string;
  /** Messages in order: the lead agent's first, followed by those of its explorers. */
  messages: RunMessage[];
  /** Number of omitted messages. */
  left_out: number;
}

/** The metrics of a run. */
export type RunMetrics = SyncMetrics | MaintainMetrics;

/** The purpose of a run. */
export type RunMode =
  | "sync"
  | "maintain"
  | "undo"
  | "import"
  | "hot"
  | "cold"
  | "memory"
  | "review"
  | "connect"
  | "config"
  | "export"
  | "project"
  | "trust";

/** The actions of a run. */
export type RunReport = SessionRun | StoreMaintenance | UndoRunReport;

/** A run. */
export interface RunShowReport {
  id: string;
  /** Durations, token counts and other metrics. Absent for an undo. */
  metrics?: RunMetrics | null;
  /** The run's actions. Absent if the report cannot be read. */
  report?: RunReport | null;
  /** The individual runs if a change spans several, such as a sync with one run per session. */
  runs?: RunShowReport[];
}

/** Tool and model usage statistics across all tasks. */
export interface RunStatsReport {
  models: ModelStats[];
  tools: ToolStats[];
}

/** The author of feedback. */
export type SaidBy = "owner" | "agent" | "person" | "unknown";

/** A user message that matches a question. */
export interface SaidInSession {
  text: string;
  /** The position of the message, as `SESSION:SEQUENCE`. */
  place: string;
  at?: string | null;
}

/** The stores to search. */
export type Scope = "project_fallback_global" | "project_only" | "global_only";

/** Search results, and the state of the project. */
export interface SearchCodeReport {
  command: MapCommand;
  project_root: string;
  project_id: string;
  cache_status: CacheStatus;
  revision: MapRevision;
  stats: MapStats;
  query: string;
  mode: CodeSearchMode;
  /**
   * Number of matching lines, including those not shown. In a word search, only the files that were searched are
   * counted.
   */
  total_matches: number;
  /**
   * Number of matching files, including those not shown. In a word search, a file matches if it contains any of the
   * words.
   */
  total_files: number;
  /** Files, sorted by score. Files that define the searched symbol come first. */
  files: MatchedFile[];
  /** Number of matching lines that are not shown, and number of files that contain them. */
  more_matches: number;
  more_files: number;
  /** Number of candidate files not searched because they were unreadable or the time limit was reached. */
  unsearched_files: number;
}

/** A code search. */
export interface SearchCodeRequest {
  /** Maximum number of tokens in the response. Defaults to 4000. */
  budget?: number | null;
  /** Number of lines to show before and after each match, at most 10. */
  context?: number | null;
  /** List files without their lines. */
  files_only?: boolean;
  /** The output format used to calculate the token budget. */
  format?: MapFormat;
  /** Whether to ignore case in a pattern. By default, case is ignored unless the pattern contains an uppercase letter. */
  ignore_case?: boolean | null;
  /** Only files in this language. */
  language?: string | null;
  /** Maximum number of matching lines, or of files with `files_only`. Defaults to 30, at most 500. */
  limit?: number | null;
  /** How to interpret the query. Defaults to words, or to literal text if the query is in double quotes. */
  mode?: CodeSearchMode | null;
  /** Path globs. A file must match at least one of these globs. Globs with a leading `!` exclude files. */
  paths?: string[];
  /**
   * A directory in the project, or the name of a registered project. Defaults to the project that contains the current
   * directory.
   */
  project?: string | null;
  /** Words, literal text, or a regular expression. */
  query?: string;
  /** Reread every file instead of relying on modification times. */
  refresh?: boolean;
  /** Do not write the map, and fail if it is out of date. */
  strict?: boolean;
}

/** The ranking method. */
export type SearchMode = "hybrid" | "lexical" | "semantic";

/** The state of the server and its background loops. */
export interface ServiceReport {
  version: string;
  started: string;
  /** The server's address. */
  address: string;
  /** The server's process ID. */
  pid: number;
  paused: boolean;
  /** Number of clients subscribed to events. */
  listeners: number;
  /** The background loops. Empty if the server runs without them. */
  loops: LoopEntry[];
  /** The state of the shared database, if one is configured. */
  database?: DatabaseStatus | null;
}

/** A running server. */
export interface ServiceStatus {
  /** The server's address, as `host:port`. */
  address: string;
  /** Whether a user paused the background loops. */
  paused: boolean;
}

/** The action taken for one candidate. */
export interface SessionAction {
  candidate: string;
  title: string;
  /** The kind of session content that led to the candidate. */
  signal: Signal;
  action: CandidateVerb;
  band: Band;
  reason: string;
  by: DecidedBy;
  likelihood?: number | null;
  /** The memory that the candidate was compared with. */
  nearest?: string | null;
  /** The lead agent's explanation, quoting the memory or candidate that it refers to. */
  note?: string | null;
  quote?: string | null;
  relation?: Relation | null;
  scores?: ActionScores | null;
  supersedes?: string | null;
  /** The memory that was created, changed, or found to say the same thing already. */
  target?: string | null;
}

/** Whether a session was idle when it was last read. */
export type SessionEnding = "finished" | "unknown" | "active";

/** A session in a list. */
export interface SessionEntry {
  id: string;
  /** The file or database that contains the session. */
  path: string;
  state: JobState;
  facts: SessionFacts;
  report: ReadReport;
  /** The session's name within its source, if the source contains several sessions. */
  inner_id?: string | null;
  /** The root directory of its project, if the project is registered. */
  project?: string | null;
  /** The reason for the session's state. */
  reason?: string | null;
}

/** Metadata of a session. */
export interface SessionFacts {
  agent: string;
  /** The session ID assigned by the agent. */
  id: string;
  role: SessionRole;
  other_cwds: string[];
  other_branches: string[];
  models: string[];
  counts: EventCounts;
  tokens: SessionTokens;
  links: SessionLink[];
  undone: UndoneEvents[];
  ending: SessionEnding;
  /** The agent version that last wrote the trace. */
  agent_version?: string | null;
  /** The initial working directory of the session. */
  cwd?: string | null;
  git_branch?: string | null;
  last_activity?: string | null;
  /** The URL of the Git remote, without credentials. */
  repository?: string | null;
  started?: string | null;
  title?: string | null;
}

/** A link to the session on which this one is based. */
export interface SessionLink {
  kind: SessionLinkKind;
  /** The ID of the other session. */
  session: string;
  /** The call in the other session that started this one. */
  call?: string | null;
}

/** The relation between two sessions. */
export type SessionLinkKind = "parent" | "fork_of" | "continues";

/** Whether a session had new content to process. */
export type SessionOutcome = "done" | "unchanged";

/** The purpose of a session. */
export type SessionRole = "main" | "sub_agent" | "helper";

/** The actions of a run that processed one session. */
export interface SessionRun {
  run_id: string;
  mode: RunMode;
  outcome: SessionOutcome;
  trace_path: string;
  session: string;
  /** The coding agent that wrote the trace. */
  agent: string;
  memory_root: string;
  workspace_root: string;
  run_folder: string;
  finished_at: string;
  checklist: ChecklistStep[];
  actions: SessionAction[];
  counts: ActionCounts;
  /** Rejected proposals by reason. */
  dropped: Record<string, number>;
  written_paths: string[];
  cost_usd: number;
  strategy: Strategy;
  /** Why the session was processed with a fallback strategy. */
  fallback?: string | null;
  /** Why the lead agent failed. The decisions were then made by the rules. */
  lead_error?: string | null;
  /** The settings key of the limit that was reached. */
  limit?: string | null;
  summary_path?: string | null;
}

/** One agent's sessions in one project. */
export interface SessionStatus {
  agent: string;
  seen: number;
  /** Number of sessions by state. */
  states: Record<string, number>;
  /** Number of skipped sessions by reason. */
  skipped: Record<string, number>;
  project?: string | null;
}

/** Token counts for all model calls in a session. */
export interface SessionTokens {
  /** Input tokens, excluding cached tokens. */
  input: number;
  output: number;
  /** Tokens read from a cache. */
  cached: number;
  /** Tokens written to a cache. */
  cache_write: number;
  /** Reasoning tokens, if the agent reports them separately. They are included in `output`. */
  reasoning: number;
}

/** One setting. */
export interface Setting {
  value: SettingValue;
  /** Where the value was set. A list can combine values from several origins. */
  origin: string;
}

/** Value of a setting. */
export type SettingValue = string | number | number | boolean | string[];

/** The severity of a finding. */
export type Severity = "error" | "warning";

/** The kind of session content that led to a candidate. */
export type Signal =
  | "remember"
  | "correction"
  | "preference"
  | "decision"
  | "choice"
  | "convention"
  | "context"
  | "failure"
  | "procedure"
  | "model";

/** The start of a delta: a revision, a git ref (`git:REF` or `REF`), `client:NAME`, or `0` for everything. */
export type Since = string;

/** The period of a report. */
export interface SinceRequest {
  /** A date, a time or an age, such as `2026-01` or `30d`. The default depends on the operation. */
  since?: string | null;
}

/** Number of project entries excluded from the map, by reason. */
export interface SkippedCounts {
  /** Files that usually contain secrets, such as keys and passwords. */
  denied: number;
  links: number;
  /** Pipes, sockets and devices. */
  special: number;
  /** Directories that cannot be opened. */
  unreadable: number;
  /** Names that are not valid UTF-8. */
  unnamable: number;
  /** Git repositories inside the project that are not submodules. */
  nested: number;
  /** Directories and files that are nested too deeply, and tracked files that exceed the limit. */
  too_deep: number;
  /** Directories skipped because their ignore rules exceed a limit. */
  unread_rules: number;
}

/** A source that cannot be read, and why. */
export interface SourceProblem {
  path: string;
  reason: string;
}

/** The part of a source that best matches a sentence. */
export interface SourceQuote {
  /** A memory ID, or the position of a session message. */
  source: string;
  text: string;
}

/** The speaker of a quote. */
export type Speaker = "assistant" | "tool" | "human" | "user";

/** The scope of a spending limit. */
export type SpendingScope = "day" | "project";

/** Model usage in one scope. */
export interface SpendingStatus {
  scope: SpendingScope;
  calls: number;
  tokens: number;
  limit_tokens: number;
  cost_usd: number;
  limit_usd: number;
  /** Calls whose price is unknown. Only their tokens are counted. */
  unpriced_calls: number;
  /** Whether the limit has been reached, in which case no more model calls are made. */
  is_reached: boolean;
}

/** An overview of the stores, sessions and services. */
export interface StatusReport {
  /** The stores included in searches. */
  scope: Scope;
  stores: StoreStatus[];
  /** Number of registered projects. */
  projects: number;
  sessions: SessionStatus[];
  /** Whether every known session is in exactly one state. */
  sessions_add_up: boolean;
  /** Model usage and its limits. */
  spending: SpendingStatus[];
  /** The result of the last check. */
  health: Health;
  /** The time of the last check. */
  checked?: string | null;
  /** A problem with the repository settings. */
  config?: string | null;
  /** The shared database, if one is configured. */
  database?: DatabaseStatus | null;
  last_sync?: string | null;
  /** The name of the current project. */
  project?: string | null;
  root?: string | null;
  /** The running server for this Nacre home directory. */
  service?: ServiceStatus | null;
  /** Disconnected agents that have sessions on this machine. Their sessions are not processed. */
  switched_off?: string[];
  /** Unfinished sessions in all projects. */
  waiting?: WaitingSessions;
}

/** The state of a step. */
export type StepState = "pending" | "in_progress" | "done" | "failed" | "gated" | "skipped";

/** Problems found in one store. */
export interface StoreCheck {
  scope: StoreScope;
  path: string;
  memories: number;
  evidence: number;
  findings: Finding[];
  /** Memories from other sources that are pending in `nacre trust`. */
  foreign?: number;
  /** Memories with instructions that did not come from the user. */
  quarantined?: number;
  /** Results of comparing the quotes, if requested. */
  quotes?: QuoteCheck | null;
}

/** What a maintenance run did in one store. */
export interface StoreMaintenance {
  outcome: MaintainState;
  mode: RunMode;
  finished_at: string;
  memories: number;
  /** Number of unreadable files, which were left unchanged. */
  broken: number;
  /** Number of actions, by kind. */
  counts: StoreMaintenanceCounts;
  actions: MaintainAction[];
  contradictions: OpenContradiction[];
  written_paths: string[];
  model_calls: number;
  tokens: number;
  cost_usd: number;
  /** ID of the run. Absent if nothing changed. */
  run_id?: string | null;
}

/** Number of actions, by kind. */
export interface StoreMaintenanceCounts {
  archive?: number;
  consolidate?: number;
  doubt?: number;
  establish?: number;
  freshen?: number;
  merge?: number;
  relink?: number;
  restore?: number;
  stale?: number;
  supersede?: number;
  validate?: number;
}

/** The store that contains a memory. */
export type StoreScope = "project" | "global";

/** Statistics about one memory store. */
export interface StoreStatus {
  scope: StoreScope;
  path: string;
  memories: TypeCount[];
  /** Candidates that no user has reviewed yet. */
  candidates: number;
  /** Files that cannot be read. */
  broken: number;
  /** Memories from other sources that are pending in `nacre trust`. */
  foreign?: number;
  /** Memories with instructions that did not come from the user. */
  quarantined?: number;
  /** Time of the last update of any memory. */
  updated?: string | null;
}

/** How a session was processed. */
export type Strategy = "offline" | "windows";

/** How sessions are processed. */
export type StrategyChoice = "auto" | "offline" | "windows";

/** An event in the event stream. */
export type StreamEvent =
  | StreamEventTask
  | StreamEventWarning
  | StreamEventStep
  | StreamEventProgress
  | StreamEventNote
  | StreamEventWords
  | StreamEventSentence
  | StreamEventChanged
  | StreamEventMissed;

/** Some data changed, and the client must request it again. */
export interface StreamEventChanged {
  at: string;
  /** The user who caused the event. Absent for the owner of this machine. */
  by?: string | null;
  /** The project name, if the request specified one. */
  project?: string | null;
  /** The task that the event belongs to. */
  task?: string | null;
  event: "changed";
  what: ChangedThing;
}

/** Events were lost, and the client must request all data again. */
export interface StreamEventMissed {
  at: string;
  /** The user who caused the event. Absent for the owner of this machine. */
  by?: string | null;
  /** The project name, if the request specified one. */
  project?: string | null;
  /** The task that the event belongs to. */
  task?: string | null;
  event: "missed";
}

/** A note about an agent's work. */
export interface StreamEventNote {
  at: string;
  /** The user who caused the event. Absent for the owner of this machine. */
  by?: string | null;
  /** The project name, if the request specified one. */
  project?: string | null;
  /** The task that the event belongs to. */
  task?: string | null;
  event: "note";
  text: string;
}

/** Progress of the current step. */
export interface StreamEventProgress {
  at: string;
  /** The user who caused the event. Absent for the owner of this machine. */
  by?: string | null;
  /** The project name, if the request specified one. */
  project?: string | null;
  /** The task that the event belongs to. */
  task?: string | null;
  event: "progress";
  done: number;
  total: number;
  bytes: number;
}

/** An answer sentence with verified citations. */
export interface StreamEventSentence {
  at: string;
  /** The user who caused the event. Absent for the owner of this machine. */
  by?: string | null;
  /** The project name, if the request specified one. */
  project?: string | null;
  /** The task that the event belongs to. */
  task?: string | null;
  event: "sentence";
  text: string;
  starts_line: boolean;
}

/** A short description of the current step. */
export interface StreamEventStep {
  at: string;
  /** The user who caused the event. Absent for the owner of this machine. */
  by?: string | null;
  /** The project name, if the request specified one. */
  project?: string | null;
  /** The task that the event belongs to. */
  task?: string | null;
  event: "step";
  text: string;
}

/** The state of a task changed. */
export interface StreamEventTask {
  at: string;
  /** The user who caused the event. Absent for the owner of this machine. */
  by?: string | null;
  /** The project name, if the request specified one. */
  project?: string | null;
  /** The task that the event belongs to. */
  task?: string | null;
  event: "task";
  state: TaskState;
  agent: string;
  title: string;
}

/** A warning for the user. */
export interface StreamEventWarning {
  at: string;
  /** The user who caused the event. Absent for the owner of this machine. */
  by?: string | null;
  /** The project name, if the request specified one. */
  project?: string | null;
  /** The task that the event belongs to. */
  task?: string | null;
  event: "warning";
  message: string;
  hint?: string | null;
}

/** Streamed model output that has not been verified yet. */
export interface StreamEventWords {
  at: string;
  /** The user who caused the event. Absent for the owner of this machine. */
  by?: string | null;
  /** The project name, if the request specified one. */
  project?: string | null;
  /** The task that the event belongs to. */
  task?: string | null;
  event: "words";
  text: string;
}

/** A public symbol. */
export interface SurfaceSymbol {
  name: string;
  kind: SymbolKind;
  line: number;
  signature: string;
}

/** A changed symbol in a modified file. */
export interface SymbolDelta {
  name: string;
  kind: SymbolKind;
  change: CodeChange;
  /** Whether the signature changed, in which case callers may need to change too. */
  is_signature: boolean;
}

/** Changed symbols of a modified file. */
export interface SymbolDeltas {
  /** How thoroughly both versions were analyzed. A shallow analysis does not cover function bodies. */
  depth: AnalysisDepth;
  changed: SymbolDelta[];
}

/** How much of a symbol is shown. */
export type SymbolForm = "name" | "signature" | "body";

/** The kind of a symbol. */
export type SymbolKind =
  | "function"
  | "method"
  | "class"
  | "struct"
  | "enum"
  | "implementation"
  | "type"
  | "constant"
  | "macro"
  | "interface"
  | "module";

/** The duration of each step of a sync, in milliseconds. */
export interface SyncDurations {
  read: number;
  decide: number;
  lead: number;
  /** All steps, and the time between them. */
  total?: number;
}

/** The metrics for syncing one session. */
export interface SyncMetrics {
  run_id: string;
  strategy: Strategy;
  /** Whether the session was worth processing. */
  gate: Gate;
  windows: number;
  /** Windows skipped because the model's response was unusable or the session had too many windows. */
  unread_windows: number;
  /** Events not passed to a model because the session was too long. */
  unread_events: number;
  candidates: number;
  /** Rejected proposals by reason. */
  dropped: Record<string, number>;
  denied_writes: number;
  leads: LeadMetrics[];
  explorers: ExplorerMetrics[];
  model_calls: number;
  tokens: TokenCounts;
  cost_usd: number;
  /** Model calls with an unknown price. */
  unpriced_calls: number;
  /** Removed secrets by kind. */
  redactions: Record<string, number>;
  events: number;
  durations_ms: SyncDurations;
  fallback?: string | null;
}

/** The purpose of a sync run. The mode is part of the run directory's name. */
export type SyncMode = "sync" | "hot" | "cold";

/** The result of a sync. */
export interface SyncReport {
  /** The name of the sync run. */
  run: string;
  /** Number of files and databases found. */
  sources: number;
  /** Number of sources that were unchanged and not opened. */
  unchanged: number;
  /** Number of sessions read. */
  read: number;
  /** Number of sessions that were read starting from where the previous sync stopped. */
  resumed: number;
  bytes: number;
  /** Number of stored sessions that were redacted again because `redact.extra` changed. */
  reworded: number;
  /** Number of sessions queued because their project was registered only after they were read. */
  readmitted: number;
  /** Number of queued sessions whose trace no longer exists. */
  gone: number;
  /** Number of sources left for the next sync. */
  left: number;
  problems: SourceProblem[];
  sessions: SyncedSession[];
  /** Sessions paused until a model is available. Only the first session of each project is listed. */
  paused: PausedSession[];
  /** Whether another process has locked a store. The remaining sessions stay in the queue. */
  busy?: boolean;
  /** Current state of the memories that this sync created or changed. */
  learned?: LearnedMemory[];
  /** The locations that were searched, if no session was found. */
  looked_in?: LookedIn[];
  /** Suggested next command. */
  next?: string | null;
  /** The current directory and how many sessions it has, if the directory is not set up. */
  not_set_up_here?: FolderSessions | null;
  /** Disconnected agents that have sessions on this machine. Their sessions are not processed. */
  switched_off?: string[];
  totals?: SyncTotals;
  waiting?: WaitingSessions;
}

/** The sessions to sync, and how to process them. */
export interface SyncRequest {
  /** Sync only these agents' sessions. If empty, all connected agents are included. */
  agents?: string[];
  /** The agent's ID for a session that has ended, so that the session is not treated as still active. */
  ended?: string | null;
  /** Also read unchanged traces. */
  force?: boolean;
  /** Run even if another sync is running. */
  ignore_lock?: boolean;
  /** Stop after this many sessions. */
  max_sessions?: number | null;
  mode?: SyncMode;
  /** Read and queue sessions without extracting memories. */
  no_extract?: boolean;
  /** The name of the sync run. */
  run_id?: string | null;
  /** Only traces changed since this date, time or age. */
  since?: string | null;
  strategy?: StrategyChoice | null;
  /** Only traces changed before this date, time or age. */
  until?: string | null;
}

/** Totals of a sync. */
export interface SyncTotals {
  /** Number of processed sessions. */
  sessions: number;
  /** Number of failed sessions. */
  failed: number;
  /** Number of new memories. */
  added: number;
  /** Number of new memories that are active. */
  active: number;
  /** Number of new memories that are pending in `nacre review`. */
  to_review: number;
  /** Number of existing memories to which details were added. */
  updated: number;
  /** Number of superseded memories. */
  superseded: number;
  /** Number of session summaries. */
  summaries: number;
  /** Cost of model calls in US dollars. */
  cost_usd: number;
}

/** A processed session. */
export type SyncedSession = SyncedSessionDone | SyncedSessionFailed;

export interface SyncedSessionDone {
  id: string;
  agent: string;
  title: string;
  /** Duration in milliseconds. */
  ms: number;
  /** The root directory of the session's project. */
  project?: string;
  state: "done";
  report: SessionRun;
  /** Number of rejected proposals. */
  dropped: number;
}

export interface SyncedSessionFailed {
  id: string;
  agent: string;
  title: string;
  /** Duration in milliseconds. */
  ms: number;
  /** The root directory of the session's project. */
  project?: string;
  state: "failed";
  reason: string;
}

/** What the server did with each pushed memory. */
export interface TakeInReport {
  memories: TakenMemory[];
}

export interface TakenMemory {
  id: string;
  state: PushState;
}

/** The result of cancelling a task and its subtasks. */
export interface TaskCancelReport {
  task: string;
  /** Queued tasks that were cancelled immediately. */
  ended: string[];
  /** Running tasks, which their own processes will stop. */
  asked: string[];
}

/** The priority of a task. */
export type TaskClass = "interactive" | "background";

/** A task without its events. */
export interface TaskEntry {
  id: string;
  session: string;
  agent: string;
  class: TaskClass;
  title: string;
  state: TaskState;
  created: string;
  /** Number of events. */
  events: number;
  ended?: string | null;
  /** The task that started this one. */
  parent?: string | null;
  project?: string | null;
  /** Why the task ended. */
  reason?: string | null;
  started?: string | null;
}

/** An event of a task. `event` is its name; the other fields depend on the version of Nacre that ran the task. */
export interface TaskEvent {
  sequence: number;
  at: string;
  [key: string]: unknown;
}

/** Tasks, newest first. */
export interface TaskListReport {
  tasks: TaskEntry[];
}

/** A task. */
export interface TaskRef {
  /** The task ID. Requests also accept a prefix of the ID. */
  task: string;
}

/** A task and its events, in order. */
export interface TaskShowReport {
  task: TaskEntry;
  events: TaskEvent[];
}

/** The task, and which of its events to show. */
export interface TaskShowRequest {
  /** The ID of the task, or a prefix of it. */
  task: string;
  /** Only events with a higher sequence number. */
  after?: number;
  /** Maximum number of events; 0 means all. The default is 1000. */
  limit?: number | null;
  /** Wait for new events or the end of the task. */
  wait?: boolean;
}

/** The state of a task. */
export type TaskState = "accepted" | "queued" | "running" | "completed" | "failed" | "cancelled";

/** The memories of one project. */
export interface TeamProject {
  project: string;
  /** Memories learned in the period that are in use, newest first. */
  learned: MemoryUse[];
  /** Total number of memories learned in the period, including those not listed. */
  n_learned: number;
  /** Pairs of contradictory memories, the most likely contradictions first. */
  contested: ContestedPair[];
  /** Memories unused for two weeks or more, lowest confidence first. */
  unused: MemoryUse[];
  n_unused: number;
}

/** Memories from all projects that the caller can read. */
export interface TeamReport {
  since: string;
  until: string;
  /** Projects with content in this report, sorted by name. */
  projects: TeamProject[];
  /** Number of projects examined. */
  n_projects: number;
  /** Decisions from different projects that contradict each other and must be resolved by users. */
  across: ProjectContradiction[];
  /** Number of memories that were not compared because the report reached its limit. */
  n_not_compared: number;
  /** Projects that cannot be read. */
  unreadable: string[];
}

/** Input and output token counts. */
export interface TokenCounts {
  input: number;
  output: number;
}

/** Usage statistics of one tool. */
export interface ToolStats {
  tool: string;
  calls: number;
  p50_us: number;
  p95_us: number;
  /** Number of failed calls by kind of error. */
  errors: Record<string, number>;
  bytes_out: number;
  /** Size in bytes of the results passed to models. */
  shown_bytes: number;
}

/** An external package, and the number of files that import it. */
export interface TopImport {
  module: string;
  files: number;
}

/** An event of a session. */
export interface TraceEvent {
  sequence: number;
  kind: TraceEventKind;
  place: TracePlace;
  lane: TraceLane;
  error: boolean;
  /** The text, or only its beginning if the text was shortened. */
  text: string;
  /** The end of the text if it was shortened. */
  text_end: string;
  /** Size in bytes before shortening. */
  full_bytes: number;
  at?: string | null;
  /** The ID shared by a tool call and its result. */
  call?: string | null;
  /** Why the text is considered injected, if it is. */
  injected?: string | null;
  /** The record ID assigned by the agent. */
  key?: string | null;
  /** How the user entered the text, if the user wrote it. */
  person?: string | null;
  tool?: string | null;
}

/** The kind of an event. */
export type TraceEventKind =
  | "user"
  | "assistant"
  | "reasoning"
  | "tool_call"
  | "tool_result"
  | "summary"
  | "compaction"
  | "meta";

/** A matching message. */
export interface TraceHit {
  /** The session ID. */
  id: string;
  agent: string;
  sequence: number;
  kind: string;
  /** The text around the matching words. */
  snippet: string;
  score: number;
  why: TraceHitReason;
  at?: string | null;
  project?: string | null;
  title?: string | null;
}

/** Why a message matched. */
export interface TraceHitReason {
  /** Query terms that the message contains. */
  terms: string[];
  /** Semantic similarity to the query, from 0 to 1. */
  similarity: number;
}

/** The part of a session to which an event belongs. */
export type TraceLane = "main" | "sidechain" | "inherited";

/** Sessions, newest first. */
export interface TraceListReport {
  sessions: SessionEntry[];
  /** Total number of sessions, including those not listed. */
  total: number;
}

/** Selects the sessions to list. */
export interface TraceListRequest {
  agent?: string | null;
  /** Include sessions of all projects. */
  all?: boolean;
  /** Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting. */
  limit?: number | null;
  /** Number of sessions to skip. */
  offset?: number;
  /** Only sessions active since this date, time or age. */
  since?: string | null;
}

/** The position of an event in its trace. */
export type TracePlace = TracePlaceLine | TracePlaceRow;

/** A line number, starting at 1, and the line's byte offset. */
export interface TracePlaceLine {
  line: TracePlaceLineLine;
}

export interface TracePlaceLineLine {
  line: number;
  offset: number;
}

/** The key of a database row. */
export interface TracePlaceRow {
  row: TracePlaceRowRow;
}

export interface TracePlaceRowRow {
  key: string;
}

/** Matching messages, best match first. */
export interface TraceSearchReport {
  query: string;
  hits: TraceHit[];
}

/** A query for searching session messages. */
export interface TraceSearchRequest {
  /** Words, quoted phrases and filters. */
  query: string;
  agent?: string | null;
  /** Include sessions of all projects. */
  all?: boolean;
  /** Maximum number of results. Defaults to the `memory.max_results` setting. */
  limit?: number | null;
  mode?: SearchMode;
  /** Only messages since this date, time or age. */
  since?: string | null;
}

/** A session and its events in order. */
export interface TraceShowReport {
  session: SessionEntry;
  events: TraceEvent[];
}

/** The session to show, and which details to include. */
export interface TraceShowRequest {
  /** The session ID or a prefix of it. `ID:SEQUENCE` shows 20 events from this one on, unless `limit` is set. */
  id: string;
  /** Include reasoning, injected text and records of unknown kinds. */
  full?: boolean;
  /** Maximum number of events. */
  limit?: number | null;
}

/** A transcript on a server. */
export interface TranscriptEntry {
  id: string;
  agent: string;
  session: string;
  /** The hash of the transcript as sent. */
  hash: string;
  bytes: number;
  /** When the upload was completed. */
  at: string;
  /** Whether everyone who can read the project can also read the transcript. */
  shared: boolean;
  /** The user who sent the transcript. Absent for the owner of the server. */
  person?: string | null;
}

/** A project's transcripts that are shared or belong to the caller, newest first. */
export interface TranscriptListReport {
  transcripts: TranscriptEntry[];
}

/** The state of a transcript on the server. */
export interface TranscriptPutReport {
  state: TranscriptState;
  /** Number of bytes received so far, which is the offset of the next part. */
  received: number;
}

/** A part of a transcript in Nacre's format. */
export interface TranscriptPutRequest {
  /** The agent of the session. */
  agent: string;
  /** The name of the session on its original machine. */
  session: string;
  /** The hash of the complete transcript as sent. */
  hash: string;
  /** Size of the complete transcript in bytes. */
  bytes: number;
  /** Offset of this part in bytes. */
  offset: number;
  text: string;
  /** Share the transcript with everyone who can read the project. */
  share?: boolean;
}

/** A transcript, including its text. */
export interface TranscriptShowReport {
  transcript: TranscriptEntry;
  text: string;
}

/** What the server did with a part of a transcript. */
export type TranscriptState = "taken" | "known" | "partial" | "too_large" | "full" | "invalid";

/** A memory in a trust report. */
export interface TrustItem {
  id: string;
  type: MemoryType;
  title: string;
  status: string;
  tags: string[];
  related: string[];
  archived: boolean;
  scope: StoreScope;
  path: string;
  /** Why the memory is not yet trusted. */
  reason: string;
  /** Whether a program other than Nacre changed the memory after it was last trusted. */
  changed: boolean;
  /** The hash of the memory file. */
  hash: string;
  /** Whether this request marked the memory as trusted. */
  trusted: boolean;
  /** Situations in which the memory is relevant. */
  applies?: string[];
  /** The content when the memory was last trusted, if Git still has it. */
  before?: string | null;
  /** The date of the memory's last commit. */
  committed?: string | null;
  /** The author of the memory's last commit, from Git. */
  committed_by?: string | null;
  confidence?: number | null;
  created?: string | null;
  /** The kind of learning. */
  kind?: string | null;
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link records the replacement,
   * but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  /** The content of the memory file. */
  text?: string | null;
  /** The trust level on this machine, if lower than the level of an agent's own statements. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** The trust level of a memory on this machine, lowest first. */
export type TrustLevel = "quarantined" | "foreign" | "derived" | "assistant" | "user" | "human";

/** Memories pending review or trusted by this request. */
export interface TrustReport {
  memories: TrustItem[];
  /** Number of memories from other sources that are still pending. */
  foreign: number;
  /** Number of memories that are still quarantined. */
  quarantined: number;
  /** Number of memories trusted by this request. */
  trusted: number;
  dry_run: boolean;
  /** The change ID to pass to `nacre undo`. Absent if nothing changed. */
  change?: string | null;
  /** Number of matching memories beyond the request limit. */
  more?: number;
}

/** The memories to review for trust, and the user's decision. */
export interface TrustRequest {
  /** Select all memories from other sources. Quarantined memories must be selected by ID. */
  all?: boolean;
  /** Include the content of each memory, both current and as last trusted. */
  diff?: boolean;
  /** Show which memories would be trusted, without changing anything. */
  dry_run?: boolean;
  /** IDs of the memories or prefixes of them. If empty, all pending memories are listed. */
  ids?: string[];
  scope?: Scope | null;
  /** Hashes of the memory files that the user has reviewed. A file with any other hash is not trusted. */
  seen?: string[];
}

/** Number of memories of one type. */
export interface TypeCount {
  type: MemoryType;
  active: number;
  archived: number;
}

/** A restored file. */
export interface UndoAction {
  /** Always `put back`. */
  action: string;
  /** The memory to which the file belongs. */
  target: string;
}

/** Changes in this project and in the user's global store, newest first. */
export interface UndoListReport {
  changes: ChangeEntry[];
  /** Total number of changes, including those not listed. */
  total: number;
}

/** The result of an undo. */
export interface UndoReport {
  /** The ID of this undo, which can itself be undone. */
  run: string;
  /** The change that was undone. */
  of: string;
  /** The undone command, without `nacre`. */
  command: string;
  dry_run: boolean;
  paths: string[];
  memories: UndoneMemory[];
  /** Files that were kept because they were changed later. */
  kept: KeptFile[];
  /** Current and restored file contents. Only present in a dry run. */
  changes?: PlannedChange[] | null;
  /** Additional notes for the user. */
  notes?: string[];
}

/** The change to undo. */
export interface UndoRequest {
  /** Show the files that would be restored, without changing anything. */
  dry_run?: boolean;
  /** Keep memories that were changed since then, and restore the rest. */
  keep_changed?: boolean;
  /** Undo the newest change that has not been undone yet. */
  last?: boolean;
  /** A prefix or suffix of the ID of a change or run. Leave it empty with `last`. */
  run?: string;
}

/** What an undo did, as stored in its run directory. */
export interface UndoRunReport {
  run_id: string;
  mode: RunMode;
  /** The change that was undone. */
  of: string;
  finished_at: string;
  actions: UndoAction[];
  written_paths: string[];
  /** The undone runs in this store. */
  runs?: string[];
}

/** Events `from..=to` that the user reverted in the agent. */
export interface UndoneEvents {
  from: number;
  to: number;
}

/** The change that an undo made to a memory. */
export type UndoneHow = "removed" | "restored" | "reverted";

/** A memory that an undo changed. */
export interface UndoneMemory {
  id: string;
  done: UndoneHow;
}

/** A user's verdict on how useful a memory is. */
export type Verdict = "useful" | "wrong" | "outdated";

/** Unfinished sessions, grouped by reason. */
export interface WaitingSessions {
  /** Number of sessions ready to be processed. */
  ready: number;
  /** Sessions in directories that are not set up. Directories with the most sessions come first. */
  not_set_up: FolderSessions[];
  /** Sessions that were modified recently and may still be running. */
  active?: LaterSessions | null;
  /** Failed sessions that will be retried. */
  retried?: LaterSessions | null;
  /** Sessions whose traces name no directory. `nacre sync --trace` assigns them to a project. */
  without_folder?: AgentSessions[];
}

/** Loops to run as soon as possible. */
export interface WakeRequest {
  /** The loops to run. If empty, the sync loop runs. */
  loops?: LoopName[];
}

/** A warning for the user, and what to do about it. */
export interface Warning {
  message: string;
  hint?: string | null;
}

/** Why a memory matched. */
export interface WhyFound {
  /** Query terms that the memory contains. */
  terms: string[];
  /** The part of the score based on word matches. */
  lexical: number;
  /** Semantic similarity to the query, from 0 to 1. */
  similarity: number;
  /** Links from other memories that increased the score. */
  edges: MemoryEdge[];
}

/** Why a file was included. */
export type WhyRelevant = "asked" | "words" | "near" | "meaning" | "memory";

/** Which parts to write to an agent's settings, and whether this is a dry run. */
export interface WiringOptions {
  /** Report the changes without making them. */
  dry_run?: boolean;
  /** Also run a guard hook before each tool call. An existing guard stays enabled. */
  guard?: boolean;
  /** Parts to connect. Defaults to the transcripts and all parts that the agent supports. */
  parts?: WiringPart[];
  /**
   * The `plan` from the dry run that the user approved. The request is rejected if the changes no longer match the
   * plan.
   */
  plan?: string | null;
}

/** A part that can be written to an agent's settings. */
export type WiringPart = "mcp" | "hooks" | "skill";

/** State of a part of the connection. */
export type WiringState = "on" | "off" | "outdated" | "not_possible";
