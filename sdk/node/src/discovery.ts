// Finds the running server: its address, its token and its socket are files below `~/.nacre/run`.
//
// A server that was killed leaves its address, and anybody may listen there since. So the socket comes first: only the person can
// make one there. Node cannot ask for the server's lock, so that an address without a socket is believed.

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { NacreError } from "./errors.js";

/** What the caller said about the server. The rest is read from files, again where the server was restarted. */
export interface Source {
  baseUrl?: string | undefined;
  token?: string | undefined;
  /** Left out, it is what is there; `false` is the port. */
  socket?: boolean | string | undefined;
  home?: string | undefined;
}

/** Where requests go. */
export interface Endpoint {
  baseUrl: string;
  token: string | null;
  socket: string | null;
}

// What the server is called in requests over its socket, where an address means nothing.
const SOCKET_URL = "http://localhost";

export function findServer(source: Source): Endpoint {
  const found = look(source);
  if (found.token !== null && !/^[!-~]+$/.test(found.token)) {
    // The token itself is not said: messages end in logs.
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
  // The token before the address: a server that starts takes an old address away before it writes its token.
  const found = token();
  const address = read(join(run, "address"));
  if (address === null) {
    throw new NacreError("unreachable", `No server is running for ${home}`, { hints: ["Start it with `nacre up`"] });
  }
  return { baseUrl: urlOf(address), token: found, socket: null };
}

/** The folder of global data: `given`, `NACRE_HOME`, or `~/.nacre`. */
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

/** `127.0.0.1:8765` as a URL. A server that listens everywhere is reached here by loopback. */
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

/** What messages call it. */
export function shown(endpoint: Endpoint): string {
  return endpoint.socket ?? endpoint.baseUrl;
}
