// `fetch` over a Unix socket, which the built-in `fetch` does not support.

import { request } from "node:http";
import { Readable } from "node:stream";

export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/** The part of `RequestInit` that this package uses. */
export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  redirect: "manual";
}

export function socketFetch(path: string): Fetch {
  return (url, init) =>
    new Promise((resolve, reject) => {
      const { pathname, search, host } = new URL(url);
      const headers = { ...init.headers, Host: host };
      const options = { socketPath: path, path: pathname + search, method: init.method, headers, signal: init.signal };
      const sent = request(options, (answer) => {
        const status = answer.statusCode ?? 0;
        const names = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
        const isEmpty = status === 204 || status === 304;
        if (isEmpty) answer.resume();
        const body = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
        resolve(new Response(body, { status, headers: names }));
      });
      sent.on("error", reject);
      sent.end(init.body);
    });
}
