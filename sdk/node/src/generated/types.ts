// The wire types: the JSON of requests and reports as it is sent.
//
// Written by sdk/generate/generate.py. Do not edit: change routes.toml or the wire types.

/** How many candidates became what. */
export interface ActionCounts {
  add: number;
  update: number;
  no_op: number;
  supersede: number;
}

/** How likely each question about a candidate and its nearest memory is answered with yes, from 0 to 1. */
export interface ActionScores {
  about: number;
  against: number;
  more: number;
}

/** A file that uses a symbol that changed its shape or is gone. */
export interface AffectedFile {
  path: string;
  /** Imports between it and what changed: 1 for a file that imports it itself, or needs no import. */
  depth: number;
  /** What it uses; empty for a file that imports one that is gone. */
  symbols: string[];
}

/** A folder with affected files in it. */
export interface AffectedFolder {
  /** Empty for the root. */
  path: string;
  files: number;
}

/** What one agent did in the whole time. */
export interface AgentActivity {
  agent: string;
  sessions: number;
  /** Without what came from a cache. */
  input_tokens: number;
  /** Read from a cache or written to it. */
  cached_tokens: number;
  output_tokens: number;
  /** When it was last active. */
  last: string;
}

/** An agent, its traces and what its files have of Nacre. */
export interface AgentEntry {
  agent: string;
  /** Whether its traces are read. */
  connected: boolean;
  /** How many files and databases hold its traces. */
  sources: number;
  roots: string[];
  /** Places that could not be looked into. */
  problems: string[];
  traces: WiringState;
  mcp: WiringState;
  hooks: WiringState;
  skill: WiringState;
}

/** How many sessions of one agent there are. */
export interface AgentSessions {
  agent: string;
  /** The agent as people call it. */
  title: string;
  sessions: number;
}

/** How closely a text was analysed. */
export type AnalysisDepth = "none" | "glance" | "full";

/** A sentence that holds. */
export interface AnswerSentence {
  /** What its sources say, each with its id. */
  text: string;
  /** The memories that prove it. */
  ids: string[];
  /** The messages of sessions that do. */
  messages: string[];
  /** The words of each source, as they stand there. */
  quotes: SourceQuote[];
}

/** An answer, by who gave it. */
export type AskReport = AskReportModel | AskReportMemories;

/** The memories that fit the question are the answer. */
export interface AskReportMemories {
  by: "memories";
  question: string;
  known: boolean;
  memories: RecalledMemory[];
  /** How many files could not be read. */
  broken: number;
  /** The first memory in a few words. */
  answer?: string | null;
  /** Why no model answered, where one should have. */
  error?: string | null;
}

/** A model wrote it, and each of its sentences was checked. */
export interface AskReportModel {
  by: "model";
  question: string;
  known: boolean;
  sentences: AnswerSentence[];
  /** The memories that the sentences cite. */
  memories: CitedMemory[];
  /** The messages of sessions that they cite. */
  messages: string[];
  /** How many sentences were left out, by reason. */
  left_out: Record<string, number>;
  /** How many files could not be read. */
  broken: number;
  steps: number;
  tool_calls: number;
  tokens: TokenUse;
  /** The sentences as one text. */
  answer?: string | null;
  cost_usd?: number | null;
  /** Why the answer is not whole. */
  error?: string | null;
  /** The same with what may help. */
  failure?: Failure | null;
}

/** What is asked, and what it may be answered from. */
export interface AskRequest {
  question: string;
  /** Answer from every registered project that may be read, instead of this one. */
  all_projects?: boolean;
  /** At most this many memories, 1 to 20. Without it, 5. */
  limit?: number | null;
  /** Answer with the memories themselves, also where a model is set. */
  no_model?: boolean;
  scope?: Scope | null;
  /** A file with the model's answers, for tests. */
  scripted?: string | null;
}

/** Whether the numbers alone decide. */
export type Band = "clear" | "grey";

/** A memory in a line. */
export interface BriefItem {
  id: string;
  scope: StoreScope;
  text: string;
}

/** A brief, by topic and as one text. */
export interface BriefReport {
  budget: number;
  /** How many of them the text counts. */
  tokens: number;
  sections: BriefSection[];
  /** How many memories hold and are not in it. */
  left_out: number;
  /** Those that are not in it because nothing shows who wrote them. */
  unproven: string[];
  /** The brief as Markdown; empty when there is nothing to tell or no room for it. */
  text: string;
  /** Files that could not be read, by path. */
  broken?: string[];
  /** How many candidates are not in it because they wait for `nacre review`. */
  candidates?: number;
}

/** What a brief is for, and how long it may be. */
export interface BriefRequest {
  /** At most this many tokens. Without it, 2000. */
  budget?: number | null;
  /** Files that it is about. */
  files?: string[];
  scope?: Scope | null;
  /** What is to be done, in words. */
  task?: string | null;
}

/** The memories of one topic, best first. */
export interface BriefSection {
  topic: BriefTopic;
  items: BriefItem[];
}

/** What a section tells of. */
export type BriefTopic = "decisions" | "preferences" | "pitfalls" | "knowledge" | "recent_work" | "open_ends";

/** A file that could not be read. */
export interface BrokenFile {
  path: string;
  message: string;
  line?: number | null;
}

/** How the map came to be up to date. */
export type CacheStatus = "hit" | "miss" | "refreshed" | "stale_rebuild";

/** What is done with a candidate. */
export type CandidateVerb = "add" | "update" | "no-op" | "supersede";

/** A change, in a line. */
export interface ChangeEntry {
  id: string;
  /** What was typed, without `nacre`. */
  command: string;
  at: string;
  /** How many runs it has: a sync has one for each session. */
  runs: number;
  added: number;
  changed: number;
  removed: number;
  /** Some of the memories. */
  memories: string[];
  /** Whether `nacre undo` can take it back. */
  undoable: boolean;
  /** What else it is about: a file, agents or projects. */
  about?: string;
  /** The change that it took back. */
  undoes?: string | null;
  /** The undo that took it back. */
  undone_by?: string | null;
}

/** What happens to a file. */
export type ChangeKind = "create" | "change" | "remove";

/** What changed. */
export type ChangedThing = "memories" | "queue" | "projects" | "config" | "map" | "service";

/** A place that was looked into after a memory was forgotten. */
export interface CheckedCopy {
  place: CopyPlace;
  state: CopyState;
  /** Why it waits, or which server. */
  detail?: string | null;
}

/** One step of a run, and how far it is. */
export interface ChecklistStep {
  step: string;
  state: StepState;
}

/** A memory that an answer cites, as it is now. */
export interface CitedMemory {
  id: string;
  /** Its type; of a learning, its kind. */
  type: string;
  title: string;
  status: string;
  scope: StoreScope;
  path: string;
  /** What it overturned by nothing but its own claim. */
  not_verified: string[];
  /** Which other stores have the same id. */
  also_in: StoreScope[];
  /** Its project, where all projects were asked. */
  project?: string | null;
  quote?: string | null;
  /** Who said that. */
  speaker?: Speaker | null;
}

/** Files of code that are not the project's own sources. */
export interface CodeApart {
  tests: number;
  /** Examples, benchmarks and documents. */
  aside: number;
  vendored: number;
  generated: number;
}

/** A part of the project: a package, or a folder. */
export interface CodeArea {
  /** Empty for what lies in no folder. */
  path: string;
  files: number;
  lines: number;
  /** What its manifest or README says it is. */
  about?: string | null;
}

/** What became of a file or a symbol. */
export type CodeChange = "added" | "modified" | "removed" | "renamed";

/** What changed, as much of it as was asked for; the counts are of all. */
export interface CodeDelta {
  since: Since;
  added: number;
  modified: number;
  removed: number;
  renamed: number;
  files: FileDelta[];
  /** Files that use what changed, as many as fit a budget. */
  affected: AffectedFile[];
  /** How many there are in all. */
  affected_total: number;
  /** How many of all lie in each folder, most first; empty for a short list that is whole. */
  affected_folders: AffectedFolder[];
  /** The path to continue after, when there is more. */
  next?: string | null;
}

/**
 * How a query is read: as words and identifiers in any form, ranked; as a piece of text as it stands; or as a regular
 * expression, line by line.
 */
export type CodeSearchMode = "words" | "fixed" | "regex";

/** What a command is for. */
export type CommandPurpose = "build" | "run" | "test" | "lint";

/** A key that was set or unset. */
export interface ConfigSetReport {
  key: string;
  /** The file that was changed. */
  path: string;
  /** The id that `nacre undo` takes; nothing where the file was so already. */
  change?: string | null;
  /** `null` when it was taken out. */
  value?: string | null;
}

/** Sets or unsets one key. */
export interface ConfigSetRequest {
  key: string;
  /** Whether to write to the repository's own settings, which are shared through git. */
  repo?: boolean;
  /** A list is comma separated. Without a value, the key is taken out of the file. */
  value?: string | null;
}

/** Settings by key. */
export interface ConfigShowReport {
  settings: Record<string, Setting>;
  /** Keys that have no value until somebody sets one. */
  not_set?: string[];
}

/** Which settings to show. */
export interface ConfigShowRequest {
  /** Only keys that begin with this. */
  prefix?: string | null;
}

/** Every agent that can be connected, and what changed. */
export interface ConnectReport {
  agents: AgentEntry[];
  /** The id that `nacre undo` takes. */
  change?: string | null;
  /** The files that were changed, or would be. */
  changes?: FileChange[];
  /** Agents that were left out, and why. */
  left_out?: string[];
  /** Agents whose sessions are no longer read since this change. */
  no_longer_read?: string[];
  /** What the person has to do for it to work. */
  notes?: string[];
  /** Agents whose sessions are read since this change. */
  now_read?: string[];
  /** Names what would change, for agreeing to it. */
  plan?: string | null;
}

/** What to change about the connected agents. */
export type ConnectRequest =
  | ConnectRequestList
  | ConnectRequestAuto
  | ConnectRequestAdd
  | ConnectRequestRemove
  | ConnectRequestTrust;

/** Connect agents. */
export interface ConnectRequestAdd {
  action: "add";
  agents: string[];
  /** Where the agent keeps its traces; none for its usual places. With a path only the traces are connected. */
  paths?: string[];
  wiring?: WiringOptions;
}

/** Connect every agent that is used on this machine. It turns nothing off. */
export interface ConnectRequestAuto {
  action: "auto";
  wiring?: WiringOptions;
}

/** Nothing: list them. */
export interface ConnectRequestList {
  action: "list";
}

/** No longer read agents, and take out of their files what was written. */
export interface ConnectRequestRemove {
  action: "remove";
  agents: string[];
  wiring?: WiringOptions;
}

/** Let Codex run the hooks that were written for it. */
export interface ConnectRequestTrust {
  action: "trust";
  wiring?: WiringOptions;
}

/** Two memories of a project that contradict each other. */
export interface ContestedPair {
  newer: string;
  newer_title: string;
  older: string;
  older_title: string;
  /** How sure it is, from 0 to 1. */
  likelihood: number;
}

/** A file, and what of it fits. */
export interface ContextFile {
  path: string;
  why: WhyRelevant[];
  /** In the order of the file. */
  symbols: ContextSymbol[];
  /** What it has of the task, the rarest first. */
  words?: string[];
}

/** What a task needs, and of which state of the project that was said. */
export interface ContextReport {
  command: MapCommand;
  project_root: string;
  project_id: string;
  cache_status: CacheStatus;
  revision: MapRevision;
  stats: MapStats;
  budget: number;
  /** The most relevant first. */
  files: ContextFile[];
  left_out: LeftOut;
}

/** Which task to collect code for, and how much of it. */
export interface ContextRequest {
  /** Tokens that the answer may have; 4000 unless said otherwise. */
  budget?: number | null;
  /** The client that has then seen the map as it is now. */
  client?: string | null;
  /** Files that are surely meant, seen from the current folder or from the root. */
  files?: string[];
  /** List files alone, without their code. */
  files_only?: boolean;
  /** The form that the budget is counted in. */
  format?: MapFormat;
  /** A folder inside the project, or a registered name. Without it, the project around the current folder. */
  project?: string | null;
  /** Read every file again instead of trusting its times. */
  refresh?: boolean;
  /** Fail when the map was not up to date, and write nothing. */
  strict?: boolean;
  /** What is to be done, in words. Without it, `files` says what the task is about. */
  task?: string | null;
}

/** A symbol, in as much detail as fits. */
export interface ContextSymbol {
  name: string;
  kind: SymbolKind;
  first_line: number;
  last_line: number;
  form: SymbolForm;
  /** The whole symbol, its signature, or nothing. */
  text?: string;
}

/** A place that may hold a copy of a memory. */
export type CopyPlace = "files" | "runs" | "index" | "notes" | "shared_index" | "server";

/** What was found in a place. */
export type CopyState = "gone" | "waits";

/** How the database is. */
export type DatabaseState = "connected" | "slow" | "away" | "unusable";

/** The database that servers share, as one of them sees it. */
export interface DatabaseStatus {
  state: DatabaseState;
  /** Since when this process has seen it so. */
  since: string;
  /** Whether this server does what only one is to do. */
  is_leader: boolean;
  /** Why it cannot be used. */
  detail?: string | null;
}

/** Who decided about a candidate. */
export type DecidedBy = "rule" | "lead";

/** What changed, and up to which state of the project. */
export interface DeltaReport {
  command: MapCommand;
  project_root: string;
  project_id: string;
  cache_status: CacheStatus;
  revision: MapRevision;
  stats: MapStats;
  delta: CodeDelta;
}

/** Since when to list changes, and how many. */
export interface DeltaRequest {
  /** Continue after this path, the `next` of the answer before. */
  after?: string | null;
  /**
   * Tokens that the answer may have, counted on its JSON: affected files are left to the counts by folder, then files
   * to the next page, until it fits.
   */
  budget?: number | null;
  /** The client that has then seen the map as it is now. */
  client?: string | null;
  /** List at most this many files; 0 or nothing for all. */
  limit?: number | null;
  /** A folder inside the project, or a registered name. Without it, the project around the current folder. */
  project?: string | null;
  /** Read every file again instead of trusting its times. */
  refresh?: boolean;
  /** Without it, `git:HEAD`, or where there is no commit, since the map was first made. */
  since?: Since | null;
  /** Fail when the map was not up to date, and write nothing. */
  strict?: boolean;
}

/** What is wrong with the stores. */
export interface DoctorReport {
  health: Health;
  stores: StoreCheck[];
  errors: number;
  warnings: number;
  /** The id that `nacre undo` takes. */
  change?: string | null;
  /** What is wrong with the settings of the repository. */
  config?: string | null;
  /** Registered projects whose store is gone; each is an error. */
  gone?: ProjectEntry[];
  /** What was mended before the check. */
  mended?: MendedFile[];
}

/** What to check. */
export interface DoctorRequest {
  /** Look up every quote in the transcript it is from. */
  evidence?: boolean;
  /** Mend first what needs nobody's judgement: links that lead nowhere, and evidence of no memory. */
  fix?: boolean;
  scope?: Scope | null;
  /** Warnings make it broken, too. */
  strict?: boolean;
}

/** How two memories belong together. */
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

/** A model that turns texts into vectors. */
export interface EmbedderEntry {
  name: string;
  state: EmbedderState;
  about: string;
  dims?: number | null;
  /** The name and the content: vectors of another id cannot be compared with its own. */
  id?: string | null;
}

/** Whether a model can be used. */
export type EmbedderState = "ready";

/** What begins in a file. */
export type EntryKind = "readme" | "program" | "library" | "manifest" | "script";

/** A file to begin with. */
export interface EntryPoint {
  path: string;
  kind: EntryKind;
  /** What a manifest calls the program or library. */
  name?: string | null;
}

/** Why an operation failed, for programs. */
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

/** The object that stands in the place of a report. */
export interface ErrorReport {
  error: Failure;
}

/** How many events of each kind there are; injected and inherited ones are counted apart. */
export interface EventCounts {
  /** The person's messages. */
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

/** What a project is, and of which state of it that was said. */
export interface ExploreReport {
  command: MapCommand;
  project_root: string;
  project_id: string;
  cache_status: CacheStatus;
  revision: MapRevision;
  stats: MapStats;
  detail: MapDetail;
  /** How to build, run, test and check the project. */
  commands: Listed;
  /** The parts that the project's own code is made of, largest first. */
  areas: Listed2;
  /** Files of code that are not the project's own sources. */
  apart: CodeApart;
  languages: LanguageCount[];
  entry_points: Listed3;
  hot_paths: Listed4;
  top_imports: Listed5;
  module_graph: ModuleGraph;
  public_surface: Listed7;
  tests: Listed9;
  /** Files whose analysis is not whole, by why. */
  problems: Record<string, number>;
  /** The first paragraph of the README, or what a manifest says. */
  about?: string | null;
}

/** Which project to give an overview of, and how. */
export interface ExploreRequest {
  /** Tokens that the answer may have; its lists are cut until it fits. */
  budget?: number | null;
  /** The client that has then seen the map as it is now. */
  client?: string | null;
  /** Compact unless said otherwise. */
  detail?: MapDetail | null;
  /** The form that the budget is counted in. */
  format?: MapFormat;
  /** A folder inside the project, or a registered name. Without it, the project around the current folder. */
  project?: string | null;
  /** Read every file again instead of trusting its times. */
  refresh?: boolean;
  /** Fail when the map was not up to date, and write nothing. */
  strict?: boolean;
}

/** What an explorer found about one candidate. */
export interface ExplorerFinding {
  candidate_id: string;
  /** What it would do; the lead decides. */
  action_hint: LeadAction;
  /** How much of the candidate the file says, from 0 to 1, as the explorer sees it. */
  overlap: number;
  /** Words of the file. */
  evidence: string;
  matched_file?: string | null;
}

/** How one explorer did. */
export interface ExplorerMetrics {
  task: string;
  candidates: string[];
  state: string;
  findings: ExplorerFinding[];
  ms: number;
  model_calls: number;
}

/** An operation that could not be carried out. */
export interface Failure {
  code: ErrorCode;
  /** What could not be done. */
  message: string;
  /** Why, outermost first. */
  causes: string[];
  /** What the person can do, with the command to type. */
  hints: string[];
}

/** What the verdict changed. */
export interface FeedbackReport {
  id: string;
  verdict: Verdict;
  confidence_before: number;
  confidence: number;
  scope: StoreScope;
  /** Where else its id stands. */
  also_in: OtherPlace[];
  /** The id that `nacre undo` takes. */
  change?: string | null;
}

/** A person's word on a memory. */
export interface FeedbackRequest {
  /** Its id, or the start of it. */
  id: string;
  verdict: Verdict;
  /** Why, in a sentence; kept on this machine. */
  note?: string | null;
  scope?: Scope | null;
}

/** A file of an agent that changes. */
export interface FileChange {
  path: string;
  change: ChangeKind;
  /** What changes, as a unified diff. Secrets around it are redacted. */
  diff: string;
}

/** What became of one file. */
export interface FileDelta {
  path: string;
  change: CodeChange;
  /** Where a renamed file was. */
  from?: string | null;
  new_hash?: string | null;
  old_hash?: string | null;
  /** What became of the symbols of a modified file; absent where what it held before is not known any more. */
  symbols?: SymbolDeltas | null;
}

/** Something that is wrong with a file. */
export interface Finding {
  severity: Severity;
  /** Below the store. */
  path: string;
  message: string;
  hint?: string | null;
  line?: number | null;
}

/** How many sessions of one folder there are. */
export interface FolderSessions {
  path: string;
  sessions: number;
}

/** A memory that was found. */
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
  /** The words around what was asked for. */
  snippet: string;
  why: WhyFound;
  /** What it overturned, newest first. */
  history: MemoryEntry[];
  /** Those of them whose own files do not say so. */
  not_verified: string[];
  /** Situations in which it should be told. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** What kind of learning it is. */
  kind?: string | null;
  /** How far it is trusted on this machine, where it is less than the agent's own word. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** Whether a session is worth reading at all. */
export type Gate = "open" | "not_a_persons" | "no_words" | "abandoned" | "mechanical";

/** An edge between two memories. `supersedes` goes from the newer to the older. */
export interface GraphEdge {
  /** A memory's id. */
  from: string;
  to: string;
  kind: EdgeKind;
  /** The session, file, symbol or tag that both have. */
  shared?: string | null;
}

/** A memory in a graph. */
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
  /** How many memories it is tied to, shown or not. */
  degree: number;
  /** Situations in which it should be told. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** What kind of learning it is. */
  kind?: string | null;
  /** How far it is trusted on this machine, where it is less than the agent's own word. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** Memories and their edges. Where there are too many memories, those with most edges are shown. */
export interface GraphReport {
  /** Those with most edges first. */
  nodes: GraphNode[];
  /** Between two memories at most one; both of its ends are among the nodes. */
  edges: GraphEdge[];
  /** How many memories are not shown. */
  left_out: number;
  /** How many edges between shown memories are not shown. */
  left_out_edges: number;
}

/** Which memories to put into the graph. */
export interface GraphRequest {
  /** Summaries of sessions too. */
  all?: boolean;
  /** Archived ones too. */
  archived?: boolean;
  /** At most this many memories, 5000 at most. Without it, 500. */
  limit?: number | null;
  scope?: Scope | null;
}

/** Memories with their files. One that is gone meanwhile is left out. */
export interface HandOverReport {
  memories: MovedMemory[];
}

/** Which memories to hand over. */
export interface HandOverRequest {
  ids: string[];
}

/** Whether the stores can be used as they are. Only a completed check may say so. */
export type Health = "ok" | "broken" | "unchecked";

/** That the server answers. */
export interface HealthReport {
  /** `ok`. */
  status: string;
  version: string;
  /** The database that servers share, where one is set. */
  database?: DatabaseState | null;
}

/** A file that much depends on and that changes often. */
export interface HotPath {
  path: string;
  /** Rank times recent commits, in thousandths of an average file's. */
  heat: number;
  importers: number;
  commits: number;
}

/** An agent that is installed and can answer as a model. */
export interface InstalledAgent {
  /** As in the name of a model: `claude-code`. */
  name: string;
  /** What people call it. */
  label: string;
  /** Where its command lies. */
  path: string;
  /** A model of it, as `roles.default.model` takes it. */
  model: string;
  /** `null` where it did not say. */
  version?: string | null;
}

/** Where a session stands. */
export type JobState = "running" | "pending" | "done" | "empty" | "skipped" | "dead";

/** A file that was changed since. */
export interface KeptFile {
  path: string;
  /** The later change; nothing where somebody edited the file. */
  by?: string | null;
}

/** How many files there are of a language. */
export interface LanguageCount {
  language: string;
  files: number;
  lines: number;
}

/** Sessions that are due later. */
export interface LaterSessions {
  sessions: number;
  /** When the last of them is due. */
  ready_at: string;
  /** Until then, in seconds. */
  ready_in: number;
  /** The id of one of them. */
  example: string;
}

/** What a lead or an explorer would do with a candidate. */
export type LeadAction = "add" | "update" | "no_op" | "supersede";

/** How one call of a lead ended. */
export interface LeadMetrics {
  task: string;
  /** What it was run with: `nacre` or `claude`; empty for runs from before there was a choice. */
  runtime: string;
  state: string;
  rulings: number;
  ms: number;
  /** Of the lead alone, as the next two. */
  tool_calls: number;
  tokens: TokenCounts;
  cost_usd: number;
  error?: string | null;
}

/** What the lead of a sync is run with. */
export type LeadRuntime = "nacre" | "claude";

/** What a sync did to a memory. */
export type LearnedChange = "added" | "updated";

/** A memory that a sync made or changed. */
export interface LearnedMemory {
  id: string;
  type: MemoryType;
  title: string;
  /** The project that it belongs to. */
  project: string;
  change: LearnedChange;
  /** Whether it waits for `nacre review`. */
  is_candidate: boolean;
}

/** What kind of learning a memory is. */
export type LearningKind =
  | "insight"
  | "procedure"
  | "pitfall"
  | "friction"
  | "preference"
  | "convention"
  | "context";

/** What was relevant and did not fit. */
export interface LeftOut {
  symbols: number;
  files: number;
  /** Some of those files with the number of their symbols, the most relevant first. */
  listed: [string, number][];
}

/** A list that may be shown in part; the total is of all. */
export interface Listed {
  total: number;
  items: ProjectCommand[];
}

/** A list that may be shown in part; the total is of all. */
export interface Listed2 {
  total: number;
  items: CodeArea[];
}

/** A list that may be shown in part; the total is of all. */
export interface Listed3 {
  total: number;
  items: EntryPoint[];
}

/** A list that may be shown in part; the total is of all. */
export interface Listed4 {
  total: number;
  items: HotPath[];
}

/** A list that may be shown in part; the total is of all. */
export interface Listed5 {
  total: number;
  items: TopImport[];
}

/** A list that may be shown in part; the total is of all. */
export interface Listed6 {
  total: number;
  items: ModuleNode[];
}

/** A list that may be shown in part; the total is of all. */
export interface Listed7 {
  total: number;
  items: PublicSurface[];
}

/** A list that may be shown in part; the total is of all. */
export interface Listed8 {
  total: number;
  items: SurfaceSymbol[];
}

/** A list that may be shown in part; the total is of all. */
export interface Listed9 {
  total: number;
  items: string[];
}

/** A place where an agent keeps its sessions. */
export interface LookedIn {
  agent: string;
  path: string;
  /** Whether there is anything at that path. */
  exists: boolean;
}

/** Something that is done again and again. */
export interface LoopEntry {
  name: LoopName;
  state: LoopState;
  /** How often, in seconds. */
  every_s: number;
  /** When it was last begun. */
  last?: string | null;
  /** What was wrong the last time. */
  last_error?: string | null;
  /** What it did the last time, in a few words. */
  last_result?: string | null;
  /** When it is due. */
  next?: string | null;
}

/** What is done again and again. */
export type LoopName = "sync" | "maintain" | "index" | "map" | "prune";

/** What a loop does now. */
export type LoopState = "idle" | "running" | "paused" | "waiting";

/** One thing that was done to a memory, and why. */
export interface MaintainAction {
  action: MaintainVerb;
  /** The memory that it was done to. */
  target: string;
  title: string;
  reason: string;
  /** Names this very action, so that what a person undoes is not done again. */
  key: string;
  /** How sure it is, from 0 to 1, where that was measured. */
  likelihood?: number | null;
  /** The memory it went into, or the one that overturned it. */
  with?: string | null;
}

/** How long each step of a maintenance took, in milliseconds. */
export interface MaintainDurations {
  read: number;
  compare: number;
  whole: number;
}

/** What a maintenance took. */
export interface MaintainMetrics {
  run_id: string;
  memories: number;
  broken: number;
  /** Memories that were compared, two by two. */
  pairs: number;
  counts: MaintainMetricsCounts;
  model_calls: number;
  tokens: number;
  cost_usd: number;
  denied_writes: number;
  /** A maintenance sends out none. */
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

/** How a maintenance ended. */
export type MaintainOutcome = "done" | "clean" | "skipped";

/** What was done in each store. */
export interface MaintainReport {
  dry_run: boolean;
  projects: MaintainedStore[];
}

/** What to maintain, and how. */
export interface MaintainRequest {
  /** Every registered project and the global memories. */
  all?: boolean;
  /** Tell what would be done, and change nothing. */
  dry_run?: boolean;
  /** Run even if nothing has changed. */
  force?: boolean;
  /** Let the model of the role `lead` write what is merged. */
  rewrite?: boolean;
  /** A file with the model's answers, for tests. */
  scripted?: string | null;
}

/** How the maintenance of a store ended. */
export type MaintainState = "done" | "failed" | "clean" | "skipped";

/** What is done to a memory. */
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

/** One store: a report, or the reason why there is none. */
export interface MaintainedStore {
  /** The name of the project, or `global`. */
  project: string;
  state: MaintainState;
  ms: number;
  causes?: string[] | null;
  /** What would change, where nothing was to be changed. */
  changes?: PlannedChange[] | null;
  hints?: string[] | null;
  /** Why it failed. */
  reason?: string | null;
  report?: StoreMaintenance | null;
}

/** Which command an answer is of. */
export type MapCommand = "explore" | "context" | "delta" | "refresh" | "explain" | "watch" | "search_code";

/** How much an overview tells. */
export type MapDetail = "compact" | "normal" | "verbose";

/** The form of a payload. A budget is counted on the bytes of that form. */
export type MapFormat = "text" | "json";

/** A state of a project's files, such as `6af1b3c4.17`. Each change of them makes the next one. */
export type MapRevision = string;

/** What bringing the map up to date cost, and what it saw. */
export interface MapStats {
  file_count: number;
  total_bytes: number;
  reused_entries: number;
  rehashed_entries: number;
  /** Files that are too large, or that may not be read. */
  unread_files: number;
  /** Files that there was no time for; the next command reads them. */
  postponed_files: number;
  skipped: SkippedCounts;
}

/** Lines that lie in the same symbol, or outside of all. */
export interface MatchGroup {
  lines: MatchedLine[];
  symbol?: MatchSymbol | null;
}

/** The innermost symbol that lines lie in. */
export interface MatchSymbol {
  name: string;
  kind: SymbolKind;
  first_line: number;
  last_line: number;
  signature?: string;
}

/** A file with lines that match. */
export interface MatchedFile {
  path: string;
  /** Whether it defines what was asked for. */
  is_definition: boolean;
  /** Lines of it that match, shown or not; 0 where they were not counted. */
  matches: number;
  /** In the order of the file. */
  groups?: MatchGroup[];
}

/** A line of a file. */
export interface MatchedLine {
  /** From 1. */
  line: number;
  /** As far as it is shown. */
  text: string;
  /** Whether it stands near a match and is none. */
  is_context?: boolean;
}

/** A memory in a person's own words. */
export interface MemoryAddRequest {
  /** What was decided or learned, in one line. */
  title: string;
  /** Situations in which it should be told, each in one line. */
  applies?: string[];
  /** The reason and the details, as Markdown. */
  body?: string;
  /** From 0 to 1. Without it, what a person says is trusted. */
  confidence?: number | null;
  /** Only of a learning; without it, an insight. */
  kind?: LearningKind | null;
  /** The ids of related memories, or the starts of them. */
  related?: string[];
  scope?: Scope | null;
  /** The memory that it supersedes, by its id or the start of it. */
  supersedes?: string | null;
  tags?: string[];
  /** A decision or a learning. Without it, a decision. */
  type?: MemoryType | null;
}

/** Memories as the answer: the first answers, the others are near it. */
export interface MemoryAnswer {
  question: string;
  known: boolean;
  memories: RecalledMemory[];
  /** How many files could not be read. */
  broken: number;
  /** The first memory in a few words. */
  answer?: string | null;
  /** Why no model answered, where one should have. */
  error?: string | null;
}

/** What was done to a memory. */
export type MemoryChange =
  | "added"
  | "edited"
  | "left unchanged"
  | "archived"
  | "restored"
  | "forgot"
  | "accepted"
  | "rejected";

/** What was done to one memory. */
export interface MemoryChangeReport {
  done: MemoryChange;
  id: string;
  /** The id that `nacre undo` takes. */
  change?: string | null;
  /** Its file, where it is new. */
  path?: string | null;
}

/** What was done to several memories, each in a change set of its own. */
export interface MemoryChangesReport {
  done: MemoryChange;
  ids: string[];
  failed: MemoryFailure[];
  /** The id that `nacre undo` takes. */
  change?: string | null;
  /** Of what was forgotten: each place that may hold a copy, as it was found afterwards. */
  copies?: CheckedCopy[];
}

/** What ties a memory to another. */
export interface MemoryEdge {
  kind: EdgeKind;
  id: string;
  /** The tag, file or symbol that both have. */
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
  /** Situations in which it should be told. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** What kind of learning it is. */
  kind?: string | null;
  /** How far it is trusted on this machine, where it is less than the agent's own word. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** What proves a memory. */
export interface MemoryEvidence {
  /** Of the format of the file that holds it. */
  version: number;
  id: string;
  quotes: MemoryQuote[];
  /** The file was changed by something else than Nacre since this machine last knew it: its quotes prove nothing. */
  unproven?: boolean;
}

/** A memory that nothing was done to, and why. */
export interface MemoryFailure {
  /** As it was named. */
  id: string;
  code: ErrorCode;
  /** What could not be done. */
  message: string;
  /** Why, outermost first. */
  causes: string[];
  /** What the person can do, with the command to type. */
  hints: string[];
}

/** What a person said of a memory. */
export interface MemoryFeedback {
  verdict: Verdict;
  at: string;
  note?: string | null;
}

/** How many memories there were at the end of a day. */
export interface MemoryGrowth {
  /** As `YYYY-MM-DD`. */
  day: string;
  total: number;
}

/** Which memories to archive, restore or forget. */
export interface MemoryIdsRequest {
  /** To forget, whole ids; else the starts of them will do. */
  ids: string[];
  scope?: Scope | null;
}

/** One end of a link between two memories. It is verified where the older file says it itself. */
export interface MemoryLink {
  id: string;
  verified: boolean;
}

/** Memories, in the order that was asked for. */
export interface MemoryListReport {
  memories: MemoryEntry[];
  /** How many there are, listed or not. */
  total: number;
  broken: BrokenFile[];
  /** How many summaries were left out. */
  hidden_summaries?: number | null;
}

/** Which memories to list. */
export interface MemoryListRequest {
  /** Summaries too, which are left out unless `type` asks for them. */
  all?: boolean;
  /** Archived ones instead. */
  archived?: boolean;
  /** Only learnings of this kind. */
  kind?: LearningKind | null;
  /** At most this many; 0 for all. Without it, the setting `memory.max_results`. */
  limit?: number | null;
  /** How many to pass over. */
  offset?: number;
  scope?: Scope | null;
  /** Without it, the project's first, and of each store the newest first. */
  sort?: MemorySort | null;
  status?: MemoryStatus | null;
  tag?: string | null;
  type?: MemoryType | null;
}

/** Words that were said, and where. */
export interface MemoryQuote {
  text: string;
  speaker: Speaker;
  place: string;
  at: string;
}

/** The memories that belong to one, nearest first. */
export interface MemoryRelatedReport {
  id: string;
  related: RelatedMemory[];
  /** How many there are, listed or not. */
  total: number;
  /** Where else its id stands. */
  also_in: OtherPlace[];
}

/** Which memory to look around. */
export interface MemoryRelatedRequest {
  /** Its id, or the start of it. */
  id: string;
  /** At most this many; 0 for all. Without it, the setting `memory.max_results`. */
  limit?: number | null;
  scope?: Scope | null;
}

/** The memories that were found: the project's first, and of each store the best first. */
export interface MemorySearchReport {
  query: string;
  hits: FoundMemory[];
  /** How many there are, listed or not. */
  total: number;
  broken: BrokenFile[];
}

/** What to search for. */
export interface MemorySearchRequest {
  /** Words, "quoted phrases" and filters such as `tag:auth`. */
  query: string;
  /** Those of every registered project, whatever `scope` says. */
  all_projects?: boolean;
  /** Archived ones too. */
  archived?: boolean;
  /** At most this many; 0 for all. Without it, the setting `memory.max_results`. */
  limit?: number | null;
  mode?: SearchMode;
  scope?: Scope | null;
  /** Only memories that changed since this day, moment or age, such as `2026-01` or `7d`. */
  since?: string | null;
  tag?: string | null;
  type?: MemoryType | null;
}

/** One memory. */
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
  /** Where else its id stands. */
  also_in: OtherPlace[];
  supersedes: MemoryLink[];
  superseded_by: MemoryLink[];
  body: string;
  /** Names the content of its file: whoever writes it back says which content they read. */
  version: string;
  /** Situations in which it should be told. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  evidence?: MemoryEvidence | null;
  /** A person's last word on it. */
  feedback?: MemoryFeedback | null;
  history?: MemoryVersion[] | null;
  /** What kind of learning it is. */
  kind?: string | null;
  /** The whole Markdown file, where it was asked for. */
  text?: string | null;
  /** How far it is trusted on this machine, where it is less than the agent's own word. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** Which memory to show, and how much of it. */
export interface MemoryShowRequest {
  /** Its id, or the start of it. */
  id: string;
  /** With the quotes that prove it. */
  evidence?: boolean;
  /** With how it came to be what it is. */
  history?: boolean;
  scope?: Scope | null;
  /** With the whole Markdown file, frontmatter and body. */
  text?: boolean;
}

/** By what memories are put in order, over all stores. What has no such value comes last. */
export type MemorySort =
  | "updated"
  | "-updated"
  | "created"
  | "-created"
  | "title"
  | "-title"
  | "confidence"
  | "-confidence";

/** How a memory stands. */
export type MemoryStatus = "active" | "candidate" | "superseded" | "stale" | "archived";

/** What a memory is. */
export type MemoryType = "decision" | "learning" | "summary";

/** How often a memory was used. */
export interface MemoryUse {
  id: string;
  title: string;
  uses: number;
  citations: number;
  confirmations: number;
  /** What age and use left of its confidence. */
  effective: number;
}

/** A memory as it was once: by a commit, or by a run where there is no git. */
export interface MemoryVersion {
  when: string;
  who: string;
  what: string;
  commit?: string | null;
  run?: string | null;
}

/** A text that takes the place of a memory's file. */
export interface MemoryWriteRequest {
  /** Its id, or the start of it. */
  id: string;
  /** The whole Markdown file, frontmatter and body. */
  text: string;
  scope?: Scope | null;
  /** The version that was read; where the file has another now, nothing is written. */
  version?: string | null;
}

/** A file that was mended. */
export interface MendedFile {
  path: string;
  what: string;
}

/** Who says a message. */
export type MessageRole = "user" | "assistant" | "tool" | "system";

/** What a model wrote, as far as it holds. */
export interface ModelAnswer {
  question: string;
  known: boolean;
  sentences: AnswerSentence[];
  /** The memories that the sentences cite. */
  memories: CitedMemory[];
  /** The messages of sessions that they cite. */
  messages: string[];
  /** How many sentences were left out, by reason. */
  left_out: Record<string, number>;
  /** How many files could not be read. */
  broken: number;
  steps: number;
  tool_calls: number;
  tokens: TokenUse;
  /** The sentences as one text. */
  answer?: string | null;
  cost_usd?: number | null;
  /** Why the answer is not whole. */
  error?: string | null;
  /** The same with what may help. */
  failure?: Failure | null;
}

/** The models that are set, who serves them, and those that search by meaning. */
export interface ModelListReport {
  roles: RoleEntry[];
  /** Those that serve the models of the roles. */
  providers: ProviderEntry[];
  /** The agents on this machine that can answer, whether or not a role uses them. */
  agents: InstalledAgent[];
  /** Those that search by meaning. */
  models: EmbedderEntry[];
}

/** Lists models. None of them is asked. */
export interface ModelListRequest {
}

/** A job that a model can be set for. */
export type ModelRole = "lead" | "explorer" | "extract" | "summarize" | "ask" | "chat";

/** What one model used. */
export interface ModelStats {
  model: string;
  calls: number;
  input: number;
  cached: number;
  output: number;
  /** In billionths of a dollar; `None` where one of the calls has no known price. */
  cost_nano_dollars?: number | null;
}

/** What the model answered, how long it took and what it cost. */
export interface ModelTestReport {
  role: ModelRole;
  /** As `provider/model`. */
  model: string;
  text: string;
  total_ms: number;
  tokens: ModelTestTokens;
  /** `null` when no price is known. */
  cost_usd?: number | null;
  first_word_ms?: number | null;
}

/** Asks a model for one word. */
export interface ModelTestRequest {
  /** The model of this role. */
  role?: ModelRole;
}

/** What one call used. */
export interface ModelTestTokens {
  input: number;
  output: number;
}

/** Which folders import which; only imports that lead to a file count. */
export interface ModuleGraph {
  /** Files. */
  nodes: number;
  /** Pairs of a file and one that it imports. */
  edges: number;
  /** Imports that should lead to a file of the project and do not. */
  unresolved: number;
  modules: Listed6;
}

/** A folder, and the folders that its files import. */
export interface ModuleNode {
  module: string;
  files: number;
  imports: string[];
}

/** A memory on its way between two machines: its files as they are. */
export interface MovedMemory {
  id: string;
  type: MemoryType;
  text: string;
  evidence?: string | null;
  /** The hash of the version that it may replace. */
  replaces?: string | null;
}

/** Memories of a project with the hashes of their files, in the order of ids. */
export interface OfferReport {
  memories: OfferedMemory[];
  /** Where there are more: the id to ask for those behind. */
  more?: string | null;
}

/** Which memories a server has. */
export interface OfferRequest {
  /** Only those behind this id, in the order of ids. */
  after?: string | null;
}

export interface OfferedMemory {
  id: string;
  hash: string;
}

/** Two memories that contradict each other, for a person to decide. */
export interface OpenContradiction {
  newer: string;
  older: string;
  likelihood: number;
  reason: string;
}

/** Another file of the same id. */
export interface OtherPlace {
  scope: StoreScope;
  path: string;
}

/** What happened on one day. */
export interface OverviewDay {
  /** As `YYYY-MM-DD`. */
  day: string;
  /** Sessions whose last activity was on that day, by agent. */
  sessions: Record<string, number>;
  /** Memories of today that came on that day. */
  learned: number;
  /** Of the agents' sessions, without what came from a cache. */
  input_tokens: number;
  /** Read from a cache or written to it. */
  cached_tokens: number;
  output_tokens: number;
  /** Runs of sync and maintain whose folders are kept. */
  runs: number;
  /** What Nacre's own model calls cost, in billionths of a dollar; `None` where one of them has no known price. */
  cost_nano_dollars?: number | null;
}

/** What happened in the project, or in all of them where there is none. Days are those of UTC. */
export interface OverviewReport {
  since: string;
  until: string;
  /** Every day, the oldest first, also where nothing happened. */
  days: OverviewDay[];
  /** The agents that had sessions, by name. */
  agents: AgentActivity[];
  /** Decisions and learnings now, by status. */
  memories: Record<string, number>;
  /** How many of today's memories there were at the end of each day, archived ones left out. */
  growth: MemoryGrowth[];
  /** What models used, over all time. */
  models: ModelStats[];
  /** How tools fared, over all time. */
  tools: ToolStats[];
}

/** How far to look back. */
export interface OverviewRequest {
  /** A day, a moment or an age, such as `2026-11-15` or `7d`. Without it, 30 days. Ten years at most. */
  since?: string | null;
}

/** A session that waits for a model. */
export interface PausedSession {
  id: string;
  reason: string;
  /** The limit that was reached, by its key; without one, the model cannot be reached. */
  limit?: string | null;
}

/** A file that would be made, changed or removed. */
export interface PlannedChange {
  /** Below the store. */
  path: string;
  /** Its text then; `None` where it would be removed. */
  after?: string | null;
  /** Its text now; `None` where it would be made. */
  before?: string | null;
}

/** A registered repository that has a store. */
export interface ProjectAddReport {
  path: string;
  root: string;
  is_git: boolean;
  /** What was made now; nothing when the store was there already. */
  created: string[];
  memories: number;
  /** Whether git shares the summaries of sessions. */
  shares_summaries: boolean;
  /** A command to try next. */
  next: string;
  /** The id that `nacre undo` takes; nothing where nothing changed. */
  change?: string | null;
  /** Of these, memories that came from elsewhere and wait for `nacre trust`. */
  foreign?: number;
  /** Whether any agent's sessions were found, of whatever folder. */
  has_agents?: boolean;
  /** There may be more sessions: the look was ended early. */
  is_partial?: boolean;
  /** Of these, sessions that no sync has finished. */
  new_sessions?: number;
  /** `null` when it could not be registered. */
  project?: string | null;
  /** The sessions of this repository that the agents hold. */
  sessions?: AgentSessions[];
  /** Agents that left sessions here and that a person took out, so that they are not read. */
  switched_off?: string[];
}

/** Prepares the repository at a path, as `init` does for the one around the current folder. */
export interface ProjectAddRequest {
  /** The repository's folder. */
  path: string;
  /** Its name; without it, the one it has, or the folder's. */
  name?: string | null;
}

/** A command, and the file that says so. */
export interface ProjectCommand {
  purpose: CommandPurpose;
  command: string;
  from: string;
}

/** Two decisions of different projects that contradict each other. */
export interface ProjectContradiction {
  newer: ProjectMemory;
  older: ProjectMemory;
  /** How sure it is, from 0 to 1. */
  likelihood: number;
}

/** One registered project. */
export interface ProjectEntry {
  name: string;
  path: string;
  state: ProjectState;
}

/** The registered projects, in the order of the register. */
export interface ProjectListReport {
  projects: ProjectEntry[];
}

/** Lists the registered projects. */
export interface ProjectListRequest {
}

/** A memory of a project. */
export interface ProjectMemory {
  project: string;
  id: string;
  title: string;
}

/** A project that is no longer registered. */
export interface ProjectRemoveReport {
  /** Its name. */
  removed: string;
  /** The id that `nacre undo` takes; nothing where nothing changed. */
  change?: string | null;
}

/** Takes a project out of the register. Its files stay. */
export interface ProjectRemoveRequest {
  name: string;
}

/** What there is at the path of a project. */
export type ProjectState = "ready" | "no store" | "missing";

/** A service that answers for models. */
export interface ProviderEntry {
  name: string;
  address: string;
  /** Whether there is a key and in which variable; never the key. */
  key: string;
  origin: string;
}

/** The public symbols of a file. */
export interface PublicSurface {
  path: string;
  symbols: Listed8;
}

/** What a server did with a memory. */
export type PushState = "taken" | "known" | "differs" | "forgotten" | "invalid";

/** What was done to sessions of the queue. */
export type QueueChange = "queued" | "skipped";

/** The sessions that were changed. */
export interface QueueChangeReport {
  done: QueueChange;
  ids: string[];
}

/** Which sessions to put back or to take out: one by its id, or all. */
export interface QueueChangeRequest {
  /** All that are dead (retry) or pending (skip). */
  all?: boolean;
  /** The start of a session's id. */
  id?: string | null;
}

/** A session's place in the queue. */
export interface QueueJob {
  /** The session's id. */
  id: string;
  state: JobState;
  attempts: number;
  changed: string;
  agent: string;
  /** It is not tried again before this time. */
  not_before?: string | null;
  project?: string | null;
  reason?: string | null;
  /** The run that it became part of. */
  run?: string | null;
  title?: string | null;
}

/** Sessions of the queue, the latest change first. */
export interface QueueListReport {
  jobs: QueueJob[];
  /** How many there are, listed or not. */
  total: number;
}

/** Which sessions of the queue to list. */
export interface QueueListRequest {
  /** At most this many; 0 for all. Without it, the setting `memory.max_results`. */
  limit?: number | null;
  status?: JobState | null;
}

/** How many quotes were found where they are said to be from. */
export interface QuoteCheck {
  verified: number;
  /** Given by a person to Nacre itself. */
  by_hand: number;
  /** Their transcript is not on this machine. */
  unchecked: number;
  missing: number;
  /** Files that could not be read. */
  unreadable: number;
}

/** How well a trace could be read. */
export interface ReadReport {
  /** Whole lines or rows that were read. */
  lines: number;
  /** Of these, lines of which nothing could be used. */
  bad_lines: number;
  /** Lines saved in part. */
  mended_lines: number;
  /** Lines with bytes that are not UTF-8. */
  invalid_utf8: number;
  /** Lines beyond the line cap. */
  long_lines: number;
  /** Records of a type that is not known. */
  unknown_records: number;
  /** Their types and counts, at most 32. */
  unknown_types: Record<string, number>;
  /** Texts that lost their middle. */
  cut_texts: number;
  /** Messages that the trace holds twice. */
  repeated: number;
  /** Events beyond those that are read of one session. */
  left_out: number;
  /** Where an unfinished last line starts. */
  torn_tail?: number | null;
}

/** A memory that fits a question. */
export interface RecalledMemory {
  id: string;
  /** Its type; of a learning, its kind. */
  type: string;
  title: string;
  status: string;
  scope: StoreScope;
  score: number;
  /** The line of its text that is nearest to the question; empty where the title says it all. */
  line: string;
  /** What it overturned by nothing but its own claim. */
  not_verified: string[];
  /** Which other stores have the same id. */
  also_in: StoreScope[];
  /** Its project, where all projects were asked. */
  project?: string | null;
  /** The first quote that says more than the memory itself. */
  proof?: RecalledQuote | null;
  quote?: string | null;
  /** How far it is trusted on this machine, where it is less than the agent's own word. */
  trust?: TrustLevel | null;
}

/** What proves a memory. */
export interface RecalledQuote {
  text: string;
  speaker: Speaker;
  at: string;
}

/** Which project to read again, and how many of its changes to list. */
export interface RefreshRequest {
  /** Continue after this path, the `next` of the answer before. */
  after?: string | null;
  /** List at most this many files; 0 or nothing for all. */
  limit?: number | null;
  /** A folder inside the project, or a registered name. Without it, the project around the current folder. */
  project?: string | null;
}

/** A memory that belongs to another. */
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
  /** Situations in which it should be told. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** What kind of learning it is. */
  kind?: string | null;
  /** How far it is trusted on this machine, where it is less than the agent's own word. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** How a candidate stands to a memory. */
export type Relation = "different" | "contradicts" | "refines" | "same";

/** A candidate with what proves it. */
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
  /** Situations in which it should be told. */
  applies?: string[];
  confidence?: number | null;
  created?: string | null;
  /** What kind of learning it is. */
  kind?: string | null;
  /** Why it is quarantined, where it is. */
  reason?: string | null;
  /** How far it is trusted on this machine, where it is less than the agent's own word. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** What a person decided, and about which candidates. */
export interface ReviewDecideRequest {
  /** Their ids, or the starts of them. */
  ids: string[];
  decision: ReviewDecision;
  scope?: Scope | null;
  /** The memory that the one accepted candidate supersedes, by its id or the start of it. */
  supersedes?: string | null;
}

/** What a person decides about a candidate. */
export type ReviewDecision = "accept" | "reject";

/** Candidates, the newest first. */
export interface ReviewListReport {
  candidates: ReviewCandidate[];
  /** How many there are, listed or not. */
  total: number;
  broken: BrokenFile[];
}

/** Which candidates to list. */
export interface ReviewListRequest {
  /** At most this many; 0 for all. Without it, the setting `memory.max_results`. */
  limit?: number | null;
  scope?: Scope | null;
}

/** A role and the models that do its job. */
export interface RoleEntry {
  /** `default` is for all that are not set. */
  role: string;
  /** In the order in which they are asked. */
  models: string[];
  origin: string;
  /** Why the role cannot be used, as far as the settings tell. */
  problem?: string | null;
}

/** How often a run did what. */
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

/** A run, in a line. */
export interface RunEntry {
  id: string;
  /** The trace that it read, or the run that it took back. */
  of: string;
  /** An undo counts nothing. */
  counts?: RunCounts | null;
  /** Nothing where its report cannot be read. */
  mode?: RunMode | null;
}

/** The runs of a project, newest first. */
export interface RunListReport {
  runs: RunEntry[];
  /** How many there are, listed or not. */
  total: number;
}

/** How many runs to list. */
export interface RunListRequest {
  /** At most this many; 0 for all. Without it, the setting `memory.max_results`. */
  limit?: number | null;
}

/** Something that was said in a run. */
export interface RunMessage {
  role: MessageRole;
  text: string;
  at?: string | null;
  /** The tool that was called, or that answered. */
  tool?: string | null;
}

/** What a run folder keeps of the talk with models; nothing where none was asked. */
export interface RunMessagesReport {
  run: string;
  /** In their order: the lead's, then its explorers'. */
  messages: RunMessage[];
  /** How many there are beyond these. */
  left_out: number;
}

/** What a run took. */
export type RunMetrics = SyncMetrics | MaintainMetrics;

/** What a run is for. */
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

/** One run of a change that is several. */
export interface RunOfChange {
  id: string;
  /** What it took; an undo measures nothing. */
  metrics?: RunMetrics | null;
  /** What it did; nothing where that cannot be read. */
  report?: RunReport | null;
}

/** What a run did. */
export type RunReport = SessionRun | StoreMaintenance | UndoRunReport;

/** One run. */
export interface RunShowReport {
  id: string;
  /** What it took; an undo measures nothing. */
  metrics?: RunMetrics | null;
  /** What it did; nothing where that cannot be read. */
  report?: RunReport | null;
  /** The runs of a change that is several: one a session of a sync. */
  runs?: RunOfChange[];
}

/** Which run to show. */
export interface RunShowRequest {
  /** Its id, or the start or end of it. */
  id: string;
}

/** How tools and models fared, over all tasks. */
export interface RunStatsReport {
  models: ModelStats[];
  tools: ToolStats[];
}

/** Where to look. */
export type Scope = "project_fallback_global" | "project_only" | "global_only";

/** What was found, and in which state of the project. */
export interface SearchCodeReport {
  command: MapCommand;
  project_root: string;
  project_id: string;
  cache_status: CacheStatus;
  revision: MapRevision;
  stats: MapStats;
  query: string;
  mode: CodeSearchMode;
  /** Lines that match, shown or not. For words, those of the files that were looked into. */
  total_matches: number;
  /** Files that have a match, shown or not. For words, those that have any of them. */
  total_files: number;
  /** The best first: files that define what is asked for, then by score. */
  files: MatchedFile[];
  /** Lines that match and are not shown, and files that have such lines. */
  more_matches: number;
  more_files: number;
  /** Files that could match and were not searched: they cannot be read, or there was no time. */
  unsearched_files: number;
}

/** What to search for, where, and how much of it to show. */
export interface SearchCodeRequest {
  /** Tokens that the answer may have; 4000 unless said otherwise. */
  budget?: number | null;
  /** Lines to show before and behind each match, at most 10. */
  context?: number | null;
  /** List files alone, without their lines. */
  files_only?: boolean;
  /** The form that the budget is counted in. */
  format?: MapFormat;
  /**
   * Whether a pattern takes upper and lower case for the same. Without it, unless the pattern has a letter in upper
   * case.
   */
  ignore_case?: boolean | null;
  /** Only files of this language. */
  language?: string | null;
  /** Lines that match to show, or files with `files_only`: 30 unless said otherwise, at most 500. */
  limit?: number | null;
  /** How the query is read. Without it, as words; in double quotes, as a piece of text. */
  mode?: CodeSearchMode | null;
  /** Globs of paths, of which one must match; those with a leading `!` leave files out. */
  paths?: string[];
  /** A folder inside the project, or a registered name. Without it, the project around the current folder. */
  project?: string | null;
  /** Words, a piece of text, or a regular expression. */
  query?: string;
  /** Read every file again instead of trusting its times. */
  refresh?: boolean;
  /** Fail when the map was not up to date, and write nothing. */
  strict?: boolean;
}

/** What to rank by. */
export type SearchMode = "hybrid" | "lexical" | "semantic";

/** What the server is doing by itself. */
export interface ServiceReport {
  version: string;
  started: string;
  /** Where it listens. */
  address: string;
  /** The number of its process. */
  pid: number;
  paused: boolean;
  /** How many clients listen for events. */
  listeners: number;
  /** None where the server was told to do nothing by itself. */
  loops: LoopEntry[];
  /** The database that servers share, where one is set. */
  database?: DatabaseStatus | null;
}

/** A server that runs. */
export interface ServiceStatus {
  /** As `host:port`. */
  address: string;
  /** A person paused what it does by itself. */
  paused: boolean;
}

/** What became of one candidate. */
export interface SessionAction {
  candidate: string;
  title: string;
  /** What in the session gave it. */
  signal: Signal;
  action: CandidateVerb;
  band: Band;
  reason: string;
  by: DecidedBy;
  likelihood?: number | null;
  /** The memory that it was compared with. */
  nearest?: string | null;
  /** The lead's own words, and those of the memory or candidate that it goes by. */
  note?: string | null;
  quote?: string | null;
  relation?: Relation | null;
  scores?: ActionScores | null;
  supersedes?: string | null;
  /** The memory that was made, changed or found to say it. */
  target?: string | null;
}

/** Whether a session was at rest when it was read. */
export type SessionEnding = "finished" | "unknown" | "active";

/** A session that was seen. */
export interface SessionEntry {
  id: string;
  /** The file or database that holds it. */
  path: string;
  state: JobState;
  facts: SessionFacts;
  report: ReadReport;
  /** Its name inside a source that holds several. */
  inner_id?: string | null;
  /** The root of its project, where that is registered. */
  project?: string | null;
  /** Why it is in that state. */
  reason?: string | null;
}

/** A session as a whole. */
export interface SessionFacts {
  agent: string;
  /** The agent's own id of the session. */
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
  /** The version of the agent's program that wrote the trace last. */
  agent_version?: string | null;
  /** The working directory the session began in. */
  cwd?: string | null;
  git_branch?: string | null;
  last_activity?: string | null;
  /** The repository's address, without credentials. */
  repository?: string | null;
  started?: string | null;
  title?: string | null;
}

/** Another session that this one depends on. */
export interface SessionLink {
  kind: SessionLinkKind;
  /** The other session's id. */
  session: string;
  /** The call in the other session that made this one. */
  call?: string | null;
}

/** How two sessions are linked. */
export type SessionLinkKind = "parent" | "fork_of" | "continues";

/** Whether a session had anything to read. */
export type SessionOutcome = "done" | "unchanged";

/** What a session was for. */
export type SessionRole = "main" | "sub_agent" | "helper";

/** What a run over one session did. */
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
  /** Proposals that were turned away, by reason. */
  dropped: Record<string, number>;
  written_paths: string[];
  cost_usd: number;
  strategy: Strategy;
  /** Why the session was not read as it should have been. */
  fallback?: string | null;
  /** Why the lead settled nothing, so that the rule did. */
  lead_error?: string | null;
  /** The limit that stood in the way, by its key. */
  limit?: string | null;
  summary_path?: string | null;
}

/** The sessions of one agent in one project. */
export interface SessionStatus {
  agent: string;
  seen: number;
  /** How many are in each state. */
  states: Record<string, number>;
  /** How many were skipped, by reason. */
  skipped: Record<string, number>;
  project?: string | null;
}

/** Tokens of all model calls of a session. */
export interface SessionTokens {
  /** Without what came from a cache. */
  input: number;
  output: number;
  /** Read from a cache. */
  cached: number;
  /** Written to a cache. */
  cache_write: number;
  /** Part of `output`, where the agent tells it apart. */
  reasoning: number;
}

/** One setting. */
export interface Setting {
  value: SettingValue;
  /** Where it was set; a list may come from several places. */
  origin: string;
}

/** What a key holds. */
export type SettingValue = string | number | number | boolean | string[];

/** How bad a finding is. */
export type Severity = "error" | "warning";

/** What in a session gave a candidate. */
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

/** Where a delta begins: a revision, `git:REF`, `client:NAME`, or `0` for everything. */
export type Since = string;

/** What lies in the project and is not part of the map, counted by why. */
export interface SkippedCounts {
  /** Where keys and passwords usually lie. */
  denied: number;
  links: number;
  /** Pipes, sockets and devices. */
  special: number;
  /** Folders that could not be opened. */
  unreadable: number;
  /** Names that are not valid UTF-8. */
  unnamable: number;
  /** Repositories that are not submodules of this one. */
  nested: number;
  /** Folders that lie too deep, and tracked files that do or are too many. */
  too_deep: number;
  /** Folders left out because their rules are beyond what is read. */
  unread_rules: number;
}

/** A source that could not be read, and why. */
export interface SourceProblem {
  path: string;
  reason: string;
}

/** Words of a source. */
export interface SourceQuote {
  /** The id of a memory, or the place of a message. */
  source: string;
  text: string;
}

/** Whose words a quote holds. */
export type Speaker = "assistant" | "tool" | "human" | "user";

/** What a sum of spending covers. */
export type SpendingScope = "day" | "project";

/** What models used in one scope. */
export interface SpendingStatus {
  scope: SpendingScope;
  calls: number;
  tokens: number;
  limit_tokens: number;
  cost_usd: number;
  limit_usd: number;
  /** Calls whose price is not known: only their tokens are counted. */
  unpriced_calls: number;
  /** Whether nothing more may be asked. */
  is_reached: boolean;
}

/** What there is. */
export interface StatusReport {
  /** Where recall looks. */
  scope: Scope;
  stores: StoreStatus[];
  /** How many projects are registered. */
  projects: number;
  sessions: SessionStatus[];
  /** Whether every session seen is in exactly one state. */
  sessions_add_up: boolean;
  /** What models used, beside what they may. */
  spending: SpendingStatus[];
  /** What the last check said. */
  health: Health;
  /** When that was. */
  checked?: string | null;
  /** What is wrong with the settings of the repository. */
  config?: string | null;
  /** The database that servers share, where one is set. */
  database?: DatabaseStatus | null;
  last_sync?: string | null;
  /** The name of the project around the current folder. */
  project?: string | null;
  root?: string | null;
  /** The server that runs for this home. */
  service?: ServiceStatus | null;
  /** Agents that left sessions here and that a person took out, so that they are not read. */
  switched_off?: string[];
  /** The sessions of all projects that no sync has finished. */
  waiting?: WaitingSessions;
}

/** Counts what there is. */
export interface StatusRequest {
}

/** How far a step is. */
export type StepState = "pending" | "in_progress" | "done" | "failed" | "gated" | "skipped";

/** What is wrong with one store. */
export interface StoreCheck {
  scope: StoreScope;
  path: string;
  memories: number;
  evidence: number;
  findings: Finding[];
  /** Memories that came from elsewhere and wait for `nacre trust`. */
  foreign?: number;
  /** Memories that give an order which the person did not give. */
  quarantined?: number;
  /** Where quotes were looked up. */
  quotes?: QuoteCheck | null;
}

/** What a maintenance of one store did. */
export interface StoreMaintenance {
  outcome: MaintainOutcome;
  mode: RunMode;
  finished_at: string;
  memories: number;
  /** Files that could not be read; they were left alone. */
  broken: number;
  /** Of every verb. */
  counts: StoreMaintenanceCounts;
  actions: MaintainAction[];
  contradictions: OpenContradiction[];
  written_paths: string[];
  model_calls: number;
  tokens: number;
  cost_usd: number;
  /** Where something was done, the run that did it. */
  run_id?: string | null;
}

/** Of every verb. */
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

/** Which store a memory is in. */
export type StoreScope = "project" | "global";

/** The memories of one store. */
export interface StoreStatus {
  scope: StoreScope;
  path: string;
  memories: TypeCount[];
  /** Candidates that wait for a person's word. */
  candidates: number;
  /** Files that cannot be read. */
  broken: number;
  /** Memories that came from elsewhere and wait for `nacre trust`. */
  foreign?: number;
  /** Memories that give an order which the person did not give. */
  quarantined?: number;
  /** When the newest memory was updated. */
  updated?: string | null;
}

/** How a session was read. */
export type Strategy = "offline" | "windows" | "rlm";

/** How sessions are to be read. */
export type StrategyChoice = "auto" | "offline" | "windows" | "rlm";

/** One event of the stream. */
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

/** Something is not what it was: ask for it again. */
export interface StreamEventChanged {
  at: string;
  /** Who did it; nobody is named for the person whose machine it is. */
  by?: string | null;
  /** The project's name, where one was named. */
  project?: string | null;
  /** The task that it belongs to. */
  task?: string | null;
  event: "changed";
  what: ChangedThing;
}

/** Events were lost: ask for everything again. */
export interface StreamEventMissed {
  at: string;
  /** Who did it; nobody is named for the person whose machine it is. */
  by?: string | null;
  /** The project's name, where one was named. */
  project?: string | null;
  /** The task that it belongs to. */
  task?: string | null;
  event: "missed";
}

/** What an agent does. */
export interface StreamEventNote {
  at: string;
  /** Who did it; nobody is named for the person whose machine it is. */
  by?: string | null;
  /** The project's name, where one was named. */
  project?: string | null;
  /** The task that it belongs to. */
  task?: string | null;
  event: "note";
  text: string;
}

/** How far it is. */
export interface StreamEventProgress {
  at: string;
  /** Who did it; nobody is named for the person whose machine it is. */
  by?: string | null;
  /** The project's name, where one was named. */
  project?: string | null;
  /** The task that it belongs to. */
  task?: string | null;
  event: "progress";
  done: number;
  total: number;
  bytes: number;
}

/** A sentence of an answer, with everything that it cites looked up. */
export interface StreamEventSentence {
  at: string;
  /** Who did it; nobody is named for the person whose machine it is. */
  by?: string | null;
  /** The project's name, where one was named. */
  project?: string | null;
  /** The task that it belongs to. */
  task?: string | null;
  event: "sentence";
  text: string;
  starts_line: boolean;
}

/** What is being done now, in a few words. */
export interface StreamEventStep {
  at: string;
  /** Who did it; nobody is named for the person whose machine it is. */
  by?: string | null;
  /** The project's name, where one was named. */
  project?: string | null;
  /** The task that it belongs to. */
  task?: string | null;
  event: "step";
  text: string;
}

/** A task has another state. */
export interface StreamEventTask {
  at: string;
  /** Who did it; nobody is named for the person whose machine it is. */
  by?: string | null;
  /** The project's name, where one was named. */
  project?: string | null;
  /** The task that it belongs to. */
  task?: string | null;
  event: "task";
  state: TaskState;
  agent: string;
  title: string;
}

/** Something a person should know. */
export interface StreamEventWarning {
  at: string;
  /** Who did it; nobody is named for the person whose machine it is. */
  by?: string | null;
  /** The project's name, where one was named. */
  project?: string | null;
  /** The task that it belongs to. */
  task?: string | null;
  event: "warning";
  message: string;
  hint?: string | null;
}

/** A piece of what a model says. Nothing of it was checked. */
export interface StreamEventWords {
  at: string;
  /** Who did it; nobody is named for the person whose machine it is. */
  by?: string | null;
  /** The project's name, where one was named. */
  project?: string | null;
  /** The task that it belongs to. */
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

/** What became of one symbol of a modified file. */
export interface SymbolDelta {
  name: string;
  kind: SymbolKind;
  change: CodeChange;
  /** Whether the code that uses it may have to change, too. */
  is_signature: boolean;
}

/** What became of the symbols of a modified file. */
export interface SymbolDeltas {
  /** How closely both texts were analysed; a glance does not see into bodies. */
  depth: AnalysisDepth;
  changed: SymbolDelta[];
}

/** How much of a symbol is shown. */
export type SymbolForm = "name" | "signature" | "body";

/** What a symbol is. */
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

/** How long each step of a sync took, in milliseconds. */
export interface SyncDurations {
  read: number;
  decide: number;
  lead: number;
}

/** What a sync of one session took. */
export interface SyncMetrics {
  run_id: string;
  strategy: Strategy;
  /** Whether the session was worth a look. */
  gate: Gate;
  windows: number;
  /** Windows whose answers could not be used, or that were too many. */
  unread_windows: number;
  /** Events that a model did not get to see because the session is too long. */
  unread_events: number;
  /** Pieces of code that a model wrote to explore it. */
  steps: number;
  candidates: number;
  /** Proposals that were turned away, by reason. */
  dropped: Record<string, number>;
  denied_writes: number;
  leads: LeadMetrics[];
  explorers: ExplorerMetrics[];
  model_calls: number;
  tokens: TokenCounts;
  cost_usd: number;
  /** Calls of models whose price is not known. */
  unpriced_calls: number;
  /** Secrets that were kept out, by their kind. */
  redactions: Record<string, number>;
  events: number;
  durations_ms: SyncDurations;
  fallback?: string | null;
}

/** What the runs of a sync are for; their folders are named by it. */
export type SyncMode = "sync" | "hot" | "cold";

/** What a sync did. */
export interface SyncReport {
  /** The name of this sync. */
  run: string;
  /** Files and databases that were found. */
  sources: number;
  /** Of these, not opened. */
  unchanged: number;
  /** Sessions that were read. */
  read: number;
  /** Of these, resumed where the last read ended. */
  resumed: number;
  bytes: number;
  /** Sessions that other words of `redact.extra` were taken out of. */
  reworded: number;
  /** Sessions whose project was registered since they were read. */
  readmitted: number;
  /** Queued sessions whose trace is gone. */
  gone: number;
  /** Sources left for the next sync. */
  left: number;
  problems: SourceProblem[];
  sessions: SyncedSession[];
  /** Sessions that wait for a model: the first of each project. */
  paused: PausedSession[];
  /** Another process holds a store; the rest stays in the queue. */
  busy?: boolean;
  /** The memories that were made or changed, as they are now. */
  learned?: LearnedMemory[];
  /** Where sessions were looked for, where none was found. */
  looked_in?: LookedIn[];
  /** A command to try next. */
  next?: string | null;
  /** The folder that the command was run in, where it is not set up. */
  not_set_up_here?: FolderSessions | null;
  /** Agents that left sessions here and that a person took out, so that they are not read. */
  switched_off?: string[];
  totals?: SyncTotals;
  waiting?: WaitingSessions;
}

/** What to sync, and how. */
export interface SyncRequest {
  /** Only these agents; none for all that are connected. */
  agents?: string[];
  /** Read also what did not change. */
  force?: boolean;
  /** Run although another sync is running. */
  ignore_lock?: boolean;
  /** Stop after this many sessions. */
  max_sessions?: number | null;
  mode?: SyncMode;
  /** Read and queue sessions without making memories of them. */
  no_extract?: boolean;
  /** The name of this run. */
  run_id?: string | null;
  /** In place of what is set. */
  runtime?: LeadRuntime | null;
  /** Only traces changed since this day, moment or age. */
  since?: string | null;
  strategy?: StrategyChoice | null;
  /** Only traces changed before this day, moment or age. */
  until?: string | null;
}

/** The sums of a sync. */
export interface SyncTotals {
  /** Sessions that were made into memories. */
  sessions: number;
  /** Sessions that failed. */
  failed: number;
  /** New memories. */
  added: number;
  /** Of these, in use at once. */
  active: number;
  /** Of these, waiting for `nacre review`. */
  to_review: number;
  /** Memories that say more now. */
  updated: number;
  /** Memories that were overturned. */
  superseded: number;
  /** Summaries of sessions. */
  summaries: number;
  /** What models cost. */
  cost_usd: number;
}

/** A session that was worked off. */
export type SyncedSession = SyncedSessionDone | SyncedSessionFailed;

export interface SyncedSessionDone {
  id: string;
  agent: string;
  title: string;
  /** How long it took, in milliseconds. */
  ms: number;
  /** The root of the project that it belongs to. */
  project?: string;
  state: "done";
  report: SessionRun;
  /** How many proposals were turned away. */
  dropped: number;
}

export interface SyncedSessionFailed {
  id: string;
  agent: string;
  title: string;
  /** How long it took, in milliseconds. */
  ms: number;
  /** The root of the project that it belongs to. */
  project?: string;
  state: "failed";
  reason: string;
}

/** What became of each. */
export interface TakeInReport {
  memories: TakenMemory[];
}

/** Memories that a person sends to a server. */
export interface TakeInRequest {
  memories: MovedMemory[];
}

export interface TakenMemory {
  id: string;
  state: PushState;
}

/** What became of a task that was cancelled, and of those that it had started. */
export interface TaskCancelReport {
  task: string;
  /** They were waiting, and are over. */
  ended: string[];
  /** They are running; the process that runs them ends them. */
  asked: string[];
}

/** Which task to cancel. */
export interface TaskCancelRequest {
  /** Its id, or the start of it. */
  task: string;
}

/** Which others a task has to wait for. */
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
  /** How many events it has. */
  events: number;
  ended?: string | null;
  /** The task that started it. */
  parent?: string | null;
  project?: string | null;
  /** Why it ended. */
  reason?: string | null;
  started?: string | null;
}

/** One event. Its fields are what the version that ran the task wrote; `event` is its name. */
export interface TaskEvent {
  sequence: number;
  at: string;
  [key: string]: unknown;
}

/** Tasks, the latest first. */
export interface TaskListReport {
  tasks: TaskEntry[];
}

/** How many tasks to list. */
export interface TaskListRequest {
  /** At most this many; 0 for all. Without it, 20. */
  limit?: number | null;
}

/** A task and its events, in order. */
export interface TaskShowReport {
  task: TaskEntry;
  events: TaskEvent[];
}

/** Which events of which task to show. */
export interface TaskShowRequest {
  /** Its id, or the start of it. */
  task: string;
  /** Only events with a higher number. */
  after?: number;
  /** At most this many events; 0 for all. Without it, 1000. */
  limit?: number | null;
  /** Wait until there are any, or the task is over. */
  wait?: boolean;
}

/** A task that was begun. */
export interface TaskStarted {
  task: string;
}

/** Where a task is. */
export type TaskState = "accepted" | "queued" | "running" | "completed" | "failed" | "cancelled";

/** What is told of one project. */
export interface TeamProject {
  project: string;
  /** What was learned since and is in use, the newest first. */
  learned: MemoryUse[];
  /** How much of that there is, listed or not. */
  n_learned: number;
  /** Memories that contradict each other, the surest first. */
  contested: ContestedPair[];
  /** Memories that nobody used in two weeks or more, the weakest first. */
  unused: MemoryUse[];
  n_unused: number;
}

/** What is told of every project that the caller may read. */
export interface TeamReport {
  since: string;
  until: string;
  /** Projects with something to tell, by name. */
  projects: TeamProject[];
  /** How many projects were looked at. */
  n_projects: number;
  /** Decisions of one project of which another says otherwise. Told, and left to people. */
  across: ProjectContradiction[];
  /** How many memories were not compared: there are more than one report compares. */
  n_not_compared: number;
  /** Projects that could not be read. */
  unreadable: string[];
}

/** Since when. */
export interface TeamReportRequest {
  /** A day, a moment or an age. Without it, `7d`. */
  since?: string | null;
}

/** Tokens that models read and wrote. */
export interface TokenCounts {
  input: number;
  output: number;
}

/** How many tokens models read and wrote. */
export interface TokenUse {
  input: number;
  output: number;
}

/** How one tool fared. */
export interface ToolStats {
  tool: string;
  calls: number;
  p50_us: number;
  p95_us: number;
  /** Failed calls by their fault. */
  errors: Record<string, number>;
  cache_hits: number;
  bytes_out: number;
  /** What of it models were shown. */
  shown_bytes: number;
}

/** A package from outside the project, and how many files import it. */
export interface TopImport {
  module: string;
  files: number;
}

/** Something that was said or done in a session. */
export interface TraceEvent {
  sequence: number;
  kind: TraceEventKind;
  place: TracePlace;
  lane: TraceLane;
  error: boolean;
  /** The text, or its beginning where it was cut. */
  text: string;
  /** The end of a text that was cut. */
  text_end: string;
  /** The size before it was cut. */
  full_bytes: number;
  at?: string | null;
  /** Links a tool result to its call. */
  call?: string | null;
  /** Why the text is not a person's, where it was injected. */
  injected?: string | null;
  /** The agent's own id of the record. */
  key?: string | null;
  /** Where a person's words came from. */
  person?: string | null;
  tool?: string | null;
}

/** What an event is. */
export type TraceEventKind =
  | "user"
  | "assistant"
  | "reasoning"
  | "tool_call"
  | "tool_result"
  | "summary"
  | "compaction"
  | "meta";

/** A message that was found. */
export interface TraceHit {
  /** The session's id. */
  id: string;
  agent: string;
  sequence: number;
  kind: string;
  /** The words around what was found. */
  snippet: string;
  score: number;
  why: TraceHitReason;
  at?: string | null;
  project?: string | null;
  title?: string | null;
}

/** Why a message was found. */
export interface TraceHitReason {
  /** Terms of the query that it contains. */
  terms: string[];
  /** How near its meaning is to the query's, from 0 to 1. */
  similarity: number;
}

/** Whose part of a session an event belongs to. */
export type TraceLane = "main" | "sidechain" | "inherited";

/** Sessions, the latest first. */
export interface TraceListReport {
  sessions: SessionEntry[];
  /** How many there are, listed or not. */
  total: number;
}

/** Which sessions to list. */
export interface TraceListRequest {
  agent?: string | null;
  /** Sessions of all projects, not only of this one. */
  all?: boolean;
  /** At most this many; 0 for all. Without it, the setting `memory.max_results`. */
  limit?: number | null;
  /** How many to pass over. */
  offset?: number;
  /** Only sessions active since this day, moment or age. */
  since?: string | null;
}

/** Where in its trace an event was read. */
export type TracePlace = TracePlaceLine | TracePlaceRow;

/** A line, counted from 1, and the byte at which it starts. */
export interface TracePlaceLine {
  line: TracePlaceLineLine;
}

export interface TracePlaceLineLine {
  line: number;
  offset: number;
}

/** A row of a database. */
export interface TracePlaceRow {
  row: TracePlaceRowRow;
}

export interface TracePlaceRowRow {
  key: string;
}

/** Messages that were found, best first. */
export interface TraceSearchReport {
  query: string;
  hits: TraceHit[];
}

/** What to look for in what was said. */
export interface TraceSearchRequest {
  /** Words, quoted phrases and filters. */
  query: string;
  agent?: string | null;
  /** Sessions of all projects, not only of this one. */
  all?: boolean;
  /** At most this many. Without it, the setting `memory.max_results`. */
  limit?: number | null;
  mode?: SearchMode;
  /** Only what was said since this day, moment or age. */
  since?: string | null;
}

/** One session and its events, in order. */
export interface TraceShowReport {
  session: SessionEntry;
  events: TraceEvent[];
}

/** Which session to show, and how much of it. */
export interface TraceShowRequest {
  /** Its id, or the start of it; `ID:SEQUENCE` starts at one event. */
  id: string;
  /** Also reasoning, injected text and records of unknown kinds. */
  full?: boolean;
  /** At most this many events. */
  limit?: number | null;
}

/** A transcript on a server. */
export interface TranscriptEntry {
  id: string;
  agent: string;
  session: string;
  /** The hash of what was sent. */
  hash: string;
  bytes: number;
  /** When it was whole. */
  at: string;
  /** Whether everybody may read it who may read the project. */
  shared: boolean;
  /** Who sent it; nobody is the owner of the server. */
  person?: string | null;
}

/** A transcript that is gone from the server. */
export interface TranscriptForgetReport {
  id: string;
}

/** The transcripts of a project that the caller may read: their own, and what others shared. The newest first. */
export interface TranscriptListReport {
  transcripts: TranscriptEntry[];
}

/** Which transcripts a server has. */
export interface TranscriptListRequest {
}

/** What a server has of a transcript now. */
export interface TranscriptPutReport {
  state: TranscriptState;
  /** Where the next piece begins. */
  received: number;
}

/** A piece of a transcript, in Nacre's own format. */
export interface TranscriptPutRequest {
  /** The agent whose session it is. */
  agent: string;
  /** The session's name on the machine that it comes from. */
  session: string;
  /** The hash of the whole transcript, as it is sent. */
  hash: string;
  /** How many bytes the whole transcript has. */
  bytes: number;
  /** Where this piece begins. */
  offset: number;
  text: string;
  /** Let everybody read it who may read the project. */
  share?: boolean;
}

/** Which transcript is meant. */
export interface TranscriptRequest {
  id: string;
}

/** A transcript with its text. */
export interface TranscriptShowReport {
  transcript: TranscriptEntry;
  text: string;
}

/** What a server did with a piece. */
export type TranscriptState = "taken" | "known" | "partial" | "too_large" | "full" | "invalid";

/** One of them. */
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
  /** Why it waits. */
  reason: string;
  /** Whether it was trusted once, and something else than Nacre changed it since. */
  changed: boolean;
  /** The hash of its file. */
  hash: string;
  /** Whether the person's word was just taken. */
  trusted: boolean;
  /** Situations in which it should be told. */
  applies?: string[];
  /** Its file as it was trusted before, where git still has that. */
  before?: string | null;
  /** On which day. */
  committed?: string | null;
  /** Who committed it last, as git says. */
  committed_by?: string | null;
  confidence?: number | null;
  created?: string | null;
  /** What kind of learning it is. */
  kind?: string | null;
  /** Its file. */
  text?: string | null;
  /** How far it is trusted on this machine, where it is less than the agent's own word. */
  trust?: TrustLevel | null;
  updated?: string | null;
}

/** How far a memory is trusted on this machine, lowest first. */
export type TrustLevel = "quarantined" | "foreign" | "derived" | "assistant" | "user" | "human";

/** The memories that wait for a person, or that were just trusted. */
export interface TrustReport {
  memories: TrustItem[];
  /** How many still came from elsewhere. */
  foreign: number;
  /** How many are still quarantined. */
  quarantined: number;
  /** How many were trusted. */
  trusted: number;
  dry_run: boolean;
  /** The id that `nacre undo` takes; nothing where nothing changed. */
  change?: string | null;
  /** How many wait besides these: so many at once are neither shown nor trusted. */
  more?: number;
}

/** Which memories to look at, and whether the person agrees. */
export interface TrustRequest {
  /** All that came from elsewhere. What is quarantined has to be named. */
  all?: boolean;
  /** With their texts, and the texts that were trusted before. */
  diff?: boolean;
  /** Show what would be trusted, and change nothing. */
  dry_run?: boolean;
  /** Their ids, or the starts of them; without any, all that wait are listed. */
  ids?: string[];
  scope?: Scope | null;
  /** The hashes of the texts that the person saw: others are not trusted. */
  seen?: string[];
}

/** How many memories of one type there are. */
export interface TypeCount {
  type: MemoryType;
  active: number;
  archived: number;
}

/** A file that was put back. */
export interface UndoAction {
  action: UndoVerb;
  /** The memory that the file belongs to. */
  target: string;
}

/** The changes of this project and of the person's own store, the newest first. */
export interface UndoListReport {
  changes: ChangeEntry[];
  /** How many there are, listed or not. */
  total: number;
}

/** How many changes to list. */
export interface UndoListRequest {
  /** At most this many; 0 for all. Without it, the setting `memory.max_results`. */
  limit?: number | null;
}

/** What was put back. */
export interface UndoReport {
  /** The change that did it, which can itself be undone. */
  run: string;
  /** The change that was taken back. */
  of: string;
  /** What was typed then, without `nacre`. */
  command: string;
  dry_run: boolean;
  paths: string[];
  memories: UndoneMemory[];
  /** What was left as it is, because it was changed since. */
  kept: KeptFile[];
  /** The files as they are and as they would be; only in a dry run. */
  changes?: PlannedChange[] | null;
  /** What is to be known besides. */
  notes?: string[];
}

/** Which change to take back, and how. */
export interface UndoRequest {
  /** Say what would be put back, and change nothing. */
  dry_run?: boolean;
  /** Leave memories as they are that were changed since, and put back the others. */
  keep_changed?: boolean;
  /** The newest change that is not undone. */
  last?: boolean;
  /** The id of a change or of one run, or the start or end of it. Nothing with `last`. */
  run?: string;
}

/** What an undo did, as its run folder says. */
export interface UndoRunReport {
  run_id: string;
  mode: RunMode;
  /** The change that was taken back. */
  of: string;
  finished_at: string;
  actions: UndoAction[];
  written_paths: string[];
  /** Its runs in this store. */
  runs?: string[];
}

/** What an undo does. */
export type UndoVerb = "put back";

/** Events `from..=to` that the person took back. */
export interface UndoneEvents {
  from: number;
  to: number;
}

/** What an undo did to a memory. */
export type UndoneHow = "removed" | "restored" | "reverted";

/** A memory that an undo changed. */
export interface UndoneMemory {
  id: string;
  done: UndoneHow;
}

/** How a memory served. */
export type Verdict = "useful" | "wrong" | "outdated";

/** The sessions that no sync has finished, and why. */
export interface WaitingSessions {
  /** Due now. */
  ready: number;
  /** Of folders that are not set up, most sessions first. */
  not_set_up: FolderSessions[];
  /** Written to a moment ago. */
  active?: LaterSessions | null;
  /** Failed, and tried again later. */
  retried?: LaterSessions | null;
}

/** What is to be done soon. */
export interface WakeRequest {
  /** Without any: the sync. */
  loops?: LoopName[];
}

/** Something a person should know, and what to do about it. */
export interface Warning {
  message: string;
  hint?: string | null;
}

/** Why a memory was found. */
export interface WhyFound {
  /** Terms of the question that it holds. */
  terms: string[];
  /** Its part of the score that comes from words. */
  lexical: number;
  /** How near its meaning is to the question's, from 0 to 1. */
  similarity: number;
  /** Memories that pointed at it. */
  edges: MemoryEdge[];
}

/** Why a file is part of an answer. */
export type WhyRelevant = "asked" | "words" | "near" | "meaning" | "memory";

/** What is written into an agent's files, and whether it is written at all. */
export interface WiringOptions {
  /** Say what would change, and change nothing. */
  dry_run?: boolean;
  /** Hooks also look at tools before they run. A guard that is on stays on. */
  guard?: boolean;
  /** Only these parts; none for all that the agent can take, and its traces. */
  parts?: WiringPart[];
  /** The `plan` of a dry run that a person agreed to; another one is refused. */
  plan?: string | null;
}

/** A part of what is written into an agent's files. */
export type WiringPart = "mcp" | "hooks" | "skill";

/** Whether a part of the connection is there. */
export type WiringState = "on" | "off" | "outdated" | "not_possible";
