// Tests against a real `nacre serve`; `NACRE_BIN` is the path of the program.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Client, NacreError } from "../src/index.js";
import type { types } from "../src/index.js";
import { newFolder } from "./fake.js";

const BINARY = process.env["NACRE_BIN"];
const SKIP = BINARY
  ? false
  : "NACRE_BIN is not set: build it with `cargo build -p nacre` and set NACRE_BIN=target/debug/nacre";

// The time limit for starting the server.
const START_MS = 60_000;

interface Running {
  home: string;
  process: ChildProcess;
}

function makeRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "main.py"), "def retry(times):\n    return times\n");
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
  for (const command of [["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]]) {
    execFileSync("git", [...identity, ...command], { cwd: folder, stdio: "ignore" });
  }
}

/** A server with one registered project called `shop`. */
async function start(binary: string): Promise<Running> {
  const base = newFolder();
  const home = join(base, "h");
  makeRepository(join(base, "shop"));
  const env = { ...process.env, NACRE_HOME: home, HOME: base };
  execFileSync(binary, ["init"], { cwd: join(base, "shop"), env, stdio: "ignore" });
  const log = openSync(join(base, "log"), "w");
  const server = spawn(binary, ["serve", "--port", "0"], { cwd: base, env, stdio: ["ignore", log, log] });
  closeSync(log);
  const end = performance.now() + START_MS;
  while (!existsSync(join(home, "run", "address"))) {
    if (server.exitCode !== null || performance.now() > end) {
      server.kill();
      assert.fail(`\`nacre serve\` did not start:\n${readFileSync(join(base, "log"), "utf8")}`);
    }
    await sleep(20);
  }
  return { home, process: server };
}

async function failureOf(promise: Promise<unknown>): Promise<NacreError> {
  const error: unknown = await promise.then(() => null, (reason: unknown) => reason);
  assert.ok(error instanceof NacreError);
  return error;
}

describe("a real server", { skip: SKIP }, () => {
  let running: Running;
  let client: Client;

  before(async () => {
    running = await start(String(BINARY));
    client = new Client({ home: running.home, project: "shop" });
  });

  after(async () => {
    const ended = new Promise((resolve) => running.process.once("exit", resolve));
    running.process.kill();
    await ended;
  });

  async function add(title: string): Promise<string> {
    const added = await client.memories.add({ title, body: `${title}, because the tests say so.`, type: "decision" });
    return added.id;
  }

  test("it says that it is there", async () => {
    assert.equal((await client.health()).status, "ok");
    const service: types.ServiceReport = await client.service.get();
    assert.equal(client.address, join(running.home, "run", "socket"));
    const byPort = new Client({ home: running.home, project: "shop", socket: false });
    assert.equal(byPort.address, `http://${service.address}`);
    assert.equal((await byPort.service.get()).address, service.address);
    assert.match((await client.openapi() as { openapi: string }).openapi, /^3\.1/);
  });

  test("a memory is added, found, edited and archived", async () => {
    const id = await add("Retries use exponential backoff");
    const found = await client.search({ query: "exponential backoff" });
    assert.ok(found.hits.some((hit) => hit.id === id));

    assert.notEqual(await client.editMemory(id, (text) => text.replace("because the tests say so", "as agreed")), null);
    assert.match((await client.memories.get(id)).body, /as agreed/);

    await client.memories.archive(id);
    assert.equal((await client.memories.get(id)).archived, true);
    await client.memories.restore(id);
    assert.equal((await client.memories.get(id)).archived, false);
  });

  test("an edit of an old version is refused", async () => {
    const id = await add("Versions protect edits");
    const before = await client.memories.get(id, { text: true });
    await client.editMemory(id, (text) => text.replace("tests", "people"));
    const text = `${before.text}More.\n`;
    const error = await failureOf(client.memories.write(id, { text }, { ifMatch: before.version }));
    assert.equal(error.code, "conflict");
  });

  test("errors say what went wrong", async () => {
    const missing = await failureOf(client.memories.get("no-such-memory"));
    assert.deepEqual([missing.code, missing.status], ["not_found", 404]);
    const wrong = new Client({ baseUrl: `http://${(await client.service.get()).address}`, token: "0".repeat(64) });
    assert.equal((await failureOf(wrong.status())).status, 401);
  });

  test("the socket does the same", async () => {
    const local = new Client({ home: running.home, socket: true, project: "shop" });
    assert.equal((await local.health()).status, "ok");
    assert.ok((await local.memories.list()).total >= 0);
    const task = await local.ask({ question: "What do we use?", no_model: true });
    assert.equal((await task.report()).question, "What do we use?");
  });

  test("a question is a task with events and a report", async () => {
    const task = await client.ask({ question: "What do retries use?", no_model: true });
    let last: types.StreamEvent | undefined;
    for await (const event of task.events()) last = event;
    if (task.id !== null) assert.ok(last?.event === "task" && last.state === "completed");
    const report = await task.report();
    const again = await client.ask({ question: "What do retries use?", no_model: true }, { wait: true });
    assert.equal(again.question, report.question);
  });

  test("a sync and a maintenance end with their reports", async () => {
    const task = await client.sync();
    for await (const event of task.events()) assert.equal(typeof event.at, "string");
    assert.equal(typeof (await task.report()), "object");
    assert.equal(typeof (await client.maintain({}, { wait: true })), "object");
  });

  test("changes are streamed and resumed", async () => {
    const stream = await client.events().open();
    await add("Changes are streamed");
    for await (const event of stream) if (event.event === "changed" && event.what === "memories") break;
    assert.notEqual(stream.lastId, null);
    await add("Streams resume");
    for await (const event of client.events({ lastEventId: String(stream.lastId) })) {
      assert.equal(event.event, "changed");
      break;
    }
  });

  test("the map of the code is there", async () => {
    assert.equal(typeof (await client.map.explore()), "object");
    assert.match(JSON.stringify(await client.map.context({ task: "change retry" })), /retry/);
    assert.equal(typeof (await client.map.refresh({}, { wait: true })), "object");
  });

  test("the example runs", () => {
    const example = fileURLToPath(new URL("../examples/remember.js", import.meta.url));
    const env = { ...process.env, NACRE_HOME: running.home };
    const output = execFileSync(process.execPath, [example, "shop"], { env, encoding: "utf8" });
    assert.match(output, /Use tabs/);
  });
});
