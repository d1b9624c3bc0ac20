import assert from 'node:assert/strict';
import { session, test, until } from '../lib/harness.mjs';

async function ask(one, question) {
  await one.open('ask');
  await one.page.getByLabel('Question').fill(question);
  await one.page.keyboard.press('Enter');
  return one.page.locator('article').first();
}

test('ask: the answer streams, and its citations lead to memories', async () => {
  const one = await session('full');
  const answer = await ask(one, 'Where is the queue kept, and how is money stored?');
  if (one.server.isMock) {
    // The first sentence is there while the others are still to come.
    await answer.locator('.answer p').first().waitFor();
    assert.equal(await answer.getAttribute('aria-busy'), 'true');
  }
  await until('it is over', async () => (await answer.getAttribute('aria-busy')) === 'false', 120_000);
  const source = answer.locator('a[href^="#/memories/"]').first();
  await source.waitFor();
  if (one.server.isMock) await answer.getByText('left out').waitFor();
  await source.click();
  await until('the memory is open', () => one.page.url().includes('#/memories/'));
  await one.page.goBack();
  await one.page.locator('article').first().waitFor();
});

test('ask: without a model the memories answer', async () => {
  const one = await session('full');
  await one.open('memories');
  const { body } = await one.api('GET', '/api/memories?limit=5');
  await one.open('ask');
  await one.page.getByLabel('Answer with matching memories, without a model').check();
  await one.page.getByLabel('Question').fill(one.server.isMock ? 'How is money stored?' : body.memories[0].title);
  await one.page.getByRole('button', { name: 'Ask', exact: true }).click();
  await one.page.locator('article a[href^="#/memories/"]').first().waitFor({ timeout: 60_000 });
});

test('ask: what is not known is said', async () => {
  const one = await session('full');
  await one.open('ask');
  await one.page.getByLabel('Answer with matching memories, without a model').check();
  await one.page.getByLabel('Question').fill('Which font does the logo use?');
  await one.page.keyboard.press('Enter');
  await one.page.getByText(/Nothing in memory (clearly )?answers that\./).waitFor({ timeout: 60_000 });
});

test('ask: a model that fails is told, with what to do', async () => {
  const one = await session('full');
  if (!one.server.isMock) return;
  const answer = await ask(one, 'Does this fail?');
  await answer.getByText('The matching memories are shown instead.').waitFor();
});
