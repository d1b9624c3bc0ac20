// Finds the running server: its address, token and socket are files below `~/.nacre/run`.
//
// A killed server leaves its address file behind, and another user could then listen on that port. The
// socket is therefore preferred, because only the user can create one there. Node cannot check the
// server's lock, so an address without a socket is trusted.

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { NacreError } from "./errors.js";

/** The caller's options for the server. Everything else is read from files, and again after a restart. */
export interface Source {
  baseUrl?: string | undefined;
  token?: string | undefined;
  /** By default, the socket if there is one; `false` selects the port. */
  socket?: boolean | string | undefined;
  home?: string | undefined;
}

/** The destination of requests. */
export interface Endpoint {
  baseUrl: string;
  token: string | null;
  socket: string | null;
}

// The host name in requests over the socket, which have no address.
const SOCKET_URL = "http://localhost";

export function findServer(source: Source): Endpoint {
  const found = look(source);
  if (found.token !== null && !/^[!-~]+$/.test(found.token)) {
    // Leave the token out of the message, because messages are logged.
    throw new NacreError("usage", "The token has characters that a token cannot have");
  }
  return found;
}

function look(source: Source): Endpoint {
  const home = nacreHome(source.home);
  const run = join(home, "run");
  const token = () => source.token ?? read(join(run, "token"));
  const own = join(run, "socket");
  const usual = source.baseUrl === undefined && process.platform !== "win32" && existsSync(own);
  const wanted = source.socket ?? usual;
  if (wanted) {
    const socket = wanted === true ? own : wanted;
    return { baseUrl: SOCKET_URL, token: token(), socket };
  }
  if (source.baseUrl !== undefined) {
    // The token of this machine's server is never sent to another machine.
    const sent = isLoopback(source.baseUrl) ? token() : (source.token ?? null);
    return { baseUrl: source.baseUrl.replace(/\/+$/, ""), token: sent, socket: null };
  }
  // Read the token before the address: a starting server removes the old address before it writes its token.
  const found = token();
  const address = read(join(run, "address"));
  if (address === null) {
    throw new NacreError("unreachable", `No server is running for ${home}`, { hints: ["Start it with `nacre up`"] });
  }
  return { baseUrl: urlOf(address), token: found, socket: null };
}

/** The global data directory: `given`, `NACRE_HOME`, or `~/.nacre`. */
export function nacreHome(given?: string): string {
  return resolve(given || process.env["NACRE_HOME"] || join(homedir(), ".nacre"));
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim() || null;
  } catch {
    return null;
  }
}

/** Converts `127.0.0.1:8765` to a URL. A server that listens on all addresses is reached through loopback. */
export function urlOf(address: string): string {
  if (address.includes("://")) return address.replace(/\/+$/, "");
  return `http://${address.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:")}`;
}

export function isLoopback(url: string): boolean {
  try {
    const host = new URL(url).hostname;
    return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
  } catch {
    return false;
  }
}

/** The server's name in messages. */
export function shown(endpoint: Endpoint): string {
  return endpoint.socket ?? endpoint.baseUrl;
}
