// The methods, one for each route.
//
// Written by sdk/generate/generate.py. Do not edit: change routes.toml or the wire types.

import type { Caller, CallOptions, EditOptions, TaskOptions } from "../call.js";
import type { Task } from "../task.js";
import type * as types from "./types.js";

/** The server process and its loops. */
export class Service {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Show the server: version, address, loops, clients.
   *
   * `GET /api/service`
   */
  get(options: CallOptions = {}): Promise<types.ServiceReport> {
    return this.#caller.call({ method: "GET", path: "/api/service" }, options);
  }

  /**
   * Pause the background loops.
   *
   * `POST /api/service/pause`
   */
  pause(options: CallOptions = {}): Promise<types.ServiceReport> {
    return this.#caller.call({ method: "POST", path: "/api/service/pause", body: {} }, options);
  }

  /**
   * Resume the background loops.
   *
   * `POST /api/service/resume`
   */
  resume(options: CallOptions = {}): Promise<types.ServiceReport> {
    return this.#caller.call({ method: "POST", path: "/api/service/resume", body: {} }, options);
  }

  /**
   * Run loops soon, the sync first.
   *
   * `POST /api/service/wake`
   */
  wake(request: types.WakeRequest = {}, options: CallOptions = {}): Promise<types.ServiceReport> {
    return this.#caller.call({ method: "POST", path: "/api/service/wake", body: request }, options);
  }

  /**
   * Stop the server. What runs may end for a few seconds, then it is cancelled.
   *
   * `POST /api/service/stop`
   */
  stop(options: CallOptions = {}): Promise<unknown> {
    return this.#caller.call({ method: "POST", path: "/api/service/stop", body: {} }, options);
  }
}

/** Memories of a project, and those kept for all projects. */
export class Memories {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List memories. `sort` is `updated`, `created`, `title` or `confidence`; `-` before it reverses the order.
   *
   * `GET /api/memories`
   */
  list(request: types.MemoryListRequest = {}, options: CallOptions = {}): Promise<types.MemoryListReport> {
    return this.#caller.call({ method: "GET", path: "/api/memories", query: request }, options);
  }

  /**
   * Add a memory in your own words.
   *
   * `POST /api/memories`
   */
  add(request: types.MemoryAddRequest, options: CallOptions = {}): Promise<types.MemoryChangeReport> {
    return this.#caller.call({ method: "POST", path: "/api/memories", body: request }, options);
  }

  /**
   * Show one memory. With `text`, the whole Markdown file too; `version` names its content.
   *
   * `GET /api/memories/{id}`
   */
  get(id: string, request: Omit<types.MemoryShowRequest, "id"> = {}, options: CallOptions = {}): Promise<types.MemoryShowReport> {
    return this.#caller.call({ method: "GET", path: "/api/memories/{id}", pathValues: { id }, query: request }, options);
  }

  /**
   * Replace the whole Markdown file of a memory, frontmatter and body.
   *
   * `PUT /api/memories/{id}`
   */
  write(id: string, request: Omit<types.MemoryWriteRequest, "id" | "version">, options: EditOptions): Promise<types.MemoryChangeReport> {
    return this.#caller.call({ method: "PUT", path: "/api/memories/{id}", pathValues: { id }, body: request }, options);
  }

  /**
   * Archive a memory. It can be restored.
   *
   * `DELETE /api/memories/{id}`
   */
  archive(id: string, request: Omit<types.MemoryIdsRequest, "ids"> = {}, options: CallOptions = {}): Promise<types.MemoryChangesReport> {
    return this.#caller.call({ method: "DELETE", path: "/api/memories/{id}", pathValues: { id }, query: request }, options);
  }

  /**
   * Restore an archived memory.
   *
   * `POST /api/memories/{id}/restore`
   */
  restore(id: string, request: Omit<types.MemoryIdsRequest, "ids"> = {}, options: CallOptions = {}): Promise<types.MemoryChangesReport> {
    return this.#caller.call({ method: "POST", path: "/api/memories/{id}/restore", pathValues: { id }, body: request }, options);
  }

  /**
   * Delete a memory, so that it is not learned again.
   *
   * `POST /api/memories/{id}/forget`
   */
  forget(id: string, request: Omit<types.MemoryIdsRequest, "ids"> = {}, options: CallOptions = {}): Promise<types.MemoryChangesReport> {
    return this.#caller.call({ method: "POST", path: "/api/memories/{id}/forget", pathValues: { id }, body: request }, options);
  }

  /**
   * Say whether a memory is right and useful.
   *
   * `POST /api/memories/{id}/feedback`
   */
  feedback(id: string, request: Omit<types.FeedbackRequest, "id">, options: CallOptions = {}): Promise<types.FeedbackReport> {
    return this.#caller.call({ method: "POST", path: "/api/memories/{id}/feedback", pathValues: { id }, body: request }, options);
  }

  /**
   * List the memories that are connected to one.
   *
   * `GET /api/memories/{id}/related`
   */
  related(id: string, request: Omit<types.MemoryRelatedRequest, "id"> = {}, options: CallOptions = {}): Promise<types.MemoryRelatedReport> {
    return this.#caller.call({ method: "GET", path: "/api/memories/{id}/related", pathValues: { id }, query: request }, options);
  }
}

/** Candidates that wait for a person's decision. */
export class Review {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List candidates with the quotes that support them.
   *
   * `GET /api/review`
   */
  list(request: types.ReviewListRequest = {}, options: CallOptions = {}): Promise<types.ReviewListReport> {
    return this.#caller.call({ method: "GET", path: "/api/review", query: request }, options);
  }

  /**
   * Accept or reject candidates.
   *
   * `POST /api/review`
   */
  decide(request: types.ReviewDecideRequest, options: CallOptions = {}): Promise<types.MemoryChangesReport> {
    return this.#caller.call({ method: "POST", path: "/api/review", body: request }, options);
  }
}

/** Memories between the machines of a team. */
export class Team {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Take in memories that somebody sends.
   *
   * `POST /api/push`
   */
  push(request: types.MovedMemories, options: CallOptions = {}): Promise<types.TakeInReport> {
    return this.#caller.call({ method: "POST", path: "/api/push", body: request }, options);
  }

  /**
   * List the memories that can be brought, with the hashes of their versions.
   *
   * `GET /api/pull`
   */
  offer(request: types.OfferRequest = {}, options: CallOptions = {}): Promise<types.OfferReport> {
    return this.#caller.call({ method: "GET", path: "/api/pull", query: request }, options);
  }

  /**
   * Hand memories over, with their files.
   *
   * `POST /api/pull`
   */
  pull(request: types.HandOverRequest, options: CallOptions = {}): Promise<types.MovedMemories> {
    return this.#caller.call({ method: "POST", path: "/api/pull", body: request }, options);
  }

  /**
   * What all projects learned, what is contested, and what nobody uses.
   *
   * `GET /api/team/report`
   */
  report(request: types.SinceRequest = {}, options: CallOptions = {}): Promise<types.TeamReport> {
    return this.#caller.call({ method: "GET", path: "/api/team/report", query: request }, options);
  }

  /**
   * Take in a piece of a transcript that somebody sends.
   *
   * `POST /api/transcripts`
   */
  put_transcript(request: types.TranscriptPutRequest, options: CallOptions = {}): Promise<types.TranscriptPutReport> {
    return this.#caller.call({ method: "POST", path: "/api/transcripts", body: request }, options);
  }

  /**
   * List your transcripts and shared ones.
   *
   * `GET /api/transcripts`
   */
  transcripts(options: CallOptions = {}): Promise<types.TranscriptListReport> {
    return this.#caller.call({ method: "GET", path: "/api/transcripts" }, options);
  }

  /**
   * Show a transcript.
   *
   * `GET /api/transcripts/{id}`
   */
  transcript(id: string, options: CallOptions = {}): Promise<types.TranscriptShowReport> {
    return this.#caller.call({ method: "GET", path: "/api/transcripts/{id}", pathValues: { id } }, options);
  }

  /**
   * Let everybody read a transcript who may read the project.
   *
   * `POST /api/transcripts/{id}/share`
   */
  share_transcript(id: string, options: CallOptions = {}): Promise<types.TranscriptShowReport> {
    return this.#caller.call({ method: "POST", path: "/api/transcripts/{id}/share", pathValues: { id }, body: {} }, options);
  }

  /**
   * Delete a transcript of yours from the server.
   *
   * `POST /api/transcripts/{id}/forget`
   */
  forget_transcript(id: string, options: CallOptions = {}): Promise<types.ItemId> {
    return this.#caller.call({ method: "POST", path: "/api/transcripts/{id}/forget", pathValues: { id }, body: {} }, options);
  }
}

/** Recorded sessions of coding agents. */
export class Sessions {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List recorded sessions.
   *
   * `GET /api/sessions`
   */
  list(request: types.TraceListRequest = {}, options: CallOptions = {}): Promise<types.TraceListReport> {
    return this.#caller.call({ method: "GET", path: "/api/sessions", query: request }, options);
  }

  /**
   * Search what was said in sessions.
   *
   * `GET /api/sessions/search`
   */
  search(request: types.TraceSearchRequest, options: CallOptions = {}): Promise<types.TraceSearchReport> {
    return this.#caller.call({ method: "GET", path: "/api/sessions/search", query: request }, options);
  }

  /**
   * Show one session. `ID:SEQ` begins at a message.
   *
   * `GET /api/sessions/{id}`
   */
  get(id: string, request: Omit<types.TraceShowRequest, "id"> = {}, options: CallOptions = {}): Promise<types.TraceShowReport> {
    return this.#caller.call({ method: "GET", path: "/api/sessions/{id}", pathValues: { id }, query: request }, options);
  }
}

/** Connected coding agents. */
export class Connect {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List coding agents and how they are connected.
   *
   * `GET /api/connect`
   */
  list(options: CallOptions = {}): Promise<types.ConnectReport> {
    return this.#caller.call({ method: "GET", path: "/api/connect" }, options);
  }

  /**
   * Connect or disconnect agents; `action` says which.
   *
   * `POST /api/connect`
   */
  change(request: types.ConnectRequest, options: CallOptions = {}): Promise<types.ConnectReport> {
    return this.#caller.call({ method: "POST", path: "/api/connect", body: request }, options);
  }

  /**
   * Disconnect one agent.
   *
   * `DELETE /api/connect/{agent}`
   */
  remove(agent: string, options: CallOptions = {}): Promise<types.ConnectReport> {
    return this.#caller.call({ method: "DELETE", path: "/api/connect/{agent}", pathValues: { agent } }, options);
  }
}

/** Registered projects. */
export class Projects {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List registered projects.
   *
   * `GET /api/project/list`
   */
  list(options: CallOptions = {}): Promise<types.ProjectListReport> {
    return this.#caller.call({ method: "GET", path: "/api/project/list" }, options);
  }

  /**
   * Register the repository at a path.
   *
   * `POST /api/project/add`
   */
  add(request: types.ProjectAddRequest, options: CallOptions = {}): Promise<types.ProjectAddReport> {
    return this.#caller.call({ method: "POST", path: "/api/project/add", body: request }, options);
  }

  /**
   * Take a project out of the register. Its files stay.
   *
   * `POST /api/project/remove`
   */
  remove(request: types.ProjectRemoveRequest, options: CallOptions = {}): Promise<types.ProjectRemoveReport> {
    return this.#caller.call({ method: "POST", path: "/api/project/remove", body: request }, options);
  }
}

/** Runs of agents: what they did, what they cost, and how to undo them. */
export class Runs {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List runs, the latest first.
   *
   * `GET /api/runs`
   */
  list(request: types.LimitRequest = {}, options: CallOptions = {}): Promise<types.RunListReport> {
    return this.#caller.call({ method: "GET", path: "/api/runs", query: request }, options);
  }

  /**
   * What models and tools used.
   *
   * `GET /api/runs/stats`
   */
  stats(options: CallOptions = {}): Promise<types.RunStatsReport> {
    return this.#caller.call({ method: "GET", path: "/api/runs/stats" }, options);
  }

  /**
   * Show one run.
   *
   * `GET /api/runs/{id}`
   */
  get(id: string, options: CallOptions = {}): Promise<types.RunShowReport> {
    return this.#caller.call({ method: "GET", path: "/api/runs/{id}", pathValues: { id } }, options);
  }

  /**
   * The messages of a run. A run without a model has none.
   *
   * `GET /api/runs/{id}/messages`
   */
  messages(id: string, options: CallOptions = {}): Promise<types.RunMessagesReport> {
    return this.#caller.call({ method: "GET", path: "/api/runs/{id}/messages", pathValues: { id } }, options);
  }

  /**
   * Take back what a run changed.
   *
   * `POST /api/runs/{id}/undo`
   */
  undo(id: string, request: Omit<types.UndoRequest, "last" | "run"> = {}, options: CallOptions = {}): Promise<types.UndoReport> {
    return this.#caller.call({ method: "POST", path: "/api/runs/{id}/undo", pathValues: { id }, body: request }, options);
  }
}

/** Sessions that wait to be synced. */
export class Queue {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List the sessions of the queue.
   *
   * `GET /api/queue`
   */
  list(request: types.QueueListRequest = {}, options: CallOptions = {}): Promise<types.QueueListReport> {
    return this.#caller.call({ method: "GET", path: "/api/queue", query: request }, options);
  }

  /**
   * Put a failed session back into the queue.
   *
   * `POST /api/queue/{id}/retry`
   */
  retry(id: string, options: CallOptions = {}): Promise<types.QueueChangeReport> {
    return this.#caller.call({ method: "POST", path: "/api/queue/{id}/retry", pathValues: { id }, body: {} }, options);
  }

  /**
   * Take a session out of the queue.
   *
   * `POST /api/queue/{id}/skip`
   */
  skip(id: string, options: CallOptions = {}): Promise<types.QueueChangeReport> {
    return this.#caller.call({ method: "POST", path: "/api/queue/{id}/skip", pathValues: { id }, body: {} }, options);
  }
}

/** Settings. */
export class Config {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Show effective settings, each with its source.
   *
   * `GET /api/config`
   */
  get(request: types.ConfigShowRequest = {}, options: CallOptions = {}): Promise<types.ConfigShowReport> {
    return this.#caller.call({ method: "GET", path: "/api/config", query: request }, options);
  }

  /**
   * Set or unset one setting. Settings that send data anywhere are refused: use the command line.
   *
   * `PATCH /api/config`
   */
  set(request: types.ConfigSetRequest, options: CallOptions = {}): Promise<types.ConfigSetReport> {
    return this.#caller.call({ method: "PATCH", path: "/api/config", body: request }, options);
  }
}

/** Configured models. */
export class Models {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List models. None of them is called.
   *
   * `GET /api/models`
   */
  list(options: CallOptions = {}): Promise<types.ModelListReport> {
    return this.#caller.call({ method: "GET", path: "/api/models" }, options);
  }

  /**
   * Call a model once, to see that it answers.
   *
   * `POST /api/models/test`
   */
  test(request: types.ModelTestRequest = {}, options: CallOptions = {}): Promise<types.ModelTestReport> {
    return this.#caller.call({ method: "POST", path: "/api/models/test", body: request }, options);
  }
}

/** Tasks of this server. */
export class Tasks {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * List tasks, the latest first.
   *
   * `GET /api/tasks`
   */
  list(request: types.LimitRequest = {}, options: CallOptions = {}): Promise<types.TaskListReport> {
    return this.#caller.call({ method: "GET", path: "/api/tasks", query: request }, options);
  }

  /**
   * Show a task and its events.
   *
   * `GET /api/tasks/{task}`
   */
  get(id: string, request: Omit<types.TaskShowRequest, "task"> = {}, options: CallOptions = {}): Promise<types.TaskShowReport> {
    return this.#caller.call({ method: "GET", path: "/api/tasks/{task}", pathValues: { task: id }, query: request }, options);
  }

  /**
   * The report of a task that is over. `not_found` before that, and after it was dropped.
   *
   * `GET /api/tasks/{task}/report`
   */
  report(id: string, options: CallOptions = {}): Promise<unknown> {
    return this.#caller.call({ method: "GET", path: "/api/tasks/{task}/report", pathValues: { task: id } }, options);
  }

  /**
   * Cancel a task.
   *
   * `POST /api/tasks/{task}/cancel`
   */
  cancel(id: string, options: CallOptions = {}): Promise<types.TaskCancelReport> {
    return this.#caller.call({ method: "POST", path: "/api/tasks/{task}/cancel", pathValues: { task: id }, body: {} }, options);
  }
}

/** The code map of a project (`/v1`). */
export class Map {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Give an overview of the project's code.
   *
   * `POST /v1/explore`
   */
  explore(request: Omit<types.ExploreRequest, "project"> = {}, options: CallOptions = {}): Promise<types.ExploreReport> {
    return this.#caller.call({ method: "POST", path: "/v1/explore", body: request }, options);
  }

  /**
   * List what changed in the code since a point in time.
   *
   * `POST /v1/delta`
   */
  delta(request: Omit<types.DeltaRequest, "project"> = {}, options: CallOptions = {}): Promise<types.DeltaReport> {
    return this.#caller.call({ method: "POST", path: "/v1/delta", body: request }, options);
  }

  /**
   * Collect the code that matters for a task, within a budget of tokens.
   *
   * `POST /v1/context`
   */
  context(request: Omit<types.ContextRequest, "project"> = {}, options: CallOptions = {}): Promise<types.ContextReport> {
    return this.#caller.call({ method: "POST", path: "/v1/context", body: request }, options);
  }

  /**
   * Search the code by words, by a piece of text, or by a regular expression.
   *
   * `POST /v1/search-code`
   */
  search_code(request: Omit<types.SearchCodeRequest, "project"> = {}, options: CallOptions = {}): Promise<types.SearchCodeReport> {
    return this.#caller.call({ method: "POST", path: "/v1/search-code", body: request }, options);
  }

  /**
   * Read the project's files again. Starts a task; with `wait` its report is returned when it is over.
   *
   * `POST /v1/refresh`
   */
  refresh(request: Omit<types.RefreshRequest, "project">, options: TaskOptions & { wait: true }): Promise<types.DeltaReport>;
  refresh(request?: Omit<types.RefreshRequest, "project">, options?: TaskOptions & { wait?: false }): Promise<Task<types.DeltaReport>>;
  refresh(request: Omit<types.RefreshRequest, "project"> = {}, options: TaskOptions = {}): Promise<types.DeltaReport | Task<types.DeltaReport>> {
    return this.#caller.run<types.DeltaReport>({ method: "POST", path: "/v1/refresh", body: request }, options);
  }
}

/** Every route of the server. */
export class Api {
  /** The server process and its loops. */
  readonly service: Service;
  /** Memories of a project, and those kept for all projects. */
  readonly memories: Memories;
  /** Candidates that wait for a person's decision. */
  readonly review: Review;
  /** Memories between the machines of a team. */
  readonly team: Team;
  /** Recorded sessions of coding agents. */
  readonly sessions: Sessions;
  /** Connected coding agents. */
  readonly connect: Connect;
  /** Registered projects. */
  readonly projects: Projects;
  /** Runs of agents: what they did, what they cost, and how to undo them. */
  readonly runs: Runs;
  /** Sessions that wait to be synced. */
  readonly queue: Queue;
  /** Settings. */
  readonly config: Config;
  /** Configured models. */
  readonly models: Models;
  /** Tasks of this server. */
  readonly tasks: Tasks;
  /** The code map of a project (`/v1`). */
  readonly map: Map;

  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.service = new Service(caller);
    this.memories = new Memories(caller);
    this.review = new Review(caller);
    this.team = new Team(caller);
    this.sessions = new Sessions(caller);
    this.connect = new Connect(caller);
    this.projects = new Projects(caller);
    this.runs = new Runs(caller);
    this.queue = new Queue(caller);
    this.config = new Config(caller);
    this.models = new Models(caller);
    this.tasks = new Tasks(caller);
    this.map = new Map(caller);
  }

  /**
   * Check that the server answers. Needs no token.
   *
   * `GET /api/health`
   */
  health(options: CallOptions = {}): Promise<types.HealthReport> {
    return this.#caller.call({ method: "GET", path: "/api/health" }, options);
  }

  /**
   * Check that requests can be answered now: fails with 503 while a shared database is away. Needs no token.
   *
   * `GET /api/ready`
   */
  ready(options: CallOptions = {}): Promise<types.HealthReport> {
    return this.#caller.call({ method: "GET", path: "/api/ready" }, options);
  }

  /**
   * The server's own description of its routes and types (OpenAPI 3.1). Needs no token.
   *
   * `GET /api/openapi.json`
   */
  openapi(options: CallOptions = {}): Promise<unknown> {
    return this.#caller.call({ method: "GET", path: "/api/openapi.json" }, options);
  }

  /**
   * Count what there is: memories, sessions, queue, runs.
   *
   * `GET /api/status`
   */
  status(options: CallOptions = {}): Promise<types.StatusReport> {
    return this.#caller.call({ method: "GET", path: "/api/status" }, options);
  }

  /**
   * Check the installation and the project.
   *
   * `GET /api/doctor`
   */
  doctor(request: Omit<types.DoctorRequest, "fix"> = {}, options: CallOptions = {}): Promise<types.DoctorReport> {
    return this.#caller.call({ method: "GET", path: "/api/doctor", query: request }, options);
  }

  /**
   * Activity by day: sessions, what was learned, tokens and cost.
   *
   * `GET /api/overview`
   */
  overview(request: types.SinceRequest = {}, options: CallOptions = {}): Promise<types.OverviewReport> {
    return this.#caller.call({ method: "GET", path: "/api/overview", query: request }, options);
  }

  /**
   * Answer a question from the memories. Starts a task; with `wait` its report is returned when it is over.
   *
   * `POST /api/ask`
   */
  ask(request: Omit<types.AskRequest, "scripted">, options: TaskOptions & { wait: true }): Promise<types.AskReport>;
  ask(request: Omit<types.AskRequest, "scripted">, options?: TaskOptions & { wait?: false }): Promise<Task<types.AskReport>>;
  ask(request: Omit<types.AskRequest, "scripted">, options: TaskOptions = {}): Promise<types.AskReport | Task<types.AskReport>> {
    return this.#caller.run<types.AskReport>({ method: "POST", path: "/api/ask", body: request }, options);
  }

  /**
   * Read new sessions and learn from them. Starts a task; with `wait` its report is returned when it is over.
   *
   * `POST /api/sync`
   */
  sync(request: types.SyncRequest, options: TaskOptions & { wait: true }): Promise<types.SyncReport>;
  sync(request?: types.SyncRequest, options?: TaskOptions & { wait?: false }): Promise<Task<types.SyncReport>>;
  sync(request: types.SyncRequest = {}, options: TaskOptions = {}): Promise<types.SyncReport | Task<types.SyncReport>> {
    return this.#caller.run<types.SyncReport>({ method: "POST", path: "/api/sync", body: request }, options);
  }

  /**
   * Merge, correct and archive memories. Starts a task; with `wait` its report is returned when it is over.
   *
   * `POST /api/maintain`
   */
  maintain(request: Omit<types.MaintainRequest, "scripted">, options: TaskOptions & { wait: true }): Promise<types.MaintainReport>;
  maintain(request?: Omit<types.MaintainRequest, "scripted">, options?: TaskOptions & { wait?: false }): Promise<Task<types.MaintainReport>>;
  maintain(request: Omit<types.MaintainRequest, "scripted"> = {}, options: TaskOptions = {}): Promise<types.MaintainReport | Task<types.MaintainReport>> {
    return this.#caller.run<types.MaintainReport>({ method: "POST", path: "/api/maintain", body: request }, options);
  }

  /**
   * Search memories by words and by meaning.
   *
   * `GET /api/search`
   */
  search(request: types.MemorySearchRequest, options: CallOptions = {}): Promise<types.MemorySearchReport> {
    return this.#caller.call({ method: "GET", path: "/api/search", query: request }, options);
  }

  /**
   * Collect what an agent should know before it starts, within a budget of tokens.
   *
   * `GET /api/brief`
   */
  brief(request: types.BriefRequest = {}, options: CallOptions = {}): Promise<types.BriefReport> {
    return this.#caller.call({ method: "GET", path: "/api/brief", query: request }, options);
  }

  /**
   * Memories and the edges between them.
   *
   * `GET /api/graph`
   */
  graph(request: types.GraphRequest = {}, options: CallOptions = {}): Promise<types.GraphReport> {
    return this.#caller.call({ method: "GET", path: "/api/graph", query: request }, options);
  }

  /**
   * List the memories that are not trusted on this machine.
   *
   * `GET /api/trust`
   */
  trust(request: Omit<types.TrustRequest, "all" | "dry_run" | "ids" | "seen"> = {}, options: CallOptions = {}): Promise<types.TrustReport> {
    return this.#caller.call({ method: "GET", path: "/api/trust", query: request }, options);
  }

  /**
   * List changes that can be taken back, the latest first.
   *
   * `GET /api/changes`
   */
  changes(request: types.LimitRequest = {}, options: CallOptions = {}): Promise<types.UndoListReport> {
    return this.#caller.call({ method: "GET", path: "/api/changes", query: request }, options);
  }
}
