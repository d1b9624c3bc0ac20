import assert from 'node:assert/strict';
import { session, test, until } from '../lib/harness.mjs';

/** The session with the most events, and those. */
async function longest(one) {
  const { body } = await one.api('GET', '/api/sessions?limit=0');
  const size = ({ facts: { counts } }) => counts.user + counts.assistant + counts.tool_calls + counts.tool_results;
  const entry = body.sessions.sort((a, b) => size(b) - size(a))[0];
  return { entry, events: (await one.api('GET', `/api/sessions/${entry.id}`)).body.events };
}

test('sessions: a transcript with tools that open', async () => {
  const one = await session('full');
  await one.open('sessions');
  const { entry, events } = await longest(one);
  await one.open(`sessions/${entry.id}`);
  const person = events.find((event) => event.kind === 'user');
  await one.page.locator('article.user').first().waitFor();
  assert.ok((await one.page.locator('article.user').first().innerText()).includes(person.text.trim().slice(0, 40)));
  const tool = one.page.locator('details.tool').first();
  assert.equal(await tool.getAttribute('open'), null, 'tools are closed at first');
  await tool.locator('summary').click();
  await tool.getByText('Input').waitFor();
});

test('sessions: a link to a place shows and marks it', async () => {
  const one = await session('full');
  await one.open('sessions');
  const { entry, events } = await longest(one);
  const target = events.filter((event) => event.kind === 'assistant').at(-1);
  await one.open(`sessions/${entry.id}:${target.sequence}`);
  const marked = one.page.locator('.target');
  await marked.waitFor();
  assert.equal(await marked.getAttribute('data-seq'), String(target.sequence));
  await until('it is in view', () => marked.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  }));
});

test('sessions: evidence of a memory leads to its place', async () => {
  const one = await session('full');
  await one.open('memories');
  const { body } = await one.api('GET', '/api/memories?limit=0');
  for (const { id } of body.memories) {
    const { evidence } = (await one.api('GET', `/api/memories/${id}?evidence=true`)).body;
    const quote = evidence?.quotes.find(({ place }) => /:\d+$/.test(place));
    if (!quote) continue;
    await one.open(`memories/${id}`);
    await one.page.locator(`a[href="#/sessions/${quote.place}"]`).first().click();
    await one.page.locator('.target').waitFor();
    assert.ok((await one.page.locator('.target').innerText()).includes(quote.text.slice(0, 30)));
    return;
  }
  assert.fail('no memory has evidence in a session');
});

test('sessions: search in what was said', async () => {
  const one = await session('full');
  await one.open('sessions');
  const { entry, events } = await longest(one);
  const text = events.find((event) => event.kind === 'user').text;
  const word = text.split(/\W+/).sort((a, b) => b.length - a.length)[0];
  await one.page.getByLabel('Search messages').fill(word);
  await one.page.locator(`a[href*="${entry.id}:"]`).first().click();
  await one.page.locator('.target').waitFor();
});
