// The server's tasks.

import { setTimeout as sleep } from "node:timers/promises";

import type { CallOptions } from "./call.js";
import type { HttpCaller } from "./caller.js";
import { NacreError } from "./errors.js";
import { EventStream } from "./events.js";
import type { StreamEvent, StreamEventTask, TaskCancelReport, TaskEntry, TaskShowReport } from "./generated/types.js";

// An id that no server uses. The server then sends a `missed` event and all stored events of the task.
const FROM_THE_START = "0";

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

// The number of requests for a finished task's report, which is written shortly after its state.
const LOOKS_FOR_REPORT = 10;

/** A task that ends with a report of type `T`. It continues even if no client waits for it. */
export class Task<T> {
  /** `null` if the call finished before it became a task; its report is then available at once. */
  readonly id: string | null;
  readonly #caller: HttpCaller;
  readonly #report: T | undefined;

  constructor(caller: HttpCaller, id: string | null, report?: T) {
    this.#caller = caller;
    this.id = id;
    this.#report = report;
  }

  /** Returns the task's state. */
  async status(options: CallOptions = {}): Promise<TaskEntry> {
    const call = { method: "GET", path: "/api/tasks/{id}", pathValues: { id: this.#knownId() }, query: { limit: 1 } };
    return (await this.#caller.call<TaskShowReport>(call, options)).task;
  }

  /** The task's events until it is over. The last one is always a `task` event with the final state. */
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
   * Throws if it failed or was cancelled. If it takes longer than `timeoutMs` milliseconds, throws with
   * the code `timeout`, and the task continues.
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

  /** Cancels the task. Finished work is kept. */
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

/** Why a finished task has no report: its own error, or a general failure if the server no longer has the error. */
function missingReport(entry: TaskEntry, error: unknown): unknown {
  if (!isMissing(error) || entry.state === "completed") return error;
  const isCancelled = entry.state === "cancelled";
  const message = `Task ${entry.id} ${isCancelled ? "was cancelled" : "failed"}`;
  return new NacreError(isCancelled ? "cancelled" : "failed", message, { causes: entry.reason ? [entry.reason] : [] });
}
