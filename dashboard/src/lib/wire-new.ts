// Wire types that docs/schema.json does not contain yet. Once it does, `npm run types` generates them.
import type { MemoryEntry, ModelStats, ToolStats, EdgeKind } from './wire';

export interface HealthReport {
  status: string;
  version: string;
}

/** The secret that a page sends from then on, as `Authorization: Bearer SECRET`. */
export interface LoginReport {
  secret: string;
}

/** The state of one of the service's background jobs. */
export interface ServiceLoop {
  name: string;
  state: 'idle' | 'running' | 'paused' | 'waiting';
  every_s: number;
  last: string | null;
  next: string | null;
  last_error: string | null;
  /** A short description of the last result. */
  last_result: string | null;
}

export interface ServiceReport {
  version: string;
  started: string;
  address: string;
  loops: ServiceLoop[];
  pid: number;
  /** The number of clients that receive events. */
  listeners: number;
  paused: boolean;
}

/** One day of the overview. */
export interface OverviewDay {
  day: string;
  /** Sessions by agent. */
  sessions: Record<string, number>;
  sessions_read: number;
  learned: number;
  /** Without tokens read from a cache. */
  input_tokens: number;
  /** Read from a cache or written to it. */
  cached_tokens?: number;
  output_tokens: number;
  /** The cost of Nacre's own model calls, in billionths of a dollar; `null` if a price is unknown. */
  cost_nano_dollars: number | null;
  runs: number;
}

export interface OverviewAgent {
  agent: string;
  sessions: number;
  input_tokens: number;
  cached_tokens?: number;
  output_tokens: number;
  last: string | null;
}

export interface OverviewReport {
  since: string;
  until: string;
  days: OverviewDay[];
  agents: OverviewAgent[];
  /** Memories by status. */
  memories: Record<string, number>;
  growth: { day: string; total: number }[];
  models: ModelStats[];
  tools: ToolStats[];
}

export type GraphNode = MemoryEntry & { degree: number };

export interface GraphEdge {
  from: string;
  to: string;
  kind: EdgeKind;
  /** The tag, file or symbol that both share. */
  shared?: string | null;
}

export interface GraphReport {
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** The number of memories beyond the limit. */
  left_out: number;
  left_out_edges?: number;
}

export interface TaskRef {
  task: string;
}

export interface RunStatsReport {
  models: ModelStats[];
  tools: ToolStats[];
}

export interface RunMessage {
  role: string;
  text: string;
  at?: string | null;
  tool?: string | null;
}

export interface RunMessagesReport {
  run: string;
  messages: RunMessage[];
  /** The number of messages beyond the limit. */
  left_out?: number;
}

export interface MemoryWriteRequest {
  /** The whole Markdown file: frontmatter and body. */
  text: string;
}

export interface ReviewDecideRequest {
  ids: string[];
  decision: 'accept' | 'reject';
  /** The memory that the single candidate supersedes. */
  supersedes?: string | null;
}

export type StreamTaskState = 'accepted' | 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
export type ChangedWhat = 'memories' | 'queue' | 'projects' | 'config' | 'map' | 'service';

interface StreamBase {
  at: string;
  task: string | null;
  project: string | null;
}

/** An event sent by `GET /api/events`. */
export type StreamEvent = StreamBase &
  (
    | { event: 'task'; state: StreamTaskState; agent: string; title: string }
    | { event: 'step' | 'note' | 'words'; text: string }
    | { event: 'sentence'; text: string; starts_line: boolean }
    | { event: 'progress'; done: number; total: number; bytes: number }
    | { event: 'warning'; message: string; hint: string | null }
    | { event: 'changed'; what: ChangedWhat }
    | { event: 'missed' }
  );
