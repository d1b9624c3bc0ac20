// A fake server that does what a real one rarely does: it breaks off streams, changes its token, and
// responds late or with garbage.
//
// Its responses are a list of functions, one per request, in order.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Answer = (response: ServerResponse) => void;

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export class Fake {
  readonly seen: Seen[] = [];
  readonly #answers: Answer[];
  readonly #server: Server;

  private constructor(answers: Answer[]) {
    this.#answers = answers;
    this.#server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        this.seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
        (this.#answers.shift() ?? status(500, {}))(response);
      });
    });
  }

  /** Listens on a port of this machine, or on a socket file. */
  static async start(answers: Answer[], path?: string): Promise<Fake> {
    const fake = new Fake(answers);
    await new Promise<void>((resolve) => {
      if (path) fake.#server.listen(path, resolve);
      else fake.#server.listen(0, "127.0.0.1", resolve);
    });
    return fake;
  }

  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Runs a test with a fake server and stops the server afterwards. */
export async function withFake(answers: Answer[], test: (fake: Fake) => Promise<void>): Promise<void> {
  const fake = await Fake.start(answers);
  try {
    await test(fake);
  } finally {
    await fake.stop();
  }
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "n-"));
}

/** Writes a server's discovery files and returns its home. */
export function announce(address: string, token = "secret-token", home = newFolder()): string {
  mkdirSync(join(home, "run"), { recursive: true });
  writeFileSync(join(home, "run", "address"), address);
  writeFileSync(join(home, "run", "token"), token);
  return home;
}

export function status(code: number, report: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(code, { "Content-Type": "application/json", ...headers });
    response.end(JSON.stringify(report));
  };
}

export function failure(code: number, name: string, message = "no", headers: Record<string, string> = {}): Answer {
  return status(code, { error: { code: name, message, causes: ["because"], hints: ["do this"] } }, headers);
}

/** Sends the pieces of a stream, then breaks it off or keeps it open. */
export function stream(pieces: string[], hold = false): Answer {
  return (response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream", Connection: "close" });
    response.flushHeaders();
    for (const piece of pieces) response.write(piece);
    if (!hold) response.end();
  };
}

/** Sends no response. */
export const silence: Answer = () => undefined;

/** An event as the server writes it. */
export function event(number: number, fields: object): string {
  const value = { at: "2026-01-01T00:00:00Z", task: "t1", project: null, ...fields };
  return `id: boot-${number}\ndata: ${JSON.stringify(value)}\n\n`;
}
