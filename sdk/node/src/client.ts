// The client.

import type { CallOptions } from "./call.js";
import { HttpCaller } from "./caller.js";
import { NacreError } from "./errors.js";
import { EventStream } from "./events.js";
import type { EventOptions } from "./events.js";
import { Api } from "./generated/api.js";
import type { MemoryChangeReport } from "./generated/types.js";
import type { Fetch } from "./socket.js";
import { Task } from "./task.js";

// Slightly longer than the server's limit for operations that are not tasks.
const TIMEOUT_MS = 65_000;

// The maximum number of attempts for edits that conflict with others.
const EDIT_ATTEMPTS = 5;

export interface ClientOptions {
  /** The address of another server, such as `http://127.0.0.1:8765`. */
  baseUrl?: string;
  /** Its token. By default, the token of this machine's server, which is sent only to loopback addresses. */
  token?: string;
  /** `true` or a path to use the server's Unix socket, `false` to use its port. By default, the socket if there is one. */
  socket?: boolean | string;
  /** The global data directory, instead of `NACRE_HOME`. */
  home?: string;
  /** The registered project for all calls that do not specify another. */
  project?: string;
  /** Milliseconds after which a call fails; 0 for never. */
  timeoutMs?: number;
  /** A function to use instead of the built-in `fetch`. */
  fetch?: Fetch;
}

/** A client for Nacre's HTTP API. Without options, it finds the server of `NACRE_HOME` or `~/.nacre`. */
export class Client extends Api {
  readonly #caller: HttpCaller;

  constructor(options: ClientOptions | HttpCaller = {}) {
    const caller = options instanceof HttpCaller ? options : callerOf(options);
    super(caller);
    this.#caller = caller;
  }

  /** The server's address. */
  get address(): string {
    return this.#caller.address;
  }

  /** Returns a client with another project or time limit. */
  withOptions(options: { project?: string; timeoutMs?: number }): Client {
    return new Client(this.#caller.with(options));
  }

  /** Returns a handle to a task that any client may have started. */
  task<T = unknown>(id: string): Task<T> {
    return new Task<T>(this.#caller, id);
  }

  /**
   * Streams the server's events without end.
   *
   * `GET /api/events`
   */
  events(options: EventOptions = {}): EventStream {
    return new EventStream(this.#caller, options);
  }

  /**
   * Reads a memory's Markdown file, passes it to `change`, and writes the result. If someone else
   * changed the file in the meantime, it starts again, so `change` may run several times. Returns
   * `null` if nothing changed.
   */
  async editMemory(
    id: string,
    change: (text: string) => string | Promise<string>,
    options: CallOptions = {},
  ): Promise<MemoryChangeReport | null> {
    for (let attempt = 1; ; attempt += 1) {
      const report = await this.memories.get(id, { text: true }, options);
      const before = report.text ?? "";
      const text = await change(before);
      if (text === before) return null;
      try {
        return await this.memories.write(id, { text }, { ...options, ifMatch: report.version });
      } catch (error) {
        const isConflict = error instanceof NacreError && error.code === "conflict";
        if (!isConflict || attempt === EDIT_ATTEMPTS) throw error;
      }
    }
  }
}

function callerOf(options: ClientOptions): HttpCaller {
  const { project, timeoutMs = TIMEOUT_MS, fetch, ...source } = options;
  return new HttpCaller(source, { project, timeoutMs }, fetch);
}
