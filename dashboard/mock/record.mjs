// Records what the real program says about a made-up home: `node mock/record.mjs PATH_OF_NACRE`.
// Writes mock/data/*.json. Nothing of this machine gets in: paths are rewritten to /home/ana, and a last look refuses others.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Home } from './home.mjs';

const nacre = process.argv[2];
if (!nacre) throw new Error('usage: node mock/record.mjs PATH_OF_NACRE');
const data = fileURLToPath(new URL('./data/', import.meta.url));
const base = mkdtempSync(join(tmpdir(), 'nacre-mock-'));
const home = new Home(nacre, base);
const run = (...args) => home.run(...args);

function askedWithModel(question, says) {
  const script = join(base, 'script.json');
  home.write(script, JSON.stringify({ turns: says.map((say) => ({ say })) }));
  const answer = run('ask', '--scripted', script, question);
  if (says.length > 0 && answer.by !== 'model') throw new Error(JSON.stringify(answer.error));
  return answer;
}

function record(isFull) {
  const out = {};
  const keep = (name, value) => (out[name] = value);
  const byId = (list, load) => Object.fromEntries(list.map((one) => [one.id, load(one.id)]));
  keep('status', run('status'));
  keep('doctor', run('doctor'));
  const memories = [...run('memory', 'list', '--all', '--limit', '0').memories, ...run('memory', 'list', '--archived', '--limit', '0').memories];
  keep('memories', byId(memories, (id) => run('memory', 'show', id, '--evidence', '--history')));
  keep('files', Object.fromEntries(memories.map((one) => [one.id, readFileSync(one.path, 'utf8')])));
  keep('related', byId(memories, (id) => run('memory', 'related', id, '--limit', '0')));
  keep('review', run('review', '--limit', '0'));
  keep('trust', run('trust'));
  keep('brief', run('brief'));
  const sessions = run('trace', 'list', '--limit', '0');
  keep('sessions', sessions);
  keep('transcripts', byId(sessions.sessions, (id) => run('trace', 'show', id, '--full')));
  const runs = run('runs', 'list', '--limit', '0');
  keep('runs', runs);
  keep('run', byId(runs.runs, (id) => run('runs', 'show', id)));
  keep('changes', run('undo', 'list', '--limit', '0'));
  keep('queue', run('queue', '--limit', '0'));
  keep('connect', run('connect', 'list'));
  keep('config', run('config', 'show'));
  keep('projects', run('project', 'list'));
  keep('models', run('model', 'list'));
  const tasks = run('events', '--limit', '0');
  keep('tasks', tasks);
  keep('task', byId(tasks.tasks.slice(0, 6), (id) => run('events', id)));
  keep('toolStats', run('events', 'tools'));
  keep('modelStats', run('events', 'models'));
  keep('explore', run('explore', '--detail', 'verbose'));
  keep('delta', run('delta'));
  keep('context', run('context', '--for', 'retry orders when the queue fails'));
  if (!isFull) return out;
  const { id: queue } = memories.find((one) => one.title.includes('Postgres for the queue'));
  const { id: money } = memories.find((one) => one.title.includes('Money is whole cents'));
  const says = `We decided to use Postgres for the queue instead of SQLite [${queue}]. Money is whole cents, never a float [${money}].\n\nIt is also kept in Redis. The queue has 7000 rows [${queue}].`;
  keep('ask', {
    model: askedWithModel('Where is the queue kept, and how is money stored?', [says, says, says]),
    memories: run('ask', '--no-model', 'How is money stored?'),
    unknown: run('ask', '--no-model', 'Which font does the logo use?'),
    failed: askedWithModel('Where is the queue kept?', []),
  });
  // These change the home, so they come last.
  home.today('2026-11-16T18:00:00Z');
  keep('sync', run('sync'));
  keep('maintain', run('maintain', '--force'));
  return out;
}

/** The text of a file of data, with nothing of this machine in it. */
function clean(name, value) {
  const text = JSON.stringify(value, null, 1)
    .replaceAll(home.root, '/home/ana')
    .replaceAll(home.root.replaceAll(/[^A-Za-z0-9]/g, '-'), '-home-ana')
    .replaceAll(base, '/home')
    .replaceAll(nacre, '/home/ana/.local/bin/nacre');
  const strange = /\/(tmp|work|root|usr|opt|var)\/[^"\s]*/.exec(text);
  if (strange) throw new Error(`${name} names ${strange[0]}`);
  return `${text}\n`;
}

try {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  home.begin('2026-11-16T18:00:00Z');
  run('init');
  writeFileSync(join(data, 'empty.json'), clean('empty', record(false)));
  rmSync(home.root, { recursive: true, force: true });
  home.live(false);
  home.curate();
  for (const [name, value] of Object.entries(record(true))) writeFileSync(join(data, `${name}.json`), clean(name, value));
} finally {
  rmSync(base, { recursive: true, force: true });
}
