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
 * Machine-readable reason of a failure.
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
 * Whether the scores alone are decisive.
 */
export type Band = 'clear' | 'grey';
/**
 * Topic of a section.
 */
export type BriefTopic = 'decisions' | 'preferences' | 'pitfalls' | 'knowledge' | 'recent_work' | 'open_ends';
/**
 * How the map was brought up to date for an answer.
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
 * A kind of place that may contain a copy of a memory.
 */
export type CopyPlace = 'files' | 'runs' | 'index' | 'notes' | 'shared_index' | 'server';
/**
 * The result of checking a place.
 */
export type CopyState = 'gone' | 'waits';
/**
 * The state of a step.
 */
export type StepState = ('pending' | 'in_progress' | 'done' | 'failed') | 'gated' | 'skipped';
/**
 * Kind of change of a file or symbol.
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
 * The start of a delta: a revision, `git:REF`, `client:NAME`, or `0` for everything.
 */
export type Since = string;
/**
 * Purpose of a command.
 */
export type CommandPurpose = 'build' | 'run' | 'test' | 'lint';
/**
 * Value of a setting.
 */
export type SettingValue = string | number | boolean | string[];
/**
 * A change of the connected agents.
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
       * Paths of the agent's transcripts. Defaults to its usual paths. If given, only the
       * transcripts are connected.
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
 * Why a file is part of an answer.
 */
export type WhyRelevant = 'asked' | 'words' | 'near' | 'meaning' | 'memory';
/**
 * The map command that produced an answer.
 */
export type MapCommand = 'explore' | 'context' | 'delta' | 'refresh' | 'explain' | 'watch' | 'search_code';
/**
 * A revision of the project's files, such as `6af1b3c4.17`. Each change to the files increments
 * it.
 */
export type MapRevision = string;
/**
 * The output format of the map. The output budget counts bytes in this format.
 */
export type MapFormat = 'text' | 'json';
/**
 * The state of the shared database.
 */
export type DatabaseState = 'connected' | 'slow' | 'away' | 'unusable';
/**
 * What decided about a candidate.
 */
export type DecidedBy = 'rule' | 'lead';
/**
 * State of a project's folder.
 */
export type ProjectState = 'ready' | 'no store' | 'missing';
/**
 * Whether the stores are usable. Only a complete check sets this to a healthy state.
 */
export type Health = ('ok' | 'broken') | 'unchecked';
/**
 * The severity of a finding.
 */
export type Severity = 'error' | 'warning';
/**
 * The kind of a link between two memories.
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
 * Kind of an entry point.
 */
export type EntryKind = ('readme' | 'program' | 'library' | 'manifest') | 'script';
/**
 * Level of detail of an overview.
 */
export type MapDetail = 'compact' | 'normal' | 'verbose';
/**
 * The action that a lead agent or explorer chooses for a candidate.
 */
export type LeadAction = 'add' | 'update' | 'no_op' | 'supersede';
/**
 * A verdict on how useful a memory was.
 */
export type Verdict = 'useful' | 'wrong' | 'outdated';
/**
 * The type of a memory.
 */
export type MemoryType = 'decision' | 'learning' | 'summary';
/**
 * Whether a session is worth processing, and why not.
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
 * The kind of a learning.
 */
export type LearningKind =
  'insight' | 'procedure' | 'pitfall' | 'friction' | 'preference' | 'convention' | 'context';
/**
 * Kind of an action on a memory.
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
 * How the maintenance of a store ended.
 */
export type MaintainState = ('done' | 'failed') | 'clean' | 'skipped';
/**
 * The change made to a memory.
 */
export type MemoryChange =
  'added' | 'edited' | 'left unchanged' | 'archived' | 'restored' | 'forgot' | 'accepted' | 'rejected';
/**
 * The author of the feedback.
 */
export type SaidBy = 'owner' | 'agent' | 'person' | 'unknown';
/**
 * The sort key of a list. Memories without a value for it are last.
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
 * Number of actions of each kind in a run.
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
 * Whether a session was idle when it was read.
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
 * The purpose of a sync run. It is part of the run folder's name.
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
   * The root folder of its project.
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
 * The part of a session that an event belongs to.
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
 * Likelihood, from 0 to 1, that each question about a candidate and its nearest memory is answered
 * with yes.
 */
export interface ActionScores {
  about: number;
  against: number;
  more: number;
}
/**
 * A file that uses a symbol whose signature changed or that was removed.
 */
export interface AffectedFile {
  /**
   * Number of imports between the file and the change; 1 if it imports the changed file itself
   * or needs no import.
   */
  depth: number;
  path: string;
  /**
   * Changed symbols that it uses; empty if it imports a removed file.
   */
  symbols: string[];
}
/**
 * A folder with affected files.
 */
export interface AffectedFolder {
  files: number;
  /**
   * Path of the folder; empty for the root.
   */
  path: string;
}
/**
 * An agent, its transcripts, and Nacre's entries in its settings.
 */
export interface AgentEntry {
  agent: string;
  /**
   * Whether its transcripts are read.
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
   * Number of files and databases with its transcripts.
   */
  sources: number;
  traces: WiringState;
}
/**
 * Number of sessions of one agent.
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
 * A verified sentence.
 */
export interface AnswerSentence {
  /**
   * IDs of the memories that support it.
   */
  ids: string[];
  /**
   * The session messages that support it.
   */
  messages: string[];
  /**
   * The passage from each source.
   */
  quotes: SourceQuote[];
  /**
   * The passages from its sources, each followed by its ID.
   */
  text: string;
}
/**
 * An unchanged passage from a source.
 */
export interface SourceQuote {
  /**
   * ID of a memory, or position of a message.
   */
  source: string;
  text: string;
}
/**
 * A model's answer, reduced to its verified sentences.
 */
export interface ModelAnswer {
  /**
   * The sentences as one text.
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
   * The same error with hints.
   */
  failure?: Failure | null;
  known: boolean;
  /**
   * Number of removed sentences by reason.
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
   * IDs of memories that it overturned without verification.
   */
  not_verified: string[];
  path: string;
  /**
   * Project of the memory, if all projects were searched.
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
   * Type of the memory, or the kind of a learning.
   */
  type: string;
}
/**
 * Numbers of input and output tokens used by models.
 */
export interface TokenCounts {
  input: number;
  output: number;
}
/**
 * Memories that answer a question, the best match first.
 */
export interface MemoryAnswer {
  /**
   * The first memory in a few words.
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
  known: boolean;
  memories: RecalledMemory[];
  question: string;
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
   * The best matching line of its text; empty if the title is sufficient.
   */
  line: string;
  /**
   * IDs of memories that it overturned without verification.
   */
  not_verified: string[];
  /**
   * Project of the memory, if all projects were searched.
   */
  project?: string | null;
  /**
   * The first quote that adds information to the memory.
   */
  proof?: RecalledQuote | null;
  quote?: string | null;
  scope: StoreScope;
  score: number;
  status: string;
  title: string;
  /**
   * Trust level on this machine, if lower than that of the agent's own statements.
   */
  trust?: TrustLevel | null;
  /**
   * Type of the memory, or the kind of a learning.
   */
  type: string;
}
/**
 * A quote that supports a memory.
 */
export interface RecalledQuote {
  at: string;
  speaker: Speaker;
  text: string;
}
/**
 * A question, and the memories it can be answered from.
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
   * Return memories as the answer even if a model is configured.
   */
  no_model?: boolean;
  question: string;
  scope?: Scope | null;
  /**
   * Path of a file with the model's answers, for tests.
   */
  scripted?: string | null;
}
/**
 * A memory on one line.
 */
export interface BriefItem {
  id: string;
  scope: StoreScope;
  text: string;
}
/**
 * A brief, by topic and as text.
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
   * Number of tokens of the text.
   */
  tokens: number;
  /**
   * Memories excluded because their author is unproven.
   */
  unproven: string[];
}
/**
 * Memories of one topic, the best first.
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
   * Other things that changed: a file, agents or projects.
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
   * Number of runs. A sync has one run per session.
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
   * The undo that reverted this change.
   */
  undone_by?: string | null;
}
/**
 * A place that was checked after a memory was forgotten.
 */
export interface CheckedCopy {
  /**
   * Why a copy still exists, or the name of the server.
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
 * Code files that are not the project's own sources.
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
 * A part of the project: a package or a folder.
 */
export interface CodeArea {
  /**
   * Description in its manifest or README.
   */
  about?: string | null;
  files: number;
  lines: number;
  /**
   * Path of the folder; empty for files at the root.
   */
  path: string;
}
/**
 * The requested part of the changes. Counts cover all changes.
 */
export interface CodeDelta {
  added: number;
  /**
   * Files that use changed symbols, as many as fit the budget.
   */
  affected: AffectedFile[];
  /**
   * Number of affected files in each folder, the largest first; empty if the list of files is
   * short and complete.
   */
  affected_folders: AffectedFolder[];
  /**
   * Total number of affected files.
   */
  affected_total: number;
  files: FileDelta[];
  modified: number;
  /**
   * The path to continue after, if there are more files.
   */
  next?: string | null;
  removed: number;
  renamed: number;
  since: Since;
}
/**
 * The change of one file.
 */
export interface FileDelta {
  change: CodeChange;
  /**
   * Former path of a renamed file.
   */
  from?: string | null;
  new_hash?: string | null;
  old_hash?: string | null;
  path: string;
  /**
   * Changed symbols of a modified file; absent if its former content is unknown.
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
 * The change of one symbol in a modified file.
 */
export interface SymbolDelta {
  change: CodeChange;
  /**
   * Whether code that uses the symbol may have to change.
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
   * Where the value was set. A list can have several origins.
   */
  origin: string;
  value: SettingValue;
}
/**
 * A key that was set or unset.
 */
export interface ConfigSetReport {
  /**
   * ID for `nacre undo`; absent if nothing changed.
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
   * The new value; lists are separated by commas. Without a value, the key is removed from the
   * file.
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
   * Where the value was set. A list can have several origins.
   */
  origin: string;
  value: SettingValue;
}
/**
 * All supported agents, and the changes made.
 */
export interface ConnectReport {
  agents: AgentEntry[];
  /**
   * ID for `nacre undo`.
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
   * Agents whose sessions are no longer read.
   */
  no_longer_read?: string[];
  /**
   * Steps that the user must take to complete the connection.
   */
  notes?: string[];
  /**
   * Agents whose sessions are read from now on.
   */
  now_read?: string[];
  /**
   * Identifier of the planned changes, used to approve them.
   */
  plan?: string | null;
}
/**
 * A changed file of an agent.
 */
export interface FileChange {
  change: ChangeKind;
  /**
   * The change as a unified diff with redacted secrets.
   */
  diff: string;
  path: string;
}
/**
 * Which parts are written to an agent's settings, and whether they are written.
 */
export interface WiringOptions {
  /**
   * Report the changes without making them.
   */
  dry_run?: boolean;
  /**
   * Also run a guard hook before each tool call. An enabled guard stays enabled.
   */
  guard?: boolean;
  /**
   * Only these parts. Defaults to the transcripts and all parts that the agent supports.
   */
  parts?: WiringPart[];
  /**
   * The `plan` of the dry run that the user approved. If the changes differ, the request is
   * rejected.
   */
  plan?: string | null;
}
/**
 * A file, with as much of it as fits the budget.
 */
export interface ContextFile {
  path: string;
  /**
   * In the order of the file.
   */
  symbols: ContextSymbol[];
  why: WhyRelevant[];
  /**
   * Words of the task that it contains, the rarest first.
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
   * The whole symbol, its signature, or nothing.
   */
  text?: string;
}
/**
 * Code relevant to a task, with the state of the project.
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
 * Relevant files that did not fit.
 */
export interface LeftOut {
  files: number;
  /**
   * Some of these files with their number of symbols, the most relevant first.
   */
  listed: [unknown, unknown][];
  symbols: number;
}
/**
 * The cost of updating the map, and the number of files seen.
 */
export interface MapStats {
  file_count: number;
  /**
   * Files skipped because time ran out. The next command reads them.
   */
  postponed_files: number;
  rehashed_entries: number;
  reused_entries: number;
  skipped: SkippedCounts;
  total_bytes: number;
  /**
   * Files that are too large or not readable.
   */
  unread_files: number;
}
/**
 * Project entries that are not in the map, counted by reason.
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
   * Folders and files nested too deeply, and tracked files above the limit.
   */
  too_deep: number;
  /**
   * Names that are not valid UTF-8.
   */
  unnamable: number;
  /**
   * Folders skipped because their ignore rules exceed a limit.
   */
  unread_rules: number;
  /**
   * Folders that cannot be opened.
   */
  unreadable: number;
}
/**
 * A task to collect code for, and the size of the result.
 */
export interface ContextRequest {
  /**
   * Maximum number of tokens of the answer. Defaults to 4000.
   */
  budget?: number | null;
  /**
   * The client that receives the current state of the map with this answer.
   */
  client?: string | null;
  /**
   * Files that are known to be relevant, relative to the current folder or the root.
   */
  files?: string[];
  /**
   * List files without their code.
   */
  files_only?: boolean;
  format?: MapFormat;
  /**
   * A folder in the project, or the name of a registered project. Defaults to the project that
   * contains the current folder.
   */
  project?: string | null;
  /**
   * Read every file again instead of trusting modification times.
   */
  refresh?: boolean;
  /**
   * Fail if the map is not up to date, and write nothing.
   */
  strict?: boolean;
  /**
   * Description of the task. Without it, `files` defines the task.
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
   * Whether this server does the work that only one server may do.
   */
  is_leader: boolean;
  /**
   * Time since which this process has observed this state.
   */
  since: string;
  state: DatabaseState;
}
/**
 * The changes, with the state of the project.
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
   * Continue after this path, which is the `next` of the previous answer.
   */
  after?: string | null;
  /**
   * Maximum number of tokens of the answer as JSON. To fit, affected files are reduced to counts
   * by folder, and then files are moved to the next page.
   */
  budget?: number | null;
  /**
   * The client that receives the current state of the map with this answer.
   */
  client?: string | null;
  /**
   * Maximum number of files; 0 or absent means all.
   */
  limit?: number | null;
  /**
   * A folder in the project, or the name of a registered project. Defaults to the project that
   * contains the current folder.
   */
  project?: string | null;
  /**
   * Read every file again instead of trusting modification times.
   */
  refresh?: boolean;
  /**
   * Start of the changes. Defaults to `git:HEAD`, or without a commit, to the creation of the
   * map.
   */
  since?: Since | null;
  /**
   * Fail if the map is not up to date, and write nothing.
   */
  strict?: boolean;
}
/**
 * Problems found in the stores.
 */
export interface DoctorReport {
  /**
   * The change id for `nacre undo`.
   */
  change?: string | null;
  /**
   * Problem with the repository settings.
   */
  config?: string | null;
  errors: number;
  /**
   * Registered projects whose store no longer exists. Each is an error.
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
   * Memories that contain instructions that are not from the user.
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
   * Identifier of the model's name and content. Vectors with different identifiers cannot be
   * compared.
   */
  id?: string | null;
  name: string;
  /**
   * State of the model, such as `ready`.
   */
  state: string;
}
/**
 * A file to read first.
 */
export interface EntryPoint {
  kind: EntryKind;
  /**
   * Name of the program or library in a manifest.
   */
  name?: string | null;
  path: string;
}
/**
 * The object that is sent instead of a report.
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
   * The user's messages.
   */
  user: number;
}
/**
 * An overview of a project, with its state.
 */
export interface ExploreReport {
  /**
   * The first paragraph of the README, or the description in a manifest.
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
   * Number of incompletely analyzed files by reason.
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
 * A file that many others depend on and that changes often.
 */
export interface HotPath {
  commits: number;
  /**
   * Rank multiplied by the number of recent commits, in thousandths of the value of an average
   * file.
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
 * Imports between folders. Only imports that resolve to a file are counted.
 */
export interface ModuleGraph {
  /**
   * Number of pairs of an importing and an imported file.
   */
  edges: number;
  modules: Listed6;
  /**
   * Number of files.
   */
  nodes: number;
  /**
   * Number of imports that should resolve to a file of the project but do not.
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
 * A folder, and the folders that its files import.
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
 * Requests an overview of a project.
 */
export interface ExploreRequest {
  /**
   * Maximum number of tokens of the answer. Lists are shortened to fit.
   */
  budget?: number | null;
  /**
   * The client that receives the current state of the map with this answer.
   */
  client?: string | null;
  /**
   * Level of detail. Defaults to compact.
   */
  detail?: MapDetail | null;
  format?: MapFormat;
  /**
   * A folder in the project, or the name of a registered project. Defaults to the project that
   * contains the current folder.
   */
  project?: string | null;
  /**
   * Read every file again instead of trusting modification times.
   */
  refresh?: boolean;
  /**
   * Fail if the map is not up to date, and write nothing.
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
   * How much of the candidate the memory file already covers, from 0 to 1, as estimated by the
   * explorer.
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
 * The changes made because of the feedback.
 */
export interface FeedbackReport {
  /**
   * Other files with the same id.
   */
  also_in: OtherPlace[];
  /**
   * The change id for `nacre undo`.
   */
  change?: string | null;
  confidence: number;
  confidence_before: number;
  id: string;
  scope: StoreScope;
  verdict: Verdict;
}
/**
 * Another file with the same id.
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
   * The id of the memory, or a prefix of it.
   */
  id: string;
  /**
   * The reason in one sentence. It is stored only on this machine.
   */
  note?: string | null;
  scope?: Scope | null;
  verdict: Verdict;
}
/**
 * Number of sessions of one folder.
 */
export interface FolderSessions {
  path: string;
  sessions: number;
}
/**
 * A matching memory.
 */
export interface FoundMemory {
  /**
   * Situations in which it is relevant.
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
   * Ids of superseded memories whose own files do not record that they are superseded.
   */
  not_verified: string[];
  path: string;
  related: string[];
  scope: StoreScope;
  score: number;
  /**
   * The text around the matching words.
   */
  snippet: string;
  status: string;
  tags: string[];
  title: string;
  /**
   * The trust level on this machine, if it is below the level of an agent's own statements.
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
   * Situations in which it is relevant.
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
  scope: StoreScope;
  status: string;
  tags: string[];
  title: string;
  /**
   * The trust level on this machine, if it is below the level of an agent's own statements.
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
   * Links from other memories that raised the score.
   */
  edges: MemoryEdge[];
  /**
   * The part of the score that comes from word matches.
   */
  lexical: number;
  /**
   * Semantic similarity to the query, from 0 to 1.
   */
  similarity: number;
  /**
   * Terms of the query that the memory contains.
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
   * The tag, file or symbol that both memories have.
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
   * The agent's part of a model name, such as `claude-code`.
   */
  name: string;
  /**
   * Path of its executable.
   */
  path: string;
  /**
   * Version, or `null` if the agent did not report one.
   */
  version?: string | null;
}
/**
 * A file that was changed later and therefore kept.
 */
export interface KeptFile {
  /**
   * The later change. Absent if the file was edited outside of Nacre.
   */
  by?: string | null;
  path: string;
}
/**
 * Sessions that are due later.
 */
export interface LaterSessions {
  /**
   * The id of one of these sessions.
   */
  example: string;
  /**
   * Time when the last of them is due.
   */
  ready_at: string;
  /**
   * Seconds until the last of them is due.
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
   * Like the next two fields, this counts only the lead agent, without its explorers.
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
   * Whether it is pending in `nacre review`.
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
 * A limit on the number of entries to list.
 */
export interface LimitRequest {
  /**
   * Maximum number of results; 0 means all. The default is 20 for tasks, otherwise the setting
   * `memory.max_results`.
   */
  limit?: number | null;
}
/**
 * A location where an agent stores its sessions.
 */
export interface LookedIn {
  agent: string;
  /**
   * Whether the path exists.
   */
  exists: boolean;
  path: string;
}
/**
 * An action on a memory, with its reason.
 */
export interface MaintainAction {
  action: MaintainVerb;
  /**
   * Identifies the action, so that an action undone by the user is not repeated.
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
   * ID of the memory into which it was merged, or that overturned it.
   */
  with?: string | null;
}
/**
 * Duration of each step of a maintenance run in milliseconds.
 */
export interface MaintainDurations {
  compare: number;
  read: number;
  whole: number;
}
/**
 * Resources used by a maintenance run.
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
   * Always empty, because maintenance starts no explorers.
   */
  explorers: ExplorerMetrics[];
  memories: number;
  model_calls: number;
  /**
   * Number of pairs of memories that were compared.
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
 * The result for one store: a report, or the reason why there is none.
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
 * The actions of a maintenance run in one store.
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
   * Number of actions by kind.
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
   * ID of the run; absent if nothing changed.
   */
  run_id?: string | null;
  tokens: number;
  written_paths: string[];
}
/**
 * Two contradictory memories, for the user to decide.
 */
export interface OpenContradiction {
  likelihood: number;
  newer: string;
  older: string;
  reason: string;
}
/**
 * Options of a maintenance run.
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
   * Let the model of the role `lead` write merged memories.
   */
  rewrite?: boolean;
  /**
   * Path of a file with the model's answers, for tests.
   */
  scripted?: string | null;
}
/**
 * A new memory in the user's own words.
 */
export interface MemoryAddRequest {
  /**
   * Situations in which the memory is relevant, one line each.
   */
  applies?: string[];
  /**
   * The reason and the details, as Markdown.
   */
  body?: string;
  /**
   * Confidence from 0 to 1. By default, statements of the user have full confidence.
   */
  confidence?: number | null;
  /**
   * The kind of learning. The default is an insight.
   */
  kind?: LearningKind | null;
  /**
   * Ids of related memories, or prefixes of them.
   */
  related?: string[];
  scope?: Scope | null;
  /**
   * The id of the memory that this one supersedes, or a prefix of it.
   */
  supersedes?: string | null;
  tags?: string[];
  /**
   * The decision or learning in one line.
   */
  title: string;
  /**
   * Decision or learning. The default is a decision.
   */
  type?: MemoryType | null;
}
/**
 * The change made to one memory.
 */
export interface MemoryChangeReport {
  /**
   * The change id for `nacre undo`.
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
 * The changes made to several memories, each in a separate change set.
 */
export interface MemoryChangesReport {
  /**
   * The change id for `nacre undo`.
   */
  change?: string | null;
  /**
   * Other places that may contain a copy of a forgotten memory, checked after the removal.
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
   * The id from the request.
   */
  id: string;
  /**
   * The error message.
   */
  message: string;
}
/**
 * The quotes that prove a memory.
 */
export interface MemoryEvidence {
  id: string;
  quotes: MemoryQuote[];
  /**
   * A program other than Nacre changed the memory file, so the quotes no longer prove its text.
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
 * A link from or to another memory. It is verified if the older memory's file also records it.
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
   * Include summaries. They are left out by default unless `type` selects them.
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
   * Maximum number of results; 0 means all. The default is the setting `memory.max_results`.
   */
  limit?: number | null;
  /**
   * Number of memories to skip.
   */
  offset?: number;
  scope?: Scope | null;
  /**
   * The sort order. By default, memories of the project are first, newest first in each store.
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
   * Other files with the same id.
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
   * Situations in which it is relevant.
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
  scope: StoreScope;
  status: string;
  tags: string[];
  title: string;
  /**
   * The trust level on this machine, if it is below the level of an agent's own statements.
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
   * The id of the memory, or a prefix of it.
   */
  id: string;
  /**
   * Maximum number of results; 0 means all. The default is the setting `memory.max_results`.
   */
  limit?: number | null;
  scope?: Scope | null;
}
/**
 * Search results. Memories of the project are first, best match first in each store.
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
   * Maximum number of results; 0 means all. The default is the setting `memory.max_results`.
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
   * Other files with the same id.
   */
  also_in: OtherPlace[];
  /**
   * Situations in which it is relevant.
   */
  applies?: string[];
  archived: boolean;
  body: string;
  confidence?: number | null;
  created?: string | null;
  evidence?: MemoryEvidence | null;
  /**
   * The latest feedback of a user on this memory.
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
  scope: StoreScope;
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
   * The trust level on this machine, if it is below the level of an agent's own statements.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
  /**
   * The version of the file's content. A write request passes back the version that was read.
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
 * The memory to show, and the details to include.
 */
export interface MemoryShowRequest {
  /**
   * Include the quotes that prove the memory.
   */
  evidence?: boolean;
  /**
   * Include the earlier versions.
   */
  history?: boolean;
  /**
   * The id of the memory, or a prefix of it.
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
   * Installed agents that can be used as a model, including those not assigned to a role.
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
 * A provider of models.
 */
export interface ProviderEntry {
  address: string;
  /**
   * The variable that contains the API key, and whether it is set. Never the key itself.
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
   * Why the role cannot be used, as far as the settings show.
   */
  problem?: string | null;
  /**
   * Name of the role. `default` applies to all roles without their own models.
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
 * The answer of the tested model, with its duration and cost.
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
 * Tests a model by requesting a one-word answer.
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
   * The key of the limit that was reached. Absent if the model cannot be reached.
   */
  limit?: string | null;
  reason: string;
}
/**
 * A registered project.
 */
export interface ProjectAddReport {
  /**
   * ID for `nacre undo`; absent if nothing changed.
   */
  change?: string | null;
  /**
   * Paths created by this command; empty if the store already existed.
   */
  created: string[];
  /**
   * Number of these memories that were not recorded on this machine and are pending in `nacre
   * trust`.
   */
  foreign?: number;
  /**
   * Whether sessions of any agent were found in any folder.
   */
  has_agents?: boolean;
  is_git: boolean;
  /**
   * Whether the search for sessions stopped early, so that there may be more.
   */
  is_partial?: boolean;
  memories: number;
  /**
   * Number of these sessions that are not yet processed.
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
   * Number of this repository's sessions for each agent.
   */
  sessions?: AgentSessions[];
  /**
   * Whether summaries of sessions are shared through git.
   */
  shares_summaries: boolean;
  /**
   * Agents with sessions in this repository that the user disconnected, so they are not read.
   */
  switched_off?: string[];
}
/**
 * Initializes the repository at a path and registers it as a project.
 */
export interface ProjectAddRequest {
  /**
   * Name of the project. Defaults to its current name, or to the name of the folder.
   */
  name?: string | null;
  /**
   * Folder of the repository.
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
 * A project that was removed from the register.
 */
export interface ProjectRemoveReport {
  /**
   * ID for `nacre undo`; absent if nothing changed.
   */
  change?: string | null;
  /**
   * Name of the project.
   */
  removed: string;
}
/**
 * Removes a project from the register. Its files are kept.
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
   * The session's id.
   */
  id: string;
  /**
   * Time before which the session is not retried.
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
   * Maximum number of results; 0 means all. The default is the setting `memory.max_results`.
   */
  limit?: number | null;
  status?: JobState | null;
}
/**
 * Statistics about reading a trace.
 */
export interface ReadReport {
  /**
   * Lines with no usable content.
   */
  bad_lines: number;
  /**
   * Texts whose middle was removed.
   */
  cut_texts: number;
  /**
   * Lines that are not valid UTF-8.
   */
  invalid_utf8: number;
  /**
   * Events beyond the limit for one session.
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
   * Messages that are duplicated in the trace.
   */
  repeated: number;
  /**
   * Start offset of an incomplete last line.
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
 * Updates the map of a project and lists the changes.
 */
export interface RefreshRequest {
  /**
   * Continue after this path, which is the `next` of the previous answer.
   */
  after?: string | null;
  /**
   * Maximum number of files; 0 or absent means all.
   */
  limit?: number | null;
  /**
   * A folder in the project, or the name of a registered project. Defaults to the project that
   * contains the current folder.
   */
  project?: string | null;
}
/**
 * A candidate with its evidence.
 */
export interface ReviewCandidate {
  /**
   * Situations in which it is relevant.
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
  quotes: MemoryQuote[];
  /**
   * Why the candidate is quarantined, if it is.
   */
  reason?: string | null;
  related: string[];
  scope: StoreScope;
  status: string;
  tags: string[];
  title: string;
  /**
   * The trust level on this machine, if it is below the level of an agent's own statements.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
}
/**
 * Candidates, newest first.
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
   * Maximum number of results; 0 means all. The default is the setting `memory.max_results`.
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
 * The metrics of the sync of one session.
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
   * Model calls whose price is unknown.
   */
  unpriced_calls: number;
  /**
   * Events not passed to a model because the session is too long.
   */
  unread_events: number;
  /**
   * Windows that were skipped, because the model's answer was unusable or there were too many.
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
   * Why the lead agent failed, so that the rules decided instead.
   */
  lead_error?: string | null;
  /**
   * The key of the limit that was reached.
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
   * The lead agent's explanation, and quotes from the memory or candidate it refers to.
   */
  note?: string | null;
  quote?: string | null;
  reason: string;
  relation?: Relation | null;
  scores?: ActionScores | null;
  signal: Signal;
  supersedes?: string | null;
  /**
   * The memory that was created or changed, or that already had the same content.
   */
  target?: string | null;
  title: string;
}
/**
 * The actions of an undo, as stored in its run folder.
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
   * The memory that the file belongs to.
   */
  target: string;
}
/**
 * A run.
 */
export interface RunShowReport {
  id: string;
  /**
   * Durations, tokens and other metrics. Absent for an undo.
   */
  metrics?: RunMetrics | null;
  /**
   * The actions of the run. Absent if the report cannot be read.
   */
  report?: RunReport | null;
  /**
   * The runs of a change that consists of several runs, such as one per session of a sync.
   */
  runs?: RunShowReport[];
}
/**
 * A running server.
 */
export interface ServiceStatus {
  /**
   * As `host:port`.
   */
  address: string;
  /**
   * A user paused its background loops.
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
   * The session's name in a source with several sessions.
   */
  inner_id?: string | null;
  /**
   * The file or database that contains the session.
   */
  path: string;
  /**
   * The root folder of its project, if the project is registered.
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
   * The session id assigned by the agent.
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
 * A link to another session that this one is based on.
 */
export interface SessionLink {
  /**
   * The call in the other session that started this one.
   */
  call?: string | null;
  kind: SessionLinkKind;
  /**
   * The id of the other session.
   */
  session: string;
}
/**
 * Token counts of all model calls of a session.
 */
export interface SessionTokens {
  /**
   * Written to a cache.
   */
  cache_write: number;
  /**
   * Read from a cache.
   */
  cached: number;
  /**
   * Without cached tokens.
   */
  input: number;
  output: number;
  /**
   * Included in `output`, if the agent reports it separately.
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
 * The sessions of one agent in one project.
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
   * Whether the limit is reached, so that no model calls are made.
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
   * Problem with the repository settings.
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
   * The running server of this Nacre home folder.
   */
  service?: ServiceStatus | null;
  sessions: SessionStatus[];
  /**
   * Whether each known session is in exactly one state.
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
 * The memories of one store.
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
   * Memories that contain instructions that are not from the user.
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
 * Unfinished sessions, and why they are not finished.
 */
export interface WaitingSessions {
  /**
   * Sessions that were modified recently and may still be running.
   */
  active?: LaterSessions | null;
  /**
   * Sessions of folders that are not set up, folders with the most sessions first.
   */
  not_set_up: FolderSessions[];
  /**
   * Number of sessions that are due now.
   */
  ready: number;
  /**
   * Failed sessions that will be retried.
   */
  retried?: LaterSessions | null;
}
/**
 * The result of a sync.
 */
export interface SyncReport {
  /**
   * Another process has locked a store. The remaining sessions stay in the queue.
   */
  busy?: boolean;
  bytes: number;
  /**
   * Number of queued sessions whose trace no longer exists.
   */
  gone: number;
  /**
   * Current state of the memories that were created or changed.
   */
  learned?: LearnedMemory[];
  /**
   * Number of sources postponed to the next sync.
   */
  left: number;
  /**
   * The locations searched, if no session was found.
   */
  looked_in?: LookedIn[];
  /**
   * A suggested next command.
   */
  next?: string | null;
  /**
   * The current folder, if it is not set up.
   */
  not_set_up_here?: FolderSessions | null;
  /**
   * Sessions paused until a model is available. Only the first of each project is listed.
   */
  paused: PausedSession[];
  problems: SourceProblem[];
  /**
   * Number of sessions read.
   */
  read: number;
  /**
   * Number of sessions queued because their project was registered after they were read.
   */
  readmitted: number;
  /**
   * Number of sessions resumed from the end of the last read.
   */
  resumed: number;
  /**
   * Number of stored sessions redacted again because `redact.extra` changed.
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
   * Number of memories with new details.
   */
  updated: number;
}
/**
 * The sessions to sync, and how to process them.
 */
export interface SyncRequest {
  /**
   * Only sessions of these agents. If empty, all connected agents are included.
   */
  agents?: string[];
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
 * The result of canceling a task and its subtasks.
 */
export interface TaskCancelReport {
  /**
   * Running tasks that will be stopped by the process that runs them.
   */
  asked: string[];
  /**
   * Queued tasks that were ended immediately.
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
   * Bytes of results passed to models.
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
   * The id that a tool call and its result share.
   */
  call?: string | null;
  error: boolean;
  /**
   * Size in bytes before shortening.
   */
  full_bytes: number;
  /**
   * Why the text counts as injected, if it does.
   */
  injected?: string | null;
  /**
   * The record id assigned by the agent.
   */
  key?: string | null;
  kind: TraceEventKind;
  lane: TraceLane;
  /**
   * The source of the user's words.
   */
  person?: string | null;
  place: TracePlace;
  sequence: number;
  /**
   * The text, or only its beginning if it was shortened.
   */
  text: string;
  /**
   * The end of a shortened text.
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
   * The session's id.
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
   * Terms of the query that it contains.
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
   * Maximum number of results; 0 means all. The default is the setting `memory.max_results`.
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
   * Maximum number of results. The default is the setting `memory.max_results`.
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
 * A session and its events, in order.
 */
export interface TraceShowReport {
  events: TraceEvent[];
  session: SessionEntry;
}
/**
 * The session to show, and the details to include.
 */
export interface TraceShowRequest {
  /**
   * Include reasoning, injected text and records of unknown kinds.
   */
  full?: boolean;
  /**
   * The id of the session, or a prefix of it. `ID:SEQUENCE` starts at one event.
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
   * Situations in which it is relevant.
   */
  applies?: string[];
  archived: boolean;
  /**
   * The content that was trusted before, if Git still has it.
   */
  before?: string | null;
  /**
   * Whether a program other than Nacre changed the memory after it was trusted.
   */
  changed: boolean;
  /**
   * The date of its last commit.
   */
  committed?: string | null;
  /**
   * The author of its last commit, from Git.
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
   * Why the memory is not trusted yet.
   */
  reason: string;
  related: string[];
  scope: StoreScope;
  status: string;
  tags: string[];
  /**
   * The content of the memory file.
   */
  text?: string | null;
  title: string;
  /**
   * The trust level on this machine, if it is below the level of an agent's own statements.
   */
  trust?: TrustLevel | null;
  /**
   * Whether this request made the memory trusted.
   */
  trusted: boolean;
  type: MemoryType;
  updated?: string | null;
}
/**
 * Memories that are pending review or were just trusted.
 */
export interface TrustReport {
  /**
   * The change id for `nacre undo`. Absent if nothing changed.
   */
  change?: string | null;
  dry_run: boolean;
  /**
   * Number of memories from other sources that are still pending.
   */
  foreign: number;
  memories: TrustItem[];
  /**
   * Number of matching memories beyond the limit of one request.
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
 * Changes of this project and of the user's global store, newest first.
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
   * The id of the undo, which can itself be undone.
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
   * Show what would be restored, without changing anything.
   */
  dry_run?: boolean;
  /**
   * Keep memories that were changed later, and restore the others.
   */
  keep_changed?: boolean;
  /**
   * Undo the newest change that is not undone yet.
   */
  last?: boolean;
  /**
   * The id of a change or a run, or the start or end of it. Empty with `last`.
   */
  run?: string;
}
export const LEARNING_KINDS: LearningKind[] = ["insight","procedure","pitfall","friction","preference","convention","context"];
