// A client for Nacre's HTTP API.

export type { CallOptions, EditOptions, TaskOptions } from "./call.js";
export { Client } from "./client.js";
export type { ClientOptions } from "./client.js";
export { NacreError } from "./errors.js";
export { EventStream } from "./events.js";
export type { EventOptions } from "./events.js";
export { Api } from "./generated/api.js";
export type * as types from "./generated/types.js";
export type { Fetch, FetchInit } from "./socket.js";
export { Task } from "./task.js";
