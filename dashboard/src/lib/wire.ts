// Written by `npm run types` from docs/schema.json. Do not edit: change the wire type, and run it again.

/**
 * State of a part of the connection.
 */
export type WiringState = ('on' | 'off') | 'outdated' | 'not_possible';
/**
 * How thoroughly a file was analyzed.
 */
export type AnalysisDepth = 'none' | 'glance' | 'full';
/**
 * An answer written by a model, or the matching memories.
 */
export type AskReport =
  | (ModelAnswer & {
      by: 'model';
    })
  | (MemoryAnswer & {
      by: 'memories';
    });
/**
 * Machine-readable reason for a failure.
 */
export type ErrorCode =
  | 'usage'
  | 'not_found'
  | 'ambiguous'
  | 'no_project'
  | 'conflict'
  | 'busy'
  | 'refused'
  | 'not_set'
  | 'invalid'
  | 'too_large'
  | 'unavailable'
  | 'database_away'
  | 'limit_reached'
  | 'cancelled'
  | 'output_closed'
  | 'failed';
/**
 * The store that contains a memory.
 */
export type StoreScope = 'project' | 'global';
/**
 * The speaker of a quote.
 */
export type Speaker = ('assistant' | 'tool') | 'human' | 'user';
/**
 * The trust level of a memory on this machine, lowest first.
 */
export type TrustLevel = 'quarantined' | 'foreign' | 'derived' | 'assistant' | 'user' | 'human';
/**
 * The stores to search.
 */
export type Scope = 'project_fallback_global' | 'project_only' | 'global_only';
/**
 * Whether the scores alone determine the action.
 */
export type Band = 'clear' | 'grey';
/**
 * Topic of a section.
 */
export type BriefTopic = 'decisions' | 'preferences' | 'pitfalls' | 'knowledge' | 'recent_work' | 'open_ends';
/**
 * How the map was updated for a response.
 */
export type CacheStatus = 'hit' | 'miss' | 'refreshed' | 'stale_rebuild';
/**
 * The action taken for a candidate.
 */
export type CandidateVerb = ('add' | 'update' | 'no-op') | 'supersede';
/**
 * Kind of a file change.
 */
export type ChangeKind = 'create' | 'change' | 'remove';
/**
 * A kind of location that may contain a copy of a memory.
 */
export type CopyPlace = 'files' | 'runs' | 'index' | 'notes' | 'shared_index' | 'server';
/**
 * The result of checking a location.
 */
export type CopyState = 'gone' | 'waits';
/**
 * The state of a step.
 */
export type StepState = ('pending' | 'in_progress' | 'done' | 'failed') | 'gated' | 'skipped';
/**
 * How a file or symbol changed.
 */
export type CodeChange = ('added' | 'modified' | 'removed') | 'renamed';
/**
 * The kind of a symbol.
 */
export type SymbolKind =
  | ('function' | 'method' | 'class' | 'struct' | 'enum' | 'implementation' | 'type' | 'constant' | 'macro')
  | 'interface'
  | 'module';
/**
 * The start of a delta: a revision, a git ref (`git:REF` or `REF`), `client:NAME`, or `0` for
 * everything.
 */
export type Since = string;
/**
 * What a command is for.
 */
export type CommandPurpose = 'build' | 'run' | 'test' | 'lint';
/**
 * Value of a setting.
 */
export type SettingValue = string | number | boolean | string[];
/**
 * A request to list, connect or disconnect agents.
 */
export type ConnectRequest =
  | {
      action: 'list';
    }
  | {
      action: 'auto';
      wiring?: WiringOptions;
    }
  | {
      action: 'add';
      agents: string[];
      /**
       * Paths of the agent's transcripts. Defaults to the paths where the agent stores them. If
       * paths are given, only transcripts are connected.
       */
      paths?: string[];
      wiring?: WiringOptions;
    }
  | {
      action: 'remove';
      agents: string[];
      wiring?: WiringOptions;
    }
  | {
      action: 'trust';
      wiring?: WiringOptions;
    };
/**
 * A part that can be written to an agent's settings.
 */
export type WiringPart = 'mcp' | 'hooks' | 'skill';
/**
 * How much of a symbol is shown.
 */
export type SymbolForm = 'name' | 'signature' | 'body';
/**
 * Why a file was included.
 */
export type WhyRelevant = 'asked' | 'words' | 'near' | 'meaning' | 'memory';
/**
 * The map command that produced a response.
 */
export type MapCommand = 'explore' | 'context' | 'delta' | 'refresh' | 'explain' | 'watch' | 'search_code';
/**
 * A revision of the project's files, such as `6af1b3c4.17`. It is incremented when files change.
 */
export type MapRevision = string;
/**
 * How detailed an overview is.
 */
export type MapDetail = 'compact' | 'normal' | 'verbose';
/**
 * The output format of the map. The token budget is calculated for this format.
 */
export type MapFormat = 'text' | 'json';
/**
 * The state of the shared database.
 */
export type DatabaseState = 'connected' | 'slow' | 'away' | 'unusable';
/**
 * The component that decided on a candidate.
 */
export type DecidedBy = 'rule' | 'lead';
/**
 * State of a project directory.
 */
export type ProjectState = 'ready' | 'no store' | 'missing';
/**
 * Whether the stores are usable. The stores are reported as healthy only after a complete
 * check.
 */
export type Health = ('ok' | 'broken') | 'unchecked';
/**
 * The severity of a finding.
 */
export type Severity = 'error' | 'warning';
/**
 * The kind of link between two memories.
 */
export type EdgeKind =
  | (
      | 'supersedes'
      | 'superseded by'
      | 'contradicts'
      | 'related'
      | 'same session'
      | 'same file'
      | 'same symbol'
      | 'shared tag'
    )
  | 'newer than';
/**
 * The kind of entry point.
 */
export type EntryKind = ('readme' | 'program' | 'library' | 'manifest') | 'script';
/**
 * The action that a lead agent or explorer chooses for a candidate.
 */
export type LeadAction = 'add' | 'update' | 'no_op' | 'supersede';
/**
 * A user's verdict on how useful a memory is.
 */
export type Verdict = 'useful' | 'wrong' | 'outdated';
/**
 * The type of a memory.
 */
export type MemoryType = 'decision' | 'learning' | 'summary';
/**
 * Whether a session is worth processing and, if not, why.
 */
export type Gate = 'open' | 'not_a_persons' | 'no_words' | 'abandoned' | 'mechanical';
/**
 * The state of a session in the queue.
 */
export type JobState = 'running' | 'pending' | 'done' | 'empty' | 'skipped' | 'dead';
/**
 * The change that a sync made to a memory.
 */
export type LearnedChange = 'added' | 'updated';
/**
 * The kind of learning.
 */
export type LearningKind =
  'insight' | 'procedure' | 'pitfall' | 'friction' | 'preference' | 'convention' | 'context';
/**
 * A kind of action on a memory.
 */
export type MaintainVerb =
  | 'merge'
  | 'consolidate'
  | 'supersede'
  | 'archive'
  | 'stale'
  | 'restore'
  | 'freshen'
  | 'establish'
  | 'validate'
  | 'doubt'
  | 'relink';
/**
 * The purpose of a run.
 */
export type RunMode =
  | ('sync' | 'maintain' | 'undo' | 'import')
  | 'hot'
  | 'cold'
  | 'memory'
  | 'review'
  | 'connect'
  | 'config'
  | 'export'
  | 'project'
  | 'trust';
/**
 * How a store's maintenance ended.
 */
export type MaintainState = ('done' | 'failed') | 'clean' | 'skipped';
/**
 * The change made to a memory.
 */
export type MemoryChange =
  'added' | 'edited' | 'left unchanged' | 'archived' | 'restored' | 'forgot' | 'accepted' | 'rejected';
/**
 * The author of feedback.
 */
export type SaidBy = 'owner' | 'agent' | 'person' | 'unknown';
/**
 * The sort key of a list. Memories that have no value for this key come last.
 */
export type MemorySort =
  'updated' | '-updated' | 'created' | '-created' | 'title' | '-title' | 'confidence' | '-confidence';
/**
 * The status of a memory.
 */
export type MemoryStatus = 'active' | 'candidate' | 'superseded' | 'stale' | 'archived';
/**
 * The ranking method.
 */
export type SearchMode = 'hybrid' | 'lexical' | 'semantic';
/**
 * A role to which a model can be assigned.
 */
export type ModelRole = 'lead' | 'explorer' | 'extract' | 'summarize' | 'ask' | 'chat';
/**
 * The change made to queued sessions.
 */
export type QueueChange = 'queued' | 'skipped';
/**
 * The relation between a candidate and a memory.
 */
export type Relation = 'different' | 'contradicts' | 'refines' | 'same';
/**
 * How many actions of each kind a run took.
 */
export type RunCounts =
  | ActionCounts
  | {
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
    };
/**
 * The metrics of a run.
 */
export type RunMetrics = SyncMetrics | MaintainMetrics;
/**
 * How a session was processed.
 */
export type Strategy = 'offline' | 'windows';
/**
 * The actions of a run.
 */
export type RunReport = SessionRun | StoreMaintenance | UndoRunReport;
/**
 * The kind of session content that led to a candidate.
 */
export type Signal =
  | 'remember'
  | 'correction'
  | 'preference'
  | 'decision'
  | 'choice'
  | 'convention'
  | 'context'
  | 'failure'
  | 'procedure'
  | 'model';
/**
 * Whether a session had new content to process.
 */
export type SessionOutcome = 'done' | 'unchanged';
/**
 * Whether a session was idle when it was last read.
 */
export type SessionEnding = ('finished' | 'unknown') | 'active';
/**
 * The relation between two sessions.
 */
export type SessionLinkKind = 'parent' | 'fork_of' | 'continues';
/**
 * The purpose of a session.
 */
export type SessionRole = 'main' | 'sub_agent' | 'helper';
/**
 * The scope of a spending limit.
 */
export type SpendingScope = 'day' | 'project';
/**
 * How sessions are processed.
 */
export type StrategyChoice = 'auto' | 'offline' | 'windows';
/**
 * The purpose of a sync run. The mode is part of the run directory's name.
 */
export type SyncMode = 'sync' | 'hot' | 'cold';
/**
 * A processed session.
 */
export type SyncedSession = {
  agent: string;
  id: string;
  /**
   * Duration in milliseconds.
   */
  ms: number;
  /**
   * The root directory of the session's project.
   */
  project?: string;
  title: string;
} & SyncedSession1;
export type SyncedSession1 =
  | {
      /**
       * Number of rejected proposals.
       */
      dropped: number;
      report: SessionRun;
      state: 'done';
    }
  | {
      reason: string;
      state: 'failed';
    };
/**
 * The priority of a task.
 */
export type TaskClass = 'interactive' | 'background';
/**
 * The state of a task.
 */
export type TaskState = 'accepted' | 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
/**
 * The kind of an event.
 */
export type TraceEventKind =
  'user' | 'assistant' | 'reasoning' | 'tool_call' | 'tool_result' | 'summary' | 'compaction' | 'meta';
/**
 * The part of a session to which an event belongs.
 */
export type TraceLane = 'main' | 'sidechain' | 'inherited';
/**
 * The position of an event in its trace.
 */
export type TracePlace =
  | {
      line: {
        line: number;
        offset: number;
      };
    }
  | {
      row: {
        key: string;
      };
    };
/**
 * The change that an undo made to a memory.
 */
export type UndoneHow = 'removed' | 'restored' | 'reverted';

/**
 * Number of candidates for each action.
 */
export interface ActionCounts {
  add: number;
  no_op: number;
  supersede: number;
  update: number;
}
/**
 * For each question about a candidate and its nearest memory, the estimated probability, from 0 to
 * 1, that the answer is yes.
 */
export interface ActionScores {
  about: number;
  against: number;
  more: number;
}
/**
 * A file that uses a symbol that was removed or whose signature changed.
 */
export interface AffectedFile {
  /**
   * Number of imports that separate the file from the change. It is 1 if the file imports the
   * changed file directly, or needs no import to use it.
   */
  depth: number;
  path: string;
  /**
   * Changed symbols that the file uses. Empty if the file imports a removed file.
   */
  symbols: string[];
}
/**
 * A directory with affected files.
 */
export interface AffectedFolder {
  files: number;
  /**
   * Path of the directory; empty for the project root.
   */
  path: string;
}
/**
 * An agent, its transcripts, and Nacre's entries in its settings.
 */
export interface AgentEntry {
  agent: string;
  /**
   * Whether the agent's transcripts are read.
   */
  connected: boolean;
  hooks: WiringState;
  mcp: WiringState;
  /**
   * Paths that could not be read.
   */
  problems: string[];
  roots: string[];
  skill: WiringState;
  /**
   * Number of files and databases that contain the agent's transcripts.
   */
  sources: number;
  traces: WiringState;
}
/**
 * Number of an agent's sessions.
 */
export interface AgentSessions {
  agent: string;
  sessions: number;
  /**
   * The display name of the agent.
   */
  title: string;
}
/**
 * A sentence that cites valid sources.
 */
export interface AnswerSentence {
  /**
   * IDs of the supporting memories.
   */
  ids: string[];
  /**
   * The supporting session messages.
   */
  messages: string[];
  /**
   * The supporting passage from each source.
   */
  quotes: SourceQuote[];
  /**
   * The sentence as the model wrote it, with the IDs of its sources.
   */
  text: string;
  /**
   * Whether the sentence's names and numbers, and most of its words, occur in the cited sources.
   */
  verified?: boolean;
}
/**
 * The part of a source that best matches a sentence.
 */
export interface SourceQuote {
  /**
   * A memory ID, or the position of a session message.
   */
  source: string;
  text: string;
}
/**
 * A model's answer, excluding sentences that cite no valid source.
 */
export interface ModelAnswer {
  /**
   * The sentences joined into one string, with `[not verified]` after each sentence whose
   * wording is not supported by its sources.
   */
  answer?: string | null;
  /**
   * Number of unreadable files.
   */
  broken: number;
  cost_usd?: number | null;
  /**
   * Why the answer is incomplete.
   */
  error?: string | null;
  /**
   * The same error as in `error`, with hints.
   */
  failure?: Failure | null;
  known: boolean;
  /**
   * Number of removed sentences, by reason.
   */
  left_out: {
    [k: string]: number;
  };
  /**
   * The memories that the sentences cite.
   */
  memories: CitedMemory[];
  /**
   * The session messages that the sentences cite.
   */
  messages: string[];
  question: string;
  sentences: AnswerSentence[];
  steps: number;
  tokens: TokenCounts;
  tool_calls: number;
}
/**
 * An operation that failed.
 */
export interface Failure {
  /**
   * The causes, outermost first.
   */
  causes: string[];
  code: ErrorCode;
  /**
   * What the user can do, with commands to run.
   */
  hints: string[];
  /**
   * The error message.
   */
  message: string;
}
/**
 * The current state of a memory cited by an answer.
 */
export interface CitedMemory {
  /**
   * Other stores that contain the same ID.
   */
  also_in: StoreScope[];
  id: string;
  /**
   * IDs of memories that this one claims to supersede, but whose own files do not confirm it.
   */
  not_verified: string[];
  path: string;
  /**
   * The message, or the line of an imported file, that the quote comes from.
   */
  place?: string | null;
  /**
   * The memory's project, if all projects were searched.
   */
  project?: string | null;
  quote?: string | null;
  scope: StoreScope;
  /**
   * Who made the statement.
   */
  speaker?: Speaker | null;
  status: string;
  title: string;
  /**
   * The memory's type or, for a learning, its kind.
   */
  type: string;
  /**
   * When the memory was stated or last changed.
   */
  updated?: string | null;
}
/**
 * Input and output token counts.
 */
export interface TokenCounts {
  input: number;
  output: number;
}
/**
 * Memories that answer a question or are close to it, best match first.
 */
export interface MemoryAnswer {
  /**
   * A short version of the first memory, if it answers the question.
   */
  answer?: string | null;
  /**
   * Number of unreadable files.
   */
  broken: number;
  /**
   * Why the configured model did not answer.
   */
  error?: string | null;
  /**
   * Whether the first memory answers the question. Otherwise, the memories are only close to it.
   */
  known: boolean;
  memories: RecalledMemory[];
  question: string;
  /**
   * What the user said in a session, if no memory answers the question.
   */
  said?: SaidInSession | null;
}
/**
 * A memory that matches a question.
 */
export interface RecalledMemory {
  /**
   * Other stores that contain the same ID.
   */
  also_in: StoreScope[];
  id: string;
  /**
   * The line of the memory's text that matches best; empty if the title is sufficient.
   */
  line: string;
  /**
   * IDs of memories that this memory claims to supersede, although their own files do not
   * confirm it.
   */
  not_verified: string[];
  /**
   * The memory's project, if all projects were searched.
   */
  project?: string | null;
  /**
   * The first quote that adds something to the memory's text.
   */
  proof?: RecalledQuote | null;
  quote?: string | null;
  /**
   * ID of a later memory that contradicts this one.
   */
  replaced_by?: string | null;
  scope: StoreScope;
  score: number;
  status: string;
  title: string;
  /**
   * Trust level on this machine, if it is lower than that of an agent's own statements.
   */
  trust?: TrustLevel | null;
  /**
   * The memory type, or the kind for a learning.
   */
  type: string;
  /**
   * When the memory was stated or last changed.
   */
  updated?: string | null;
}
/**
 * A quote that supports a memory.
 */
export interface RecalledQuote {
  at: string;
  /**
   * The message, or the line of an imported file, that the quote comes from.
   */
  place: string;
  speaker: Speaker;
  text: string;
}
/**
 * A user message that matches a question.
 */
export interface SaidInSession {
  at?: string | null;
  /**
   * The position of the message, as `SESSION:SEQUENCE`.
   */
  place: string;
  text: string;
}
/**
 * A question to answer from stored memories.
 */
export interface AskRequest {
  /**
   * Search all readable registered projects instead of the current one.
   */
  all_projects?: boolean;
  /**
   * Maximum number of memories, from 1 to 20. Defaults to 5.
   */
  limit?: number | null;
  /**
   * Answer with memories only, even if a model is configured.
   */
  no_model?: boolean;
  question: string;
  scope?: Scope | null;
  /**
   * Path of a file with scripted model responses, for tests.
   */
  scripted?: string | null;
}
/**
 * A one-line summary of a memory.
 */
export interface BriefItem {
  id: string;
  scope: StoreScope;
  text: string;
}
/**
 * A brief, both as sections and as Markdown text.
 */
export interface BriefReport {
  /**
   * Paths of unreadable files.
   */
  broken?: string[];
  budget: number;
  /**
   * Number of candidates excluded because they are pending in `nacre review`.
   */
  candidates?: number;
  /**
   * Number of valid memories that are not included.
   */
  left_out: number;
  sections: BriefSection[];
  /**
   * The brief as Markdown; empty if no memory is relevant or fits.
   */
  text: string;
  /**
   * Number of tokens in the text.
   */
  tokens: number;
  /**
   * IDs of memories excluded because their author could not be verified.
   */
  unproven: string[];
}
/**
 * Memories on one topic, best first.
 */
export interface BriefSection {
  items: BriefItem[];
  topic: BriefTopic;
}
/**
 * A file that cannot be read.
 */
export interface BrokenFile {
  line?: number | null;
  message: string;
  path: string;
}
/**
 * A change in a list.
 */
export interface ChangeEntry {
  /**
   * Other changed objects, such as a file, agents or projects.
   */
  about?: string;
  added: number;
  at: string;
  changed: number;
  /**
   * The command that made the change, without `nacre`.
   */
  command: string;
  id: string;
  /**
   * Examples of changed memories.
   */
  memories: string[];
  removed: number;
  /**
   * Number of runs in the change. A sync has one run per session.
   */
  runs: number;
  /**
   * Whether `nacre undo` can undo this change.
   */
  undoable: boolean;
  /**
   * The change that this one undid.
   */
  undoes?: string | null;
  /**
   * The undo that reverted this change, if any.
   */
  undone_by?: string | null;
}
/**
 * A location that was checked for copies after a memory was forgotten.
 */
export interface CheckedCopy {
  /**
   * Why a copy still exists, or the name of the server concerned.
   */
  detail?: string | null;
  place: CopyPlace;
  state: CopyState;
}
/**
 * A step of a run, and its state.
 */
export interface ChecklistStep {
  state: StepState;
  step: string;
}
/**
 * Number of code files outside the project's own sources, by kind.
 */
export interface CodeApart {
  /**
   * Number of examples, benchmarks and documents.
   */
  aside: number;
  generated: number;
  tests: number;
  vendored: number;
}
/**
 * A part of the project: a package or a directory.
 */
export interface CodeArea {
  /**
   * Description from the area's manifest or README.
   */
  about?: string | null;
  files: number;
  lines: number;
  /**
   * Path of the directory; empty for files in the project root.
   */
  path: string;
}
/**
 * The requested page of changes. Counts cover all pages.
 */
export interface CodeDelta {
  added: number;
  /**
   * Files that use changed symbols, as many as fit the budget.
   */
  affected: AffectedFile[];
  /**
   * Number of affected files in each directory, largest first. Empty if `affected` is short and
   * lists all files.
   */
  affected_folders: AffectedFolder[];
  /**
   * Total number of affected files.
   */
  affected_total: number;
  files: FileDelta[];
  modified: number;
  /**
   * The path after which the next page starts. Absent on the last page.
   */
  next?: string | null;
  removed: number;
  renamed: number;
  since: Since;
}
/**
 * The changes in one file.
 */
export interface FileDelta {
  change: CodeChange;
  /**
   * Previous path of a renamed file.
   */
  from?: string | null;
  new_hash?: string | null;
  old_hash?: string | null;
  path: string;
  /**
   * Changed symbols of a modified file. Absent if its previous content is unknown.
   */
  symbols?: SymbolDeltas | null;
}
/**
 * Changed symbols of a modified file.
 */
export interface SymbolDeltas {
  changed: SymbolDelta[];
  depth: AnalysisDepth;
}
/**
 * A changed symbol in a modified file.
 */
export interface SymbolDelta {
  change: CodeChange;
  /**
   * Whether the signature changed, in which case callers may need to change too.
   */
  is_signature: boolean;
  kind: SymbolKind;
  name: string;
}
/**
 * A setting and its description.
 */
export interface ConfigGetReport {
  doc: string;
  key: string;
  /**
   * Where the value was set. A list can combine values from several origins.
   */
  origin: string;
  value: SettingValue;
}
/**
 * The result of setting or unsetting a key.
 */
export interface ConfigSetReport {
  /**
   * The change ID to pass to `nacre undo`. Absent if nothing changed.
   */
  change?: string | null;
  key: string;
  /**
   * Path of the changed file.
   */
  path: string;
  /**
   * The new value, or `null` if the key was removed.
   */
  value?: string | null;
}
/**
 * Sets or unsets one key.
 */
export interface ConfigSetRequest {
  key: string;
  /**
   * Whether to change the repository's settings, which are shared through git.
   */
  repo?: boolean;
  /**
   * The new value. Separate list items with commas. If no value is given, the key is removed
   * from the file.
   */
  value?: string | null;
}
/**
 * Settings by key.
 */
export interface ConfigShowReport {
  /**
   * Keys without a value.
   */
  not_set?: string[];
  settings: {
    [k: string]: Setting;
  };
}
/**
 * One setting.
 */
export interface Setting {
  /**
   * Where the value was set. A list can combine values from several origins.
   */
  origin: string;
  value: SettingValue;
}
/**
 * All supported agents, and the changes made to their settings.
 */
export interface ConnectReport {
  agents: AgentEntry[];
  /**
   * The change ID to pass to `nacre undo`.
   */
  change?: string | null;
  /**
   * Files that were changed, or would be changed by a dry run.
   */
  changes?: FileChange[];
  /**
   * Agents that were not connected, with the reason.
   */
  left_out?: string[];
  /**
   * Agents whose sessions will no longer be read.
   */
  no_longer_read?: string[];
  /**
   * Steps that the user must take to complete the connection.
   */
  notes?: string[];
  /**
   * Agents whose sessions will be read from now on.
   */
  now_read?: string[];
  /**
   * Identifier of the planned changes, used to approve them.
   */
  plan?: string | null;
}
/**
 * A changed agent settings file.
 */
export interface FileChange {
  /**
   * Agents with entries in the file.
   */
  agents?: string[];
  change: ChangeKind;
  /**
   * The change as a unified diff with redacted secrets.
   */
  diff: string;
  path: string;
}
/**
 * Which parts to write to an agent's settings, and whether this is a dry run.
 */
export interface WiringOptions {
  /**
   * Report the changes without making them.
   */
  dry_run?: boolean;
  /**
   * Also run a guard hook before each tool call. An existing guard stays enabled.
   */
  guard?: boolean;
  /**
   * Parts to connect. Defaults to the transcripts and all parts that the agent supports.
   */
  parts?: WiringPart[];
  /**
   * The `plan` from the dry run that the user approved. The request is rejected if the changes
   * no longer match the plan.
   */
  plan?: string | null;
}
/**
 * A file, with as much of its code as fits the budget.
 */
export interface ContextFile {
  path: string;
  /**
   * Symbols in file order.
   */
  symbols: ContextSymbol[];
  why: WhyRelevant[];
  /**
   * Words from the task that occur in the file, rarest first.
   */
  words?: string[];
}
/**
 * A symbol, with as much detail as fits the budget.
 */
export interface ContextSymbol {
  first_line: number;
  form: SymbolForm;
  kind: SymbolKind;
  last_line: number;
  name: string;
  /**
   * The whole symbol, only its signature, or an empty string.
   */
  text?: string;
}
/**
 * Code relevant to a task, and the state of the project.
 */
export interface ContextReport {
  budget: number;
  cache_status: CacheStatus;
  command: MapCommand;
  /**
   * The most relevant file first.
   */
  files: ContextFile[];
  left_out: LeftOut;
  project_id: string;
  project_root: string;
  revision: MapRevision;
  stats: MapStats;
}
/**
 * Relevant files that did not fit the budget.
 */
export interface LeftOut {
  files: number;
  /**
   * Some of these files, most relevant first, each with its number of symbols.
   */
  listed: [unknown, unknown][];
  symbols: number;
}
/**
 * The cost of updating the map, and the number of files examined.
 */
export interface MapStats {
  file_count: number;
  /**
   * Files skipped because the time limit was reached. The next command reads them.
   */
  postponed_files: number;
  rehashed_entries: number;
  reused_entries: number;
  skipped: SkippedCounts;
  total_bytes: number;
  /**
   * Files that are too large or unreadable.
   */
  unread_files: number;
}
/**
 * Number of project entries excluded from the map, by reason.
 */
export interface SkippedCounts {
  /**
   * Files that usually contain secrets, such as keys and passwords.
   */
  denied: number;
  links: number;
  /**
   * Git repositories inside the project that are not submodules.
   */
  nested: number;
  /**
   * Pipes, sockets and devices.
   */
  special: number;
  /**
   * Directories and files that are nested too deeply, and tracked files that exceed the limit.
   */
  too_deep: number;
  /**
   * Names that are not valid UTF-8.
   */
  unnamable: number;
  /**
   * Directories skipped because their ignore rules exceed a limit.
   */
  unread_rules: number;
  /**
   * Directories that cannot be opened.
   */
  unreadable: number;
}
/**
 * The task to collect code for, and the maximum size of the result.
 */
export interface ContextRequest {
  /**
   * Maximum number of tokens in the response. Defaults to 4000.
   */
  budget?: number | null;
  /**
   * Name of a client to mark as up to date with this revision. A later delta can start at
   * `client:NAME`.
   */
  client?: string | null;
  /**
   * Accepted as in other requests, but has no effect: the budget sets the level of detail.
   */
  detail?: MapDetail | null;
  /**
   * Files known to be relevant, relative to the current directory or the project root.
   */
  files?: string[];
  /**
   * List files without their code.
   */
  files_only?: boolean;
  format?: MapFormat;
  /**
   * A directory in the project, or the name of a registered project. Defaults to the project
   * that contains the current directory.
   */
  project?: string | null;
  /**
   * Reread every file instead of relying on modification times.
   */
  refresh?: boolean;
  /**
   * Do not write the map; fail if it is out of date.
   */
  strict?: boolean;
  /**
   * Description of the task. If absent, the task is defined by `files`.
   */
  task?: string | null;
}
/**
 * The state of the shared database as seen by one server.
 */
export interface DatabaseStatus {
  /**
   * Why the database cannot be used.
   */
  detail?: string | null;
  /**
   * Whether this server does the work that is reserved for one server at a time.
   */
  is_leader: boolean;
  /**
   * When this process first observed the current state.
   */
  since: string;
  state: DatabaseState;
}
/**
 * The changes, and the state of the project.
 */
export interface DeltaReport {
  cache_status: CacheStatus;
  command: MapCommand;
  delta: CodeDelta;
  project_id: string;
  project_root: string;
  revision: MapRevision;
  stats: MapStats;
}
/**
 * Selects the changes to list.
 */
export interface DeltaRequest {
  /**
   * Start after this path. Use the `next` value from the previous response.
   */
  after?: string | null;
  /**
   * Maximum number of tokens in the response as JSON. If the response is too long, the list of
   * affected files is first reduced to counts by directory; then changed files are moved to the
   * next page.
   */
  budget?: number | null;
  /**
   * Name of a client to mark as up to date with this revision. A later delta can start at
   * `client:NAME`.
   */
  client?: string | null;
  /**
   * Accepted as in other requests, but has no effect: all changes are listed alike.
   */
  detail?: MapDetail | null;
  /**
   * Maximum number of files; 0 or absent means all.
   */
  limit?: number | null;
  /**
   * A directory in the project, or the name of a registered project. Defaults to the project
   * that contains the current directory.
   */
  project?: string | null;
  /**
   * Reread every file instead of relying on modification times.
   */
  refresh?: boolean;
  /**
   * Where the delta starts. Defaults to `git:HEAD`. If there is no commit, it starts at the
   * creation of the map.
   */
  since?: Since | null;
  /**
   * Do not write the map, and fail if it is out of date.
   */
  strict?: boolean;
}
/**
 * Problems found in the stores.
 */
export interface DoctorReport {
  /**
   * The change ID to pass to `nacre undo`.
   */
  change?: string | null;
  /**
   * A problem with the repository settings.
   */
  config?: string | null;
  errors: number;
  /**
   * Registered projects whose store no longer exists. Each one is an error.
   */
  gone?: ProjectEntry[];
  health: Health;
  /**
   * Files fixed before the check.
   */
  mended?: MendedFile[];
  stores: StoreCheck[];
  warnings: number;
}
/**
 * One registered project.
 */
export interface ProjectEntry {
  /**
   * Other directories whose sessions belong to the project.
   */
  also?: string[];
  name: string;
  path: string;
  state: ProjectState;
}
/**
 * A file that was fixed.
 */
export interface MendedFile {
  path: string;
  what: string;
}
/**
 * Problems found in one store.
 */
export interface StoreCheck {
  evidence: number;
  findings: Finding[];
  /**
   * Memories from other sources that are pending in `nacre trust`.
   */
  foreign?: number;
  memories: number;
  path: string;
  /**
   * Memories with instructions that did not come from the user.
   */
  quarantined?: number;
  /**
   * Results of comparing the quotes, if requested.
   */
  quotes?: QuoteCheck | null;
  scope: StoreScope;
}
/**
 * A problem with a file.
 */
export interface Finding {
  hint?: string | null;
  line?: number | null;
  message: string;
  /**
   * Path relative to the store.
   */
  path: string;
  severity: Severity;
}
/**
 * Number of quotes that match their transcripts.
 */
export interface QuoteCheck {
  /**
   * Quotes that the user entered directly in Nacre.
   */
  by_hand: number;
  missing: number;
  /**
   * Quotes whose transcript is not on this machine.
   */
  unchecked: number;
  /**
   * Transcripts that cannot be read.
   */
  unreadable: number;
  verified: number;
}
/**
 * An embedding model.
 */
export interface EmbedderEntry {
  about: string;
  dims?: number | null;
  /**
   * Identifier derived from the model's name and content. Vectors with different identifiers
   * cannot be compared.
   */
  id?: string | null;
  name: string;
  /**
   * State of the model, such as `ready`.
   */
  state: string;
}
/**
 * A file that is a good starting point for reading the code.
 */
export interface EntryPoint {
  kind: EntryKind;
  /**
   * Name of the program or library, from a manifest.
   */
  name?: string | null;
  path: string;
}
/**
 * The JSON object returned instead of a report when an operation fails.
 */
export interface ErrorReport {
  error: Failure;
}
/**
 * Number of events by kind. Injected and inherited events are counted separately.
 */
export interface EventCounts {
  assistant: number;
  compactions: number;
  errors: number;
  inherited: number;
  injected: number;
  meta: number;
  reasoning: number;
  sidechain: number;
  summaries: number;
  tool_calls: number;
  tool_results: number;
  /**
   * Number of user messages.
   */
  user: number;
}
/**
 * A project overview, and the state of the project.
 */
export interface ExploreReport {
  /**
   * The first paragraph of the README, or the description from a manifest.
   */
  about?: string | null;
  apart: CodeApart;
  areas: Listed2;
  cache_status: CacheStatus;
  command: MapCommand;
  commands: Listed;
  detail: MapDetail;
  entry_points: Listed3;
  hot_paths: Listed4;
  languages: LanguageCount[];
  module_graph: ModuleGraph;
  /**
   * Number of incompletely analyzed files, by reason.
   */
  problems: {
    [k: string]: number;
  };
  project_id: string;
  project_root: string;
  public_surface: Listed7;
  revision: MapRevision;
  stats: MapStats;
  tests: Listed9;
  top_imports: Listed5;
}
/**
 * A list that may be incomplete, and the total number of items.
 */
export interface Listed2 {
  items: CodeArea[];
  total: number;
}
/**
 * A list that may be incomplete, and the total number of items.
 */
export interface Listed {
  items: ProjectCommand[];
  total: number;
}
/**
 * A command, and the file that defines it.
 */
export interface ProjectCommand {
  command: string;
  from: string;
  purpose: CommandPurpose;
}
/**
 * A list that may be incomplete, and the total number of items.
 */
export interface Listed3 {
  items: EntryPoint[];
  total: number;
}
/**
 * A list that may be incomplete, and the total number of items.
 */
export interface Listed4 {
  items: HotPath[];
  total: number;
}
/**
 * A frequently changed file on which many others depend.
 */
export interface HotPath {
  commits: number;
  /**
   * The file's rank multiplied by its number of recent commits. An average file has the value
   * 1000.
   */
  heat: number;
  importers: number;
  path: string;
}
/**
 * Number of files in a language.
 */
export interface LanguageCount {
  files: number;
  language: string;
  lines: number;
}
/**
 * Imports between directories. Only imports that resolve to a file are included.
 */
export interface ModuleGraph {
  /**
   * Number of imports, where each pair of importing and imported files counts once.
   */
  edges: number;
  modules: Listed6;
  /**
   * Number of files.
   */
  nodes: number;
  /**
   * Number of imports that should resolve to a project file but do not.
   */
  unresolved: number;
}
/**
 * A list that may be incomplete, and the total number of items.
 */
export interface Listed6 {
  items: ModuleNode[];
  total: number;
}
/**
 * A directory, and the directories that its files import from.
 */
export interface ModuleNode {
  files: number;
  imports: string[];
  module: string;
}
/**
 * A list that may be incomplete, and the total number of items.
 */
export interface Listed7 {
  items: PublicSurface[];
  total: number;
}
/**
 * The public symbols of a file.
 */
export interface PublicSurface {
  path: string;
  symbols: Listed8;
}
/**
 * A list that may be incomplete, and the total number of items.
 */
export interface Listed8 {
  items: SurfaceSymbol[];
  total: number;
}
/**
 * A public symbol.
 */
export interface SurfaceSymbol {
  kind: SymbolKind;
  line: number;
  name: string;
  signature: string;
}
/**
 * A list that may be incomplete, and the total number of items.
 */
export interface Listed9 {
  items: string[];
  total: number;
}
/**
 * A list that may be incomplete, and the total number of items.
 */
export interface Listed5 {
  items: TopImport[];
  total: number;
}
/**
 * An external package, and the number of files that import it.
 */
export interface TopImport {
  files: number;
  module: string;
}
/**
 * A request for a project overview.
 */
export interface ExploreRequest {
  /**
   * Maximum number of tokens in the response. Lists are shortened to fit.
   */
  budget?: number | null;
  /**
   * Name of a client to mark as up to date with this revision. A later delta can start at
   * `client:NAME`.
   */
  client?: string | null;
  /**
   * Level of detail. Defaults to compact.
   */
  detail?: MapDetail | null;
  format?: MapFormat;
  /**
   * A directory in the project, or the name of a registered project. Defaults to the project
   * that contains the current directory.
   */
  project?: string | null;
  /**
   * Reread every file instead of relying on modification times.
   */
  refresh?: boolean;
  /**
   * Do not write the map, and fail if it is out of date.
   */
  strict?: boolean;
}
/**
 * An explorer's finding about one candidate.
 */
export interface ExplorerFinding {
  action_hint: LeadAction;
  candidate_id: string;
  /**
   * A quote from the file.
   */
  evidence: string;
  matched_file?: string | null;
  /**
   * The explorer's estimate of how much of the candidate the memory file already covers, from 0
   * to 1.
   */
  overlap: number;
}
/**
 * The metrics of one explorer.
 */
export interface ExplorerMetrics {
  candidates: string[];
  findings: ExplorerFinding[];
  model_calls: number;
  ms: number;
  state: string;
  task: string;
}
/**
 * The changes that resulted from the feedback.
 */
export interface FeedbackReport {
  /**
   * Other memory files with the same ID.
   */
  also_in: OtherPlace[];
  /**
   * The change ID to pass to `nacre undo`.
   */
  change?: string | null;
  confidence: number;
  confidence_before: number;
  id: string;
  scope: StoreScope;
  verdict: Verdict;
}
/**
 * Another file with the same ID.
 */
export interface OtherPlace {
  path: string;
  scope: StoreScope;
}
/**
 * Feedback from a user on a memory.
 */
export interface FeedbackRequest {
  /**
   * The memory's ID or a prefix of it.
   */
  id: string;
  /**
   * A one-sentence reason. It is stored only on this machine.
   */
  note?: string | null;
  scope?: Scope | null;
  verdict: Verdict;
}
/**
 * Number of sessions in a directory.
 */
export interface FolderSessions {
  /**
   * The path of the registered project that is a clone of the same repository.
   */
  clone_of?: string | null;
  path: string;
  sessions: number;
}
/**
 * A matching memory.
 */
export interface FoundMemory {
  /**
   * Situations in which the memory is relevant.
   */
  applies?: string[];
  archived: boolean;
  confidence?: number | null;
  created?: string | null;
  /**
   * Memories that this one supersedes, newest first.
   */
  history: MemoryEntry[];
  id: string;
  /**
   * The kind of learning.
   */
  kind?: string | null;
  /**
   * IDs of memories that this one claims to supersede, but whose own files do not confirm it.
   */
  not_verified: string[];
  path: string;
  related: string[];
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link
   * records the replacement, but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  /**
   * IDs of further matching summaries with the same title, which are not listed.
   */
  same?: string[];
  scope: StoreScope;
  score: number;
  /**
   * The text around the match.
   */
  snippet: string;
  status: string;
  tags: string[];
  title: string;
  /**
   * The trust level on this machine, if lower than the level of an agent's own statements.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
  why: WhyFound;
}
/**
 * A memory without its text.
 */
export interface MemoryEntry {
  /**
   * Situations in which the memory is relevant.
   */
  applies?: string[];
  archived: boolean;
  confidence?: number | null;
  created?: string | null;
  id: string;
  /**
   * The kind of learning.
   */
  kind?: string | null;
  path: string;
  related: string[];
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link
   * records the replacement, but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  scope: StoreScope;
  status: string;
  tags: string[];
  title: string;
  /**
   * The trust level on this machine, if lower than the level of an agent's own statements.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
}
/**
 * Why a memory matched.
 */
export interface WhyFound {
  /**
   * Links from other memories that increased the score.
   */
  edges: MemoryEdge[];
  /**
   * The part of the score based on word matches.
   */
  lexical: number;
  /**
   * Semantic similarity to the query, from 0 to 1.
   */
  similarity: number;
  /**
   * Query terms that the memory contains.
   */
  terms: string[];
}
/**
 * A link from one memory to another.
 */
export interface MemoryEdge {
  id: string;
  kind: EdgeKind;
  /**
   * The tag, file or symbol that the two memories share.
   */
  shared?: string | null;
}
/**
 * An installed agent that can be used as a model.
 */
export interface InstalledAgent {
  /**
   * Display name.
   */
  label: string;
  /**
   * A model name for this agent, as accepted by `roles.default.model`.
   */
  model: string;
  /**
   * The agent part of a model name, such as `claude-code`.
   */
  name: string;
  /**
   * Path of the agent's executable.
   */
  path: string;
  /**
   * Version, or `null` if the agent did not report one.
   */
  version?: string | null;
}
/**
 * A file that was kept because it was changed later.
 */
export interface KeptFile {
  /**
   * The later change. Absent if the file was edited outside Nacre.
   */
  by?: string | null;
  path: string;
}
/**
 * Sessions that are due later.
 */
export interface LaterSessions {
  /**
   * The ID of one of these sessions.
   */
  example: string;
  /**
   * When the last of these sessions is due.
   */
  ready_at: string;
  /**
   * Seconds until the last of these sessions is due.
   */
  ready_in: number;
  sessions: number;
}
/**
 * The metrics of one lead agent call.
 */
export interface LeadMetrics {
  cost_usd: number;
  error?: string | null;
  ms: number;
  rulings: number;
  state: string;
  task: string;
  tokens: TokenCounts;
  /**
   * Number of tool calls by the lead agent. This count and the next two exclude explorer calls.
   */
  tool_calls: number;
}
/**
 * A memory that a sync created or changed.
 */
export interface LearnedMemory {
  change: LearnedChange;
  id: string;
  /**
   * Whether the memory is pending in `nacre review`.
   */
  is_candidate: boolean;
  /**
   * The project of the memory.
   */
  project: string;
  title: string;
  type: MemoryType;
}
/**
 * A limit on the number of listed entries.
 */
export interface LimitRequest {
  /**
   * Maximum number of results; 0 means no limit. Defaults to 20 for tasks, and otherwise to the
   * `memory.max_results` setting.
   */
  limit?: number | null;
}
/**
 * A location where an agent stores its sessions.
 */
export interface LookedIn {
  agent: string;
  exists: boolean;
  path: string;
}
/**
 * An action on a memory, with its reason.
 */
export interface MaintainAction {
  action: MaintainVerb;
  /**
   * Key that identifies the action. An action undone by the user is not repeated.
   */
  key: string;
  /**
   * Confidence from 0 to 1, if it was measured.
   */
  likelihood?: number | null;
  reason: string;
  /**
   * ID of the memory.
   */
  target: string;
  title: string;
  /**
   * ID of the memory that it was merged into or superseded by.
   */
  with?: string | null;
}
/**
 * How long each step of a maintenance run took, in milliseconds.
 */
export interface MaintainDurations {
  compare: number;
  read: number;
  whole: number;
}
/**
 * Resources that a maintenance run used.
 */
export interface MaintainMetrics {
  broken: number;
  cost_usd: number;
  counts: {
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
  };
  denied_writes: number;
  durations_ms: MaintainDurations;
  /**
   * Always empty, because maintenance never starts explorers.
   */
  explorers: ExplorerMetrics[];
  memories: number;
  model_calls: number;
  /**
   * Number of memory pairs compared.
   */
  pairs: number;
  run_id: string;
  tokens: number;
}
/**
 * The result for each store.
 */
export interface MaintainReport {
  dry_run: boolean;
  projects: MaintainedStore[];
}
/**
 * The result for one store: its report, or why it has none.
 */
export interface MaintainedStore {
  causes?: string[] | null;
  /**
   * The planned changes of a dry run.
   */
  changes?: PlannedChange[] | null;
  hints?: string[] | null;
  ms: number;
  /**
   * Name of the project, or `global`.
   */
  project: string;
  /**
   * Why it failed.
   */
  reason?: string | null;
  report?: StoreMaintenance | null;
  state: MaintainState;
}
/**
 * A file that would be created, changed or removed.
 */
export interface PlannedChange {
  /**
   * New text, or `None` if the file would be removed.
   */
  after?: string | null;
  /**
   * Current text, or `None` if the file would be created.
   */
  before?: string | null;
  /**
   * Path relative to the store.
   */
  path: string;
}
/**
 * What a maintenance run did in one store.
 */
export interface StoreMaintenance {
  actions: MaintainAction[];
  /**
   * Number of unreadable files, which were left unchanged.
   */
  broken: number;
  contradictions: OpenContradiction[];
  cost_usd: number;
  /**
   * Number of actions, by kind.
   */
  counts: {
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
  };
  finished_at: string;
  memories: number;
  mode: RunMode;
  model_calls: number;
  outcome: MaintainState;
  /**
   * ID of the run. Absent if nothing changed.
   */
  run_id?: string | null;
  tokens: number;
  written_paths: string[];
}
/**
 * Two contradictory memories that need the user's decision.
 */
export interface OpenContradiction {
  likelihood: number;
  newer: string;
  older: string;
  reason: string;
}
/**
 * Options for a maintenance run.
 */
export interface MaintainRequest {
  /**
   * Maintain all registered projects and the global memories.
   */
  all?: boolean;
  /**
   * Report the changes without making them.
   */
  dry_run?: boolean;
  /**
   * Run even if nothing has changed.
   */
  force?: boolean;
  /**
   * Let the model with the role `lead` write the merged memories.
   */
  rewrite?: boolean;
  /**
   * Path of a file with scripted model responses, for tests.
   */
  scripted?: string | null;
}
/**
 * A new memory written by the user.
 */
export interface MemoryAddRequest {
  /**
   * Situations in which the memory is relevant, one line each.
   */
  applies?: string[];
  /**
   * The reason and details in Markdown.
   */
  body?: string;
  /**
   * Confidence from 0 to 1. By default, the user's statements have full confidence.
   */
  confidence?: number | null;
  /**
   * The kind of learning. Defaults to insight.
   */
  kind?: LearningKind | null;
  /**
   * IDs of related memories, or prefixes of them.
   */
  related?: string[];
  scope?: Scope | null;
  /**
   * ID of the memory that this one supersedes, or a prefix of that ID.
   */
  supersedes?: string | null;
  tags?: string[];
  /**
   * A one-line statement of the decision or learning.
   */
  title: string;
  /**
   * The type: a decision or a learning. Defaults to decision.
   */
  type?: MemoryType | null;
}
/**
 * The result of changing a memory.
 */
export interface MemoryChangeReport {
  /**
   * The change ID to pass to `nacre undo`.
   */
  change?: string | null;
  done: MemoryChange;
  id: string;
  /**
   * The path of the memory file, if it is new.
   */
  path?: string | null;
}
/**
 * The changes made to several memories. Each memory has its own change set.
 */
export interface MemoryChangesReport {
  /**
   * The change ID to pass to `nacre undo`.
   */
  change?: string | null;
  /**
   * Other locations that were checked for remaining copies after a memory was forgotten.
   */
  copies?: CheckedCopy[];
  done: MemoryChange;
  failed: MemoryFailure[];
  ids: string[];
}
/**
 * A memory that could not be changed, and why.
 */
export interface MemoryFailure {
  /**
   * The causes, outermost first.
   */
  causes: string[];
  code: ErrorCode;
  /**
   * What the user can do, with commands to run.
   */
  hints: string[];
  /**
   * The ID from the request.
   */
  id: string;
  /**
   * The error message.
   */
  message: string;
}
/**
 * The quotes that support a memory.
 */
export interface MemoryEvidence {
  id: string;
  quotes: MemoryQuote[];
  /**
   * Whether a program other than Nacre changed the memory file. If so, the quotes no longer
   * prove its content.
   */
  unproven?: boolean;
  /**
   * Format version of the evidence file.
   */
  version: number;
}
/**
 * A quote from a session, and its source.
 */
export interface MemoryQuote {
  at: string;
  place: string;
  speaker: Speaker;
  text: string;
}
/**
 * Feedback on a memory.
 */
export interface MemoryFeedback {
  at: string;
  by: SaidBy;
  note?: string | null;
  verdict: Verdict;
}
/**
 * A link between this memory and another one. The link is verified if the older memory's file also
 * records it.
 */
export interface MemoryLink {
  id: string;
  verified: boolean;
}
/**
 * The listed memories.
 */
export interface MemoryListReport {
  broken: BrokenFile[];
  /**
   * Number of summaries left out.
   */
  hidden_summaries?: number | null;
  memories: MemoryEntry[];
  /**
   * Total number of matching memories, including those not listed.
   */
  total: number;
}
/**
 * Selects the memories to list.
 */
export interface MemoryListRequest {
  /**
   * Include summaries. By default, summaries are excluded unless `type` selects them.
   */
  all?: boolean;
  /**
   * List archived memories instead of current ones.
   */
  archived?: boolean;
  /**
   * Only learnings of this kind.
   */
  kind?: LearningKind | null;
  /**
   * Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
   */
  limit?: number | null;
  /**
   * Number of memories to skip.
   */
  offset?: number;
  scope?: Scope | null;
  /**
   * The sort order. By default, project memories come first, and memories within each store are
   * sorted newest first.
   */
  sort?: MemorySort | null;
  status?: MemoryStatus | null;
  tag?: string | null;
  type?: MemoryType | null;
}
/**
 * Memories related to one memory, closest first.
 */
export interface MemoryRelatedReport {
  /**
   * Other memory files with the same ID.
   */
  also_in: OtherPlace[];
  id: string;
  related: RelatedMemory[];
  /**
   * Total number of related memories, including those not listed.
   */
  total: number;
}
/**
 * A related memory.
 */
export interface RelatedMemory {
  /**
   * Situations in which the memory is relevant.
   */
  applies?: string[];
  archived: boolean;
  confidence?: number | null;
  created?: string | null;
  edge: MemoryEdge;
  id: string;
  /**
   * The kind of learning.
   */
  kind?: string | null;
  path: string;
  related: string[];
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link
   * records the replacement, but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  scope: StoreScope;
  status: string;
  tags: string[];
  title: string;
  /**
   * The trust level on this machine, if lower than the level of an agent's own statements.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
}
/**
 * The memory whose related memories are listed.
 */
export interface MemoryRelatedRequest {
  /**
   * The memory's ID or a prefix of it.
   */
  id: string;
  /**
   * Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
   */
  limit?: number | null;
  scope?: Scope | null;
}
/**
 * Search results. Project memories come first, and each store is sorted by best match.
 */
export interface MemorySearchReport {
  broken: BrokenFile[];
  hits: FoundMemory[];
  query: string;
  /**
   * Total number of matches, including those not listed.
   */
  total: number;
}
/**
 * A search query and its limits.
 */
export interface MemorySearchRequest {
  /**
   * Search all registered projects, regardless of `scope`.
   */
  all_projects?: boolean;
  /**
   * Include archived memories.
   */
  archived?: boolean;
  /**
   * Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
   */
  limit?: number | null;
  mode?: SearchMode;
  /**
   * Words, "quoted phrases" and filters such as `tag:auth`.
   */
  query: string;
  scope?: Scope | null;
  /**
   * Only memories changed since this date, time or age, such as `2026-01` or `7d`.
   */
  since?: string | null;
  tag?: string | null;
  type?: MemoryType | null;
}
/**
 * A memory with its details.
 */
export interface MemoryShowReport {
  /**
   * Other memory files with the same ID.
   */
  also_in: OtherPlace[];
  /**
   * Situations in which the memory is relevant.
   */
  applies?: string[];
  archived: boolean;
  body: string;
  confidence?: number | null;
  created?: string | null;
  evidence?: MemoryEvidence | null;
  /**
   * The latest user feedback on this memory.
   */
  feedback?: MemoryFeedback | null;
  history?: MemoryVersion[] | null;
  id: string;
  /**
   * The kind of learning.
   */
  kind?: string | null;
  path: string;
  related: string[];
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link
   * records the replacement, but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  scope: StoreScope;
  /**
   * The session from which the memory was created, as `AGENT:SESSION`.
   */
  session?: string | null;
  status: string;
  superseded_by: MemoryLink[];
  supersedes: MemoryLink[];
  tags: string[];
  /**
   * The whole Markdown file, if requested.
   */
  text?: string | null;
  title: string;
  /**
   * The trust level on this machine, if lower than the level of an agent's own statements.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
  /**
   * The version of the file's content. Pass it back in a write request to detect conflicting
   * changes.
   */
  version: string;
}
/**
 * An earlier version of a memory, from a Git commit or a run.
 */
export interface MemoryVersion {
  commit?: string | null;
  run?: string | null;
  what: string;
  when: string;
  who: string;
}
/**
 * The memory to show, and which details to include.
 */
export interface MemoryShowRequest {
  /**
   * Include the quotes that support the memory.
   */
  evidence?: boolean;
  /**
   * Include the earlier versions.
   */
  history?: boolean;
  /**
   * The memory's ID or a prefix of it.
   */
  id: string;
  scope?: Scope | null;
  /**
   * Include the whole Markdown file, with frontmatter and body.
   */
  text?: boolean;
}
/**
 * The configured models, their providers, and the embedding models.
 */
export interface ModelListReport {
  /**
   * Installed agents that can be used as models, including agents not assigned to a role.
   */
  agents: InstalledAgent[];
  /**
   * Embedding models.
   */
  models: EmbedderEntry[];
  /**
   * Providers of the configured models.
   */
  providers: ProviderEntry[];
  roles: RoleEntry[];
}
/**
 * A model provider.
 */
export interface ProviderEntry {
  address: string;
  /**
   * Name of the environment variable that holds the API key, and whether it is set. Never
   * contains the key itself.
   */
  key: string;
  name: string;
  origin: string;
}
/**
 * A role and its models.
 */
export interface RoleEntry {
  /**
   * Models in the order in which they are tried.
   */
  models: string[];
  origin: string;
  /**
   * Why the role cannot be used with its current settings.
   */
  problem?: string | null;
  /**
   * Name of the role. `default` applies to every role without models of its own.
   */
  role: string;
}
/**
 * Usage statistics of one model.
 */
export interface ModelStats {
  cached: number;
  calls: number;
  /**
   * Cost in billionths of a dollar, or `None` if the price of a call is unknown.
   */
  cost_nano_dollars?: number | null;
  input: number;
  model: string;
  output: number;
}
/**
 * Model usage statistics, by model name.
 */
export interface ModelStatsReport {
  models: ModelStats[];
}
/**
 * The tested model's response, with its duration and cost.
 */
export interface ModelTestReport {
  /**
   * Cost in US dollars, or `null` if no price is known.
   */
  cost_usd?: number | null;
  first_word_ms?: number | null;
  /**
   * Name of the model as `provider/model`.
   */
  model: string;
  role: ModelRole;
  text: string;
  tokens: TokenCounts;
  total_ms: number;
}
/**
 * Tests a model by asking it for a one-word response.
 */
export interface ModelTestRequest {
  role?: ModelRole;
}
/**
 * A session that is paused until a model is available.
 */
export interface PausedSession {
  id: string;
  /**
   * The settings key of the limit that was reached. Absent if the model is unreachable.
   */
  limit?: string | null;
  reason: string;
}
/**
 * A registered project.
 */
export interface ProjectAddReport {
  /**
   * The change ID to pass to `nacre undo`. Absent if nothing changed.
   */
  change?: string | null;
  /**
   * Paths created by this command; empty if the store already existed.
   */
  created: string[];
  /**
   * Number of memories that were not recorded on this machine and await review with `nacre
   * trust`.
   */
  foreign?: number;
  /**
   * Whether any agent sessions were found on this machine.
   */
  has_agents?: boolean;
  is_git: boolean;
  /**
   * Whether the session search stopped early. If so, more sessions may exist.
   */
  is_partial?: boolean;
  memories: number;
  /**
   * Number of sessions in this repository that have not been processed yet.
   */
  new_sessions?: number;
  /**
   * Suggested next command.
   */
  next: string;
  path: string;
  /**
   * Name of the project, or `null` if it could not be registered.
   */
  project?: string | null;
  root: string;
  /**
   * Number of sessions in this repository, by agent.
   */
  sessions?: AgentSessions[];
  /**
   * Whether session summaries are shared through git.
   */
  shares_summaries: boolean;
  /**
   * Disconnected agents that have sessions in this repository. Their sessions are not read.
   */
  switched_off?: string[];
}
/**
 * Initializes the repository at a path and registers it as a project.
 */
export interface ProjectAddRequest {
  /**
   * Other directories whose sessions belong to the project, such as its path before it moved.
   */
  also?: string[];
  /**
   * Name of the project. Defaults to the project's current name or, for a new project, to the
   * directory name.
   */
  name?: string | null;
  /**
   * The repository directory.
   */
  path: string;
}
/**
 * The registered projects, in the order of registration.
 */
export interface ProjectListReport {
  projects: ProjectEntry[];
}
/**
 * The result of unregistering a project.
 */
export interface ProjectRemoveReport {
  /**
   * The change ID to pass to `nacre undo`. Absent if nothing changed.
   */
  change?: string | null;
  /**
   * Name of the unregistered project.
   */
  removed: string;
}
/**
 * Unregisters a project. Its files are kept.
 */
export interface ProjectRemoveRequest {
  name: string;
}
/**
 * The changed sessions.
 */
export interface QueueChangeReport {
  done: QueueChange;
  ids: string[];
}
/**
 * A session in the queue.
 */
export interface QueueJob {
  agent: string;
  attempts: number;
  changed: string;
  /**
   * The session ID.
   */
  id: string;
  /**
   * The session is not retried before this time.
   */
  not_before?: string | null;
  project?: string | null;
  reason?: string | null;
  /**
   * The run that processed the session.
   */
  run?: string | null;
  state: JobState;
  title?: string | null;
}
/**
 * Queued sessions, most recently changed first.
 */
export interface QueueListReport {
  jobs: QueueJob[];
  /**
   * Total number of sessions, including those not listed.
   */
  total: number;
}
/**
 * Selects the queued sessions to list.
 */
export interface QueueListRequest {
  /**
   * Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
   */
  limit?: number | null;
  status?: JobState | null;
}
/**
 * Statistics about reading a trace.
 */
export interface ReadReport {
  /**
   * Lines without usable content.
   */
  bad_lines: number;
  /**
   * Number of text blocks whose middle was removed.
   */
  cut_texts: number;
  /**
   * Lines that are not valid UTF-8.
   */
  invalid_utf8: number;
  /**
   * Events omitted because the session exceeded the event limit.
   */
  left_out: number;
  /**
   * Complete lines or rows read.
   */
  lines: number;
  /**
   * Lines longer than the limit.
   */
  long_lines: number;
  /**
   * Damaged lines that were partly recovered.
   */
  mended_lines: number;
  /**
   * Number of messages that occur more than once in the trace.
   */
  repeated: number;
  /**
   * Start offset of an incomplete last line, if any.
   */
  torn_tail?: number | null;
  /**
   * Records of unknown type.
   */
  unknown_records: number;
  /**
   * Number of records by unknown type, for at most 32 types.
   */
  unknown_types: {
    [k: string]: number;
  };
}
/**
 * Updates a project's map and lists the changes.
 */
export interface RefreshRequest {
  /**
   * Start after this path. Use the `next` value of the previous response.
   */
  after?: string | null;
  /**
   * Accepted as in other requests, but has no effect: all changes are listed alike.
   */
  detail?: MapDetail | null;
  /**
   * Maximum number of files; 0 or absent means all.
   */
  limit?: number | null;
  /**
   * A directory in the project, or the name of a registered project. Defaults to the project
   * that contains the current directory.
   */
  project?: string | null;
  /**
   * Accepted as in other requests, but has no effect: every file is reread.
   */
  refresh?: boolean;
}
/**
 * A candidate with its evidence.
 */
export interface ReviewCandidate {
  /**
   * Situations in which the memory is relevant.
   */
  applies?: string[];
  archived: boolean;
  body: string;
  confidence?: number | null;
  created?: string | null;
  id: string;
  /**
   * The kind of learning.
   */
  kind?: string | null;
  path: string;
  /**
   * The project of the candidate, if all projects are listed.
   */
  project?: string | null;
  quotes: MemoryQuote[];
  /**
   * Why the candidate is quarantined, if it is.
   */
  reason?: string | null;
  related: string[];
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link
   * records the replacement, but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  scope: StoreScope;
  status: string;
  tags: string[];
  title: string;
  /**
   * The trust level on this machine, if lower than the level of an agent's own statements.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
}
/**
 * Candidates from sessions, newest first, and then those from imported files. Unless there are
 * only a few, the statements of a file are listed as one candidate with the ID `import:FILE`.
 */
export interface ReviewListReport {
  broken: BrokenFile[];
  candidates: ReviewCandidate[];
  /**
   * Total number of candidates, including those not listed.
   */
  total: number;
}
/**
 * Limits the list of candidates.
 */
export interface ReviewListRequest {
  /**
   * List the candidates of all registered projects, regardless of `scope`.
   */
  all_projects?: boolean;
  /**
   * List the statements imported from this file one by one.
   */
  file?: string | null;
  /**
   * Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
   */
  limit?: number | null;
  scope?: Scope | null;
}
/**
 * A run in a list.
 */
export interface RunEntry {
  /**
   * Absent for an undo.
   */
  counts?: RunCounts | null;
  id: string;
  /**
   * Absent if the report cannot be read.
   */
  mode?: RunMode | null;
  /**
   * The trace that the run processed, or the change that it undid.
   */
  of: string;
}
/**
 * The runs of a project, newest first.
 */
export interface RunListReport {
  runs: RunEntry[];
  /**
   * Total number of runs, including those not listed.
   */
  total: number;
}
/**
 * The metrics for syncing one session.
 */
export interface SyncMetrics {
  candidates: number;
  cost_usd: number;
  denied_writes: number;
  /**
   * Rejected proposals by reason.
   */
  dropped: {
    [k: string]: number;
  };
  durations_ms: SyncDurations;
  events: number;
  explorers: ExplorerMetrics[];
  fallback?: string | null;
  gate: Gate;
  leads: LeadMetrics[];
  model_calls: number;
  /**
   * Removed secrets by kind.
   */
  redactions: {
    [k: string]: number;
  };
  run_id: string;
  strategy: Strategy;
  tokens: TokenCounts;
  /**
   * Model calls with an unknown price.
   */
  unpriced_calls: number;
  /**
   * Events not passed to a model because the session was too long.
   */
  unread_events: number;
  /**
   * Windows skipped because the model's response was unusable or the session had too many
   * windows.
   */
  unread_windows: number;
  windows: number;
}
/**
 * The duration of each step of a sync, in milliseconds.
 */
export interface SyncDurations {
  decide: number;
  lead: number;
  read: number;
  /**
   * All steps, and the time between them.
   */
  total?: number;
}
/**
 * The actions of a run that processed one session.
 */
export interface SessionRun {
  actions: SessionAction[];
  /**
   * The coding agent that wrote the trace.
   */
  agent: string;
  checklist: ChecklistStep[];
  cost_usd: number;
  counts: ActionCounts;
  /**
   * Rejected proposals by reason.
   */
  dropped: {
    [k: string]: number;
  };
  /**
   * Why the session was processed with a fallback strategy.
   */
  fallback?: string | null;
  finished_at: string;
  /**
   * Why the lead agent failed. The decisions were then made by the rules.
   */
  lead_error?: string | null;
  /**
   * The settings key of the limit that was reached.
   */
  limit?: string | null;
  memory_root: string;
  mode: RunMode;
  outcome: SessionOutcome;
  run_folder: string;
  run_id: string;
  session: string;
  strategy: Strategy;
  summary_path?: string | null;
  trace_path: string;
  workspace_root: string;
  written_paths: string[];
}
/**
 * The action taken for one candidate.
 */
export interface SessionAction {
  action: CandidateVerb;
  band: Band;
  by: DecidedBy;
  candidate: string;
  likelihood?: number | null;
  /**
   * The memory that the candidate was compared with.
   */
  nearest?: string | null;
  /**
   * The lead agent's explanation, quoting the memory or candidate that it refers to.
   */
  note?: string | null;
  quote?: string | null;
  reason: string;
  relation?: Relation | null;
  scores?: ActionScores | null;
  signal: Signal;
  supersedes?: string | null;
  /**
   * The memory that was created, changed, or found to say the same thing already.
   */
  target?: string | null;
  title: string;
}
/**
 * What an undo did, as stored in its run directory.
 */
export interface UndoRunReport {
  actions: UndoAction[];
  finished_at: string;
  mode: RunMode;
  /**
   * The change that was undone.
   */
  of: string;
  run_id: string;
  /**
   * The undone runs in this store.
   */
  runs?: string[];
  written_paths: string[];
}
/**
 * A restored file.
 */
export interface UndoAction {
  /**
   * Always `put back`.
   */
  action: string;
  /**
   * The memory to which the file belongs.
   */
  target: string;
}
/**
 * A run.
 */
export interface RunShowReport {
  id: string;
  /**
   * Durations, token counts and other metrics. Absent for an undo.
   */
  metrics?: RunMetrics | null;
  /**
   * The run's actions. Absent if the report cannot be read.
   */
  report?: RunReport | null;
  /**
   * The individual runs if a change spans several, such as a sync with one run per session.
   */
  runs?: RunShowReport[];
}
/**
 * A running server.
 */
export interface ServiceStatus {
  /**
   * The server's address, as `host:port`.
   */
  address: string;
  /**
   * Whether a user paused the background loops.
   */
  paused: boolean;
}
/**
 * A session in a list.
 */
export interface SessionEntry {
  facts: SessionFacts;
  id: string;
  /**
   * The session's name within its source, if the source contains several sessions.
   */
  inner_id?: string | null;
  /**
   * The file or database that contains the session.
   */
  path: string;
  /**
   * The root directory of its project, if the project is registered.
   */
  project?: string | null;
  /**
   * The reason for the session's state.
   */
  reason?: string | null;
  report: ReadReport;
  state: JobState;
}
/**
 * Metadata of a session.
 */
export interface SessionFacts {
  agent: string;
  /**
   * The agent version that last wrote the trace.
   */
  agent_version?: string | null;
  counts: EventCounts;
  /**
   * The initial working directory of the session.
   */
  cwd?: string | null;
  ending: SessionEnding;
  git_branch?: string | null;
  /**
   * The session ID assigned by the agent.
   */
  id: string;
  last_activity?: string | null;
  links: SessionLink[];
  models: string[];
  other_branches: string[];
  other_cwds: string[];
  /**
   * The URL of the Git remote, without credentials.
   */
  repository?: string | null;
  role: SessionRole;
  started?: string | null;
  title?: string | null;
  tokens: SessionTokens;
  undone: UndoneEvents[];
}
/**
 * A link to the session on which this one is based.
 */
export interface SessionLink {
  /**
   * The call in the other session that started this one.
   */
  call?: string | null;
  kind: SessionLinkKind;
  /**
   * The ID of the other session.
   */
  session: string;
}
/**
 * Token counts for all model calls in a session.
 */
export interface SessionTokens {
  /**
   * Tokens written to a cache.
   */
  cache_write: number;
  /**
   * Tokens read from a cache.
   */
  cached: number;
  /**
   * Input tokens, excluding cached tokens.
   */
  input: number;
  output: number;
  /**
   * Reasoning tokens, if the agent reports them separately. They are included in `output`.
   */
  reasoning: number;
}
/**
 * Events `from..=to` that the user reverted in the agent.
 */
export interface UndoneEvents {
  from: number;
  to: number;
}
/**
 * One agent's sessions in one project.
 */
export interface SessionStatus {
  agent: string;
  project?: string | null;
  seen: number;
  /**
   * Number of skipped sessions by reason.
   */
  skipped: {
    [k: string]: number;
  };
  /**
   * Number of sessions by state.
   */
  states: {
    [k: string]: number;
  };
}
/**
 * A source that cannot be read, and why.
 */
export interface SourceProblem {
  path: string;
  reason: string;
}
/**
 * Model usage in one scope.
 */
export interface SpendingStatus {
  calls: number;
  cost_usd: number;
  /**
   * Whether the limit has been reached, in which case no more model calls are made.
   */
  is_reached: boolean;
  limit_tokens: number;
  limit_usd: number;
  scope: SpendingScope;
  tokens: number;
  /**
   * Calls whose price is unknown. Only their tokens are counted.
   */
  unpriced_calls: number;
}
/**
 * An overview of the stores, sessions and services.
 */
export interface StatusReport {
  /**
   * The time of the last check.
   */
  checked?: string | null;
  /**
   * A problem with the repository settings.
   */
  config?: string | null;
  /**
   * The shared database, if one is configured.
   */
  database?: DatabaseStatus | null;
  health: Health;
  last_sync?: string | null;
  /**
   * The name of the current project.
   */
  project?: string | null;
  /**
   * Number of registered projects.
   */
  projects: number;
  root?: string | null;
  scope: Scope;
  /**
   * The running server for this Nacre home directory.
   */
  service?: ServiceStatus | null;
  sessions: SessionStatus[];
  /**
   * Whether every known session is in exactly one state.
   */
  sessions_add_up: boolean;
  /**
   * Model usage and its limits.
   */
  spending: SpendingStatus[];
  stores: StoreStatus[];
  /**
   * Disconnected agents that have sessions on this machine. Their sessions are not processed.
   */
  switched_off?: string[];
  waiting?: WaitingSessions;
}
/**
 * Statistics about one memory store.
 */
export interface StoreStatus {
  /**
   * Files that cannot be read.
   */
  broken: number;
  /**
   * Candidates that no user has reviewed yet.
   */
  candidates: number;
  /**
   * Memories from other sources that are pending in `nacre trust`.
   */
  foreign?: number;
  memories: TypeCount[];
  path: string;
  /**
   * Memories with instructions that did not come from the user.
   */
  quarantined?: number;
  scope: StoreScope;
  /**
   * Time of the last update of any memory.
   */
  updated?: string | null;
}
/**
 * Number of memories of one type.
 */
export interface TypeCount {
  active: number;
  archived: number;
  type: MemoryType;
}
/**
 * Unfinished sessions, grouped by reason.
 */
export interface WaitingSessions {
  /**
   * Sessions that were modified recently and may still be running.
   */
  active?: LaterSessions | null;
  /**
   * Sessions in directories that are not set up. Directories with the most sessions come first.
   */
  not_set_up: FolderSessions[];
  /**
   * Number of sessions ready to be processed.
   */
  ready: number;
  /**
   * Failed sessions that will be retried.
   */
  retried?: LaterSessions | null;
  /**
   * Sessions whose traces name no directory. `nacre sync --trace` assigns them to a project.
   */
  without_folder?: AgentSessions[];
}
/**
 * The result of a sync.
 */
export interface SyncReport {
  /**
   * Whether another process has locked a store. The remaining sessions stay in the queue.
   */
  busy?: boolean;
  bytes: number;
  /**
   * Number of queued sessions whose trace no longer exists.
   */
  gone: number;
  /**
   * Current state of the memories that this sync created or changed.
   */
  learned?: LearnedMemory[];
  /**
   * Number of sources left for the next sync.
   */
  left: number;
  /**
   * The locations that were searched, if no session was found.
   */
  looked_in?: LookedIn[];
  /**
   * Suggested next command.
   */
  next?: string | null;
  /**
   * The current directory and how many sessions it has, if the directory is not set up.
   */
  not_set_up_here?: FolderSessions | null;
  /**
   * Sessions paused until a model is available. Only the first session of each project is
   * listed.
   */
  paused: PausedSession[];
  problems: SourceProblem[];
  /**
   * Number of sessions read.
   */
  read: number;
  /**
   * Number of sessions queued because their project was registered only after they were read.
   */
  readmitted: number;
  /**
   * Number of sessions that were read starting from where the previous sync stopped.
   */
  resumed: number;
  /**
   * Number of stored sessions that were redacted again because `redact.extra` changed.
   */
  reworded: number;
  /**
   * The name of the sync run.
   */
  run: string;
  sessions: SyncedSession[];
  /**
   * Number of files and databases found.
   */
  sources: number;
  /**
   * Disconnected agents that have sessions on this machine. Their sessions are not processed.
   */
  switched_off?: string[];
  totals?: SyncTotals;
  /**
   * Number of sources that were unchanged and not opened.
   */
  unchanged: number;
  waiting?: WaitingSessions;
}
/**
 * Totals of a sync.
 */
export interface SyncTotals {
  /**
   * Number of new memories that are active.
   */
  active: number;
  /**
   * Number of new memories.
   */
  added: number;
  /**
   * Cost of model calls in US dollars.
   */
  cost_usd: number;
  /**
   * Number of failed sessions.
   */
  failed: number;
  /**
   * Number of processed sessions.
   */
  sessions: number;
  /**
   * Number of session summaries.
   */
  summaries: number;
  /**
   * Number of superseded memories.
   */
  superseded: number;
  /**
   * Number of new memories that are pending in `nacre review`.
   */
  to_review: number;
  /**
   * Number of existing memories to which details were added.
   */
  updated: number;
}
/**
 * The sessions to sync, and how to process them.
 */
export interface SyncRequest {
  /**
   * Sync only these agents' sessions. If empty, all connected agents are included.
   */
  agents?: string[];
  /**
   * The agent's ID for a session that has ended, so that the session is not treated as still
   * active.
   */
  ended?: string | null;
  /**
   * Also read unchanged traces.
   */
  force?: boolean;
  /**
   * Run even if another sync is running.
   */
  ignore_lock?: boolean;
  /**
   * Stop after this many sessions.
   */
  max_sessions?: number | null;
  mode?: SyncMode;
  /**
   * Read and queue sessions without extracting memories.
   */
  no_extract?: boolean;
  /**
   * The name of the sync run.
   */
  run_id?: string | null;
  /**
   * Only traces changed since this date, time or age.
   */
  since?: string | null;
  strategy?: StrategyChoice | null;
  /**
   * Only traces changed before this date, time or age.
   */
  until?: string | null;
}
/**
 * The result of cancelling a task and its subtasks.
 */
export interface TaskCancelReport {
  /**
   * Running tasks, which their own processes will stop.
   */
  asked: string[];
  /**
   * Queued tasks that were cancelled immediately.
   */
  ended: string[];
  task: string;
}
/**
 * A task without its events.
 */
export interface TaskEntry {
  agent: string;
  class: TaskClass;
  created: string;
  ended?: string | null;
  /**
   * Number of events.
   */
  events: number;
  id: string;
  /**
   * The task that started this one.
   */
  parent?: string | null;
  project?: string | null;
  /**
   * Why the task ended.
   */
  reason?: string | null;
  session: string;
  started?: string | null;
  state: TaskState;
  title: string;
}
/**
 * An event of a task. `event` is its name; the other fields depend on the version of Nacre that
 * ran the task.
 */
export interface TaskEvent {
  at: string;
  sequence: number;
  [k: string]: unknown;
}
/**
 * Tasks, newest first.
 */
export interface TaskListReport {
  tasks: TaskEntry[];
}
/**
 * A task and its events, in order.
 */
export interface TaskShowReport {
  events: TaskEvent[];
  task: TaskEntry;
}
/**
 * Usage statistics of one tool.
 */
export interface ToolStats {
  bytes_out: number;
  calls: number;
  /**
   * Number of failed calls by kind of error.
   */
  errors: {
    [k: string]: number;
  };
  p50_us: number;
  p95_us: number;
  /**
   * Size in bytes of the results passed to models.
   */
  shown_bytes: number;
  tool: string;
}
/**
 * Tool usage statistics, by tool name.
 */
export interface ToolStatsReport {
  tools: ToolStats[];
}
/**
 * An event of a session.
 */
export interface TraceEvent {
  at?: string | null;
  /**
   * The ID shared by a tool call and its result.
   */
  call?: string | null;
  error: boolean;
  /**
   * Size in bytes before shortening.
   */
  full_bytes: number;
  /**
   * Why the text is considered injected, if it is.
   */
  injected?: string | null;
  /**
   * The record ID assigned by the agent.
   */
  key?: string | null;
  kind: TraceEventKind;
  lane: TraceLane;
  /**
   * How the user entered the text, if the user wrote it.
   */
  person?: string | null;
  place: TracePlace;
  sequence: number;
  /**
   * The text, or only its beginning if the text was shortened.
   */
  text: string;
  /**
   * The end of the text if it was shortened.
   */
  text_end: string;
  tool?: string | null;
}
/**
 * A matching message.
 */
export interface TraceHit {
  agent: string;
  at?: string | null;
  /**
   * The session ID.
   */
  id: string;
  kind: string;
  project?: string | null;
  score: number;
  sequence: number;
  /**
   * The text around the matching words.
   */
  snippet: string;
  title?: string | null;
  why: TraceHitReason;
}
/**
 * Why a message matched.
 */
export interface TraceHitReason {
  /**
   * Semantic similarity to the query, from 0 to 1.
   */
  similarity: number;
  /**
   * Query terms that the message contains.
   */
  terms: string[];
}
/**
 * Sessions, newest first.
 */
export interface TraceListReport {
  sessions: SessionEntry[];
  /**
   * Total number of sessions, including those not listed.
   */
  total: number;
}
/**
 * Selects the sessions to list.
 */
export interface TraceListRequest {
  agent?: string | null;
  /**
   * Include sessions of all projects.
   */
  all?: boolean;
  /**
   * Maximum number of results; 0 means no limit. Defaults to the `memory.max_results` setting.
   */
  limit?: number | null;
  /**
   * Number of sessions to skip.
   */
  offset?: number;
  /**
   * Only sessions active since this date, time or age.
   */
  since?: string | null;
}
/**
 * Matching messages, best match first.
 */
export interface TraceSearchReport {
  hits: TraceHit[];
  query: string;
}
/**
 * A query for searching session messages.
 */
export interface TraceSearchRequest {
  agent?: string | null;
  /**
   * Include sessions of all projects.
   */
  all?: boolean;
  /**
   * Maximum number of results. Defaults to the `memory.max_results` setting.
   */
  limit?: number | null;
  mode?: SearchMode;
  /**
   * Words, quoted phrases and filters.
   */
  query: string;
  /**
   * Only messages since this date, time or age.
   */
  since?: string | null;
}
/**
 * A session and its events in order.
 */
export interface TraceShowReport {
  events: TraceEvent[];
  session: SessionEntry;
}
/**
 * The session to show, and which details to include.
 */
export interface TraceShowRequest {
  /**
   * Include reasoning, injected text and records of unknown kinds.
   */
  full?: boolean;
  /**
   * The session ID or a prefix of it. `ID:SEQUENCE` shows 20 events from this one on, unless
   * `limit` is set.
   */
  id: string;
  /**
   * Maximum number of events.
   */
  limit?: number | null;
}
/**
 * A memory in a trust report.
 */
export interface TrustItem {
  /**
   * Situations in which the memory is relevant.
   */
  applies?: string[];
  archived: boolean;
  /**
   * The content when the memory was last trusted, if Git still has it.
   */
  before?: string | null;
  /**
   * Whether a program other than Nacre changed the memory after it was last trusted.
   */
  changed: boolean;
  /**
   * The date of the memory's last commit.
   */
  committed?: string | null;
  /**
   * The author of the memory's last commit, from Git.
   */
  committed_by?: string | null;
  confidence?: number | null;
  created?: string | null;
  /**
   * The hash of the memory file.
   */
  hash: string;
  id: string;
  /**
   * The kind of learning.
   */
  kind?: string | null;
  path: string;
  /**
   * Why the memory is not yet trusted.
   */
  reason: string;
  related: string[];
  /**
   * ID of the later memory that replaced this one. If the status is not `superseded`, no link
   * records the replacement, but the later memory contradicts this one.
   */
  replaced_by?: string | null;
  scope: StoreScope;
  status: string;
  tags: string[];
  /**
   * The content of the memory file.
   */
  text?: string | null;
  title: string;
  /**
   * The trust level on this machine, if lower than the level of an agent's own statements.
   */
  trust?: TrustLevel | null;
  /**
   * Whether this request marked the memory as trusted.
   */
  trusted: boolean;
  type: MemoryType;
  updated?: string | null;
}
/**
 * Memories pending review or trusted by this request.
 */
export interface TrustReport {
  /**
   * The change ID to pass to `nacre undo`. Absent if nothing changed.
   */
  change?: string | null;
  dry_run: boolean;
  /**
   * Number of memories from other sources that are still pending.
   */
  foreign: number;
  memories: TrustItem[];
  /**
   * Number of matching memories beyond the request limit.
   */
  more?: number;
  /**
   * Number of memories that are still quarantined.
   */
  quarantined: number;
  /**
   * Number of memories trusted by this request.
   */
  trusted: number;
}
/**
 * Changes in this project and in the user's global store, newest first.
 */
export interface UndoListReport {
  changes: ChangeEntry[];
  /**
   * Total number of changes, including those not listed.
   */
  total: number;
}
/**
 * The result of an undo.
 */
export interface UndoReport {
  /**
   * Current and restored file contents. Only present in a dry run.
   */
  changes?: PlannedChange[] | null;
  /**
   * The undone command, without `nacre`.
   */
  command: string;
  dry_run: boolean;
  /**
   * Files that were kept because they were changed later.
   */
  kept: KeptFile[];
  memories: UndoneMemory[];
  /**
   * Additional notes for the user.
   */
  notes?: string[];
  /**
   * The change that was undone.
   */
  of: string;
  paths: string[];
  /**
   * The ID of this undo, which can itself be undone.
   */
  run: string;
}
/**
 * A memory that an undo changed.
 */
export interface UndoneMemory {
  done: UndoneHow;
  id: string;
}
/**
 * The change to undo.
 */
export interface UndoRequest {
  /**
   * Show the files that would be restored, without changing anything.
   */
  dry_run?: boolean;
  /**
   * Keep memories that were changed since then, and restore the rest.
   */
  keep_changed?: boolean;
  /**
   * Undo the newest change that has not been undone yet.
   */
  last?: boolean;
  /**
   * A prefix or suffix of the ID of a change or run. Leave it empty with `last`.
   */
  run?: string;
}
export const LEARNING_KINDS: LearningKind[] = ["insight","procedure","pitfall","friction","preference","convention","context"];
