// Converts calls to requests (paths, queries, headers and bodies) without sending them.

import type { Call } from "./call.js";
import type { Endpoint } from "./discovery.js";
import { NacreError } from "./errors.js";

export const VERSION = "0.1.0";

export function urlOfCall(call: Call, endpoint: Endpoint, project: string | undefined): string {
  const path = call.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, call.pathValues?.[name] ?? ""));
  const query = queryOf({ ...call.query, ...(project ? { project } : {}) });
  return endpoint.baseUrl + path + (query ? `?${query}` : "");
}

/** Encodes a path value. Values that would select another route are refused. */
function segment(name: string, value: string): string {
  if (["", ".", ".."].includes(value)) throw new NacreError("usage", `\`${name}\` must not be '${value}'`);
  return encodeURIComponent(value);
}

/** Builds the query; lists repeat their key. */
function queryOf(fields: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null) query.append(name, String(item));
    }
  }
  return query.toString();
}

export function headersOf(call: Call, endpoint: Endpoint, ifMatch: string | undefined): Record<string, string> {
  return {
    Accept: "application/json",
    "User-Agent": `nacre-node/${VERSION}`,
    ...(endpoint.token === null ? {} : { Authorization: `Bearer ${endpoint.token}` }),
    ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(ifMatch === undefined ? {} : { "If-Match": quoted(ifMatch) }),
  };
}

/** Formats a version as an entity tag. */
function quoted(version: string): string {
  return version === "*" || /^(W\/)?"/.test(version) ? version : `"${version}"`;
}

/** Leaves out fields that are `null`. */
export function bodyOf(body: object): string {
  return JSON.stringify(body, (_, value: unknown) => (value === null ? undefined : value));
}
