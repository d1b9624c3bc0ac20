// Server-sent events: the parser, and when to connect again. Nothing here waits or reads.

import { isPassing } from "./errors.js";
import type { NacreError } from "./errors.js";

/** The server writes a comment every 15 seconds; three missing ones are a dead connection. */
export const SILENCE_MS = 45_000;

/** How long the stream of a task that is over is read, for events that were written before the connection. */
export const DRAIN_MS = 1_000;

const LONGEST_DELAY_MS = 10_000;

/** Splits bytes into events. Lines end with CR, LF or both, and with nothing else: JSON may hold other breaks. */
export class Parser {
  lastId: string | null;
  retryMs = 0;
  #decoder = new TextDecoder();
  #rest = "";
  #data: string[] = [];
  #id: string | null = null;

  constructor(lastId: string | null = null) {
    this.lastId = lastId;
  }

  /** The events that `chunk` completes, as JSON values. */
  feed(chunk: Uint8Array): unknown[] {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    // A final CR waits: an LF may follow.
    const end = text.endsWith("\r") ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\r|\n/);
    this.#rest = (lines.pop() ?? "") + text.slice(end);
    return lines.flatMap((line) => this.#line(line));
  }

  /** The connection ended: half an event is dropped, the server sends it again. */
  cut(): void {
    this.#decoder = new TextDecoder();
    this.#rest = "";
    this.#data = [];
    this.#id = null;
  }

  #line(line: string): unknown[] {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return [];
  }

  #dispatch(): unknown[] {
    this.lastId = this.#id ?? this.lastId;
    const data = this.#data.join("\n");
    this.#data = [];
    if (data === "") return [];
    try {
      return [JSON.parse(data)];
    } catch {
      // An event that is not JSON is not one of Nacre's.
      return [];
    }
  }
}

/** Delays between attempts, longer each time. */
export class Backoff {
  #tried = 0;

  constructor(
    readonly baseMs: number,
    readonly attempts: number,
  ) {}

  /** Milliseconds before the next attempt. Throws `error` where there were enough, or it would come again. */
  next(error: NacreError, askedMs: number): number {
    if (this.#tried >= this.attempts || !isPassing(error)) throw error;
    const delay = Math.min(this.baseMs * 2 ** this.#tried, LONGEST_DELAY_MS);
    this.#tried += 1;
    // Many clients of a server that restarts must not come back at once.
    return Math.max(askedMs, (error.retryAfter ?? 0) * 1000, delay * (0.5 + Math.random() / 2));
  }

  reset(): void {
    this.#tried = 0;
  }
}
