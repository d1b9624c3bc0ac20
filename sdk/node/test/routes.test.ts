// Every server route has a client method, and no method calls anything else.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Api, Client } from "../src/index.js";

// This file runs from `sdk/node/build/test`.
const ROOT = new URL("../../../../", import.meta.url);
const OPENAPI = new URL("docs/openapi.json", ROOT);
const TABLE = readFileSync(new URL("sdk/generate/routes.toml", ROOT), "utf8");

/** The rows of the table: the name of each method and its route. */
function rows(): { name: string; route: string; byHand: boolean }[] {
  return TABLE.split("[[route]]")
    .slice(1)
    .map((row) => ({
      name: /^name = "(.*)"$/m.exec(row)?.[1] ?? "",
      route: /^route = "(.*)"$/m.exec(row)?.[1] ?? "",
      byHand: row.includes("by_hand = true"),
    }));
}

function skipped(): Set<string> {
  const section = TABLE.split("[skipped]")[1]?.split("[[route]]")[0] ?? "";
  return new Set([...section.matchAll(/^"(.*?)" = /gm)].map((match) => match[1] ?? ""));
}

function unnamed(route: string): string {
  return route.replace(/\{\w+\}/g, "{}");
}

/** The request of each generated method. */
async function calls(): Promise<Map<string, string>> {
  let called = "";
  const fetch = async (url: string, init: { method: string }) => {
    called = `${init.method} ${new URL(url).pathname.replaceAll("place", "{}")}`;
    return new Response("{}");
  };
  const client = new Client({ baseUrl: "http://127.0.0.1:1", fetch });
  const found = new Map<string, string>();
  const groups = Object.keys(client).map((group) => [`${group}.`, client[group as keyof Client]] as const);
  for (const [prefix, holder] of [["", client] as const, ...groups]) {
    const prototype: object = prefix === "" ? Api.prototype : (Object.getPrototypeOf(holder) as object);
    for (const name of Object.getOwnPropertyNames(prototype).filter((name) => name !== "constructor")) {
      const method = (holder as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>)[name];
      const places = rows().find((row) => row.name === prefix + name)?.route.match(/\{/g) ?? [];
      // If a method takes no request, its second argument is the options.
      await method?.call(holder, ...places.map(() => "place"), { ifMatch: "1" }, { ifMatch: "1" });
      found.set(prefix + name, called);
    }
  }
  return found;
}

test("the methods are the routes of the server", async () => {
  const { paths } = JSON.parse(readFileSync(OPENAPI, "utf8")) as { paths: Record<string, object> };
  const routes = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((verb) => ["get", "put", "post", "patch", "delete"].includes(verb))
      .map((verb) => `${verb.toUpperCase()} ${path}`),
  );
  const wanted = routes.filter((route) => !skipped().has(route)).map(unnamed);
  // The stream is written by hand.
  const found = new Set([...(await calls()).values(), "GET /api/events"]);
  assert.deepEqual([...found].sort(), wanted.sort());
});

test("the methods are the rows of the table", async () => {
  const found = await calls();
  for (const { name, route, byHand } of rows()) {
    if (byHand) continue;
    assert.equal(found.get(name), unnamed(route), name);
    found.delete(name);
  }
  assert.deepEqual([...found.keys()], []);
});
