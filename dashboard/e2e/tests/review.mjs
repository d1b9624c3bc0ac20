import assert from 'node:assert/strict';
import { session, test, until } from '../lib/harness.mjs';

test('review: accept, reject and undo by keyboard', async () => {
  const one = await session('full');
  await one.open('review');
  const total = async () => (await one.api('GET', '/api/review?limit=0')).body.total;
  const before = await total();
  assert.ok(before >= 2, `there are ${before} candidates to decide`);
  const title = () => one.page.getByRole('region', { name: 'Candidate', exact: true }).getByRole('heading').first().innerText();
  const first = await title();
  await one.page.keyboard.press('j');
  await until('j shows the next', async () => (await title()) !== first);
  await one.page.keyboard.press('k');
  await until('k shows the one before', async () => (await title()) === first);
  await one.page.keyboard.press('a');
  await until('one is accepted', async () => (await total()) === before - 1);
  const { body } = await one.api('GET', '/api/changes?limit=1');
  assert.match(body.changes[0].command, /review accept/);
  await until('the next is shown', async () => (await title()) !== first);
  await one.page.keyboard.press('r');
  await until('one is rejected', async () => (await total()) === before - 2);
  await until('it is told', async () => (await one.page.getByText(/^Rejected/).count()) > 0);
  await one.page.keyboard.press('u');
  await until('the rejected one is back', async () => (await total()) === before - 1);
});
