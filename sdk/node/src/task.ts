// Tasks of the server.

import { setTimeout as sleep } from "node:timers/promises";

import type { CallOptions } from "./call.js";
import type { HttpCaller } from "./caller.js";
import { NacreError } from "./errors.js";
import { EventStream } from "./events.js";
import type { StreamEvent, StreamEventTask, TaskCancelReport, TaskEntry, TaskShowReport } from "./generated/types.js";

// An id of no server: everything that is kept of a task is sent, after an event `missed`.
const FROM_THE_START = "0";

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

// How often the report of a task that is over is asked for: its state is written a moment before.
const LOOKS_FOR_REPORT = 10;

/** A task that ends with a report of the type `T`. It goes on when nobody waits for it. */
export class Task<T> {
  /** `null` where the call was over before it became a task; its report is then there at once. */
  readonly id: string | null;
  readonly #caller: HttpCaller;
  readonly #report: T | undefined;

  constructor(caller: HttpCaller, id: string | null, report?: T) {
    this.#caller = caller;
    this.id = id;
    this.#report = report;
  }

  /** Where the task is. */
  async status(options: CallOptions = {}): Promise<TaskEntry> {
    const call = { method: "GET", path: "/api/tasks/{id}", pathValues: { id: this.#knownId() }, query: { limit: 1 } };
    return (await this.#caller.call<TaskShowReport>(call, options)).task;
  }

  /** The events of the task until it is over. The last one is always a `task` event that says how it ended. */
  async *events(options: { lastEventId?: string; signal?: AbortSignal } = {}): AsyncGenerator<StreamEvent, void, void> {
    if (this.id === null) return;
    const isOver = async () => hasEnded((await this.status()).state);
    let isStart = options.lastEventId === undefined;
    const stream = new EventStream(this.#caller, { lastEventId: FROM_THE_START, ...options }, { id: this.id, isOver });
    try {
      for await (const event of stream) {
        if (isStart && event.event === "missed") continue;
        isStart = false;
        yield event;
        if (event.event === "task" && hasEnded(event.state)) return;
      }
    } finally {
      stream.close();
    }
    if (!options.signal?.aborted) yield finalEvent(await this.status());
  }

  /**
   * Waits until the task is over and returns its report.
   *
   * Throws where it failed or was cancelled, and with the code `timeout` where it takes longer than `timeoutMs`
   * milliseconds; it then goes on.
   */
  async report(options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<T> {
    if (this.id === null) return this.#report as T;
    const { timeoutMs, signal } = options;
    const end = timeoutMs ? performance.now() + timeoutMs : Infinity;
    const sending = signal ? { signal } : {};
    let pause = FIRST_PAUSE_MS;
    for (let looks = 0; ; ) {
      const entry = await this.status(sending);
      if (hasEnded(entry.state)) {
        looks += 1;
        const path = "/api/tasks/{id}/report";
        try {
          return await this.#caller.call<T>({ method: "GET", path, pathValues: { id: this.id } }, sending);
        } catch (error) {
          if (!isMissing(error) || looks === LOOKS_FOR_REPORT) throw missingReport(entry, error);
        }
      }
      const left = end - performance.now();
      if (left <= 0) throw new NacreError("timeout", `Task ${this.id} was not over after ${timeoutMs} ms`);
      await sleep(Math.min(pause, left), undefined, sending).catch(() => signal?.throwIfAborted());
      pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS);
    }
  }

  /** Cancels the task. What it had finished stays. */
  cancel(options: CallOptions = {}): Promise<TaskCancelReport> {
    const call = { method: "POST", path: "/api/tasks/{id}/cancel", pathValues: { id: this.#knownId() }, body: {} };
    return this.#caller.call<TaskCancelReport>(call, options);
  }

  #knownId(): string {
    if (this.id === null) {
      const hints = ["Its report is there"];
      throw new NacreError("not_found", "It was over at once: there is no task", { hints });
    }
    return this.id;
  }
}

function hasEnded(state: string): boolean {
  return ["completed", "failed", "cancelled"].includes(state);
}

function isMissing(error: unknown): boolean {
  return error instanceof NacreError && error.code === "not_found";
}

/** The last event of a task, for a client that missed it. */
function finalEvent(entry: TaskEntry): StreamEventTask {
  const { id, state, agent, title, project = null } = entry;
  return { at: entry.ended ?? entry.created, task: id, project, event: "task", state, agent, title };
}

/** Why a task that is over has no report: its own error, or that it failed where the server no longer knows why. */
function missingReport(entry: TaskEntry, error: unknown): unknown {
  if (!isMissing(error) || entry.state === "completed") return error;
  const isCancelled = entry.state === "cancelled";
  const message = `Task ${entry.id} ${isCancelled ? "was cancelled" : "failed"}`;
  return new NacreError(isCancelled ? "cancelled" : "failed", message, { causes: entry.reason ? [entry.reason] : [] });
}
