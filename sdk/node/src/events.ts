// Streams of events.

import { setTimeout as sleep } from "node:timers/promises";

import type { HttpCaller, OpenStream } from "./caller.js";
import { NacreError, fromConnection, isPassing, timedOut } from "./errors.js";
import type { StreamEvent } from "./generated/types.js";
import { Backoff, DRAIN_MS, Parser, SILENCE_MS } from "./sse.js";

export interface EventOptions {
  /** Go on after this event. */
  lastEventId?: string;
  /** Only events of this project. */
  project?: string;
  /** How often it tries to connect again before it throws; 0 for never. */
  attempts?: number;
  /** Milliseconds before the first of them; later ones wait longer. */
  retryDelayMs?: number;
  /** Ends the stream. */
  signal?: AbortSignal;
}

/** A task whose events are streamed: a client that comes late may never be told that it is over. */
export interface StreamedTask {
  id: string;
  isOver: () => Promise<boolean>;
}

/**
 * Events of the server, in order. Where the connection is lost it connects again and goes on after the last event.
 *
 * Iterate over it with `for await`; leaving the loop or `close()` ends it.
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

  /** The id of the latest event: given as `lastEventId` it resumes there. */
  get lastId(): string | null {
    return this.#parser.lastId;
  }

  /** Connects now: events from here on are kept until they are read. */
  async open(): Promise<this> {
    try {
      this.#first ??= await this.#connect();
    } catch (error) {
      // Reading tries again.
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
          // Asked when the stream is open, so that no end falls between both.
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

  /** The events of a connection, which may be silent for `silenceMs`. */
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
