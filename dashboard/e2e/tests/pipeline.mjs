import assert from 'node:assert/strict';
import { session, test, until } from '../lib/harness.mjs';
import { homeOf, startMock } from '../lib/servers.mjs';

const SAID = 'The gauge at Whitby is read in local time';

/** Writes a session as Claude Code does, with something to remember. */
function writeSession(home) {
  const turns = [{ u: `Remember: ${SAID}, never in UTC.` }, { a: 'Noted.' }];
  const [path, text] = home.claude({ title: 'The gauge at Whitby', day: '2026-11-16', time: '16:10', turns }, '5e551011-0000-4000-8000-00000000e2e0');
  home.write(path, text, new Date('2026-11-16T16:12:00Z'));
}

test('pipeline: a sync is seen step by step, and brings what a new session says', async () => {
  const one = await session('full');
  await one.open('pipeline');
  const home = homeOf('full');
  if (home) writeSession(home);
  await one.page.getByRole('button', { name: 'Sync now' }).click();
  const card = one.page.locator('article').filter({ hasText: 'Sync' }).first();
  await card.waitFor();
  // Without a new session a real one is over at once.
  if (one.server.isMock || home) await card.locator('ol li').first().waitFor();
  await card.getByText('completed', { exact: true }).waitFor({ timeout: 60_000 });
  const { body } = await one.api('GET', '/api/tasks?limit=1');
  assert.equal(body.tasks[0].agent, 'sync');
  assert.equal(body.tasks[0].state, 'completed');
  if (!home) return;
  const { body: candidates } = await one.api('GET', '/api/review?limit=0');
  const { body: memories } = await one.api('GET', '/api/memories?limit=0');
  const found = [...candidates.candidates, ...memories.memories].filter(({ title }) => title.includes(SAID));
  assert.equal(found.length, 1, 'the new session became one memory');
});

test('pipeline: a sync can be cancelled', async () => {
  const server = await startMock(['--login', '--pace', '6']);
  const one = await session('cancel', { server });
  await one.open('pipeline');
  await one.page.getByRole('button', { name: 'Sync now' }).click();
  await one.page.getByRole('progressbar', { name: 'Progress' }).waitFor();
  await one.page.getByRole('button', { name: 'Cancel' }).click();
  await one.page.locator('article').getByText('cancelled', { exact: true }).waitFor();
});

test('pipeline: the connection for events resumes where it ended', async () => {
  // This server hangs up every half second.
  const server = await startMock(['--login', '--drop', '500']);
  const one = await session('resume', { server });
  const resumed = [];
  one.page.on('request', (request) => {
    const id = request.headers()['last-event-id'];
    if (id) resumed.push(id);
  });
  await one.open('pipeline');
  await one.page.getByRole('button', { name: 'Sync now' }).click();
  await one.page.locator('article').getByText('completed', { exact: true }).waitFor({ timeout: 60_000 });
  assert.ok(new Set(resumed).size >= 2, `resumed after ${resumed.join(', ')}`);
  const steps = await one.page.locator('article ol li').allInnerTexts();
  assert.match(steps[0], /commit$/, 'the last step was not lost');
});

test('pipeline: a run says what it did and why, and can be taken back', async () => {
  const one = await session('full');
  await one.open('pipeline');
  const { body } = await one.api('GET', '/api/changes?limit=50');
  const { body: list } = await one.api('GET', '/api/runs?limit=0');
  const runs = new Set(list.runs.map(({ id }) => id));
  const change = body.changes.find(({ id, undoable, undone_by, memories }) => runs.has(id) && undoable && !undone_by && memories.length > 0);
  await one.open(`pipeline/${change.id}`);
  await one.page.getByText('Run directory').waitFor();
  await one.page.getByRole('button', { name: 'Undo', exact: true }).first().click();
  const dialog = one.page.getByRole('dialog', { name: 'Undo this run?' });
  await dialog.getByText(change.memories[0]).waitFor();
  await dialog.getByRole('button', { name: 'Undo' }).click();
  await until('it is undone', async () => {
    const { body: after } = await one.api('GET', '/api/changes?limit=50');
    return after.changes.find(({ id }) => id === change.id)?.undone_by;
  });
});

test('pipeline: sessions of the queue are skipped and put back', async () => {
  const server = await startMock(['--login']);
  const one = await session('queue', { server });
  await one.open('pipeline?view=queue');
  const states = async () => (await one.api('GET', '/api/queue?limit=0')).body.jobs.map(({ state }) => state);
  const dead = (await states()).filter((state) => state === 'dead').length;
  await one.page.getByRole('link', { name: /^dead/ }).click();
  await one.page.getByRole('button', { name: /^Retry/ }).first().click();
  await until('one less is dead', async () => (await states()).filter((state) => state === 'dead').length === dead - 1);
  await one.open('pipeline?view=queue&state=pending');
  await one.page.getByRole('button', { name: /^Skip/ }).first().click();
  await until('one more is skipped', async () => (await states()).includes('skipped'));
});
