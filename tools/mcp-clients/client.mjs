// Runs every tool of `nacre mcp` by the official TypeScript SDK; then 1,000 calls, a kill, and a new connection.
//
// usage: node client.mjs NACRE FOLDER CALLS MODULES     (MODULES: the folder that npm installed the SDK into)

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [nacre, folder, callsFile, modules] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${modules}/package.json`));
const { Client } = await import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/client/index.js")));
const { StdioClientTransport } = await import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/client/stdio.js")));

const MAX_CHARS = 9_000;
const MAX_GROWTH_KB = 4_096;
const calls = JSON.parse(readFileSync(callsFile, "utf8"));

async function connect() {
  const env = { HOME: process.env.HOME, PATH: process.env.PATH };
  const transport = new StdioClientTransport({ command: nacre, args: ["mcp"], cwd: folder, env });
  const client = new Client({ name: "e2e", version: "1" });
  await client.connect(transport);
  return { client, transport };
}

async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  const text = result.content.map((block) => block.text).join("");
  assert.ok([...text].length <= MAX_CHARS, `${name}: ${text.length}`);
  return [text, result.isError === true];
}

function rssKb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);
}

const begun = performance.now();
const { client, transport } = await connect();
const { tools } = await client.listTools();
const handshake = performance.now() - begun;
assert.deepEqual(new Set(tools.map(({ name }) => name)), new Set(calls.map(({ tool }) => tool)));
for (const { tool, arguments: args, expect, error } of calls) {
  const [text, isError] = await call(client, tool, args);
  assert.ok(isError === Boolean(error) && text.includes(error ?? expect), `${tool}: ${text}`);
}
const { resources } = await client.listResources();
const read = await client.readResource({ uri: resources[0].uri });
assert.match(read.contents[0].text, /Evidence/);
const { prompts } = await client.listPrompts();
assert.deepEqual(prompts.map((prompt) => prompt.name), ["recall", "remember"]);
await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /Unknown tool/);
await assert.rejects(client.readResource({ uri: "memory://20200101-nothing" }));

// A call that the client gives up on, and one after it.
const abort = new AbortController();
const given = client.callTool({ name: "explore", arguments: {} }, undefined, { signal: abort.signal });
abort.abort();
await assert.rejects(given);
await call(client, "status", {});

const kinds = calls.filter(({ tool }) => tool !== "memory_add");
const one = (n) => call(client, kinds[n % kinds.length].tool, kinds[n % kinds.length].arguments);
for (let n = 0; n < 200; n++) await one(n);
// The allocator takes a new arena once in a while; a leak grows in every round.
let before, after, seconds;
for (let round = 0; round < 3; round++) {
  before = rssKb(transport.pid);
  const started = performance.now();
  for (let n = 0; n < 1_000; n++) await one(n);
  seconds = (performance.now() - started) / 1000;
  after = rssKb(transport.pid);
  if (after - before <= MAX_GROWTH_KB) break;
}
assert.ok(after - before <= MAX_GROWTH_KB, `${before} kB before, ${after} kB after`);

// A server that dies is an error of the call; a new one works.
process.kill(transport.pid, "SIGKILL");
await assert.rejects(call(client, "status", {}));
const again = await connect();
await call(again.client, calls[0].tool, calls[0].arguments);
await again.client.close();
const manifest = `${modules}/node_modules/@modelcontextprotocol/sdk/package.json`;
const { version } = JSON.parse(readFileSync(manifest, "utf8"));
console.log(`typescript: sdk ${version}, start to tools/list ${handshake.toFixed(0)} ms, 1,000 calls in ${seconds.toFixed(1)} s, ` +
  `${before} kB before and ${after} kB after`);
