// One whole session with `nacre chat --acp` by the protocol's own client. Every line of the agent is checked against the schema of
// its kind, and may have no field that the schema does not know.
//
// usage: node session.mjs NACRE FOLDER MODULES     (MODULES: the folder that npm installed the client into)

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { PassThrough, Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [nacre, folder, modules] = process.argv.slice(2);
const sdk = `${modules}/node_modules/@agentclientprotocol/sdk`;
const acp = await import(pathToFileURL(`${sdk}/dist/v1/stable/acp.js`));
const Ajv = createRequire(pathToFileURL(`${modules}/package.json`))("ajv/dist/2020.js").default;
const schema = JSON.parse(readFileSync(`${sdk}/schema/v1/schema.json`, "utf8"));
const { agent: agentMethods, client: clientMethods } = acp.methods;

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ ...schema, $id: "acp" });
const validators = new Map();

function check(type, value) {
  if (!validators.has(type)) {
    const exact = { allOf: [{ $ref: `acp#/$defs/${type}` }], unevaluatedProperties: false };
    validators.set(type, ajv.compile(exact));
  }
  const validate = validators.get(type);
  assert.ok(validate(value), `${type}: ${JSON.stringify(value)}\n${ajv.errorsText(validate.errors)}`);
}

// The schema names the method of each type.
const types = new Map();
for (const [name, definition] of Object.entries(schema.$defs)) {
  if (definition["x-method"]) types.set(`${definition["x-method"]} ${name.match(/(Request|Response|Notification)$/)?.[1]}`, name);
}

const seen = new Map();
const count = (what) => seen.set(what, (seen.get(what) ?? 0) + 1);

class Checked {
  constructor(sent) {
    this.sent = sent;
  }

  line(line) {
    const message = JSON.parse(line);
    assert.equal(message.jsonrpc, "2.0");
    const { method, params, id } = message;
    if (method === undefined) return this.response(message);
    const type = types.get(`${method} ${id === undefined ? "Notification" : "Request"}`);
    assert.ok(type, `no type for ${line}`);
    check(type, params);
    if (method === "session/update") {
      check("SessionUpdate", params.update);
      count(params.update.sessionUpdate);
      for (const content of params.update.content?.length ? params.update.content : []) check("ToolCallContent", content);
      for (const entry of params.update.entries ?? []) check("PlanEntry", entry);
      for (const option of params.update.configOptions ?? []) check("SessionConfigOption", option);
      for (const command of params.update.availableCommands ?? []) check("AvailableCommand", command);
    } else {
      count(method);
    }
    if (method === "session/request_permission") {
      check("ToolCallUpdate", params.toolCall);
      for (const content of params.toolCall.content ?? []) check("ToolCallContent", content);
      for (const option of params.options) check("PermissionOption", option);
    }
  }

  response({ id, result, error }) {
    if (error !== undefined) return count("error"), check("Error", error);
    const method = this.sent.get(id);
    check(types.get(`${method} Response`), result);
    if (result.agentCapabilities) check("AgentCapabilities", result.agentCapabilities);
    if (result.modes) check("SessionModeState", result.modes);
    for (const option of result.configOptions ?? []) check("SessionConfigOption", option);
    for (const session of result.sessions ?? []) check("SessionInfo", session);
    count(`${method} answered`);
  }
}

function lines(stream, take) {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (part) => {
    rest += part;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      take(rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
  });
}

/// Starts the agent, and lets `work` talk to it; the exit code must be 0.
async function withAgent(script, answer, work) {
  const child = spawn(nacre, ["chat", "--acp", "--scripted", script], {
    cwd: folder, env: { HOME: process.env.HOME, PATH: process.env.PATH }, stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = new Promise((resolve) => child.on("exit", resolve));
  const sent = new Map();
  const checked = new Checked(sent);
  const [toAgent, toClient, tapped] = [new PassThrough(), new PassThrough(), new PassThrough()];
  lines(toAgent, (line) => {
    const { id, method } = JSON.parse(line);
    if (method !== undefined && id !== undefined) sent.set(id, method);
    child.stdin.write(`${line}\n`);
  });
  child.stdout.pipe(toClient);
  child.stdout.pipe(tapped);
  let wrong;
  lines(tapped, (line) => {
    try {
      checked.line(line);
    } catch (error) {
      wrong ??= error;
    }
  });
  const updates = [];
  const stream = acp.ndJsonStream(Writable.toWeb(toAgent), Readable.toWeb(toClient));
  const client = acp
    .client({ name: "e2e" })
    .onRequest(clientMethods.session.requestPermission, ({ params }) => {
      updates.push({ sessionUpdate: "asked" });
      return { outcome: answer(params) };
    })
    .onNotification(clientMethods.session.update, ({ params }) => void updates.push(params.update));
  const result = await client.connectWith(stream, async (agent) => {
    const initialized = await agent.request(agentMethods.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false, session: { notices: {} } },
      clientInfo: { name: "e2e", version: "1" },
    });
    assert.equal(initialized.protocolVersion, 1);
    return await work(agent, updates);
  });
  child.stdin.end();
  assert.equal(await exit, 0);
  if (wrong) throw wrong;
  return result;
}

const say = (sessionId, text, more = []) => ({ sessionId, prompt: [{ type: "text", text }, ...more] });
const mcpServers = [{ name: "m", command: "false", args: [], env: [] }];
let choice = "allow_once";
const answer = ({ options }) => {
  assert.deepEqual(options.map(({ kind }) => kind), ["allow_once", "allow_always", "reject_once"]);
  return { outcome: "selected", optionId: options.find(({ kind }) => kind === choice).optionId };
};

const session = await withAgent("../script.json", answer, async (agent, updates) => {
  const { sessionId, modes } = await agent.request(agentMethods.session.new, { cwd: folder, mcpServers });
  assert.equal(modes.currentModeId, "ask");
  const link = { type: "resource_link", name: "lib.rs", uri: `${pathToFileURL(`${folder}/lib.rs`)}` };
  const done = await agent.request(agentMethods.session.prompt, say(sessionId, "Mend ", [link]));
  assert.equal(done.stopReason, "end_turn");
  assert.match(readFileSync(`${folder}/lib.rs`, "utf8"), /a \+ b/);
  assert.equal(updates.filter((update) => update.sessionUpdate === "asked").length, 1);

  choice = "reject_once";
  assert.equal((await agent.request(agentMethods.session.prompt, say(sessionId, "Make it"))).stopReason, "end_turn");
  assert.ok(!existsSync(`${folder}/made`));

  const { configOptions } = await agent.request(agentMethods.session.setConfigOption, {
    sessionId, configId: "mode", value: "full",
  });
  assert.equal(configOptions.find(({ category }) => category === "mode").currentValue, "full");
  await assert.rejects(
    agent.request(agentMethods.session.setConfigOption, { sessionId, configId: "model", value: "no/such" }), { code: -32602 });
  await agent.request(agentMethods.session.setMode, { sessionId, modeId: "auto-edit" });
  const hanging = agent.request(agentMethods.session.prompt, say(sessionId, "Wait"));
  await agent.notify(agentMethods.session.cancel, { sessionId });
  assert.equal((await hanging).stopReason, "cancelled");

  assert.equal((await agent.request(agentMethods.session.prompt, say(sessionId, "/undo"))).stopReason, "end_turn");
  assert.match(readFileSync(`${folder}/lib.rs`, "utf8"), /a - b/);
  await assert.rejects(agent.request("no/such", {}), { code: -32601 });
  await assert.rejects(agent.request(agentMethods.session.prompt, say("ses_none", "Hello")), { code: -32002 });
  return sessionId;
});

await withAgent("../script2.json", answer, async (agent, updates) => {
  const { sessions } = await agent.request(agentMethods.session.list, { cwd: folder });
  assert.deepEqual(sessions.map(({ sessionId }) => sessionId), [session]);
  const { modes } = await agent.request(agentMethods.session.load, { sessionId: session, cwd: folder, mcpServers: [] });
  assert.equal(modes.currentModeId, "auto-edit");
  const texts = updates.filter((update) => update.sessionUpdate === "user_message_chunk").map(({ content }) => content.text);
  assert.match(texts[0], /^Mend `lib.rs`/);
  assert.equal((await agent.request(agentMethods.session.prompt, say(session, "Hello again"))).stopReason, "end_turn");
  await agent.request(agentMethods.session.close, { sessionId: session });
  await agent.request(agentMethods.session.resume, { sessionId: session, cwd: folder, mcpServers: [] });
  await agent.request(agentMethods.session.delete, { sessionId: session });
  assert.deepEqual((await agent.request(agentMethods.session.list, {})).sessions, []);
});

for (const kind of [
  "agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call", "tool_call_update", "plan",
  "available_commands_update", "current_mode_update", "config_option_update", "session_info_update", "session/request_permission", "notice",
]) {
  assert.ok(seen.has(kind), `no ${kind} was seen`);
}
console.log([...seen].map(([what, times]) => `${what} ${times}`).join(", "));
