import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { session, test, until } from '../lib/harness.mjs';

/** The first memory that is not a summary. */
async function firstMemory(one) {
  const { body } = await one.api('GET', '/api/memories?limit=20');
  return body.memories.find((memory) => memory.scope === 'project' && memory.status === 'active');
}

test('memories: an edit changes the file', async () => {
  const one = await session('full');
  await one.open('memories');
  const memory = await firstMemory(one);
  await one.open(`memories/${memory.id}`);
  await one.page.getByRole('heading', { name: memory.title }).first().waitFor();
  await one.page.keyboard.press('e');
  const field = one.page.getByLabel('Memory file');
  await field.waitFor();
  const before = await field.inputValue();
  const sentence = `Checked in a browser ${Date.now()}.`;
  await field.fill(`${before.trimEnd()}\n\n${sentence}\n`);
  await field.press('Control+s');
  await one.page.getByText(sentence).first().waitFor();
  const { body } = await one.api('GET', `/api/memories/${memory.id}?text=true`);
  assert.ok(body.text.includes(sentence), 'the server has the new text');
  // Where the server works on this machine, the file itself is looked at.
  if (existsSync(memory.path)) assert.ok(readFileSync(memory.path, 'utf8').includes(sentence), memory.path);
});

test('memories: what somebody else changed meanwhile is not overwritten', async () => {
  const one = await session('full');
  await one.open('memories');
  const memory = await firstMemory(one);
  await one.open(`memories/${memory.id}`);
  await one.page.getByRole('heading', { name: memory.title }).first().waitFor();
  await one.page.keyboard.press('e');
  const field = one.page.getByLabel('Memory file');
  await field.fill(`${(await field.inputValue()).trimEnd()}\n\nMine.\n`);
  const { body, etag } = await one.api('GET', `/api/memories/${memory.id}?text=true`);
  const written = await one.api('PUT', `/api/memories/${memory.id}`, { text: `${body.text.trimEnd()}\n\nTheirs.\n` }, { 'If-Match': etag });
  assert.equal(written.status, 200);
  await field.press('Control+s');
  await until('the conflict is shown', async () => /changed/i.test(await one.text()) && (await one.text()).includes('Theirs.'));
  const after = await one.api('GET', `/api/memories/${memory.id}?text=true`);
  assert.ok(!after.body.text.includes('Mine.'), 'nothing was overwritten');
}, { allow: [/409|412/] });

test('memories: search as you type', async () => {
  const one = await session('full');
  await one.open('memories');
  const memory = await firstMemory(one);
  const word = memory.title.split(/\W+/).sort((a, b) => b.length - a.length)[0];
  await one.page.getByLabel('Search memories').fill(word);
  await until('the search is asked', () => one.requests.some((url) => url.includes('/api/search')));
  await one.page.locator(`a[data-id="${memory.id}"]`).waitFor();
});

test('memories: archive, and undo it', async () => {
  const one = await session('full');
  await one.open('memories');
  const memory = await firstMemory(one);
  await one.open(`memories/${memory.id}`);
  await one.page.getByRole('heading', { name: memory.title }).first().waitFor();
  await one.page.keyboard.press('x');
  await until('it is archived', async () => (await one.api('GET', `/api/memories/${memory.id}?text=true`)).body.archived);
  await one.page.getByRole('button', { name: 'Undo' }).first().click();
  await until('it is back', async () => !(await one.api('GET', `/api/memories/${memory.id}?text=true`)).body.archived);
});
