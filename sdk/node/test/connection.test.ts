// The connection between client and server: tokens, errors, interrupted streams, tasks.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

import { Client, NacreError } from "../src/index.js";
import type { types } from "../src/index.js";
import { Fake, announce, event, failure, newFolder, silence, status, stream, withFake } from "./fake.js";

// Tests must not find the server of the user who runs them.
process.env["NACRE_HOME"] = "/nonexistent/nacre";

const OK = { status: "ok", version: "0" };

function entry(state: string, fields: object = {}): object {
  const task = { id: "t1", session: "s", agent: "ask", class: "interactive", title: "T", state };
  return { task: { ...task, created: "2026-01-01T00:00:00Z", events: 0, ...fields }, events: [] };
}

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all = [];
  for await (const item of events) all.push(item);
  return all;
}

function texts(events: types.StreamEvent[]): string[] {
  return events.map((item) => ("text" in item ? item.text : "state" in item ? item.state : item.event));
}

async function errorOf(promise: Promise<unknown>): Promise<NacreError> {
  const error: unknown = await promise.then(
    () => assert.fail("it did not fail"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof NacreError, inspect(error));
  return error;
}

function task(state: string): object {
  return { event: "task", state, agent: "ask", title: "T" };
}

test("the server is found by its files", () =>
  withFake([status(200, OK)], async (fake) => {
    process.env["NACRE_HOME"] = announce(fake.address);
    assert.deepEqual(await new Client({ project: "shop" }).health(), OK);
    process.env["NACRE_HOME"] = "/nonexistent/nacre";
    assert.equal(fake.seen[0]?.url, "/api/health?project=shop");
    assert.equal(fake.seen[0]?.headers.authorization, "Bearer secret-token");
    // The server refuses requests that look like those of a page from another origin.
    assert.equal(fake.seen[0]?.headers.origin, undefined);
    assert.equal(fake.seen[0]?.headers["sec-fetch-site"], undefined);
  }));

test("without a server the error says what to do", async () => {
  assert.throws(() => new Client({ home: newFolder() }), { code: "unreachable", hints: ["Start it with `nacre up`"] });
  const fake = await Fake.start([]);
  const client = new Client({ home: announce(fake.address) });
  await fake.stop();
  const error = await errorOf(client.health());
  assert.deepEqual([error.code, error.status], ["unreachable", null]);
  assert.match(String(error), /nacre up/);
});

test("the socket is used where it is asked for", async () => {
  const path = join(newFolder(), "s");
  const fake = await Fake.start(
    [status(200, OK), status(200, { id: "m1" }), stream([event(1, { event: "missed" })], true)],
    path,
  );
  const client = new Client({ socket: path });
  assert.deepEqual(await client.health(), OK);
  await client.memories.add({ title: "T" });
  assert.equal(fake.seen[1]?.body, '{"title":"T"}');
  for await (const item of client.events()) {
    assert.equal(item.event, "missed");
    break;
  }
  assert.equal(fake.seen[0]?.headers.host, "localhost");
  await fake.stop();
  assert.equal((await errorOf(client.health())).code, "unreachable");
});

test("the socket comes first where nothing is said, also that of a server that was killed", () =>
  withFake([status(200, OK)], async (stranger) => {
    const home = announce(stranger.address);
    const path = join(home, "run", "socket");
    const fake = await Fake.start([status(200, OK), status(200, OK)], path);
    const client = new Client({ home });
    assert.deepEqual(await client.health(), OK);
    assert.deepEqual(await client.withOptions({ project: "shop" }).health(), OK);
    await fake.stop();
    // After a server was killed, nothing responds at its address, and no other server is tried.
    writeFileSync(path, "");
    for (const one of [client, new Client({ home })]) {
      const error = await errorOf(one.health());
      assert.equal(error.code, "unreachable");
      assert.match(String(error), /nacre up/);
    }
    assert.deepEqual(stranger.seen, []);
    assert.deepEqual(await new Client({ home, socket: false }).health(), OK);
  }));

test("a found token is not sent to another machine", async () => {
  const sent: (string | undefined)[] = [];
  const options = {
    home: announce("127.0.0.1:1"),
    fetch: async (_: string, init: { headers: Record<string, string> }) => {
      sent.push(init.headers["Authorization"]);
      return Response.json(OK);
    },
  };
  for (const baseUrl of ["http://example.org", "http://127.0.0.1.example.org", "http://localhost:1", "http://[::1]:1"]) {
    await new Client({ ...options, baseUrl }).health();
  }
  await new Client({ ...options, baseUrl: "https://example.org", token: "mine" }).health();
  assert.deepEqual(sent, [undefined, undefined, "Bearer secret-token", "Bearer secret-token", "Bearer mine"]);
});

test("a redirect is not followed", () =>
  withFake([], (elsewhere) =>
    withFake([status(307, {}, { Location: `http://${elsewhere.address}/` })], async (fake) => {
      const error = await errorOf(new Client({ home: announce(fake.address) }).health());
      assert.equal(error.status, 307);
      assert.deepEqual(elsewhere.seen, []);
    }),
  ));

test("the token is nowhere to be read", () =>
  withFake([failure(404, "not_found")], async (fake) => {
    const home = announce(fake.address);
    const client = new Client({ home, token: "given-secret" });
    const error = await errorOf(client.memories.get("m1"));
    await fake.stop();
    const gone = await errorOf(client.health());
    const shown = [client, error, gone].map((value) => inspect(value, { depth: 10, showHidden: true }) + String(value));
    assert.doesNotMatch(shown.join(""), /secret/);
    announce("127.0.0.1:1", "two\nlines", home);
    for (const build of [() => new Client({ home }), () => new Client({ home, token: "two\r\nlines" })]) {
      assert.throws(build, (broken: unknown) => broken instanceof NacreError && !String(broken).includes("lines"));
    }
  }));

test("a restarted server is found again", () =>
  withFake([failure(401, "refused"), status(200, OK)], async (first) => {
    const home = announce(first.address, "old");
    const client = new Client({ home });
    announce(first.address, "new", home);
    assert.deepEqual(await client.health(), OK);
    assert.deepEqual(first.seen.map((request) => request.headers.authorization), ["Bearer old", "Bearer new"]);
    await first.stop();
    await withFake([status(200, OK)], async (second) => {
      announce(second.address, "new", home);
      assert.deepEqual(await client.health(), OK);
    });
  }));

test("a wrong token is tried once", () =>
  withFake([failure(401, "refused")], async (fake) => {
    assert.equal((await errorOf(new Client({ home: announce(fake.address) }).health())).status, 401);
    assert.equal(fake.seen.length, 1);
  }));

test("errors carry what the server said", () =>
  withFake([failure(429, "limit_reached", "Too much", { "Retry-After": "3" })], async (fake) => {
    const error = await errorOf(new Client({ home: announce(fake.address) }).status());
    assert.deepEqual(
      [error.code, error.message, error.status, error.retryAfter, error.causes, error.hints],
      ["limit_reached", "Too much", 429, 3, ["because"], ["do this"]],
    );
    assert.equal(String(error), "Too much (limit_reached)\ncaused by: because\nhint: do this");
  }));

test("an error of another program is one too", async () => {
  const strange = [{}, [], null, { error: 1 }, { error: { code: "x" } }];
  await withFake(strange.map((answer) => status(502, answer)), async (fake) => {
    const client = new Client({ home: announce(fake.address) });
    for (const _ of strange) {
      const error = await errorOf(client.status());
      assert.deepEqual([error.code, error.status], ["failed", 502]);
    }
  });
});

test("a late answer is a timeout, and an abort is the caller's own", () =>
  withFake([silence, silence, silence], async (fake) => {
    const client = new Client({ home: announce(fake.address) });
    assert.equal((await errorOf(client.health({ timeoutMs: 20 }))).code, "timeout");
    assert.equal((await errorOf(client.withOptions({ timeoutMs: 20 }).health())).code, "timeout");
    const abort = new AbortController();
    const asked = client.health({ signal: abort.signal });
    abort.abort(new Error("enough"));
    await assert.rejects(asked, /enough/);
  }));

test("a path cannot become another one", () =>
  withFake([status(200, {})], async (fake) => {
    const client = new Client({ home: announce(fake.address) });
    for (const wrong of ["", ".", ".."]) {
      assert.equal((await errorOf(client.memories.archive(wrong))).code, "usage");
    }
    await client.memories.get("a/../b?c#d");
    assert.deepEqual(fake.seen.map((request) => request.url), ["/api/memories/a%2F..%2Fb%3Fc%23d"]);
  }));

test("values are written as the server reads them", () =>
  withFake([status(200, {}), status(200, {}), status(200, {})], async (fake) => {
    const client = new Client({ home: announce(fake.address) });
    await client.brief({ files: ["a b", "c&d"], budget: 5, task: null });
    await client.memories.list({ all: true, archived: false, sort: "-updated" });
    await client.review.decide({ ids: ["m1", "m2"], decision: "accept" });
    assert.equal(fake.seen[0]?.url, "/api/brief?files=a+b&files=c%26d&budget=5");
    assert.equal(fake.seen[1]?.url, "/api/memories?all=true&archived=false&sort=-updated");
    assert.equal(fake.seen[2]?.body, '{"ids":["m1","m2"],"decision":"accept"}');
    assert.equal(fake.seen[2]?.headers["content-type"], "application/json");
    assert.equal(fake.seen[2]?.headers.origin, undefined);
  }));

test("an edit passes the version and begins again on a conflict", () =>
  withFake(
    [
      status(200, { text: "one", version: "v1" }),
      failure(409, "conflict"),
      status(200, { text: "two", version: "v2" }),
      status(200, { id: "m1" }),
    ],
    async (fake) => {
      const client = new Client({ home: announce(fake.address) });
      assert.deepEqual(await client.editMemory("m1", (text) => `${text}!`), { id: "m1" });
      assert.equal(fake.seen[0]?.url, "/api/memories/m1?text=true");
      const writes = fake.seen.filter((request) => request.method === "PUT");
      assert.deepEqual(writes.map((request) => request.headers["if-match"]), ['"v1"', '"v2"']);
      assert.deepEqual(writes.map((request) => request.body), ['{"text":"one!"}', '{"text":"two!"}']);
    },
  ));

test("a stream goes on where it was cut", () =>
  withFake(
    [
      stream([": listening\n\n", event(1, { event: "step", text: "one" }), 'id: boot-2\ndata: {"half']),
      failure(503, "busy"),
      stream([event(2, { event: "step", text: "two" }), event(3, { event: "step", text: "three" })], true),
    ],
    async (fake) => {
      const client = new Client({ home: announce(fake.address) });
      const events = client.events({ retryDelayMs: 0, lastEventId: "boot-0" });
      const seen: types.StreamEvent[] = [];
      for await (const item of events) {
        seen.push(item);
        if (seen.length === 3) break;
      }
      assert.equal(events.lastId, "boot-3");
      assert.deepEqual(texts(seen), ["one", "two", "three"]);
      const ids = fake.seen.map((request) => request.headers["last-event-id"]);
      assert.deepEqual(ids, ["boot-0", "boot-1", "boot-1"]);
    },
  ));

test("a stream that never comes back throws", () =>
  withFake([stream([]), stream([]), stream([])], async (fake) => {
    const client = new Client({ home: announce(fake.address) });
    const error = await errorOf(collect(client.events({ attempts: 2, retryDelayMs: 0 })));
    assert.match(error.message, /ended the stream/);
    assert.equal(fake.seen.length, 3);
  }));

test("a stream may be closed while it waits", () =>
  withFake([stream([event(1, { event: "missed" })], true), stream([], true)], async (fake) => {
    const client = new Client({ home: announce(fake.address) });
    const events = await client.events().open();
    assert.equal((await events.next()).value?.event, "missed");
    const waiting = events.next();
    events.close();
    assert.deepEqual(await waiting, { done: true, value: undefined });
    const abort = new AbortController();
    const aborted = collect(client.events({ signal: abort.signal }));
    abort.abort();
    assert.deepEqual(await aborted, []);
  }));

test("a task tells its events and its report", () =>
  withFake(
    [
      status(202, { task: "t1" }),
      stream([
        event(0, { event: "missed" }),
        event(1, task("running")),
        event(2, { event: "sentence", text: "Hello.", starts_line: true }),
        event(3, task("completed")),
      ]),
      status(200, entry("running")),
      status(200, entry("completed")),
      failure(404, "not_found"),
      status(200, entry("completed")),
      status(200, { answer: "Hello." }),
    ],
    async (fake) => {
      const asked = await new Client({ home: announce(fake.address) }).ask({ question: "Why?" });
      assert.equal(asked.id, "t1");
      assert.deepEqual(texts(await collect(asked.events())), ["running", "Hello.", "completed"]);
      assert.equal((await asked.report()).answer, "Hello.");
      assert.equal(fake.seen[1]?.url, "/api/events?task=t1");
    },
  ));

test("the end of a task is told to those who come late", () =>
  withFake(
    [
      stream([], true),
      status(200, entry("failed", { reason: "no model" })),
      stream([event(7, { event: "step", text: "late" })]),
      status(200, entry("failed", { reason: "no model" })),
    ],
    async (fake) => {
      const late = new Client({ home: announce(fake.address) }).task("t1");
      assert.deepEqual(texts(await collect(late.events({ lastEventId: "boot-6" }))), ["late", "failed"]);
      assert.equal(fake.seen[2]?.headers["last-event-id"], "boot-6");
    },
  ));

test("a task that failed throws its error", () =>
  withFake([status(200, entry("failed")), failure(502, "unavailable", "The model did not answer")], async (fake) => {
    const error = await errorOf(new Client({ home: announce(fake.address) }).task("t1").report());
    assert.deepEqual([error.code, error.message], ["unavailable", "The model did not answer"]);
  }));

test("waiting for a task may have an end", () =>
  withFake([status(200, entry("running")), status(200, entry("running"))], async (fake) => {
    const error = await errorOf(new Client({ home: announce(fake.address) }).task("t1").report({ timeoutMs: 1 }));
    assert.equal(error.code, "timeout");
  }));

test("what is over at once has its report", () =>
  withFake([status(200, { by: "memories" })], async (fake) => {
    const asked = await new Client({ home: announce(fake.address) }).ask({ question: "Why?", no_model: true });
    assert.equal(asked.id, null);
    assert.deepEqual(await collect(asked.events()), []);
    assert.equal((await asked.report()).by, "memories");
    assert.throws(() => asked.cancel(), /over at once/);
  }));

test("wait returns the report, and an abort cancels the task", () =>
  withFake(
    [
      status(202, { task: "t1" }),
      status(200, entry("completed")),
      status(200, { by: "model" }),
      status(202, { task: "t2" }),
      silence,
      status(200, { task: "t2" }),
    ],
    async (fake) => {
      const client = new Client({ home: announce(fake.address) });
      assert.equal((await client.ask({ question: "Why?" }, { wait: true })).by, "model");
      const abort = new AbortController();
      const waiting = client.ask({ question: "Why?" }, { wait: true, signal: abort.signal });
      while (fake.seen.length < 5) await new Promise((resolve) => setImmediate(resolve));
      abort.abort(new Error("enough"));
      await assert.rejects(waiting, /enough/);
      assert.equal(fake.seen[5]?.url, "/api/tasks/t2/cancel");
    },
  ));
