// The HTTP API client: one typed function per route, and one error class.
import { dropLogin, keepLogin, loginSecret } from './login';
import type * as W from './wire';
import type * as N from './wire-new';

/** A failed request, described by the server or by the browser. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly causes: string[] = [],
    readonly hints: string[] = [],
    /** Seconds to wait before retrying, if the server sent them. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
    this.name = 'ApiError';
  }

  /** True if no one is logged in; `nacre dashboard` opens a new login link. */
  get isLogin(): boolean {
    return this.status === 401;
  }

  /** True if someone else changed the same data in the meantime. */
  get isConflict(): boolean {
    return this.code === 'conflict';
  }

  /** True if there was no response. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

type Value = string | number | boolean | null | undefined;
export type Query = Record<string, Value | Value[]>;

interface Call {
  query?: Query;
  body?: unknown;
  ifMatch?: string;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** A response with the version to send in `If-Match`. */
export interface Versioned<T> {
  value: T;
  version: string | null;
}

/** A memory with the complete text of its file. */
export type MemoryDetail = W.MemoryShowReport & { text: string };

const LOGIN = '/api/login';

let project: string | null = null;
let onLogin: () => void = () => {};

/** Sets the project for all requests; `null` selects the only registered one. */
export function setProject(name: string | null): void {
  project = name;
}

export function currentProject(): string | null {
  return project;
}

/** Sets the function that is called when the server requires a login. */
export function setLoginHandler(handler: () => void): void {
  onLogin = handler;
}

/** Builds the URL of a route. Lists repeat their key, and empty values are left out. */
export function address(path: string, query: Query = {}): string {
  const params = new URLSearchParams();
  const all: Query = project === null || 'project' in query ? query : { ...query, project };
  for (const [key, value] of Object.entries(all)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      const isUsual = one === null || one === undefined || one === '' || one === false || (key === 'offset' && one === 0);
      if (!isUsual) params.append(key, String(one));
    }
  }
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

async function send(method: string, path: string, call: Call): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...call.headers };
  if (call.body !== undefined) headers['Content-Type'] = 'application/json';
  if (call.ifMatch !== undefined) headers['If-Match'] = `"${call.ifMatch}"`;
  const secret = loginSecret();
  if (secret !== null) headers.Authorization = `Bearer ${secret}`;
  const init: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store' };
  if (call.body !== undefined) init.body = JSON.stringify(call.body);
  if (call.signal) init.signal = call.signal;
  let response: Response;
  try {
    response = await fetch(address(path, call.query), init);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(0, 'unavailable', 'The server is not responding', [], ['Start it with: nacre serve']);
  }
  if (response.ok) return response;
  const error = await readError(response);
  if (error.isLogin) {
    if (secret !== null && path !== LOGIN) dropLogin(secret);
    onLogin();
  }
  throw error;
}

/** Whether the page itself aborted a request, which is not reported as an error. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Converts any thrown value to an `ApiError`. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(-1, 'failed', error instanceof Error ? error.message : String(error));
}

async function readError(response: Response): Promise<ApiError> {
  const after = Number(response.headers.get('Retry-After'));
  const retryAfter = Number.isFinite(after) && after > 0 ? after : null;
  try {
    const { error } = (await response.json()) as W.ErrorReport;
    return new ApiError(response.status, error.code, error.message, error.causes, error.hints, retryAfter);
  } catch {
    const message = `The server responded with ${response.status} ${response.statusText}`.trim();
    return new ApiError(response.status, 'failed', message, [], ['See its log with: nacre logs'], retryAfter);
  }
}

async function json<T>(method: string, path: string, call: Call = {}): Promise<T> {
  const response = await send(method, path, call);
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

async function versioned<T>(path: string, call: Call): Promise<Versioned<T>> {
  const response = await send('GET', path, call);
  const tag = response.headers.get('ETag');
  return { value: (await response.json()) as T, version: tag === null ? null : tag.replace(/^W\//, '').replaceAll('"', '') };
}

/** Converts the fields of a request to query parameters. */
function asQuery(request: object | undefined): Query {
  return { ...(request as Query | undefined) };
}

const part = encodeURIComponent;
// Keeps a position in a session, `ID:SEQ`, readable in the URL.
const placePart = (id: string): string => part(id).replaceAll('%3A', ':');

type Abort = AbortSignal | undefined;
const get = <T>(path: string, request?: object, signal?: Abort): Promise<T> =>
  json<T>('GET', path, signal ? { query: asQuery(request), signal } : { query: asQuery(request) });
const post = <T>(path: string, body: unknown = {}, signal?: Abort): Promise<T> =>
  json<T>('POST', path, signal ? { body, signal } : { body });

/** A started task, or its report if it finished immediately. */
export type Started<T> = N.TaskRef | T;

export function isStarted(answer: object): answer is N.TaskRef {
  return Object.keys(answer).length === 1 && 'task' in answer;
}

export type MemoryPage = W.MemoryListRequest & { offset?: number };
export type SessionPage = W.TraceListRequest & { offset?: number };

export const api = {
  /** Exchanges the login link's code for the secret that is sent with all later requests. */
  login: async (code: string) => keepLogin((await post<N.LoginReport>(LOGIN, { code })).secret),
  health: () => get<N.HealthReport>('/api/health'),
  status: (signal?: Abort) => get<W.StatusReport>('/api/status', {}, signal),
  service: (signal?: Abort) => get<N.ServiceReport>('/api/service', {}, signal),
  pauseService: () => post<N.ServiceReport>('/api/service/pause'),
  resumeService: () => post<N.ServiceReport>('/api/service/resume'),
  overview: (since?: string, signal?: Abort) => get<N.OverviewReport>('/api/overview', { since }, signal),
  doctor: (signal?: Abort) => get<W.DoctorReport>('/api/doctor', {}, signal),

  ask: (request: W.AskRequest) => post<Started<W.AskReport>>('/api/ask', request),
  sync: (request: W.SyncRequest = {}) => post<Started<W.SyncReport>>('/api/sync', request),
  maintain: (request: W.MaintainRequest = {}) => post<Started<W.MaintainReport>>('/api/maintain', request),

  memories: (request?: MemoryPage, signal?: Abort) => get<W.MemoryListReport>('/api/memories', request, signal),
  addMemory: (request: W.MemoryAddRequest) => post<W.MemoryChangeReport>('/api/memories', request),
  memory: (id: string, request: { evidence?: boolean; history?: boolean } = {}, signal?: Abort) =>
    versioned<MemoryDetail>(`/api/memories/${part(id)}`, signal ? { query: asQuery({ ...request, text: true }), signal } : { query: asQuery({ ...request, text: true }) }),
  writeMemory: (id: string, text: string, version: string) =>
    json<W.MemoryChangeReport>('PUT', `/api/memories/${part(id)}`, { body: { text } satisfies N.MemoryWriteRequest, ifMatch: version }),
  archiveMemory: (id: string, version: string) =>
    json<W.MemoryChangesReport>('DELETE', `/api/memories/${part(id)}`, { ifMatch: version }),
  restoreMemory: (id: string) => post<W.MemoryChangesReport>(`/api/memories/${part(id)}/restore`),
  forgetMemory: (id: string) => post<W.MemoryChangesReport>(`/api/memories/${part(id)}/forget`),
  feedback: (id: string, request: Omit<W.FeedbackRequest, 'id'>) =>
    post<W.FeedbackReport>(`/api/memories/${part(id)}/feedback`, request),
  related: (id: string, limit?: number, signal?: Abort) =>
    get<W.MemoryRelatedReport>(`/api/memories/${part(id)}/related`, { limit }, signal),
  search: (request: W.MemorySearchRequest, signal?: Abort) => get<W.MemorySearchReport>('/api/search', request, signal),
  brief: (signal?: Abort) => get<W.BriefReport>('/api/brief', {}, signal),
  review: (request?: W.ReviewListRequest, signal?: Abort) => get<W.ReviewListReport>('/api/review', request, signal),
  decide: (request: N.ReviewDecideRequest) => post<W.MemoryChangesReport>('/api/review', request),
  trust: (signal?: Abort) => get<W.TrustReport>('/api/trust', {}, signal),
  graph: (request: { limit?: number; archived?: boolean; all?: boolean } = {}, signal?: Abort) =>
    get<N.GraphReport>('/api/graph', request, signal),

  sessions: (request?: SessionPage, signal?: Abort) => get<W.TraceListReport>('/api/sessions', request, signal),
  searchSessions: (request: W.TraceSearchRequest, signal?: Abort) =>
    get<W.TraceSearchReport>('/api/sessions/search', request, signal),
  /** `id` may include a position to start at, `ID:SEQ`. */
  session: (id: string, request: { full?: boolean; limit?: number } = {}, signal?: Abort) =>
    get<W.TraceShowReport>(`/api/sessions/${placePart(id)}`, request, signal),

  connections: (signal?: Abort) => get<W.ConnectReport>('/api/connect', {}, signal),
  connect: (request: W.ConnectRequest) => post<W.ConnectReport>('/api/connect', request),
  disconnect: (agent: string) => json<W.ConnectReport>('DELETE', `/api/connect/${part(agent)}`),
  projects: (signal?: Abort) => get<W.ProjectListReport>('/api/project/list', {}, signal),
  addProject: (request: W.ProjectAddRequest) => post<W.ProjectAddReport>('/api/project/add', request),
  removeProject: (name: string) => post<W.ProjectRemoveReport>('/api/project/remove', { name }),

  runs: (request?: W.LimitRequest, signal?: Abort) => get<W.RunListReport>('/api/runs', request, signal),
  runStats: (signal?: Abort) => get<N.RunStatsReport>('/api/runs/stats', {}, signal),
  run: (id: string, signal?: Abort) => get<W.RunShowReport>(`/api/runs/${part(id)}`, {}, signal),
  runMessages: (id: string, signal?: Abort) => get<N.RunMessagesReport>(`/api/runs/${part(id)}/messages`, {}, signal),
  undoRun: (id: string, request: { keep_changed?: boolean; dry_run?: boolean } = {}) =>
    post<W.UndoReport>(`/api/runs/${part(id)}/undo`, request),
  changes: (request?: W.LimitRequest, signal?: Abort) => get<W.UndoListReport>('/api/changes', request, signal),
  queue: (request?: W.QueueListRequest, signal?: Abort) => get<W.QueueListReport>('/api/queue', request, signal),
  retryJob: (id: string) => post<W.QueueChangeReport>(`/api/queue/${part(id)}/retry`),
  skipJob: (id: string) => post<W.QueueChangeReport>(`/api/queue/${part(id)}/skip`),

  config: (signal?: Abort) => get<W.ConfigShowReport>('/api/config', {}, signal),
  setConfig: (request: W.ConfigSetRequest) => json<W.ConfigSetReport>('PATCH', '/api/config', { body: request }),
  models: (signal?: Abort) => get<W.ModelListReport>('/api/models', {}, signal),
  testModel: (request: W.ModelTestRequest) => post<W.ModelTestReport>('/api/models/test', request),

  tasks: (limit?: number, signal?: Abort) => get<W.TaskListReport>('/api/tasks', { limit }, signal),
  task: (id: string, signal?: Abort) => get<W.TaskShowReport>(`/api/tasks/${part(id)}`, {}, signal),
  taskReport: <T>(id: string, signal?: Abort) => get<T>(`/api/tasks/${part(id)}/report`, {}, signal),
  cancelTask: (id: string) => post<W.TaskCancelReport>(`/api/tasks/${part(id)}/cancel`),

  explore: (request: W.ExploreRequest = {}, signal?: Abort) => post<W.ExploreReport>('/v1/explore', request, signal),
  delta: (request: W.DeltaRequest = {}, signal?: Abort) => post<W.DeltaReport>('/v1/delta', request, signal),
  context: (request: W.ContextRequest, signal?: Abort) => post<W.ContextReport>('/v1/context', request, signal),
  refreshMap: (request: W.RefreshRequest = {}) => post<Started<W.ExploreReport>>('/v1/refresh', request),
};

export type StreamState = 'connecting' | 'open' | 'closed';

export interface StreamOptions {
  /** Receive only the events of this task. */
  task?: string;
  onEvent: (event: N.StreamEvent) => void;
  onState?: (state: StreamState) => void;
  signal: AbortSignal;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
// The server sends a comment every 15 s; if three are missed, the connection is lost.
const SILENCE_MS = 45_000;

/**
 * Reads the server's events until `signal` aborts. A lost connection is reopened and resumes after
 * the last received event. Uses `fetch` because `EventSource` can neither send a token nor keep its
 * position after an error response.
 */
export async function streamEvents(options: StreamOptions): Promise<void> {
  let lastId = '';
  let wait = FIRST_WAIT_MS;
  const setState = options.onState ?? (() => {});
  while (!options.signal.aborted) {
    setState('connecting');
    try {
      await readStream(options, lastId, (id, event) => {
        if (id !== null) lastId = id;
        if (event === null) {
          wait = FIRST_WAIT_MS;
          setState('open');
        } else {
          options.onEvent(event);
        }
      });
    } catch (error) {
      if (options.signal.aborted) break;
      if (error instanceof ApiError && error.isLogin) break;
    }
    setState('closed');
    await pause(wait, options.signal);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
  setState('closed');
}

type OnRecord = (id: string | null, event: N.StreamEvent | null) => void;

async function readStream(options: StreamOptions, lastId: string, onRecord: OnRecord): Promise<void> {
  const headers: Record<string, string> = { Accept: 'text/event-stream' };
  if (lastId !== '') headers['Last-Event-ID'] = lastId;
  const silence = new AbortController();
  const signal = AbortSignal.any([options.signal, silence.signal]);
  // Events of all projects are received; the listeners filter them.
  const query: Query = { project: null, task: options.task };
  const response = await send('GET', '/api/events', { query, headers, signal });
  if (response.body === null) return;
  onRecord(null, null);
  const parser = new EventParser(onRecord);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const { value, done } = await reader.read();
      if (done) return;
      parser.push(value);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Splits a text/event-stream into records, regardless of how it arrives in chunks. */
export class EventParser {
  private rest = '';
  private id: string | null = null;
  private data: string[] = [];

  constructor(private readonly onRecord: OnRecord) {}

  push(text: string): void {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line);
  }

  private line(line: string): void {
    if (line === '') return this.end();
    if (line.startsWith(':')) return;
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'id') this.id = value;
    if (field === 'data') this.data.push(value);
  }

  private end(): void {
    const data = this.data.join('\n');
    this.data = [];
    if (data === '') return;
    try {
      this.onRecord(this.id, JSON.parse(data) as N.StreamEvent);
    } catch (error) {
      // Skip records that are not JSON.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}
