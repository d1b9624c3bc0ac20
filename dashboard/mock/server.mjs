// A stand-in for `nacre serve`: the same addresses, answers and errors, over recorded data.
//   node mock/server.mjs [--port N] [--variant full|empty|hostile|many] [--login] [--fail] [--slow MS] [--drop MS] [--pace N] [--dist FOLDER]
// `--login` wants the secret of a page as the real one does (open /#code=mock), `--fail` lets every route fail, `--pace 0` streams without pauses and
// `--pace 5` slowly, `--drop` closes each connection for events after a while.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { extname, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Failure, State, NOW, entry, version } from './state.mjs';
import { Tasks } from './tasks.mjs';

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string', default: '8799' }, variant: { type: 'string', default: 'full' }, login: { type: 'boolean', default: false },
    fail: { type: 'boolean', default: false }, slow: { type: 'string', default: '0' }, drop: { type: 'string', default: '0' }, pace: { type: 'string', default: '1' },
    dist: { type: 'string', default: fileURLToPath(new URL('../dist/', import.meta.url)) },
  },
});
const state = new State(flags.variant);
const { data } = state;
const tasks = new Tasks(state, Number(flags.pace));
const dist = flags.dist;
const SECRET = 'mock-secret';
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const number = (query, key, usual) => (query.has(key) ? Number(query.get(key)) : usual);
const page = (list, query, usual = 50) => {
  const offset = number(query, 'offset', 0);
  const limit = number(query, 'limit', usual);
  return limit === 0 ? list.slice(offset) : list.slice(offset, offset + limit);
};
const changes = (done, ids, change) => ({ done, ids, failed: [], change });

function checkMatch(request, id) {
  const wanted = request.headers['if-match'];
  if (!wanted) throw new Failure(428, 'usage', 'The request has no `If-Match`', ['Read the memory first, and send its `ETag`.']);
  if (wanted.replaceAll('"', '') !== version(data.files[id])) {
    throw new Failure(412, 'conflict', `Somebody changed \`${id}\` meanwhile`, ['Read it again, and put your change into it.']);
  }
}

function listMemories(query) {
  const is = (key, value) => !query.has(key) || query.get(key) === value;
  const all = query.get('all') === 'true' || query.get('type') === 'summary';
  const wanted = state.memoryList().filter((one) =>
    one.archived === (query.get('archived') === 'true') && is('type', one.type) && is('kind', one.kind) && is('status', one.status)
    && (!query.has('tag') || one.tags.includes(query.get('tag'))));
  const shown = wanted.filter((one) => all || one.type !== 'summary');
  const sort = query.get('sort') ?? '-updated';
  const key = sort.replace('-', '');
  shown.sort((a, b) => (sort.startsWith('-') ? -1 : 1) * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0));
  return { memories: page(shown, query).map(entry), total: shown.length, hidden_summaries: wanted.length - shown.length, broken: [] };
}

const terms = (text) => text.toLowerCase().split(/\W+/).filter((one) => one.length > 1);

function searchMemories(query) {
  const asked = terms(query.get('query') ?? '');
  const hits = [];
  for (const one of state.memoryList()) {
    if (one.archived && query.get('archived') !== 'true') continue;
    if (query.has('type') && query.get('type') !== one.type) continue;
    if (query.has('tag') && !one.tags.includes(query.get('tag'))) continue;
    const text = `${one.title} ${one.tags.join(' ')} ${one.body}`.toLowerCase();
    const found = asked.filter((term) => text.includes(term));
    if (found.length === 0) continue;
    const score = found.length + (found.some((term) => one.title.toLowerCase().includes(term)) ? 1 : 0);
    hits.push({ ...entry(one), score, snippet: one.body.slice(0, 160), why: { terms: found, lexical: score, similarity: 0.5, edges: [] }, history: [], not_verified: [] });
  }
  hits.sort((a, b) => b.score - a.score);
  return { query: query.get('query') ?? '', hits: page(hits, query, 20), total: hits.length, broken: [] };
}

function searchSessions(query) {
  const asked = terms(query.get('query') ?? '');
  const hits = [];
  for (const { session, events } of Object.values(data.transcripts)) {
    if (query.has('agent') && query.get('agent') !== session.facts.agent) continue;
    for (const event of events) {
      const found = asked.filter((term) => event.text.toLowerCase().includes(term));
      if (found.length === 0) continue;
      hits.push({ id: session.id, agent: session.facts.agent, title: session.facts.title, project: session.project, sequence: event.sequence, kind: event.kind, at: event.at,
        snippet: event.text.slice(0, 200), score: found.length, why: { terms: found, similarity: 0.4 } });
    }
  }
  hits.sort((a, b) => b.score - a.score);
  return { query: query.get('query') ?? '', hits: page(hits, query, 20) };
}

function listSessions(query) {
  const wanted = data.sessions.sessions.filter((one) => !query.has('agent') || one.facts.agent === query.get('agent'));
  return { sessions: page(wanted, query), total: wanted.length };
}

function showSession(place, query) {
  const [, id, sequence] = /^(.*?)(?::(\d+))?$/.exec(place);
  const session = state.session(id);
  const transcript = data.transcripts[session.id];
  const isFull = query.get('full') === 'true';
  const events = transcript.events.filter((one) => one.sequence >= Number(sequence ?? 0) && (isFull || (one.injected === null && !['reasoning', 'meta'].includes(one.kind))));
  const limit = number(query, 'limit', 0);
  return { session, events: limit > 0 ? events.slice(0, limit) : events };
}

function decide({ ids, decision, supersedes }) {
  const change = ids.map((id) => state.alter(id, `review ${decision}`, (memory) => {
    if (decision === 'accept') memory.status = 'active';
    else delete data.memories[memory.id];
    if (supersedes) state.memory(supersedes).status = 'superseded';
  })).at(-1);
  state.refreshReview();
  tasks.changed('memories');
  return changes(decision === 'accept' ? 'accepted' : 'rejected', ids, change);
}

function undo(id, { dry_run = false }) {
  const change = data.changes.changes.find((one) => one.id === id) ?? data.changes.changes.find((one) => data.run[id]?.report?.run_id === id && one.id.startsWith(id.slice(0, 24)));
  const command = change?.command ?? data.runs.runs.find((one) => one.id === id)?.of ?? 'sync';
  const memories = (change?.memories ?? []).map((one) => ({ id: one, done: 'reverted' }));
  const report = { run: `undo-20261116-1805-${id.slice(-6)}`, of: id, command, dry_run, paths: memories.map((one) => `memory/${one.id}.md`), memories, kept: [] };
  if (dry_run) return { ...report, changes: [] };
  if (change?.undone_by) throw new Failure(409, 'conflict', `\`${id}\` is undone already`, ['`nacre undo --list` says by what.']);
  state.undos?.get(id)?.();
  if (change) Object.assign(change, { undone_by: report.run, undoable: false });
  tasks.changed('memories');
  return report;
}

function changeJob(id, to, done) {
  const job = data.queue.jobs.find((one) => one.id === id);
  if (!job) throw new Failure(404, 'not_found', `There is no session \`${id}\` in the queue`, ['`nacre queue` lists them.']);
  Object.assign(job, { state: to, reason: to === 'skipped' ? 'skipped by hand' : null, attempts: 0 });
  Object.assign(state.session(id), { state: to, reason: job.reason });
  tasks.changed('queue');
  return { done, ids: [id] };
}

function addMemory(body) {
  const id = `20261116-${body.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').slice(0, 50).replaceAll(/^-|-$/g, '')}`;
  if (data.memories[id]) throw new Failure(409, 'conflict', `There is a memory \`${id}\` already`);
  const type = body.type ?? 'decision';
  const memory = { id, type, kind: type === 'learning' ? body.kind ?? 'insight' : null, title: body.title, status: 'active', confidence: 0.9, tags: body.tags ?? [], related: [],
    created: NOW, updated: NOW, archived: false, scope: 'project', path: `/home/ana/tidepool/.nacre/memory/${type}s/${id}.md`, also_in: [], supersedes: [], superseded_by: [],
    body: body.body ?? '', evidence: { version: 1, id, quotes: [{ text: body.title, speaker: 'human', place: 'nacre dashboard', at: NOW }] }, history: [] };
  data.memories[id] = memory;
  data.files[id] = `---\nid: ${id}\ntitle: ${body.title}\ncreated: ${NOW}\ntags: [${memory.tags.join(', ')}]\nstatus: active\n---\n\n${memory.body}\n`;
  data.related[id] = { id, related: [], total: 0, also_in: [] };
  const change = state.change('memory add', [id], () => delete data.memories[id]);
  tasks.changed('memories');
  return { done: 'added', id, path: memory.path, change };
}

const service = () => ({
  version: '0.1.0', started: '2026-11-16T08:00:00Z', address: `127.0.0.1:${flags.port}`, pid: process.pid, listeners: tasks.clients.size, paused: state.paused,
  loops: [
    { name: 'sync', state: state.paused ? 'paused' : 'idle', every_s: 600, last: '2026-11-16T17:50:00Z', next: state.paused ? null : '2026-11-16T18:05:00Z', last_error: null },
    { name: 'maintain', state: state.paused ? 'paused' : 'waiting', every_s: 3600, last: '2026-11-16T17:40:00Z', next: state.paused ? null : '2026-11-16T18:40:00Z', last_error: null },
    { name: 'index', state: 'idle', every_s: 300, last: '2026-11-16T17:58:00Z', next: '2026-11-16T18:03:00Z', last_error: null },
    { name: 'map', state: 'idle', every_s: 60, last: '2026-11-16T17:59:00Z', next: '2026-11-16T18:00:30Z', last_error: 'Cannot watch `/home/ana/old`: there is no such folder' },
  ],
});

function setConfig(body) {
  const setting = data.config.settings[body.key];
  if (/^(roles|providers|embedding)\./.test(body.key)) throw new Failure(403, 'refused', `\`${body.key}\` decides where text is sent, and is not set from a browser`, [`Type it: nacre config set ${body.key} VALUE`]);
  if (!setting) throw new Failure(404, 'not_found', `There is no setting \`${body.key}\``, ['`nacre config` lists them.']);
  const value = typeof setting.value === 'boolean' ? String(body.value) === 'true' : typeof setting.value === 'number' ? Number(body.value) : body.value;
  if (typeof value === 'number' && Number.isNaN(value)) throw new Failure(422, 'invalid', `\`${body.key}\` wants a number`);
  Object.assign(setting, { value, origin: 'in /home/ana/.nacre/config.toml' });
  tasks.changed('config');
  return { key: body.key, value, file: '/home/ana/.nacre/config.toml', done: 'set' };
}

function connectAgents(body) {
  for (const one of data.connect.agents) if (body.agents?.includes(one.agent) && !body.dry_run) one.connected = body.action !== 'remove';
  return data.connect;
}

const found = (value, what) => {
  if (value === undefined) throw new Failure(404, 'not_found', `There is no ${what}`);
  return value;
};

/** [method, path with `:parts`, handler]. A handler gets { query, body, request, response, parts }. */
const ROUTES = [
  ['GET', '/api/health', () => ({ status: 'ok', version: '0.1.0' })],
  ['GET', '/api/status', () => ({ ...data.status, health: 'ok', checked: NOW })],
  ['GET', '/api/service', service],
  ['POST', '/api/service/pause', () => ((state.paused = true), service())],
  ['POST', '/api/service/resume', () => ((state.paused = false), service())],
  ['GET', '/api/overview', () => state.overview()],
  ['POST', '/api/ask', ({ body }) => tasks.ask(body)],
  ['POST', '/api/sync', () => tasks.sync()],
  ['POST', '/api/maintain', () => tasks.maintain()],
  ['GET', '/api/memories', ({ query }) => listMemories(query)],
  ['POST', '/api/memories', ({ body, response }) => ((response.statusCode = 201), addMemory(body))],
  ['GET', '/api/memories/:id', ({ parts: [id], response, query }) => {
    const { evidence, history, ...memory } = state.memory(id);
    const text = data.files[memory.id];
    response.setHeader('ETag', `"${version(text)}"`);
    return { ...memory, evidence: query.get('evidence') === 'true' ? evidence : null, history: query.get('history') === 'true' ? history : null, version: version(text), ...(query.get('text') === 'true' ? { text } : {}) };
  }],
  ['PUT', '/api/memories/:id', ({ parts: [id], body, request }) => {
    checkMatch(request, id);
    const change = state.write(id, body.text);
    tasks.changed('memories');
    return { done: 'edited', id, path: null, change };
  }],
  ['DELETE', '/api/memories/:id', ({ parts: [id], request }) => {
    checkMatch(request, id);
    const change = state.alter(id, 'memory archive', (one) => Object.assign(one, { archived: true, status: 'archived' }));
    tasks.changed('memories');
    return changes('archived', [id], change);
  }],
  ['POST', '/api/memories/:id/restore', ({ parts: [id] }) => {
    const change = state.alter(id, 'memory restore', (one) => Object.assign(one, { archived: false, status: 'active' }));
    tasks.changed('memories');
    return changes('restored', [id], change);
  }],
  ['POST', '/api/memories/:id/forget', ({ parts: [id] }) => {
    delete data.memories[id];
    tasks.changed('memories');
    return changes('forgot', [id], undefined);
  }],
  ['POST', '/api/memories/:id/feedback', ({ parts: [id], body }) => {
    const before = state.memory(id).confidence ?? 0.7;
    const change = state.alter(id, 'feedback', (one) => Object.assign(one, {
      confidence: body.verdict === 'useful' ? Math.min(0.99, before + 0.05) : before / 2, feedback: { verdict: body.verdict, note: body.note ?? null, at: NOW } }));
    tasks.changed('memories');
    return { id, verdict: body.verdict, confidence_before: before, confidence: state.memory(id).confidence, scope: 'project', also_in: [], change };
  }],
  ['GET', '/api/memories/:id/related', ({ parts: [id], query }) => {
    const all = found(data.related[id], `memory \`${id}\``);
    return { ...all, related: page(all.related, query, 20) };
  }],
  ['GET', '/api/search', ({ query }) => searchMemories(query)],
  ['GET', '/api/brief', () => data.brief],
  ['GET', '/api/review', ({ query }) => (state.refreshReview(), { ...data.review, candidates: page(data.review.candidates, query) })],
  ['POST', '/api/review', ({ body }) => decide(body)],
  ['GET', '/api/trust', () => data.trust],
  ['GET', '/api/graph', ({ query }) => state.graph(number(query, 'limit', 2000) || 1e9, query.get('archived') === 'true', query.get('all') === 'true')],
  ['GET', '/api/sessions', ({ query }) => listSessions(query)],
  ['GET', '/api/sessions/search', ({ query }) => searchSessions(query)],
  ['GET', '/api/sessions/:id', ({ parts: [id], query }) => showSession(id, query)],
  ['GET', '/api/connect', () => data.connect],
  ['POST', '/api/connect', ({ body }) => connectAgents(body)],
  ['DELETE', '/api/connect/:agent', ({ parts: [agent] }) => connectAgents({ action: 'remove', agents: [agent] })],
  ['GET', '/api/project/list', () => data.projects],
  ['POST', '/api/project/add', ({ body }) => {
    const name = body.name ?? body.path.split('/').at(-1);
    data.projects.projects.push({ name, path: body.path, state: 'ready' });
    tasks.changed('projects');
    return { path: body.path, root: body.path, project: name, is_git: true, created: ['.nacre'], memories: 0, shares_summaries: false, next: 'nacre sync' };
  }],
  ['POST', '/api/project/remove', ({ body }) => {
    data.projects.projects = data.projects.projects.filter((one) => one.name !== body.name);
    tasks.changed('projects');
    return { removed: body.name };
  }],
  ['GET', '/api/runs', ({ query }) => ({ ...data.runs, runs: page(data.runs.runs, query, 20) })],
  ['GET', '/api/runs/stats', () => ({ models: data.modelStats.models, tools: data.toolStats.tools })],
  ['GET', '/api/runs/:id', ({ parts: [id] }) => found(data.run[id], `run \`${id}\``)],
  ['GET', '/api/runs/:id/messages', ({ parts: [id] }) => ({ run: id, messages: tasks.messages(id) })],
  ['POST', '/api/runs/:id/undo', ({ parts: [id], body }) => undo(id, body)],
  ['GET', '/api/changes', ({ query }) => ({ ...data.changes, changes: page(data.changes.changes, query, 20) })],
  ['GET', '/api/queue', ({ query }) => {
    const jobs = data.queue.jobs.filter((one) => !query.has('status') || one.state === query.get('status'));
    return { jobs: page(jobs, query, 50), total: jobs.length };
  }],
  ['POST', '/api/queue/:id/retry', ({ parts: [id] }) => changeJob(id, 'pending', 'queued')],
  ['POST', '/api/queue/:id/skip', ({ parts: [id] }) => changeJob(id, 'skipped', 'skipped')],
  ['GET', '/api/config', () => data.config],
  ['PATCH', '/api/config', ({ body }) => setConfig(body)],
  ['GET', '/api/models', () => data.models],
  ['POST', '/api/models/test', ({ body }) => {
    if (data.models.roles.length === 0) throw new Failure(412, 'not_set', `No model is set for \`${body.role}\``, [`Set one: nacre config set roles.default.model ollama/qwen3:8b`]);
    return { role: body.role, model: 'ollama/qwen3:8b', text: 'ready', first_word_ms: 180, total_ms: 240, tokens: { input: 12, output: 1 }, cost_usd: null };
  }],
  ['GET', '/api/tasks', ({ query }) => ({ tasks: page(data.tasks.tasks, query, 20) })],
  ['GET', '/api/tasks/:id', ({ parts: [id] }) => found(data.task[id], `task \`${id}\``)],
  ['GET', '/api/tasks/:id/report', ({ parts: [id] }) => found(state.reports.get(id), `report of \`${id}\``)],
  ['POST', '/api/tasks/:id/cancel', ({ parts: [id] }) => tasks.cancel(id)],
  ['POST', '/v1/explore', () => data.explore],
  ['POST', '/v1/delta', () => data.delta],
  ['POST', '/v1/context', ({ body }) => {
    if (!body.task && !body.files?.length) throw new Failure(400, 'usage', 'The request names neither a task nor files');
    return data.context;
  }],
  ['POST', '/v1/refresh', () => tasks.refresh()],
  ['GET', '/api/doctor', () => data.doctor],
];

function match(method, path) {
  for (const [wanted, pattern, handler] of ROUTES) {
    const names = pattern.split('/');
    const given = path.split('/');
    if (wanted !== method || names.length !== given.length) continue;
    if (!names.every((name, at) => name.startsWith(':') || name === given[at])) continue;
    const parts = given.filter((_, at) => names[at].startsWith(':')).map(decodeURIComponent);
    return { handler, parts };
  }
  throw new Failure(404, 'not_found', `There is no route \`${method} ${path}\``, ['`GET /api/openapi.json` lists them.']);
}

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.json': 'application/json' };

function serveFile(path, response) {
  const file = normalize(path === '/' ? '/index.html' : path);
  response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
  response.end(readFileSync(dist + file));
}

async function readBody(request) {
  let text = '';
  for await (const piece of request) text += piece;
  if (text === '') return {};
  if (request.headers['content-type'] !== 'application/json') throw new Failure(415, 'usage', 'The body is not `application/json`');
  return JSON.parse(text);
}

async function answer(request, response) {
  const url = new URL(request.url, 'http://127.0.0.1');
  const { pathname: path, searchParams: query } = url;
  if (path === '/' || path.startsWith('/assets/')) return serveFile(path, response);
  if (path === '/api/login') {
    const { code } = await readBody(request);
    if (code !== 'mock') throw new Failure(401, 'refused', 'The login link has expired or was already used', ['To create a new one: nacre dashboard']);
    response.setHeader('Content-Type', 'application/json');
    return response.end(JSON.stringify({ secret: SECRET }));
  }
  if (flags.login && path !== '/api/health' && request.headers.authorization !== `Bearer ${SECRET}`) {
    throw new Failure(401, 'refused', 'Nobody is logged in', ['Open it with: nacre dashboard']);
  }
  if (path === '/api/events') {
    if (Number(flags.drop) > 0) setTimeout(() => response.end(), Number(flags.drop));
    return tasks.stream(request, response, query.get('task'));
  }
  if (flags.fail && path !== '/api/project/list') {
    throw new Failure(500, 'failed', 'Cannot read the store of `tidepool`', ['`nacre doctor` says which file is wrong.'], ['/home/ana/tidepool/.nacre/meta: permission denied']);
  }
  const { handler, parts } = match(request.method, path);
  const body = await readBody(request);
  if (Number(flags.slow) > 0) await new Promise((resolve) => setTimeout(resolve, Number(flags.slow)));
  let report = await handler({ query, body, request, response, parts });
  if (report.task && query.get('wait') === 'true') report = await tasks.wait(report.task);
  else if (Object.keys(report).join() === 'task') response.statusCode = 202;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(report));
}

const server = createServer((request, response) => {
  response.setHeader('Content-Security-Policy', CSP);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  answer(request, response).catch((error) => {
    if (error.code === 'ENOENT') error = new Failure(404, 'not_found', 'There is no such file', ['`npm run build` makes the page.']);
    if (!(error instanceof Failure)) console.error(error);
    const { status = 500, code = 'failed', message, causes = [], hints = [] } = error;
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ error: { code, message, causes, hints } }));
  });
});
server.listen(Number(flags.port), '127.0.0.1', () => {
  const { port } = server.address();
  console.log(`mock (${flags.variant}): http://127.0.0.1:${port}/#code=mock`);
});
