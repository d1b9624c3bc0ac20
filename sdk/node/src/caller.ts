// Sends calls to the server, and finds it again after a restart.

import type { Call, Caller, CallOptions, TaskOptions } from "./call.js";
import { findServer, shown } from "./discovery.js";
import type { Endpoint, Source } from "./discovery.js";
import { NacreError, fromConnection, fromResponse, protocol, timedOut } from "./errors.js";
import { bodyOf, headersOf, urlOfCall } from "./request.js";
import { socketFetch } from "./socket.js";
import type { Fetch } from "./socket.js";
import { Task } from "./task.js";

type Sending = CallOptions & { ifMatch?: string };

/** An open stream: its bytes, and a function that closes it. */
export interface OpenStream {
  body: ReadableStream<Uint8Array>;
  abort: AbortController;
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export class HttpCaller implements Caller {
  readonly #source: Source;
  readonly #fetch: Fetch | undefined;
  readonly #options: { project?: string | undefined; timeoutMs: number };
  #endpoint: Endpoint;

  constructor(source: Source, options: { project?: string | undefined; timeoutMs: number }, fetch?: Fetch) {
    // A custom `fetch` supports only addresses.
    this.#source = fetch ? { ...source, socket: source.socket ?? false } : source;
    this.#options = options;
    this.#fetch = fetch;
    this.#endpoint = findServer(this.#source);
  }

  /** The server's address, without the token. */
  get address(): string {
    return shown(this.#endpoint);
  }

  /** Returns a copy with other options. */
  with(options: { project?: string | undefined; timeoutMs?: number | undefined }): HttpCaller {
    const { project, timeoutMs } = options;
    const merged = { project: project ?? this.#options.project, timeoutMs: timeoutMs ?? this.#options.timeoutMs };
    return new HttpCaller(this.#source, merged, this.#fetch);
  }

  async call<T>(call: Call, options: Sending): Promise<T> {
    return this.#report<T>(await this.#send(call, options));
  }

  async run<T>(call: Call, options: TaskOptions): Promise<T | Task<T>> {
    const answer = await this.#send(call, options);
    const report = this.#report<unknown>(answer);
    const task = answer.status === 202 ? new Task<T>(this, this.#taskOf(report)) : new Task<T>(this, null, report as T);
    if (!options.wait) return task;
    try {
      return await task.report(options);
    } catch (error) {
      // An aborted call cancels its task, as with `?wait=true`. Errors of the cancellation are ignored.
      if (options.signal?.aborted) await task.cancel().catch(() => undefined);
      throw error;
    }
  }

  /** Opens the event stream. */
  async stream(query: object, lastId: string | null, signal: AbortSignal | undefined): Promise<OpenStream> {
    const call: Call = { method: "GET", path: "/api/events", query };
    const headers = { Accept: "text/event-stream", ...(lastId === null ? {} : { "Last-Event-ID": lastId }) };
    const { response, abort } = await this.#found(() => this.#open(call, { signal }, headers), call);
    const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream");
    if (response.status === 200 && isStream && response.body) {
      return { body: response.body as ReadableStream<Uint8Array>, abort };
    }
    const text = await response.text().catch(() => "");
    abort.abort();
    if (response.status < 300) throw protocol(this.address, "it is not a stream of events");
    throw fromResponse(response.status, text, response.headers.get("Retry-After"));
  }

  async #send(call: Call, options: Sending): Promise<Answer> {
    return this.#found(() => this.#attempt(call, options), call);
  }

  /** Retries a call once if the server was restarted, or if repeating the call is safe. */
  async #found<A extends { status: number } | { response: Response }>(attempt: () => Promise<A>, call: Call): Promise<A> {
    let answer: A;
    try {
      answer = await attempt();
    } catch (error) {
      if (!(error instanceof NacreError) || !this.#isWorthAnother(call, error)) throw error;
      return attempt();
    }
    const status = "status" in answer ? answer.status : answer.response.status;
    return status === 401 && this.#moved() ? attempt() : answer;
  }

  #isWorthAnother(call: Call, error: NacreError): boolean {
    const moved = ["unreachable", "disconnected"].includes(error.code) && this.#moved();
    if (error.code === "unreachable") return moved;
    // The server closes idle connections. Streams reconnect on their own.
    return error.code === "disconnected" && call.method === "GET" && call.path !== "/api/events";
  }

  async #attempt(call: Call, options: Sending): Promise<Answer> {
    const { timeoutMs = this.#options.timeoutMs } = options;
    const { response, abort } = await this.#open(call, { ...options, timeoutMs });
    try {
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      throw this.#failure(error, options.signal, abort);
    }
  }

  /** Sends a request. `timeoutMs` includes the time to read the body. */
  async #open(
    call: Call,
    options: { [K in keyof Sending]: Sending[K] | undefined },
    extra: Record<string, string> = {},
  ): Promise<{ response: Response; abort: AbortController }> {
    const endpoint = this.#endpoint;
    const send = this.#fetch ?? (endpoint.socket === null ? (fetch as Fetch) : socketFetch(endpoint.socket));
    const abort = new AbortController();
    const signals = [abort.signal, ...(options.signal ? [options.signal] : [])];
    if (options.timeoutMs) signals.push(AbortSignal.timeout(options.timeoutMs));
    const url = urlOfCall(call, endpoint, options.project ?? this.#options.project);
    const headers = { ...headersOf(call, endpoint, options.ifMatch), ...extra };
    const body = call.body === undefined ? {} : { body: bodyOf(call.body) };
    try {
      const response = await send(url, {
        method: call.method,
        headers,
        ...body,
        signal: AbortSignal.any(signals),
        redirect: "manual",
      });
      return { response, abort };
    } catch (error) {
      throw this.#failure(error, options.signal, abort);
    }
  }

  /** Converts a connection failure to an error: the caller's abort, the time limit, or the network. */
  #failure(error: unknown, signal: AbortSignal | undefined, abort: AbortController): unknown {
    if (signal?.aborted) return signal.reason;
    if (abort.signal.aborted) return abort.signal.reason;
    if (error instanceof Error && error.name === "TimeoutError") return timedOut(this.address);
    if (error instanceof TypeError && !(error.cause instanceof Error)) {
      return new NacreError("usage", `${this.#endpoint.baseUrl} is not an address of a server`);
    }
    return fromConnection(this.address, error);
  }

  #report<T>(answer: Answer): T {
    if (answer.status >= 300) throw fromResponse(answer.status, answer.text, answer.headers.get("Retry-After"));
    if (answer.text === "") return undefined as T;
    try {
      return JSON.parse(answer.text) as T;
    } catch {
      throw protocol(this.address, "it is not JSON");
    }
  }

  #taskOf(report: unknown): string {
    const task = (report as { task?: unknown } | null)?.task;
    if (typeof task !== "string") throw protocol(this.address, "it names no task");
    return task;
  }

  /** Whether the server was restarted, that is, has another address or token. */
  #moved(): boolean {
    let found: Endpoint;
    try {
      found = findServer(this.#source);
    } catch {
      return false;
    }
    const before = this.#endpoint;
    this.#endpoint = found;
    return found.baseUrl !== before.baseUrl || found.token !== before.token || found.socket !== before.socket;
  }
}
