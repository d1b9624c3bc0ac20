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

// A little more than the server allows an operation that is not a task.
const TIMEOUT_MS = 65_000;

// Edits that meet somebody else's are tried this often.
const EDIT_ATTEMPTS = 5;

export interface ClientOptions {
  /** Another server, such as `http://127.0.0.1:8765`. */
  baseUrl?: string;
  /** Its token. Without it, the one of this machine's server, which is sent to loopback addresses only. */
  token?: string;
  /** `true` to use the server's Unix socket, or the path of one; `false` to use its port. Left out, the socket where there is one. */
  socket?: boolean | string;
  /** The folder of global data, instead of `NACRE_HOME`. */
  home?: string;
  /** The registered project that calls are about, unless they name another. */
  project?: string;
  /** Milliseconds after which a call fails; 0 for never. */
  timeoutMs?: number;
  /** Sends requests in place of the built-in `fetch`. */
  fetch?: Fetch;
}

/** A client of Nacre's HTTP API. Without options it finds the server of `NACRE_HOME` or `~/.nacre` by itself. */
export class Client extends Api {
  readonly #caller: HttpCaller;

  constructor(options: ClientOptions | HttpCaller = {}) {
    const caller = options instanceof HttpCaller ? options : callerOf(options);
    super(caller);
    this.#caller = caller;
  }

  /** Where it sends to. */
  get address(): string {
    return this.#caller.address;
  }

  /** A client with another project or time limit. */
  withOptions(options: { project?: string; timeoutMs?: number }): Client {
    return new Client(this.#caller.with(options));
  }

  /** A task by its id, whoever started it. */
  task<T = unknown>(id: string): Task<T> {
    return new Task<T>(this.#caller, id);
  }

  /**
   * Streams events of the server, for ever.
   *
   * `GET /api/events`
   */
  events(options: EventOptions = {}): EventStream {
    return new EventStream(this.#caller, options);
  }

  /**
   * Reads the Markdown file of a memory, passes it to `change`, and writes what that returns. Where somebody else wrote
   * it meanwhile, it begins again, so `change` may run several times. `null` where nothing changed.
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
