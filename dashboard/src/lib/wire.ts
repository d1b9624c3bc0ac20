// Written by `npm run types` from docs/schema. Do not edit: change the wire type, and run it again.

/**
 * Whether a part of the connection is there.
 */
export type WiringState = ('on' | 'off') | 'outdated' | 'not_possible';
/**
 * How closely a text was analysed.
 */
export type AnalysisDepth = 'none' | 'glance' | 'full';
/**
 * An answer, by who gave it.
 */
export type AskReport =
  | (ModelAnswer & {
      by: 'model';
    })
  | (MemoryAnswer & {
      by: 'memories';
    });
/**
 * Why an operation failed, for programs.
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
 * Which store a memory is in.
 */
export type StoreScope = 'project' | 'global';
/**
 * Whose words a quote holds.
 */
export type Speaker = ('assistant' | 'tool') | 'human' | 'user';
/**
 * How far a memory is trusted on this machine, lowest first.
 */
export type TrustLevel = 'quarantined' | 'foreign' | 'derived' | 'assistant' | 'user' | 'human';
/**
 * Where to look.
 */
export type Scope = 'project_fallback_global' | 'project_only' | 'global_only';
/**
 * Whether the numbers alone decide.
 */
export type Band = 'clear' | 'grey';
/**
 * What a section tells of.
 */
export type BriefTopic = 'decisions' | 'preferences' | 'pitfalls' | 'knowledge' | 'recent_work' | 'open_ends';
/**
 * How the map came to be up to date.
 */
export type CacheStatus = 'hit' | 'miss' | 'refreshed' | 'stale_rebuild';
/**
 * What is done with a candidate.
 */
export type CandidateVerb = ('add' | 'update' | 'no-op') | 'supersede';
/**
 * What happens to a file.
 */
export type ChangeKind = 'create' | 'change' | 'remove';
/**
 * A place that may hold a copy of a memory.
 */
export type CopyPlace = 'files' | 'runs' | 'index' | 'notes' | 'shared_index' | 'server';
/**
 * What was found in a place.
 */
export type CopyState = 'gone' | 'waits';
/**
 * How far a step is.
 */
export type StepState = ('pending' | 'in_progress' | 'done' | 'failed') | 'gated' | 'skipped';
/**
 * What became of a file or a symbol.
 */
export type CodeChange = ('added' | 'modified' | 'removed') | 'renamed';
/**
 * What a symbol is.
 */
export type SymbolKind =
  | ('function' | 'method' | 'class' | 'struct' | 'enum' | 'implementation' | 'type' | 'constant' | 'macro')
  | 'interface'
  | 'module';
/**
 * Where a delta begins: a revision, `git:REF`, `client:NAME`, or `0` for everything.
 */
export type Since = string;
/**
 * What a command is for.
 */
export type CommandPurpose = 'build' | 'run' | 'test' | 'lint';
/**
 * What a key holds.
 */
export type SettingValue = string | number | boolean | string[];
/**
 * What to change about the connected agents.
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
       * Where the agent keeps its traces; none for its usual places. With a path only the traces are connected.
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
 * A part of what is written into an agent's files.
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
 * Which command an answer is of.
 */
export type MapCommand = 'explore' | 'context' | 'delta' | 'refresh' | 'explain' | 'watch' | 'search_code';
/**
 * A state of a project's files, such as `6af1b3c4.17`. Each change of them makes the next one.
 */
export type MapRevision = string;
/**
 * The form of a payload. A budget is counted on the bytes of that form.
 */
export type MapFormat = 'text' | 'json';
/**
 * How the database is.
 */
export type DatabaseState = 'connected' | 'slow' | 'away' | 'unusable';
/**
 * Who decided about a candidate.
 */
export type DecidedBy = 'rule' | 'lead';
/**
 * What there is at the path of a project.
 */
export type ProjectState = 'ready' | 'no store' | 'missing';
/**
 * Whether the stores can be used as they are. Only a completed check may say so.
 */
export type Health = ('ok' | 'broken') | 'unchecked';
/**
 * How bad a finding is.
 */
export type Severity = 'error' | 'warning';
/**
 * How two memories belong together.
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
 * Whether a model can be used.
 */
export type EmbedderState = 'ready';
/**
 * What begins in a file.
 */
export type EntryKind = ('readme' | 'program' | 'library' | 'manifest') | 'script';
/**
 * How much an overview tells.
 */
export type MapDetail = 'compact' | 'normal' | 'verbose';
/**
 * What a lead or an explorer would do with a candidate.
 */
export type LeadAction = 'add' | 'update' | 'no_op' | 'supersede';
/**
 * How a memory served.
 */
export type Verdict = 'useful' | 'wrong' | 'outdated';
/**
 * What a memory is.
 */
export type MemoryType = 'decision' | 'learning' | 'summary';
/**
 * Whether a session is worth reading at all.
 */
export type Gate = 'open' | 'not_a_persons' | 'no_words' | 'abandoned' | 'mechanical';
/**
 * Where a session stands.
 */
export type JobState = 'running' | 'pending' | 'done' | 'empty' | 'skipped' | 'dead';
/**
 * What the lead of a sync is run with.
 */
export type LeadRuntime = 'nacre' | 'claude';
/**
 * What a sync did to a memory.
 */
export type LearnedChange = 'added' | 'updated';
/**
 * What kind of learning a memory is.
 */
export type LearningKind =
  'insight' | 'procedure' | 'pitfall' | 'friction' | 'preference' | 'convention' | 'context';
/**
 * What is done to a memory.
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
 * How a maintenance ended.
 */
export type MaintainOutcome = 'done' | 'clean' | 'skipped';
/**
 * What a run is for.
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
 * What was done to a memory.
 */
export type MemoryChange =
  'added' | 'edited' | 'left unchanged' | 'archived' | 'restored' | 'forgot' | 'accepted' | 'rejected';
/**
 * By what memories are put in order, over all stores. What has no such value comes last.
 */
export type MemorySort =
  'updated' | '-updated' | 'created' | '-created' | 'title' | '-title' | 'confidence' | '-confidence';
/**
 * How a memory stands.
 */
export type MemoryStatus = 'active' | 'candidate' | 'superseded' | 'stale' | 'archived';
/**
 * What to rank by.
 */
export type SearchMode = 'hybrid' | 'lexical' | 'semantic';
/**
 * A job that a model can be set for.
 */
export type ModelRole = 'lead' | 'explorer' | 'extract' | 'summarize' | 'ask' | 'chat';
/**
 * What was done to sessions of the queue.
 */
export type QueueChange = 'queued' | 'skipped';
/**
 * How a candidate stands to a memory.
 */
export type Relation = 'different' | 'contradicts' | 'refines' | 'same';
/**
 * How often a run did what.
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
 * What a run took.
 */
export type RunMetrics = SyncMetrics | MaintainMetrics;
/**
 * How a session was read.
 */
export type Strategy = 'offline' | 'windows' | 'rlm';
/**
 * What a run did.
 */
export type RunReport = SessionRun | StoreMaintenance | UndoRunReport;
/**
 * What in a session gave a candidate.
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
 * Whether a session had anything to read.
 */
export type SessionOutcome = 'done' | 'unchanged';
/**
 * What an undo does.
 */
export type UndoVerb = 'put back';
/**
 * Whether a session was at rest when it was read.
 */
export type SessionEnding = ('finished' | 'unknown') | 'active';
/**
 * How two sessions are linked.
 */
export type SessionLinkKind = 'parent' | 'fork_of' | 'continues';
/**
 * What a session was for.
 */
export type SessionRole = 'main' | 'sub_agent' | 'helper';
/**
 * What a sum of spending covers.
 */
export type SpendingScope = 'day' | 'project';
/**
 * How sessions are to be read.
 */
export type StrategyChoice = 'auto' | 'offline' | 'windows' | 'rlm';
/**
 * What the runs of a sync are for; their folders are named by it.
 */
export type SyncMode = 'sync' | 'hot' | 'cold';
/**
 * A session that was worked off.
 */
export type SyncedSession = {
  agent: string;
  id: string;
  /**
   * How long it took, in milliseconds.
   */
  ms: number;
  /**
   * The root of the project that it belongs to.
   */
  project?: string;
  title: string;
} & SyncedSession1;
export type SyncedSession1 =
  | {
      /**
       * How many proposals were turned away.
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
 * Which others a task has to wait for.
 */
export type TaskClass = 'interactive' | 'background';
/**
 * Where a task is.
 */
export type TaskState = 'accepted' | 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
/**
 * What an event is.
 */
export type TraceEventKind =
  'user' | 'assistant' | 'reasoning' | 'tool_call' | 'tool_result' | 'summary' | 'compaction' | 'meta';
/**
 * Whose part of a session an event belongs to.
 */
export type TraceLane = 'main' | 'sidechain' | 'inherited';
/**
 * Where in its trace an event was read.
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
 * What an undo did to a memory.
 */
export type UndoneHow = 'removed' | 'restored' | 'reverted';

/**
 * How many candidates became what.
 */
export interface ActionCounts {
  add: number;
  no_op: number;
  supersede: number;
  update: number;
}
/**
 * How likely each question about a candidate and its nearest memory is answered with yes, from 0 to 1.
 */
export interface ActionScores {
  about: number;
  against: number;
  more: number;
}
/**
 * A file that uses a symbol that changed its shape or is gone.
 */
export interface AffectedFile {
  /**
   * Imports between it and what changed: 1 for a file that imports it itself, or needs no import.
   */
  depth: number;
  path: string;
  /**
   * What it uses; empty for a file that imports one that is gone.
   */
  symbols: string[];
}
/**
 * A folder with affected files in it.
 */
export interface AffectedFolder {
  files: number;
  /**
   * Empty for the root.
   */
  path: string;
}
/**
 * An agent, its traces and what its files have of Nacre.
 */
export interface AgentEntry {
  agent: string;
  /**
   * Whether its traces are read.
   */
  connected: boolean;
  hooks: WiringState;
  mcp: WiringState;
  /**
   * Places that could not be looked into.
   */
  problems: string[];
  roots: string[];
  skill: WiringState;
  /**
   * How many files and databases hold its traces.
   */
  sources: number;
  traces: WiringState;
}
/**
 * How many sessions of one agent there are.
 */
export interface AgentSessions {
  agent: string;
  sessions: number;
  /**
   * The agent as people call it.
   */
  title: string;
}
/**
 * A sentence that holds.
 */
export interface AnswerSentence {
  /**
   * The memories that prove it.
   */
  ids: string[];
  /**
   * The messages of sessions that do.
   */
  messages: string[];
  /**
   * The words of each source, as they stand there.
   */
  quotes: SourceQuote[];
  /**
   * What its sources say, each with its id.
   */
  text: string;
}
/**
 * Words of a source.
 */
export interface SourceQuote {
  /**
   * The id of a memory, or the place of a message.
   */
  source: string;
  text: string;
}
/**
 * What a model wrote, as far as it holds.
 */
export interface ModelAnswer {
  /**
   * The sentences as one text.
   */
  answer?: string | null;
  /**
   * How many files could not be read.
   */
  broken: number;
  cost_usd?: number | null;
  /**
   * Why the answer is not whole.
   */
  error?: string | null;
  /**
   * The same with what may help.
   */
  failure?: Failure | null;
  known: boolean;
  /**
   * How many sentences were left out, by reason.
   */
  left_out: {
    [k: string]: number;
  };
  /**
   * The memories that the sentences cite.
   */
  memories: CitedMemory[];
  /**
   * The messages of sessions that they cite.
   */
  messages: string[];
  question: string;
  sentences: AnswerSentence[];
  steps: number;
  tokens: TokenUse;
  tool_calls: number;
}
/**
 * An operation that could not be carried out.
 */
export interface Failure {
  /**
   * Why, outermost first.
   */
  causes: string[];
  code: ErrorCode;
  /**
   * What the person can do, with the command to type.
   */
  hints: string[];
  /**
   * What could not be done.
   */
  message: string;
}
/**
 * A memory that an answer cites, as it is now.
 */
export interface CitedMemory {
  /**
   * Which other stores have the same id.
   */
  also_in: StoreScope[];
  id: string;
  /**
   * What it overturned by nothing but its own claim.
   */
  not_verified: string[];
  path: string;
  /**
   * Its project, where all projects were asked.
   */
  project?: string | null;
  quote?: string | null;
  scope: StoreScope;
  /**
   * Who said that.
   */
  speaker?: Speaker | null;
  status: string;
  title: string;
  /**
   * Its type; of a learning, its kind.
   */
  type: string;
}
/**
 * How many tokens models read and wrote.
 */
export interface TokenUse {
  input: number;
  output: number;
}
/**
 * Memories as the answer: the first answers, the others are near it.
 */
export interface MemoryAnswer {
  /**
   * The first memory in a few words.
   */
  answer?: string | null;
  /**
   * How many files could not be read.
   */
  broken: number;
  /**
   * Why no model answered, where one should have.
   */
  error?: string | null;
  known: boolean;
  memories: RecalledMemory[];
  question: string;
}
/**
 * A memory that fits a question.
 */
export interface RecalledMemory {
  /**
   * Which other stores have the same id.
   */
  also_in: StoreScope[];
  id: string;
  /**
   * The line of its text that is nearest to the question; empty where the title says it all.
   */
  line: string;
  /**
   * What it overturned by nothing but its own claim.
   */
  not_verified: string[];
  /**
   * Its project, where all projects were asked.
   */
  project?: string | null;
  /**
   * The first quote that says more than the memory itself.
   */
  proof?: RecalledQuote | null;
  quote?: string | null;
  scope: StoreScope;
  score: number;
  status: string;
  title: string;
  /**
   * How far it is trusted on this machine, where it is less than the agent's own word.
   */
  trust?: TrustLevel | null;
  /**
   * Its type; of a learning, its kind.
   */
  type: string;
}
/**
 * What proves a memory.
 */
export interface RecalledQuote {
  at: string;
  speaker: Speaker;
  text: string;
}
/**
 * What is asked, and what it may be answered from.
 */
export interface AskRequest {
  /**
   * Answer from every registered project that may be read, instead of this one.
   */
  all_projects?: boolean;
  /**
   * At most this many memories, 1 to 20. Without it, 5.
   */
  limit?: number | null;
  /**
   * Answer with the memories themselves, also where a model is set.
   */
  no_model?: boolean;
  question: string;
  scope?: Scope | null;
  /**
   * A file with the model's answers, for tests.
   */
  scripted?: string | null;
}
/**
 * A memory in a line.
 */
export interface BriefItem {
  id: string;
  scope: StoreScope;
  text: string;
}
/**
 * A brief, by topic and as one text.
 */
export interface BriefReport {
  /**
   * Files that could not be read, by path.
   */
  broken?: string[];
  budget: number;
  /**
   * How many candidates are not in it because they wait for `nacre review`.
   */
  candidates?: number;
  /**
   * How many memories hold and are not in it.
   */
  left_out: number;
  sections: BriefSection[];
  /**
   * The brief as Markdown; empty when there is nothing to tell or no room for it.
   */
  text: string;
  /**
   * How many of them the text counts.
   */
  tokens: number;
  /**
   * Those that are not in it because nothing shows who wrote them.
   */
  unproven: string[];
}
/**
 * The memories of one topic, best first.
 */
export interface BriefSection {
  items: BriefItem[];
  topic: BriefTopic;
}
/**
 * A file that could not be read.
 */
export interface BrokenFile {
  line?: number | null;
  message: string;
  path: string;
}
/**
 * A change, in a line.
 */
export interface ChangeEntry {
  /**
   * What else it is about: a file, agents or projects.
   */
  about?: string;
  added: number;
  at: string;
  changed: number;
  /**
   * What was typed, without `nacre`.
   */
  command: string;
  id: string;
  /**
   * Some of the memories.
   */
  memories: string[];
  removed: number;
  /**
   * How many runs it has: a sync has one for each session.
   */
  runs: number;
  /**
   * Whether `nacre undo` can take it back.
   */
  undoable: boolean;
  /**
   * The change that it took back.
   */
  undoes?: string | null;
  /**
   * The undo that took it back.
   */
  undone_by?: string | null;
}
/**
 * A place that was looked into after a memory was forgotten.
 */
export interface CheckedCopy {
  /**
   * Why it waits, or which server.
   */
  detail?: string | null;
  place: CopyPlace;
  state: CopyState;
}
/**
 * One step of a run, and how far it is.
 */
export interface ChecklistStep {
  state: StepState;
  step: string;
}
/**
 * Files of code that are not the project's own sources.
 */
export interface CodeApart {
  /**
   * Examples, benchmarks and documents.
   */
  aside: number;
  generated: number;
  tests: number;
  vendored: number;
}
/**
 * A part of the project: a package, or a folder.
 */
export interface CodeArea {
  /**
   * What its manifest or README says it is.
   */
  about?: string | null;
  files: number;
  lines: number;
  /**
   * Empty for what lies in no folder.
   */
  path: string;
}
/**
 * What changed, as much of it as was asked for; the counts are of all.
 */
export interface CodeDelta {
  added: number;
  /**
   * Files that use what changed, as many as fit a budget.
   */
  affected: AffectedFile[];
  /**
   * How many of all lie in each folder, most first; empty for a short list that is whole.
   */
  affected_folders: AffectedFolder[];
  /**
   * How many there are in all.
   */
  affected_total: number;
  files: FileDelta[];
  modified: number;
  /**
   * The path to continue after, when there is more.
   */
  next?: string | null;
  removed: number;
  renamed: number;
  since: Since;
}
/**
 * What became of one file.
 */
export interface FileDelta {
  change: CodeChange;
  /**
   * Where a renamed file was.
   */
  from?: string | null;
  new_hash?: string | null;
  old_hash?: string | null;
  path: string;
  /**
   * What became of the symbols of a modified file; absent where what it held before is not known any more.
   */
  symbols?: SymbolDeltas | null;
}
/**
 * What became of the symbols of a modified file.
 */
export interface SymbolDeltas {
  changed: SymbolDelta[];
  depth: AnalysisDepth;
}
/**
 * What became of one symbol of a modified file.
 */
export interface SymbolDelta {
  change: CodeChange;
  /**
   * Whether the code that uses it may have to change, too.
   */
  is_signature: boolean;
  kind: SymbolKind;
  name: string;
}
/**
 * One setting, and what it means.
 */
export interface ConfigGetReport {
  doc: string;
  key: string;
  /**
   * Where it was set; a list may come from several places.
   */
  origin: string;
  value: SettingValue;
}
/**
 * A key that was set or unset.
 */
export interface ConfigSetReport {
  /**
   * The id that `nacre undo` takes; nothing where the file was so already.
   */
  change?: string | null;
  key: string;
  /**
   * The file that was changed.
   */
  path: string;
  /**
   * `null` when it was taken out.
   */
  value?: string | null;
}
/**
 * Sets or unsets one key.
 */
export interface ConfigSetRequest {
  key: string;
  /**
   * Whether to write to the repository's own settings, which are shared through git.
   */
  repo?: boolean;
  /**
   * A list is comma separated. Without a value, the key is taken out of the file.
   */
  value?: string | null;
}
/**
 * Settings by key.
 */
export interface ConfigShowReport {
  /**
   * Keys that have no value until somebody sets one.
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
   * Where it was set; a list may come from several places.
   */
  origin: string;
  value: SettingValue;
}
/**
 * Every agent that can be connected, and what changed.
 */
export interface ConnectReport {
  agents: AgentEntry[];
  /**
   * The id that `nacre undo` takes.
   */
  change?: string | null;
  /**
   * The files that were changed, or would be.
   */
  changes?: FileChange[];
  /**
   * Agents that were left out, and why.
   */
  left_out?: string[];
  /**
   * Agents whose sessions are no longer read since this change.
   */
  no_longer_read?: string[];
  /**
   * What the person has to do for it to work.
   */
  notes?: string[];
  /**
   * Agents whose sessions are read since this change.
   */
  now_read?: string[];
  /**
   * Names what would change, for agreeing to it.
   */
  plan?: string | null;
}
/**
 * A file of an agent that changes.
 */
export interface FileChange {
  change: ChangeKind;
  /**
   * What changes, as a unified diff. Secrets around it are redacted.
   */
  diff: string;
  path: string;
}
/**
 * What is written into an agent's files, and whether it is written at all.
 */
export interface WiringOptions {
  /**
   * Say what would change, and change nothing.
   */
  dry_run?: boolean;
  /**
   * Hooks also look at tools before they run. A guard that is on stays on.
   */
  guard?: boolean;
  /**
   * Only these parts; none for all that the agent can take, and its traces.
   */
  parts?: WiringPart[];
  /**
   * The `plan` of a dry run that a person agreed to; another one is refused.
   */
  plan?: string | null;
}
/**
 * A file, and what of it fits.
 */
export interface ContextFile {
  path: string;
  /**
   * In the order of the file.
   */
  symbols: ContextSymbol[];
  why: WhyRelevant[];
  /**
   * What it has of the task, the rarest first.
   */
  words?: string[];
}
/**
 * A symbol, in as much detail as fits.
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
 * What a task needs, and of which state of the project that was said.
 */
export interface ContextReport {
  budget: number;
  cache_status: CacheStatus;
  command: MapCommand;
  /**
   * The most relevant first.
   */
  files: ContextFile[];
  left_out: LeftOut;
  project_id: string;
  project_root: string;
  revision: MapRevision;
  stats: MapStats;
}
/**
 * What was relevant and did not fit.
 */
export interface LeftOut {
  files: number;
  /**
   * Some of those files with the number of their symbols, the most relevant first.
   */
  listed: [unknown, unknown][];
  symbols: number;
}
/**
 * What bringing the map up to date cost, and what it saw.
 */
export interface MapStats {
  file_count: number;
  /**
   * Files that there was no time for; the next command reads them.
   */
  postponed_files: number;
  rehashed_entries: number;
  reused_entries: number;
  skipped: SkippedCounts;
  total_bytes: number;
  /**
   * Files that are too large, or that may not be read.
   */
  unread_files: number;
}
/**
 * What lies in the project and is not part of the map, counted by why.
 */
export interface SkippedCounts {
  /**
   * Where keys and passwords usually lie.
   */
  denied: number;
  links: number;
  /**
   * Repositories that are not submodules of this one.
   */
  nested: number;
  /**
   * Pipes, sockets and devices.
   */
  special: number;
  /**
   * Folders that lie too deep, and tracked files that do or are too many.
   */
  too_deep: number;
  /**
   * Names that are not valid UTF-8.
   */
  unnamable: number;
  /**
   * Folders left out because their rules are beyond what is read.
   */
  unread_rules: number;
  /**
   * Folders that could not be opened.
   */
  unreadable: number;
}
/**
 * Which task to collect code for, and how much of it.
 */
export interface ContextRequest {
  /**
   * Tokens that the answer may have; 4000 unless said otherwise.
   */
  budget?: number | null;
  /**
   * The client that has then seen the map as it is now.
   */
  client?: string | null;
  /**
   * Files that are surely meant, seen from the current folder or from the root.
   */
  files?: string[];
  /**
   * List files alone, without their code.
   */
  files_only?: boolean;
  format?: MapFormat;
  /**
   * A folder inside the project, or a registered name. Without it, the project around the current folder.
   */
  project?: string | null;
  /**
   * Read every file again instead of trusting its times.
   */
  refresh?: boolean;
  /**
   * Fail when the map was not up to date, and write nothing.
   */
  strict?: boolean;
  /**
   * What is to be done, in words. Without it, `files` says what the task is about.
   */
  task?: string | null;
}
/**
 * The database that servers share, as one of them sees it.
 */
export interface DatabaseStatus {
  /**
   * Why it cannot be used.
   */
  detail?: string | null;
  /**
   * Whether this server does what only one is to do.
   */
  is_leader: boolean;
  /**
   * Since when this process has seen it so.
   */
  since: string;
  state: DatabaseState;
}
/**
 * What changed, and up to which state of the project.
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
 * Since when to list changes, and how many.
 */
export interface DeltaRequest {
  /**
   * Continue after this path, the `next` of the answer before.
   */
  after?: string | null;
  /**
   * Tokens that the answer may have, counted on its JSON: affected files are left to the counts by folder, then files to
   * the next page, until it fits.
   */
  budget?: number | null;
  /**
   * The client that has then seen the map as it is now.
   */
  client?: string | null;
  /**
   * List at most this many files; 0 or nothing for all.
   */
  limit?: number | null;
  /**
   * A folder inside the project, or a registered name. Without it, the project around the current folder.
   */
  project?: string | null;
  /**
   * Read every file again instead of trusting its times.
   */
  refresh?: boolean;
  /**
   * Without it, `git:HEAD`, or where there is no commit, since the map was first made.
   */
  since?: Since | null;
  /**
   * Fail when the map was not up to date, and write nothing.
   */
  strict?: boolean;
}
/**
 * What is wrong with the stores.
 */
export interface DoctorReport {
  /**
   * The id that `nacre undo` takes.
   */
  change?: string | null;
  /**
   * What is wrong with the settings of the repository.
   */
  config?: string | null;
  errors: number;
  /**
   * Registered projects whose store is gone; each is an error.
   */
  gone?: ProjectEntry[];
  health: Health;
  /**
   * What was mended before the check.
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
 * A file that was mended.
 */
export interface MendedFile {
  path: string;
  what: string;
}
/**
 * What is wrong with one store.
 */
export interface StoreCheck {
  evidence: number;
  findings: Finding[];
  /**
   * Memories that came from elsewhere and wait for `nacre trust`.
   */
  foreign?: number;
  memories: number;
  path: string;
  /**
   * Memories that give an order which the person did not give.
   */
  quarantined?: number;
  /**
   * Where quotes were looked up.
   */
  quotes?: QuoteCheck | null;
  scope: StoreScope;
}
/**
 * Something that is wrong with a file.
 */
export interface Finding {
  hint?: string | null;
  line?: number | null;
  message: string;
  /**
   * Below the store.
   */
  path: string;
  severity: Severity;
}
/**
 * How many quotes were found where they are said to be from.
 */
export interface QuoteCheck {
  /**
   * Given by a person to Nacre itself.
   */
  by_hand: number;
  missing: number;
  /**
   * Their transcript is not on this machine.
   */
  unchecked: number;
  /**
   * Files that could not be read.
   */
  unreadable: number;
  verified: number;
}
/**
 * A model that turns texts into vectors.
 */
export interface EmbedderEntry {
  about: string;
  dims?: number | null;
  /**
   * The name and the content: vectors of another id cannot be compared with its own.
   */
  id?: string | null;
  name: string;
  state: EmbedderState;
}
/**
 * A file to begin with.
 */
export interface EntryPoint {
  kind: EntryKind;
  /**
   * What a manifest calls the program or library.
   */
  name?: string | null;
  path: string;
}
/**
 * The object that stands in the place of a report.
 */
export interface ErrorReport {
  error: Failure;
}
/**
 * How many events of each kind there are; injected and inherited ones are counted apart.
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
   * The person's messages.
   */
  user: number;
}
/**
 * What a project is, and of which state of it that was said.
 */
export interface ExploreReport {
  /**
   * The first paragraph of the README, or what a manifest says.
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
   * Files whose analysis is not whole, by why.
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
 * A list that may be shown in part; the total is of all.
 */
export interface Listed2 {
  items: CodeArea[];
  total: number;
}
/**
 * A list that may be shown in part; the total is of all.
 */
export interface Listed {
  items: ProjectCommand[];
  total: number;
}
/**
 * A command, and the file that says so.
 */
export interface ProjectCommand {
  command: string;
  from: string;
  purpose: CommandPurpose;
}
/**
 * A list that may be shown in part; the total is of all.
 */
export interface Listed3 {
  items: EntryPoint[];
  total: number;
}
/**
 * A list that may be shown in part; the total is of all.
 */
export interface Listed4 {
  items: HotPath[];
  total: number;
}
/**
 * A file that much depends on and that changes often.
 */
export interface HotPath {
  commits: number;
  /**
   * Rank times recent commits, in thousandths of an average file's.
   */
  heat: number;
  importers: number;
  path: string;
}
/**
 * How many files there are of a language.
 */
export interface LanguageCount {
  files: number;
  language: string;
  lines: number;
}
/**
 * Which folders import which; only imports that lead to a file count.
 */
export interface ModuleGraph {
  /**
   * Pairs of a file and one that it imports.
   */
  edges: number;
  modules: Listed6;
  /**
   * Files.
   */
  nodes: number;
  /**
   * Imports that should lead to a file of the project and do not.
   */
  unresolved: number;
}
/**
 * A list that may be shown in part; the total is of all.
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
 * A list that may be shown in part; the total is of all.
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
 * A list that may be shown in part; the total is of all.
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
 * A list that may be shown in part; the total is of all.
 */
export interface Listed9 {
  items: string[];
  total: number;
}
/**
 * A list that may be shown in part; the total is of all.
 */
export interface Listed5 {
  items: TopImport[];
  total: number;
}
/**
 * A package from outside the project, and how many files import it.
 */
export interface TopImport {
  files: number;
  module: string;
}
/**
 * Which project to give an overview of, and how.
 */
export interface ExploreRequest {
  /**
   * Tokens that the answer may have; its lists are cut until it fits.
   */
  budget?: number | null;
  /**
   * The client that has then seen the map as it is now.
   */
  client?: string | null;
  /**
   * Compact unless said otherwise.
   */
  detail?: MapDetail | null;
  format?: MapFormat;
  /**
   * A folder inside the project, or a registered name. Without it, the project around the current folder.
   */
  project?: string | null;
  /**
   * Read every file again instead of trusting its times.
   */
  refresh?: boolean;
  /**
   * Fail when the map was not up to date, and write nothing.
   */
  strict?: boolean;
}
/**
 * What an explorer found about one candidate.
 */
export interface ExplorerFinding {
  action_hint: LeadAction;
  candidate_id: string;
  /**
   * Words of the file.
   */
  evidence: string;
  matched_file?: string | null;
  /**
   * How much of the candidate the file says, from 0 to 1, as the explorer sees it.
   */
  overlap: number;
}
/**
 * How one explorer did.
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
 * What the verdict changed.
 */
export interface FeedbackReport {
  /**
   * Where else its id stands.
   */
  also_in: OtherPlace[];
  /**
   * The id that `nacre undo` takes.
   */
  change?: string | null;
  confidence: number;
  confidence_before: number;
  id: string;
  scope: StoreScope;
  verdict: Verdict;
}
/**
 * Another file of the same id.
 */
export interface OtherPlace {
  path: string;
  scope: StoreScope;
}
/**
 * A person's word on a memory.
 */
export interface FeedbackRequest {
  /**
   * Its id, or the start of it.
   */
  id: string;
  /**
   * Why, in a sentence; kept on this machine.
   */
  note?: string | null;
  scope?: Scope | null;
  verdict: Verdict;
}
/**
 * How many sessions of one folder there are.
 */
export interface FolderSessions {
  path: string;
  sessions: number;
}
/**
 * A memory that was found.
 */
export interface FoundMemory {
  /**
   * Situations in which it should be told.
   */
  applies?: string[];
  archived: boolean;
  confidence?: number | null;
  created?: string | null;
  /**
   * What it overturned, newest first.
   */
  history: MemoryEntry[];
  id: string;
  /**
   * What kind of learning it is.
   */
  kind?: string | null;
  /**
   * Those of them whose own files do not say so.
   */
  not_verified: string[];
  path: string;
  related: string[];
  scope: StoreScope;
  score: number;
  /**
   * The words around what was asked for.
   */
  snippet: string;
  status: string;
  tags: string[];
  title: string;
  /**
   * How far it is trusted on this machine, where it is less than the agent's own word.
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
   * Situations in which it should be told.
   */
  applies?: string[];
  archived: boolean;
  confidence?: number | null;
  created?: string | null;
  id: string;
  /**
   * What kind of learning it is.
   */
  kind?: string | null;
  path: string;
  related: string[];
  scope: StoreScope;
  status: string;
  tags: string[];
  title: string;
  /**
   * How far it is trusted on this machine, where it is less than the agent's own word.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
}
/**
 * Why a memory was found.
 */
export interface WhyFound {
  /**
   * Memories that pointed at it.
   */
  edges: MemoryEdge[];
  /**
   * Its part of the score that comes from words.
   */
  lexical: number;
  /**
   * How near its meaning is to the question's, from 0 to 1.
   */
  similarity: number;
  /**
   * Terms of the question that it holds.
   */
  terms: string[];
}
/**
 * What ties a memory to another.
 */
export interface MemoryEdge {
  id: string;
  kind: EdgeKind;
  /**
   * The tag, file or symbol that both have.
   */
  shared?: string | null;
}
/**
 * An agent that is installed and can answer as a model.
 */
export interface InstalledAgent {
  /**
   * What people call it.
   */
  label: string;
  /**
   * A model of it, as `roles.default.model` takes it.
   */
  model: string;
  /**
   * As in the name of a model: `claude-code`.
   */
  name: string;
  /**
   * Where its command lies.
   */
  path: string;
  /**
   * `null` where it did not say.
   */
  version?: string | null;
}
/**
 * A file that was changed since.
 */
export interface KeptFile {
  /**
   * The later change; nothing where somebody edited the file.
   */
  by?: string | null;
  path: string;
}
/**
 * Sessions that are due later.
 */
export interface LaterSessions {
  /**
   * The id of one of them.
   */
  example: string;
  /**
   * When the last of them is due.
   */
  ready_at: string;
  /**
   * Until then, in seconds.
   */
  ready_in: number;
  sessions: number;
}
/**
 * How one call of a lead ended.
 */
export interface LeadMetrics {
  cost_usd: number;
  error?: string | null;
  ms: number;
  rulings: number;
  /**
   * What it was run with: `nacre` or `claude`; empty for runs from before there was a choice.
   */
  runtime: string;
  state: string;
  task: string;
  tokens: TokenCounts;
  /**
   * Of the lead alone, as the next two.
   */
  tool_calls: number;
}
/**
 * Tokens that models read and wrote.
 */
export interface TokenCounts {
  input: number;
  output: number;
}
/**
 * A memory that a sync made or changed.
 */
export interface LearnedMemory {
  change: LearnedChange;
  id: string;
  /**
   * Whether it waits for `nacre review`.
   */
  is_candidate: boolean;
  /**
   * The project that it belongs to.
   */
  project: string;
  title: string;
  type: MemoryType;
}
/**
 * A place where an agent keeps its sessions.
 */
export interface LookedIn {
  agent: string;
  /**
   * Whether there is anything at that path.
   */
  exists: boolean;
  path: string;
}
/**
 * One thing that was done to a memory, and why.
 */
export interface MaintainAction {
  action: MaintainVerb;
  /**
   * Names this very action, so that what a person undoes is not done again.
   */
  key: string;
  /**
   * How sure it is, from 0 to 1, where that was measured.
   */
  likelihood?: number | null;
  reason: string;
  /**
   * The memory that it was done to.
   */
  target: string;
  title: string;
  /**
   * The memory it went into, or the one that overturned it.
   */
  with?: string | null;
}
/**
 * How long each step of a maintenance took, in milliseconds.
 */
export interface MaintainDurations {
  compare: number;
  read: number;
  whole: number;
}
/**
 * What a maintenance took.
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
   * A maintenance sends out none.
   */
  explorers: ExplorerMetrics[];
  memories: number;
  model_calls: number;
  /**
   * Memories that were compared, two by two.
   */
  pairs: number;
  run_id: string;
  tokens: number;
}
/**
 * What was done in each store.
 */
export interface MaintainReport {
  dry_run: boolean;
  projects: MaintainedStore[];
}
/**
 * One store: a report, or the reason why there is none.
 */
export interface MaintainedStore {
  causes?: string[] | null;
  /**
   * What would change, where nothing was to be changed.
   */
  changes?: PlannedChange[] | null;
  hints?: string[] | null;
  ms: number;
  /**
   * The name of the project, or `global`.
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
 * A file that would be made, changed or removed.
 */
export interface PlannedChange {
  /**
   * Its text then; `None` where it would be removed.
   */
  after?: string | null;
  /**
   * Its text now; `None` where it would be made.
   */
  before?: string | null;
  /**
   * Below the store.
   */
  path: string;
}
/**
 * What a maintenance of one store did.
 */
export interface StoreMaintenance {
  actions: MaintainAction[];
  /**
   * Files that could not be read; they were left alone.
   */
  broken: number;
  contradictions: OpenContradiction[];
  cost_usd: number;
  /**
   * Of every verb.
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
  outcome: MaintainOutcome;
  /**
   * Where something was done, the run that did it.
   */
  run_id?: string | null;
  tokens: number;
  written_paths: string[];
}
/**
 * Two memories that contradict each other, for a person to decide.
 */
export interface OpenContradiction {
  likelihood: number;
  newer: string;
  older: string;
  reason: string;
}
/**
 * What to maintain, and how.
 */
export interface MaintainRequest {
  /**
   * Every registered project and the global memories.
   */
  all?: boolean;
  /**
   * Tell what would be done, and change nothing.
   */
  dry_run?: boolean;
  /**
   * Run even if nothing has changed.
   */
  force?: boolean;
  /**
   * Let the model of the role `lead` write what is merged.
   */
  rewrite?: boolean;
  /**
   * A file with the model's answers, for tests.
   */
  scripted?: string | null;
}
/**
 * A memory in a person's own words.
 */
export interface MemoryAddRequest {
  /**
   * Situations in which it should be told, each in one line.
   */
  applies?: string[];
  /**
   * The reason and the details, as Markdown.
   */
  body?: string;
  /**
   * From 0 to 1. Without it, what a person says is trusted.
   */
  confidence?: number | null;
  /**
   * Only of a learning; without it, an insight.
   */
  kind?: LearningKind | null;
  /**
   * The ids of related memories, or the starts of them.
   */
  related?: string[];
  scope?: Scope | null;
  /**
   * The memory that it supersedes, by its id or the start of it.
   */
  supersedes?: string | null;
  tags?: string[];
  /**
   * What was decided or learned, in one line.
   */
  title: string;
  /**
   * A decision or a learning. Without it, a decision.
   */
  type?: MemoryType | null;
}
/**
 * What was done to one memory.
 */
export interface MemoryChangeReport {
  /**
   * The id that `nacre undo` takes.
   */
  change?: string | null;
  done: MemoryChange;
  id: string;
  /**
   * Its file, where it is new.
   */
  path?: string | null;
}
/**
 * What was done to several memories, each in a change set of its own.
 */
export interface MemoryChangesReport {
  /**
   * The id that `nacre undo` takes.
   */
  change?: string | null;
  /**
   * Of what was forgotten: each place that may hold a copy, as it was found afterwards.
   */
  copies?: CheckedCopy[];
  done: MemoryChange;
  failed: MemoryFailure[];
  ids: string[];
}
/**
 * A memory that nothing was done to, and why.
 */
export interface MemoryFailure {
  /**
   * Why, outermost first.
   */
  causes: string[];
  code: ErrorCode;
  /**
   * What the person can do, with the command to type.
   */
  hints: string[];
  /**
   * As it was named.
   */
  id: string;
  /**
   * What could not be done.
   */
  message: string;
}
/**
 * What proves a memory.
 */
export interface MemoryEvidence {
  id: string;
  quotes: MemoryQuote[];
  /**
   * The file was changed by something else than Nacre since this machine last knew it: its quotes prove nothing.
   */
  unproven?: boolean;
  /**
   * Of the format of the file that holds it.
   */
  version: number;
}
/**
 * Words that were said, and where.
 */
export interface MemoryQuote {
  at: string;
  place: string;
  speaker: Speaker;
  text: string;
}
/**
 * What a person said of a memory.
 */
export interface MemoryFeedback {
  at: string;
  note?: string | null;
  verdict: Verdict;
}
/**
 * One end of a link between two memories. It is verified where the older file says it itself.
 */
export interface MemoryLink {
  id: string;
  verified: boolean;
}
/**
 * Memories, in the order that was asked for.
 */
export interface MemoryListReport {
  broken: BrokenFile[];
  /**
   * How many summaries were left out.
   */
  hidden_summaries?: number | null;
  memories: MemoryEntry[];
  /**
   * How many there are, listed or not.
   */
  total: number;
}
/**
 * Which memories to list.
 */
export interface MemoryListRequest {
  /**
   * Summaries too, which are left out unless `type` asks for them.
   */
  all?: boolean;
  /**
   * Archived ones instead.
   */
  archived?: boolean;
  /**
   * Only learnings of this kind.
   */
  kind?: LearningKind | null;
  /**
   * At most this many; 0 for all. Without it, the setting `memory.max_results`.
   */
  limit?: number | null;
  /**
   * How many to pass over.
   */
  offset?: number;
  scope?: Scope | null;
  /**
   * Without it, the project's first, and of each store the newest first.
   */
  sort?: MemorySort | null;
  status?: MemoryStatus | null;
  tag?: string | null;
  type?: MemoryType | null;
}
/**
 * The memories that belong to one, nearest first.
 */
export interface MemoryRelatedReport {
  /**
   * Where else its id stands.
   */
  also_in: OtherPlace[];
  id: string;
  related: RelatedMemory[];
  /**
   * How many there are, listed or not.
   */
  total: number;
}
/**
 * A memory that belongs to another.
 */
export interface RelatedMemory {
  /**
   * Situations in which it should be told.
   */
  applies?: string[];
  archived: boolean;
  confidence?: number | null;
  created?: string | null;
  edge: MemoryEdge;
  id: string;
  /**
   * What kind of learning it is.
   */
  kind?: string | null;
  path: string;
  related: string[];
  scope: StoreScope;
  status: string;
  tags: string[];
  title: string;
  /**
   * How far it is trusted on this machine, where it is less than the agent's own word.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
}
/**
 * Which memory to look around.
 */
export interface MemoryRelatedRequest {
  /**
   * Its id, or the start of it.
   */
  id: string;
  /**
   * At most this many; 0 for all. Without it, the setting `memory.max_results`.
   */
  limit?: number | null;
  scope?: Scope | null;
}
/**
 * The memories that were found: the project's first, and of each store the best first.
 */
export interface MemorySearchReport {
  broken: BrokenFile[];
  hits: FoundMemory[];
  query: string;
  /**
   * How many there are, listed or not.
   */
  total: number;
}
/**
 * What to search for.
 */
export interface MemorySearchRequest {
  /**
   * Those of every registered project, whatever `scope` says.
   */
  all_projects?: boolean;
  /**
   * Archived ones too.
   */
  archived?: boolean;
  /**
   * At most this many; 0 for all. Without it, the setting `memory.max_results`.
   */
  limit?: number | null;
  mode?: SearchMode;
  /**
   * Words, "quoted phrases" and filters such as `tag:auth`.
   */
  query: string;
  scope?: Scope | null;
  /**
   * Only memories that changed since this day, moment or age, such as `2026-01` or `7d`.
   */
  since?: string | null;
  tag?: string | null;
  type?: MemoryType | null;
}
/**
 * One memory.
 */
export interface MemoryShowReport {
  /**
   * Where else its id stands.
   */
  also_in: OtherPlace[];
  /**
   * Situations in which it should be told.
   */
  applies?: string[];
  archived: boolean;
  body: string;
  confidence?: number | null;
  created?: string | null;
  evidence?: MemoryEvidence | null;
  /**
   * A person's last word on it.
   */
  feedback?: MemoryFeedback | null;
  history?: MemoryVersion[] | null;
  id: string;
  /**
   * What kind of learning it is.
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
   * The whole Markdown file, where it was asked for.
   */
  text?: string | null;
  title: string;
  /**
   * How far it is trusted on this machine, where it is less than the agent's own word.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
  /**
   * Names the content of its file: whoever writes it back says which content they read.
   */
  version: string;
}
/**
 * A memory as it was once: by a commit, or by a run where there is no git.
 */
export interface MemoryVersion {
  commit?: string | null;
  run?: string | null;
  what: string;
  when: string;
  who: string;
}
/**
 * Which memory to show, and how much of it.
 */
export interface MemoryShowRequest {
  /**
   * With the quotes that prove it.
   */
  evidence?: boolean;
  /**
   * With how it came to be what it is.
   */
  history?: boolean;
  /**
   * Its id, or the start of it.
   */
  id: string;
  scope?: Scope | null;
  /**
   * With the whole Markdown file, frontmatter and body.
   */
  text?: boolean;
}
/**
 * The models that are set, who serves them, and those that search by meaning.
 */
export interface ModelListReport {
  /**
   * The agents on this machine that can answer, whether or not a role uses them.
   */
  agents: InstalledAgent[];
  /**
   * Those that search by meaning.
   */
  models: EmbedderEntry[];
  /**
   * Those that serve the models of the roles.
   */
  providers: ProviderEntry[];
  roles: RoleEntry[];
}
/**
 * A service that answers for models.
 */
export interface ProviderEntry {
  address: string;
  /**
   * Whether there is a key and in which variable; never the key.
   */
  key: string;
  name: string;
  origin: string;
}
/**
 * A role and the models that do its job.
 */
export interface RoleEntry {
  /**
   * In the order in which they are asked.
   */
  models: string[];
  origin: string;
  /**
   * Why the role cannot be used, as far as the settings tell.
   */
  problem?: string | null;
  /**
   * `default` is for all that are not set.
   */
  role: string;
}
/**
 * What one model used.
 */
export interface ModelStats {
  cached: number;
  calls: number;
  /**
   * In billionths of a dollar; `None` where one of the calls has no known price.
   */
  cost_nano_dollars?: number | null;
  input: number;
  model: string;
  output: number;
}
/**
 * What models used, by name.
 */
export interface ModelStatsReport {
  models: ModelStats[];
}
/**
 * What the model answered, how long it took and what it cost.
 */
export interface ModelTestReport {
  /**
   * `null` when no price is known.
   */
  cost_usd?: number | null;
  first_word_ms?: number | null;
  /**
   * As `provider/model`.
   */
  model: string;
  role: ModelRole;
  text: string;
  tokens: ModelTestTokens;
  total_ms: number;
}
/**
 * What one call used.
 */
export interface ModelTestTokens {
  input: number;
  output: number;
}
/**
 * Asks a model for one word.
 */
export interface ModelTestRequest {
  role?: ModelRole;
}
/**
 * A session that waits for a model.
 */
export interface PausedSession {
  id: string;
  /**
   * The limit that was reached, by its key; without one, the model cannot be reached.
   */
  limit?: string | null;
  reason: string;
}
/**
 * A registered repository that has a store.
 */
export interface ProjectAddReport {
  /**
   * The id that `nacre undo` takes; nothing where nothing changed.
   */
  change?: string | null;
  /**
   * What was made now; nothing when the store was there already.
   */
  created: string[];
  /**
   * Of these, memories that came from elsewhere and wait for `nacre trust`.
   */
  foreign?: number;
  /**
   * Whether any agent's sessions were found, of whatever folder.
   */
  has_agents?: boolean;
  is_git: boolean;
  /**
   * There may be more sessions: the look was ended early.
   */
  is_partial?: boolean;
  memories: number;
  /**
   * Of these, sessions that no sync has finished.
   */
  new_sessions?: number;
  /**
   * A command to try next.
   */
  next: string;
  path: string;
  /**
   * `null` when it could not be registered.
   */
  project?: string | null;
  root: string;
  /**
   * The sessions of this repository that the agents hold.
   */
  sessions?: AgentSessions[];
  /**
   * Whether git shares the summaries of sessions.
   */
  shares_summaries: boolean;
  /**
   * Agents that left sessions here and that a person took out, so that they are not read.
   */
  switched_off?: string[];
}
/**
 * Prepares the repository at a path, as `init` does for the one around the current folder.
 */
export interface ProjectAddRequest {
  /**
   * Its name; without it, the one it has, or the folder's.
   */
  name?: string | null;
  /**
   * The repository's folder.
   */
  path: string;
}
/**
 * The registered projects, in the order of the register.
 */
export interface ProjectListReport {
  projects: ProjectEntry[];
}
/**
 * A project that is no longer registered.
 */
export interface ProjectRemoveReport {
  /**
   * The id that `nacre undo` takes; nothing where nothing changed.
   */
  change?: string | null;
  /**
   * Its name.
   */
  removed: string;
}
/**
 * Takes a project out of the register. Its files stay.
 */
export interface ProjectRemoveRequest {
  name: string;
}
/**
 * The sessions that were changed.
 */
export interface QueueChangeReport {
  done: QueueChange;
  ids: string[];
}
/**
 * A session's place in the queue.
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
   * It is not tried again before this time.
   */
  not_before?: string | null;
  project?: string | null;
  reason?: string | null;
  /**
   * The run that it became part of.
   */
  run?: string | null;
  state: JobState;
  title?: string | null;
}
/**
 * Sessions of the queue, the latest change first.
 */
export interface QueueListReport {
  jobs: QueueJob[];
  /**
   * How many there are, listed or not.
   */
  total: number;
}
/**
 * Which sessions of the queue to list.
 */
export interface QueueListRequest {
  /**
   * At most this many; 0 for all. Without it, the setting `memory.max_results`.
   */
  limit?: number | null;
  status?: JobState | null;
}
/**
 * How well a trace could be read.
 */
export interface ReadReport {
  /**
   * Of these, lines of which nothing could be used.
   */
  bad_lines: number;
  /**
   * Texts that lost their middle.
   */
  cut_texts: number;
  /**
   * Lines with bytes that are not UTF-8.
   */
  invalid_utf8: number;
  /**
   * Events beyond those that are read of one session.
   */
  left_out: number;
  /**
   * Whole lines or rows that were read.
   */
  lines: number;
  /**
   * Lines beyond the line cap.
   */
  long_lines: number;
  /**
   * Lines saved in part.
   */
  mended_lines: number;
  /**
   * Messages that the trace holds twice.
   */
  repeated: number;
  /**
   * Where an unfinished last line starts.
   */
  torn_tail?: number | null;
  /**
   * Records of a type that is not known.
   */
  unknown_records: number;
  /**
   * Their types and counts, at most 32.
   */
  unknown_types: {
    [k: string]: number;
  };
}
/**
 * Which project to read again, and how many of its changes to list.
 */
export interface RefreshRequest {
  /**
   * Continue after this path, the `next` of the answer before.
   */
  after?: string | null;
  /**
   * List at most this many files; 0 or nothing for all.
   */
  limit?: number | null;
  /**
   * A folder inside the project, or a registered name. Without it, the project around the current folder.
   */
  project?: string | null;
}
/**
 * A candidate with what proves it.
 */
export interface ReviewCandidate {
  /**
   * Situations in which it should be told.
   */
  applies?: string[];
  archived: boolean;
  body: string;
  confidence?: number | null;
  created?: string | null;
  id: string;
  /**
   * What kind of learning it is.
   */
  kind?: string | null;
  path: string;
  quotes: MemoryQuote[];
  /**
   * Why it is quarantined, where it is.
   */
  reason?: string | null;
  related: string[];
  scope: StoreScope;
  status: string;
  tags: string[];
  title: string;
  /**
   * How far it is trusted on this machine, where it is less than the agent's own word.
   */
  trust?: TrustLevel | null;
  type: MemoryType;
  updated?: string | null;
}
/**
 * Candidates, the newest first.
 */
export interface ReviewListReport {
  broken: BrokenFile[];
  candidates: ReviewCandidate[];
  /**
   * How many there are, listed or not.
   */
  total: number;
}
/**
 * Which candidates to list.
 */
export interface ReviewListRequest {
  /**
   * At most this many; 0 for all. Without it, the setting `memory.max_results`.
   */
  limit?: number | null;
  scope?: Scope | null;
}
/**
 * A run, in a line.
 */
export interface RunEntry {
  /**
   * An undo counts nothing.
   */
  counts?: RunCounts | null;
  id: string;
  /**
   * Nothing where its report cannot be read.
   */
  mode?: RunMode | null;
  /**
   * The trace that it read, or the run that it took back.
   */
  of: string;
}
/**
 * The runs of a project, newest first.
 */
export interface RunListReport {
  runs: RunEntry[];
  /**
   * How many there are, listed or not.
   */
  total: number;
}
/**
 * How many runs to list.
 */
export interface RunListRequest {
  /**
   * At most this many; 0 for all. Without it, the setting `memory.max_results`.
   */
  limit?: number | null;
}
/**
 * What a sync of one session took.
 */
export interface SyncMetrics {
  candidates: number;
  cost_usd: number;
  denied_writes: number;
  /**
   * Proposals that were turned away, by reason.
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
   * Secrets that were kept out, by their kind.
   */
  redactions: {
    [k: string]: number;
  };
  run_id: string;
  /**
   * Pieces of code that a model wrote to explore it.
   */
  steps: number;
  strategy: Strategy;
  tokens: TokenCounts;
  /**
   * Calls of models whose price is not known.
   */
  unpriced_calls: number;
  /**
   * Events that a model did not get to see because the session is too long.
   */
  unread_events: number;
  /**
   * Windows whose answers could not be used, or that were too many.
   */
  unread_windows: number;
  windows: number;
}
/**
 * How long each step of a sync took, in milliseconds.
 */
export interface SyncDurations {
  decide: number;
  lead: number;
  read: number;
}
/**
 * One run of a change that is several.
 */
export interface RunOfChange {
  id: string;
  /**
   * What it took; an undo measures nothing.
   */
  metrics?: RunMetrics | null;
  /**
   * What it did; nothing where that cannot be read.
   */
  report?: RunReport | null;
}
/**
 * What a run over one session did.
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
   * Proposals that were turned away, by reason.
   */
  dropped: {
    [k: string]: number;
  };
  /**
   * Why the session was not read as it should have been.
   */
  fallback?: string | null;
  finished_at: string;
  /**
   * Why the lead settled nothing, so that the rule did.
   */
  lead_error?: string | null;
  /**
   * The limit that stood in the way, by its key.
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
 * What became of one candidate.
 */
export interface SessionAction {
  action: CandidateVerb;
  band: Band;
  by: DecidedBy;
  candidate: string;
  likelihood?: number | null;
  /**
   * The memory that it was compared with.
   */
  nearest?: string | null;
  /**
   * The lead's own words, and those of the memory or candidate that it goes by.
   */
  note?: string | null;
  quote?: string | null;
  reason: string;
  relation?: Relation | null;
  scores?: ActionScores | null;
  signal: Signal;
  supersedes?: string | null;
  /**
   * The memory that was made, changed or found to say it.
   */
  target?: string | null;
  title: string;
}
/**
 * What an undo did, as its run folder says.
 */
export interface UndoRunReport {
  actions: UndoAction[];
  finished_at: string;
  mode: RunMode;
  /**
   * The change that was taken back.
   */
  of: string;
  run_id: string;
  /**
   * Its runs in this store.
   */
  runs?: string[];
  written_paths: string[];
}
/**
 * A file that was put back.
 */
export interface UndoAction {
  action: UndoVerb;
  /**
   * The memory that the file belongs to.
   */
  target: string;
}
/**
 * One run.
 */
export interface RunShowReport {
  id: string;
  /**
   * What it took; an undo measures nothing.
   */
  metrics?: RunMetrics | null;
  /**
   * What it did; nothing where that cannot be read.
   */
  report?: RunReport | null;
  /**
   * The runs of a change that is several: one a session of a sync.
   */
  runs?: RunOfChange[];
}
/**
 * A server that runs.
 */
export interface ServiceStatus {
  /**
   * As `host:port`.
   */
  address: string;
  /**
   * A person paused what it does by itself.
   */
  paused: boolean;
}
/**
 * A session that was seen.
 */
export interface SessionEntry {
  facts: SessionFacts;
  id: string;
  /**
   * Its name inside a source that holds several.
   */
  inner_id?: string | null;
  /**
   * The file or database that holds it.
   */
  path: string;
  /**
   * The root of its project, where that is registered.
   */
  project?: string | null;
  /**
   * Why it is in that state.
   */
  reason?: string | null;
  report: ReadReport;
  state: JobState;
}
/**
 * A session as a whole.
 */
export interface SessionFacts {
  agent: string;
  /**
   * The version of the agent's program that wrote the trace last.
   */
  agent_version?: string | null;
  counts: EventCounts;
  /**
   * The working directory the session began in.
   */
  cwd?: string | null;
  ending: SessionEnding;
  git_branch?: string | null;
  /**
   * The agent's own id of the session.
   */
  id: string;
  last_activity?: string | null;
  links: SessionLink[];
  models: string[];
  other_branches: string[];
  other_cwds: string[];
  /**
   * The repository's address, without credentials.
   */
  repository?: string | null;
  role: SessionRole;
  started?: string | null;
  title?: string | null;
  tokens: SessionTokens;
  undone: UndoneEvents[];
}
/**
 * Another session that this one depends on.
 */
export interface SessionLink {
  /**
   * The call in the other session that made this one.
   */
  call?: string | null;
  kind: SessionLinkKind;
  /**
   * The other session's id.
   */
  session: string;
}
/**
 * Tokens of all model calls of a session.
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
   * Without what came from a cache.
   */
  input: number;
  output: number;
  /**
   * Part of `output`, where the agent tells it apart.
   */
  reasoning: number;
}
/**
 * Events `from..=to` that the person took back.
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
   * How many were skipped, by reason.
   */
  skipped: {
    [k: string]: number;
  };
  /**
   * How many are in each state.
   */
  states: {
    [k: string]: number;
  };
}
/**
 * A source that could not be read, and why.
 */
export interface SourceProblem {
  path: string;
  reason: string;
}
/**
 * What models used in one scope.
 */
export interface SpendingStatus {
  calls: number;
  cost_usd: number;
  /**
   * Whether nothing more may be asked.
   */
  is_reached: boolean;
  limit_tokens: number;
  limit_usd: number;
  scope: SpendingScope;
  tokens: number;
  /**
   * Calls whose price is not known: only their tokens are counted.
   */
  unpriced_calls: number;
}
/**
 * What there is.
 */
export interface StatusReport {
  /**
   * When that was.
   */
  checked?: string | null;
  /**
   * What is wrong with the settings of the repository.
   */
  config?: string | null;
  /**
   * The database that servers share, where one is set.
   */
  database?: DatabaseStatus | null;
  health: Health;
  last_sync?: string | null;
  /**
   * The name of the project around the current folder.
   */
  project?: string | null;
  /**
   * How many projects are registered.
   */
  projects: number;
  root?: string | null;
  scope: Scope;
  /**
   * The server that runs for this home.
   */
  service?: ServiceStatus | null;
  sessions: SessionStatus[];
  /**
   * Whether every session seen is in exactly one state.
   */
  sessions_add_up: boolean;
  /**
   * What models used, beside what they may.
   */
  spending: SpendingStatus[];
  stores: StoreStatus[];
  /**
   * Agents that left sessions here and that a person took out, so that they are not read.
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
   * Candidates that wait for a person's word.
   */
  candidates: number;
  /**
   * Memories that came from elsewhere and wait for `nacre trust`.
   */
  foreign?: number;
  memories: TypeCount[];
  path: string;
  /**
   * Memories that give an order which the person did not give.
   */
  quarantined?: number;
  scope: StoreScope;
  /**
   * When the newest memory was updated.
   */
  updated?: string | null;
}
/**
 * How many memories of one type there are.
 */
export interface TypeCount {
  active: number;
  archived: number;
  type: MemoryType;
}
/**
 * The sessions that no sync has finished, and why.
 */
export interface WaitingSessions {
  /**
   * Written to a moment ago.
   */
  active?: LaterSessions | null;
  /**
   * Of folders that are not set up, most sessions first.
   */
  not_set_up: FolderSessions[];
  /**
   * Due now.
   */
  ready: number;
  /**
   * Failed, and tried again later.
   */
  retried?: LaterSessions | null;
}
/**
 * What a sync did.
 */
export interface SyncReport {
  /**
   * Another process holds a store; the rest stays in the queue.
   */
  busy?: boolean;
  bytes: number;
  /**
   * Queued sessions whose trace is gone.
   */
  gone: number;
  /**
   * The memories that were made or changed, as they are now.
   */
  learned?: LearnedMemory[];
  /**
   * Sources left for the next sync.
   */
  left: number;
  /**
   * Where sessions were looked for, where none was found.
   */
  looked_in?: LookedIn[];
  /**
   * A command to try next.
   */
  next?: string | null;
  /**
   * The folder that the command was run in, where it is not set up.
   */
  not_set_up_here?: FolderSessions | null;
  /**
   * Sessions that wait for a model: the first of each project.
   */
  paused: PausedSession[];
  problems: SourceProblem[];
  /**
   * Sessions that were read.
   */
  read: number;
  /**
   * Sessions whose project was registered since they were read.
   */
  readmitted: number;
  /**
   * Of these, resumed where the last read ended.
   */
  resumed: number;
  /**
   * Sessions that other words of `redact.extra` were taken out of.
   */
  reworded: number;
  /**
   * The name of this sync.
   */
  run: string;
  sessions: SyncedSession[];
  /**
   * Files and databases that were found.
   */
  sources: number;
  /**
   * Agents that left sessions here and that a person took out, so that they are not read.
   */
  switched_off?: string[];
  totals?: SyncTotals;
  /**
   * Of these, not opened.
   */
  unchanged: number;
  waiting?: WaitingSessions;
}
/**
 * The sums of a sync.
 */
export interface SyncTotals {
  /**
   * Of these, in use at once.
   */
  active: number;
  /**
   * New memories.
   */
  added: number;
  /**
   * What models cost.
   */
  cost_usd: number;
  /**
   * Sessions that failed.
   */
  failed: number;
  /**
   * Sessions that were made into memories.
   */
  sessions: number;
  /**
   * Summaries of sessions.
   */
  summaries: number;
  /**
   * Memories that were overturned.
   */
  superseded: number;
  /**
   * Of these, waiting for `nacre review`.
   */
  to_review: number;
  /**
   * Memories that say more now.
   */
  updated: number;
}
/**
 * What to sync, and how.
 */
export interface SyncRequest {
  /**
   * Only these agents; none for all that are connected.
   */
  agents?: string[];
  /**
   * Read also what did not change.
   */
  force?: boolean;
  /**
   * Run although another sync is running.
   */
  ignore_lock?: boolean;
  /**
   * Stop after this many sessions.
   */
  max_sessions?: number | null;
  mode?: SyncMode;
  /**
   * Read and queue sessions without making memories of them.
   */
  no_extract?: boolean;
  /**
   * The name of this run.
   */
  run_id?: string | null;
  /**
   * In place of what is set.
   */
  runtime?: LeadRuntime | null;
  /**
   * Only traces changed since this day, moment or age.
   */
  since?: string | null;
  strategy?: StrategyChoice | null;
  /**
   * Only traces changed before this day, moment or age.
   */
  until?: string | null;
}
/**
 * What became of a task that was cancelled, and of those that it had started.
 */
export interface TaskCancelReport {
  /**
   * They are running; the process that runs them ends them.
   */
  asked: string[];
  /**
   * They were waiting, and are over.
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
   * How many events it has.
   */
  events: number;
  id: string;
  /**
   * The task that started it.
   */
  parent?: string | null;
  project?: string | null;
  /**
   * Why it ended.
   */
  reason?: string | null;
  session: string;
  started?: string | null;
  state: TaskState;
  title: string;
}
/**
 * One event. Its fields are what the version that ran the task wrote; `event` is its name.
 */
export interface TaskEvent {
  at: string;
  sequence: number;
  [k: string]: unknown;
}
/**
 * Tasks, the latest first.
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
 * How one tool fared.
 */
export interface ToolStats {
  bytes_out: number;
  cache_hits: number;
  calls: number;
  /**
   * Failed calls by their fault.
   */
  errors: {
    [k: string]: number;
  };
  p50_us: number;
  p95_us: number;
  /**
   * What of it models were shown.
   */
  shown_bytes: number;
  tool: string;
}
/**
 * How tools fared, by name.
 */
export interface ToolStatsReport {
  tools: ToolStats[];
}
/**
 * Something that was said or done in a session.
 */
export interface TraceEvent {
  at?: string | null;
  /**
   * Links a tool result to its call.
   */
  call?: string | null;
  error: boolean;
  /**
   * The size before it was cut.
   */
  full_bytes: number;
  /**
   * Why the text is not a person's, where it was injected.
   */
  injected?: string | null;
  /**
   * The agent's own id of the record.
   */
  key?: string | null;
  kind: TraceEventKind;
  lane: TraceLane;
  /**
   * Where a person's words came from.
   */
  person?: string | null;
  place: TracePlace;
  sequence: number;
  /**
   * The text, or its beginning where it was cut.
   */
  text: string;
  /**
   * The end of a text that was cut.
   */
  text_end: string;
  tool?: string | null;
}
/**
 * A message that was found.
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
   * The words around what was found.
   */
  snippet: string;
  title?: string | null;
  why: TraceHitReason;
}
/**
 * Why a message was found.
 */
export interface TraceHitReason {
  /**
   * How near its meaning is to the query's, from 0 to 1.
   */
  similarity: number;
  /**
   * Terms of the query that it contains.
   */
  terms: string[];
}
/**
 * Sessions, the latest first.
 */
export interface TraceListReport {
  sessions: SessionEntry[];
  /**
   * How many there are, listed or not.
   */
  total: number;
}
/**
 * Which sessions to list.
 */
export interface TraceListRequest {
  agent?: string | null;
  /**
   * Sessions of all projects, not only of this one.
   */
  all?: boolean;
  /**
   * At most this many; 0 for all. Without it, the setting `memory.max_results`.
   */
  limit?: number | null;
  /**
   * How many to pass over.
   */
  offset?: number;
  /**
   * Only sessions active since this day, moment or age.
   */
  since?: string | null;
}
/**
 * Messages that were found, best first.
 */
export interface TraceSearchReport {
  hits: TraceHit[];
  query: string;
}
/**
 * What to look for in what was said.
 */
export interface TraceSearchRequest {
  agent?: string | null;
  /**
   * Sessions of all projects, not only of this one.
   */
  all?: boolean;
  /**
   * At most this many. Without it, the setting `memory.max_results`.
   */
  limit?: number | null;
  mode?: SearchMode;
  /**
   * Words, quoted phrases and filters.
   */
  query: string;
  /**
   * Only what was said since this day, moment or age.
   */
  since?: string | null;
}
/**
 * One session and its events, in order.
 */
export interface TraceShowReport {
  events: TraceEvent[];
  session: SessionEntry;
}
/**
 * Which session to show, and how much of it.
 */
export interface TraceShowRequest {
  /**
   * Also reasoning, injected text and records of unknown kinds.
   */
  full?: boolean;
  /**
   * Its id, or the start of it; `ID:SEQUENCE` starts at one event.
   */
  id: string;
  /**
   * At most this many events.
   */
  limit?: number | null;
}
/**
 * One of them.
 */
export interface TrustItem {
  /**
   * Situations in which it should be told.
   */
  applies?: string[];
  archived: boolean;
  /**
   * Its file as it was trusted before, where git still has that.
   */
  before?: string | null;
  /**
   * Whether it was trusted once, and something else than Nacre changed it since.
   */
  changed: boolean;
  /**
   * On which day.
   */
  committed?: string | null;
  /**
   * Who committed it last, as git says.
   */
  committed_by?: string | null;
  confidence?: number | null;
  created?: string | null;
  /**
   * The hash of its file.
   */
  hash: string;
  id: string;
  /**
   * What kind of learning it is.
   */
  kind?: string | null;
  path: string;
  /**
   * Why it waits.
   */
  reason: string;
  related: string[];
  scope: StoreScope;
  status: string;
  tags: string[];
  /**
   * Its file.
   */
  text?: string | null;
  title: string;
  /**
   * How far it is trusted on this machine, where it is less than the agent's own word.
   */
  trust?: TrustLevel | null;
  /**
   * Whether the person's word was just taken.
   */
  trusted: boolean;
  type: MemoryType;
  updated?: string | null;
}
/**
 * The memories that wait for a person, or that were just trusted.
 */
export interface TrustReport {
  /**
   * The id that `nacre undo` takes; nothing where nothing changed.
   */
  change?: string | null;
  dry_run: boolean;
  /**
   * How many still came from elsewhere.
   */
  foreign: number;
  memories: TrustItem[];
  /**
   * How many wait besides these: so many at once are neither shown nor trusted.
   */
  more?: number;
  /**
   * How many are still quarantined.
   */
  quarantined: number;
  /**
   * How many were trusted.
   */
  trusted: number;
}
/**
 * The changes of this project and of the person's own store, the newest first.
 */
export interface UndoListReport {
  changes: ChangeEntry[];
  /**
   * How many there are, listed or not.
   */
  total: number;
}
/**
 * How many changes to list.
 */
export interface UndoListRequest {
  /**
   * At most this many; 0 for all. Without it, the setting `memory.max_results`.
   */
  limit?: number | null;
}
/**
 * What was put back.
 */
export interface UndoReport {
  /**
   * The files as they are and as they would be; only in a dry run.
   */
  changes?: PlannedChange[] | null;
  /**
   * What was typed then, without `nacre`.
   */
  command: string;
  dry_run: boolean;
  /**
   * What was left as it is, because it was changed since.
   */
  kept: KeptFile[];
  memories: UndoneMemory[];
  /**
   * What is to be known besides.
   */
  notes?: string[];
  /**
   * The change that was taken back.
   */
  of: string;
  paths: string[];
  /**
   * The change that did it, which can itself be undone.
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
 * Which change to take back, and how.
 */
export interface UndoRequest {
  /**
   * Say what would be put back, and change nothing.
   */
  dry_run?: boolean;
  /**
   * Leave memories as they are that were changed since, and put back the others.
   */
  keep_changed?: boolean;
  /**
   * The newest change that is not undone.
   */
  last?: boolean;
  /**
   * The id of a change or of one run, or the start or end of it. Nothing with `last`.
   */
  run?: string;
}
