// What the mock server knows: the recorded data, changed in memory as the real server would change files.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { hostile } from './hostile.mjs';

const folder = new URL('./data/', import.meta.url);
const readJson = (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));

export const NOW = '2026-11-16T18:00:00Z';
const started = Date.now();

/** The clock of the recorded home: it starts when the data ends. */
export const clock = () => new Date(Date.parse(NOW) + Date.now() - started).toISOString();

/** An error as the wire tells it. */
export class Failure extends Error {
  constructor(status, code, message, hints = [], causes = []) {
    super(message);
    Object.assign(this, { status, code, hints, causes });
  }
}

/** The recorded data of a variant: `full`, `empty`, `hostile` or `many`. */
function load(variant) {
  const full = Object.fromEntries(readdirSync(folder).filter((name) => name !== 'empty.json').map((name) => [name.replace('.json', ''), readJson(name)]));
  if (variant === 'empty') return { ...readJson('empty.json'), ask: { model: full.ask.unknown, memories: full.ask.unknown, unknown: full.ask.unknown, failed: full.ask.unknown }, sync: emptySync(full.sync), maintain: full.maintain };
  spoil(full);
  if (variant === 'hostile') return hostile(full);
  if (variant === 'many') multiply(full, 2000);
  return full;
}

function emptySync(sync) {
  return { ...sync, sessions: [], learned: [], sources: 0, unchanged: 0 };
}

/** Things that happen in real homes and not in a made-up one: a session that failed too often, and one that is left out. */
function spoil(data) {
  const jobs = data.queue.jobs;
  const [dead, skipped] = [jobs.find((job) => job.title === 'Flaky import'), jobs.find((job) => job.title === 'Commit messages')];
  Object.assign(dead, { state: 'dead', attempts: 3, reason: 'Cannot read the trace: line 14 is not JSON', run: null });
  Object.assign(skipped, { state: 'skipped', reason: 'skipped by hand', run: null });
  for (const job of [dead, skipped]) {
    const session = data.sessions.sessions.find((one) => one.id === job.id);
    Object.assign(session, { state: job.state, reason: job.reason });
  }
  data.modelStats.models.push(
    { model: 'anthropic/claude-sonnet-4-5', calls: 41, input: 512_300, cached: 301_220, output: 38_412, cost_nano_dollars: 1_284_300_000 },
    { model: 'ollama/qwen3:8b', calls: 12, input: 88_000, cached: 0, output: 9_100, cost_nano_dollars: null },
  );
  data.toolStats.tools.push(
    { tool: 'memory_search', calls: 64, p50_us: 2100, p95_us: 9800, errors: {}, cache_hits: 11, bytes_out: 182_000, shown_bytes: 96_000 },
    { tool: 'read_file', calls: 23, p50_us: 340, p95_us: 1200, errors: { not_found: 2 }, cache_hits: 4, bytes_out: 640_000, shown_bytes: 88_000 },
  );
}

/** Many memories, for the speed of the graph and the lists. */
function multiply(data, wanted) {
  const originals = Object.values(data.memories);
  const topics = ['tides', 'money', 'queue', 'deploy', 'http', 'charts', 'tests', 'storage', 'customers', 'release'];
  for (let n = originals.length; n < wanted; n += 1) {
    const from = originals[n % originals.length];
    const id = `${from.id}-${n}`;
    const tags = [topics[n % topics.length], `part-${n % 61}`];
    // Memories of a topic hang on a few that many point at.
    const nearby = [n - topics.length, n - (Math.floor(n / topics.length) % 12) * topics.length].filter((one) => one > originals.length && one !== n);
    const others = nearby.map((one) => `${originals[one % originals.length].id}-${one}`);
    data.memories[id] = { ...from, id, title: `${from.title} (${n})`, tags, related: others, path: from.path.replace(from.id, id), archived: false, status: 'active' };
    data.files[id] = data.files[from.id].replaceAll(from.id, id);
    const edge = (other, kind, shared = null) => ({ edge: { kind, id: other, shared }, ...data.memories[other] });
    const related = others.filter((one) => data.memories[one]).map((one) => edge(one, 'related'));
    const tagged = n - 7;
    if (tagged > originals.length && n % 3 === 0) related.push(edge(`${originals[tagged % originals.length].id}-${tagged}`, 'shared tag', tags[0]));
    data.related[id] = { id, related, total: related.length, also_in: [] };
  }
}

export const version = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);

const ENTRY = ['id', 'type', 'kind', 'title', 'status', 'confidence', 'tags', 'related', 'created', 'updated', 'archived', 'scope', 'path', 'trust'];
export const entry = (memory) => Object.fromEntries(ENTRY.filter((key) => key in memory).map((key) => [key, memory[key]]));

export class State {
  constructor(variant) {
    this.data = load(variant);
    this.paused = false;
    this.changeCount = 0;
    this.reports = new Map();
  }

  memoryList() {
    return Object.values(this.data.memories);
  }

  memory(id) {
    const found = this.data.memories[id] ?? this.memoryList().find((one) => one.id.startsWith(id));
    if (!found) throw new Failure(404, 'not_found', `There is no memory \`${id}\``, ['`nacre memory list` lists them.']);
    return found;
  }

  session(id) {
    const found = this.data.sessions.sessions.find((one) => one.id.startsWith(id) || one.facts.id.startsWith(id));
    if (!found) throw new Failure(404, 'not_found', `There is no session \`${id}\``, ['`nacre trace` lists them.']);
    return found;
  }

  /** Notes a change that can be undone, with what undoes it. */
  change(command, memories, undo) {
    const id = `memory-20261116-18${String(this.changeCount++).padStart(4, '0')}-00c0ffee`;
    this.data.changes.changes.unshift({ id, command, at: clock(), runs: 1, added: 0, changed: memories.length, removed: 0, memories, undoes: null, undone_by: null, undoable: true });
    this.data.changes.total += 1;
    this.data.runs.runs.unshift({ id, mode: null, counts: null, of: command });
    this.data.runs.total += 1;
    this.data.run[id] = { id, report: null, metrics: null };
    this.undos ??= new Map();
    this.undos.set(id, undo);
    return id;
  }

  /** Keeps a copy of a memory, changes it, and notes the change. */
  alter(id, command, change) {
    const memory = this.memory(id);
    const before = structuredClone(memory);
    const file = this.data.files[memory.id];
    change(memory);
    memory.updated = NOW;
    return this.change(command, [memory.id], () => {
      this.data.memories[memory.id] = before;
      this.data.files[memory.id] = file;
      this.refreshReview();
    });
  }

  refreshReview() {
    const review = this.data.review;
    const known = new Map((this.allCandidates ??= [...review.candidates]).map((one) => [one.id, one]));
    const waiting = this.memoryList().filter((one) => one.status === 'candidate' && !one.archived);
    review.candidates = waiting.map((one) => known.get(one.id) ?? { ...entry(one), body: one.body, quotes: one.evidence?.quotes ?? [] });
    review.total = review.candidates.length;
  }

  /** The whole file was written: what stands in it counts. */
  write(id, text) {
    const memory = this.memory(id);
    const parts = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text);
    const title = parts && /^title:\s*(.+)$/m.exec(parts[1])?.[1];
    if (!parts || !title) throw new Failure(422, 'invalid', `The text of \`${id}\` is not a memory`, ['Start it with `---`, the frontmatter with a `title`, and `---`.'], ['line 1: the frontmatter is missing or has no title']);
    return this.alter(id, 'memory edit', () => {
      memory.title = title.replace(/^"(.*)"$/, '$1');
      memory.body = parts[2].trim();
      const tags = /^tags:\s*\[(.*)\]$/m.exec(parts[1])?.[1];
      if (tags !== undefined) memory.tags = tags.split(',').map((one) => one.trim()).filter(Boolean);
      this.data.files[memory.id] = text;
    });
  }

  graph(limit, archived, all) {
    const nodes = this.memoryList().filter((one) => one.archived === archived && (all || one.type !== 'summary'));
    const shown = new Set(nodes.slice(0, limit).map((one) => one.id));
    const seen = new Set();
    const edges = [];
    const degree = {};
    for (const [from, { related }] of Object.entries(this.data.related)) {
      for (const { edge } of related) {
        const [kind, a, b] = edge.kind === 'superseded by' ? ['supersedes', edge.id, from] : [edge.kind, from, edge.id];
        const key = kind === 'supersedes' || kind === 'newer than' ? `${kind} ${a} ${b}` : `${kind} ${[a, b].sort().join(' ')}`;
        if (!shown.has(a) || !shown.has(b) || seen.has(key)) continue;
        seen.add(key);
        edges.push({ from: a, to: b, kind, shared: edge.shared });
        degree[a] = (degree[a] ?? 0) + 1;
        degree[b] = (degree[b] ?? 0) + 1;
      }
    }
    const listed = nodes.filter((one) => shown.has(one.id)).map((one) => ({ ...entry(one), degree: degree[one.id] ?? 0 }));
    return { nodes: listed, edges, left_out: nodes.length - listed.length };
  }

  overview() {
    const days = new Map();
    const end = Date.parse('2026-11-16T00:00:00Z');
    for (let n = 41; n >= 0; n -= 1) {
      const day = new Date(end - n * 86_400_000).toISOString().slice(0, 10);
      days.set(day, { day, sessions: {}, sessions_read: 0, learned: 0, input_tokens: 0, output_tokens: 0, cost_nano_dollars: 0, runs: 0 });
    }
    const agents = {};
    for (const { facts } of this.data.sessions.sessions) {
      const agent = (agents[facts.agent] ??= { agent: facts.agent, sessions: 0, input_tokens: 0, output_tokens: 0, last: null });
      agent.sessions += 1;
      agent.input_tokens += facts.tokens.input;
      agent.output_tokens += facts.tokens.output;
      agent.last = [agent.last, facts.last_activity].filter(Boolean).sort().at(-1) ?? null;
      const day = days.get(facts.last_activity?.slice(0, 10));
      if (!day) continue;
      day.sessions[facts.agent] = (day.sessions[facts.agent] ?? 0) + 1;
      day.input_tokens += facts.tokens.input;
      day.output_tokens += facts.tokens.output;
      day.cost_nano_dollars += facts.tokens.output * 15_000;
    }
    const memories = this.memoryList();
    for (const one of memories) {
      const day = days.get(one.created?.slice(0, 10));
      if (day) day[one.type === 'summary' ? 'sessions_read' : 'learned'] += 1;
    }
    for (const one of this.data.runs.runs) {
      const day = days.get(/-(\d{4})(\d\d)(\d\d)-/.exec(one.id)?.slice(1).join('-'));
      if (day) day.runs += 1;
    }
    const counts = {};
    for (const one of memories) counts[one.status] = (counts[one.status] ?? 0) + 1;
    const growth = [...days.keys()].map((day) => ({ day, total: memories.filter((one) => (one.created ?? '').slice(0, 10) <= day).length }));
    return {
      since: [...days.keys()][0], until: '2026-11-16', days: [...days.values()], agents: Object.values(agents), memories: counts, growth,
      models: this.data.modelStats.models, tools: this.data.toolStats.tools,
    };
  }
}
