// Event streams.

import { setTimeout as sleep } from "node:timers/promises";

import type { HttpCaller, OpenStream } from "./caller.js";
import { NacreError, fromConnection, isPassing, timedOut } from "./errors.js";
import type { StreamEvent } from "./generated/types.js";
import { Backoff, DRAIN_MS, Parser, SILENCE_MS } from "./sse.js";

export interface EventOptions {
  /** Continue after this event. */
  lastEventId?: string;
  /** Only events of this project. */
  project?: string;
  /** The maximum number of reconnection attempts before it throws; 0 turns them off. */
  attempts?: number;
  /** Milliseconds before the first attempt; later ones wait longer. */
  retryDelayMs?: number;
  /** Ends the stream. */
  signal?: AbortSignal;
}

/** The task whose events are streamed. A client that connects late may have missed the task's last event. */
export interface StreamedTask {
  id: string;
  isOver: () => Promise<boolean>;
}

/**
 * The server's events, in order. If the connection is lost, it reconnects and continues after the last event.
 *
 * Iterate over it with `for await`. To end it, leave the loop or call `close()`.
 */
export class EventStream implements AsyncIterableIterator<StreamEvent> {
  readonly #caller: HttpCaller;
  readonly #options: EventOptions;
  readonly #task: StreamedTask | undefined;
  readonly #parser: Parser;
  readonly #closing = new AbortController();
  readonly #events: AsyncGenerator<StreamEvent, void, void>;
  #first: OpenStream | undefined;

  constructor(caller: HttpCaller, options: EventOptions, task?: StreamedTask) {
    this.#caller = caller;
    this.#options = options;
    this.#task = task;
    this.#parser = new Parser(options.lastEventId ?? null);
    this.#events = this.#read();
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
    if (options.signal?.aborted) this.close();
  }

  /** The id of the latest event. To resume after it, pass it as `lastEventId`. */
  get lastId(): string | null {
    return this.#parser.lastId;
  }

  /** Connects now. Events from then on are kept until they are read. */
  async open(): Promise<this> {
    try {
      this.#first ??= await this.#connect();
    } catch (error) {
      // Reading retries the connection.
      if (!(error instanceof NacreError && isPassing(error))) throw error;
    }
    return this;
  }

  next(): Promise<IteratorResult<StreamEvent, void>> {
    return this.#events.next();
  }

  async return(): Promise<IteratorResult<StreamEvent, void>> {
    this.close();
    return this.#events.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  close(): void {
    this.#closing.abort();
    this.#first?.abort.abort();
  }

  async *#read(): AsyncGenerator<StreamEvent, void, void> {
    const backoff = new Backoff(this.#options.retryDelayMs ?? 500, this.#options.attempts ?? 10);
    let isDraining = false;
    while (!this.#closing.signal.aborted) {
      let failure: NacreError;
      try {
        const stream = await this.#next();
        try {
          // Check after the stream is open, so that the task cannot end unnoticed in between.
          if (!isDraining && (await this.#task?.isOver())) {
            isDraining = true;
            continue;
          }
          for await (const event of this.#parse(stream, isDraining ? DRAIN_MS : SILENCE_MS)) {
            backoff.reset();
            yield event;
          }
        } finally {
          stream.abort.abort();
        }
        failure = new NacreError("disconnected", "The server ended the stream of events");
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        if (!(error instanceof NacreError)) throw error;
        failure = error;
      }
      if (isDraining) return;
      this.#parser.cut();
      await this.#pause(backoff.next(failure, this.#parser.retryMs));
    }
  }

  async #pause(delayMs: number): Promise<void> {
    await sleep(delayMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }

  async #next(): Promise<OpenStream> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? (await this.#connect());
  }

  #connect(): Promise<OpenStream> {
    const query = { task: this.#task?.id, project: this.#options.project };
    return this.#caller.stream(query, this.#parser.lastId, this.#closing.signal);
  }

  /** Yields a connection's events; it may be silent for at most `silenceMs`. */
  async *#parse(stream: OpenStream, silenceMs: number): AsyncGenerator<StreamEvent, void, void> {
    const reader = stream.body.getReader();
    for (;;) {
      const silence = setTimeout(() => stream.abort.abort(timedOut(this.#caller.address)), silenceMs);
      let chunk;
      try {
        chunk = await reader.read();
      } catch (error) {
        const reason: unknown = stream.abort.signal.reason;
        throw reason instanceof NacreError ? reason : fromConnection(this.#caller.address, error);
      } finally {
        clearTimeout(silence);
      }
      if (chunk.done) return;
      yield* this.#parser.feed(chunk.value) as StreamEvent[];
    }
  }
}
