// A home as a person has one after some weeks: a repository, sessions of three agents, syncs, memories, a maintenance. Made by the real
// program, for the recorded data and for tests against a real server: `node mock/home.mjs NACRE FOLDER [full|empty|hostile]` makes one
// in an empty folder.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAYLOADS } from './hostile.mjs';
import { COMMITS, MEMORIES, SESSIONS, UNCOMMITTED } from './sessions.mjs';

const uuid = (text) => createHash('sha256').update(text).digest('hex').replace(/^(.{8})(.{4})(.{3})(.{3})(.{12}).*/, '$1-$2-4$3-8$4-$5');
const lines = (records) => records.map((one) => JSON.stringify(one)).join('\n') + '\n';

/** The moments of a session's turns, a minute apart or less. */
function clock(session) {
  let at = Date.parse(`${session.day}T${session.time}:00Z`);
  return () => new Date((at += 17_000)).toISOString();
}

/** Texts that mean harm before everything that is said, and in the names of files. */
function spoiled(sessions) {
  let next = 0;
  const harm = (text) => `${PAYLOADS[next++ % PAYLOADS.length]} ${text}`;
  const spoil = ({ u, a, t }) => (u ? { u: `${u} ${harm('')}` } : a ? { a: harm(a) } : { t: [t[0], t[1], harm(t[2]), t[3]] });
  return sessions.map((session) => ({ ...session, title: harm(session.title), turns: session.turns.map(spoil) }));
}

export class Home {
  constructor(nacre, folder) {
    this.nacre = resolve(nacre);
    this.root = join(resolve(folder), 'ana');
    this.repo = join(this.root, 'tidepool');
    this.env = {
      HOME: this.root, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', TZ: 'UTC', XDG_CONFIG_HOME: join(this.root, '.config'),
      XDG_DATA_HOME: join(this.root, '.local/share'), GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ana', GIT_AUTHOR_EMAIL: 'ana@example.org', GIT_COMMITTER_NAME: 'Ana', GIT_COMMITTER_EMAIL: 'ana@example.org',
    };
  }

  write(path, text, when) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (when) utimesSync(path, when, when);
  }

  today(moment) {
    Object.assign(this.env, { NACRE_NOW: moment, GIT_AUTHOR_DATE: moment, GIT_COMMITTER_DATE: moment });
  }

  git(...args) {
    execFileSync('git', args, { cwd: this.repo, env: this.env, stdio: 'ignore' });
  }

  /** Runs a command and gives its JSON, also where it is an error. */
  run(...args) {
    const { stdout, stderr } = spawnSync(this.nacre, ['--json', ...args], { cwd: this.repo, env: this.env, encoding: 'utf8', maxBuffer: 1 << 28 });
    try {
      return JSON.parse(stdout);
    } catch {
      throw new Error(`nacre ${args.join(' ')}\n${stdout}${stderr}`);
    }
  }

  begin(moment) {
    this.today(moment);
    mkdirSync(this.repo, { recursive: true });
    this.git('init', '-q', '-b', 'main', '.');
  }

  claude(session, id) {
    const tick = clock(session);
    const common = { isSidechain: false, userType: 'external', cwd: this.repo, sessionId: id, version: '2.1.119', gitBranch: 'main' };
    const records = [];
    let parent = null;
    let number = 0;
    const push = (type, message, more = {}) => {
      const one = `${id.slice(0, 8)}-${number++}`;
      records.push({ parentUuid: parent, ...common, type, uuid: one, timestamp: tick(), message, ...more });
      parent = one;
    };
    const said = (content) => ({
      id: `msg_${id.slice(0, 6)}_${number}`, model: 'claude-sonnet-4-5', role: 'assistant', type: 'message', content, stop_reason: null,
      usage: { input_tokens: 180 + number * 31, output_tokens: 90 + number * 13, cache_read_input_tokens: 2200 + number * 420 },
    });
    for (const turn of session.turns) {
      if (turn.u) push('user', { role: 'user', content: turn.u });
      if (turn.a) push('assistant', said([{ type: 'text', text: turn.a }]));
      if (turn.t) {
        const [name, input, output, failed] = turn.t;
        const call = `toolu_${id.slice(0, 6)}_${number}`;
        push('assistant', said([{ type: 'tool_use', id: call, name, input }]));
        push('user', { role: 'user', content: [{ tool_use_id: call, type: 'tool_result', content: output, is_error: failed }] });
      }
    }
    records.push({ type: 'ai-title', aiTitle: session.title, sessionId: id });
    return [join(this.root, '.claude/projects', this.repo.replaceAll(/[^A-Za-z0-9]/g, '-'), `${id}.jsonl`), lines(records)];
  }

  codex(session, id) {
    const tick = clock(session);
    const started = tick();
    const records = [{ timestamp: started, type: 'session_meta', payload: { id, timestamp: started, cwd: this.repo, cli_version: '0.118.0', model_provider: 'openai', git: { branch: 'main' } } }];
    const push = (type, payload) => records.push({ timestamp: tick(), type, payload });
    push('turn_context', { turn_id: 't1', cwd: this.repo, model: 'gpt-5-codex' });
    let number = 0;
    for (const turn of session.turns) {
      number += 1;
      if (turn.u) push('event_msg', { type: 'user_message', message: turn.u, images: [] });
      if (turn.a) push('event_msg', { type: 'agent_message', message: turn.a });
      if (turn.t) {
        const [, input, output, failed] = turn.t;
        const call = `call_${id.slice(0, 6)}_${number}`;
        push('response_item', { type: 'function_call', name: 'shell', arguments: JSON.stringify({ command: ['bash', '-lc', input.command] }), call_id: call });
        push('response_item', { type: 'function_call_output', call_id: call, output: JSON.stringify({ output, metadata: { exit_code: failed ? 101 : 0 } }) });
      }
    }
    const use = { input_tokens: 4100 + number * 900, cached_input_tokens: 1800, output_tokens: 260 + number * 40, reasoning_output_tokens: 90 };
    push('event_msg', { type: 'token_count', info: { total_token_usage: use, last_token_usage: use } });
    push('event_msg', { type: 'task_complete', turn_id: 't1', last_agent_message: '' });
    const stamp = `${session.day}T${session.time.replace(':', '-')}-00`;
    return [join(this.root, '.codex/sessions', ...session.day.split('-'), `rollout-${stamp}-${id}.jsonl`), lines(records)];
  }

  cursor(session, id) {
    const text = (role, words) => ({ role, message: { content: [{ type: 'text', text: words }] } });
    const records = [text('user', `<user_info>\nWorkspace Path: ${this.repo}\n</user_info>`)];
    for (const turn of session.turns) {
      if (turn.u) records.push(text('user', turn.u));
      if (turn.a) records.push(text('assistant', turn.a));
    }
    return [join(this.root, '.cursor/projects/tidepool/agent-transcripts', id, `${id}.jsonl`), lines(records)];
  }

  /** Everything of a day, in the order in which Ana did it. */
  live(isHostile) {
    this.begin('2026-10-05T08:00:00Z');
    const days = new Map();
    const plan = (day, step) => days.set(day, [...(days.get(day) ?? []), step]);
    for (const [day, subject, files] of COMMITS) {
      plan(day, () => {
        for (const [path, text] of Object.entries(files)) this.write(join(this.repo, path), text);
        this.git('add', '-A');
        this.git('commit', '-q', '-m', subject);
      });
    }
    plan('2026-10-05', () => this.run('init'));
    plan('2026-10-05', () => this.run('connect', 'auto', '--yes'));
    for (const [day, args] of MEMORIES) plan(day, () => this.run('memory', 'add', ...args));
    for (const session of isHostile ? spoiled(SESSIONS) : SESSIONS) {
      plan(session.day, () => {
        const id = uuid(session.title);
        const [path, text] = this[session.agent](session, id);
        this.write(path, text, new Date(`${session.day}T${session.time}:59Z`));
      });
    }
    for (const day of [...days.keys()].sort()) {
      this.today(`${day}T17:30:00Z`);
      for (const step of days.get(day)) step();
      // The last two sessions still wait.
      if (day < '2026-11-16') this.run('sync');
    }
  }

  /** What Ana did by hand after that. */
  curate() {
    this.today('2026-11-16T17:40:00Z');
    const { memories } = this.run('memory', 'list', '--limit', '0');
    const find = (words) => memories.find((one) => one.title.includes(words))?.id;
    const candidates = this.run('review', '--limit', '0').candidates;
    for (const words of ['Retries wait', 'Postgres for the queue']) {
      const candidate = candidates.find((one) => one.title.includes(words));
      if (candidate) this.run('review', 'accept', candidate.id);
    }
    this.run('feedback', find('Money is whole cents'), 'useful', '--note', 'It saved an afternoon.');
    this.run('feedback', find('Station 118'), 'outdated');
    this.run('memory', 'archive', find('Debug builds'));
    this.run('maintain', '--force');
    this.today('2026-11-16T17:50:00Z');
    this.run('sync', '--no-extract');
    for (const [path, text] of Object.entries(UNCOMMITTED)) this.write(join(this.repo, path), text);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [nacre, folder, variant = 'full'] = process.argv.slice(2);
  if (!folder) throw new Error('usage: node mock/home.mjs NACRE FOLDER [full|empty|hostile]');
  const home = new Home(nacre, folder);
  if (variant === 'empty') {
    home.begin('2026-11-16T18:00:00Z');
    home.run('init');
  } else {
    home.live(variant === 'hostile');
    home.curate();
  }
  if (variant === 'hostile') {
    for (const text of PAYLOADS.map((one) => one.replaceAll('\0', ''))) {
      home.write(join(home.repo, 'src', `${text.replaceAll('/', '_').slice(0, 80)}.ts`), 'export const x = 1;\n');
      home.run('memory', 'add', '--body', `${text}\n\n# ${text}\n\n- ${text}`, '--tag', 'hostile', '--', `A memory with ${text}`);
    }
  }
  console.log(home.root);
}
