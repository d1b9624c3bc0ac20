// An API call before it is sent.

import type { Task } from "./task.js";

export interface Call {
  method: string;
  /** A template; `pathValues` fills in the names in braces. */
  path: string;
  pathValues?: Record<string, string>;
  /** Fields that are `undefined` or `null` are not sent; the server uses its defaults. */
  query?: object;
  body?: object;
}

/** Options that every method accepts. */
export interface CallOptions {
  /** A registered project to use instead of the client's. */
  project?: string;
  /** Milliseconds after which the call fails; 0 for never. */
  timeoutMs?: number;
  /** Aborts the call. The promise is then rejected with the signal's reason. */
  signal?: AbortSignal;
}

export interface TaskOptions extends CallOptions {
  /** Wait for the report. Aborting cancels the task. */
  wait?: boolean;
}

export interface EditOptions extends CallOptions {
  /** The version that the edit is based on. If it is outdated, the call fails with `conflict`. */
  ifMatch: string;
}

/** Sends calls. */
export interface Caller {
  call<T>(call: Call, options: CallOptions & { ifMatch?: string }): Promise<T>;
  run<T>(call: Call, options: TaskOptions): Promise<T | Task<T>>;
}
