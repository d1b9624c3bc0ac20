// One call of the API, before it is sent.

import type { Task } from "./task.js";

export interface Call {
  method: string;
  /** With names in braces, which `pathValues` fills. */
  path: string;
  pathValues?: Record<string, string>;
  /** Fields that are `undefined` or `null` are not sent: the server's defaults hold. */
  query?: object;
  body?: object;
}

/** What every method takes beside its request. */
export interface CallOptions {
  /** A registered project, instead of the client's. */
  project?: string;
  /** Milliseconds after which the call fails; 0 for never. */
  timeoutMs?: number;
  /** Aborts the call. The promise is then rejected with the signal's reason. */
  signal?: AbortSignal;
}

export interface TaskOptions extends CallOptions {
  /** Return the report when the task is over. Aborting cancels the task. */
  wait?: boolean;
}

export interface EditOptions extends CallOptions {
  /** The version that the edit is based on, or it fails with `conflict`. */
  ifMatch: string;
}

/** Sends calls. */
export interface Caller {
  call<T>(call: Call, options: CallOptions & { ifMatch?: string }): Promise<T>;
  run<T>(call: Call, options: TaskOptions): Promise<T | Task<T>>;
}
