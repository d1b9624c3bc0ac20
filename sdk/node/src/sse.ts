// Server-sent events: the parser and the reconnection delays, without I/O.

import { isPassing } from "./errors.js";
import type { NacreError } from "./errors.js";

/** The server writes a comment every 15 seconds; after three missed ones, the connection is considered dead. */
export const SILENCE_MS = 45_000;

/** How long to read a finished task's stream, for events written before the connection. */
export const DRAIN_MS = 1_000;

const LONGEST_DELAY_MS = 10_000;

/** Splits bytes into events. Lines end only with CR, LF or both, because JSON may contain other line breaks. */
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

  /** Returns the events completed by `chunk`, as JSON values. */
  feed(chunk: Uint8Array): unknown[] {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    // Keep a final CR, because an LF may follow.
    const end = text.endsWith("\r") ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\r|\n/);
    this.#rest = (lines.pop() ?? "") + text.slice(end);
    return lines.flatMap((line) => this.#line(line));
  }

  /** Drops an incomplete event at the end of a connection; the server sends it again. */
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
      // Events that are not JSON are not from Nacre.
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

  /** Returns the milliseconds before the next attempt. Throws `error` after the last attempt or if a retry cannot help. */
  next(error: NacreError, askedMs: number): number {
    if (this.#tried >= this.attempts || !isPassing(error)) throw error;
    const delay = Math.min(this.baseMs * 2 ** this.#tried, LONGEST_DELAY_MS);
    this.#tried += 1;
    // Prevents many clients from reconnecting at the same time after a server restart.
    return Math.max(askedMs, (error.retryAfter ?? 0) * 1000, delay * (0.5 + Math.random() / 2));
  }

  reset(): void {
    this.#tried = 0;
  }
}
