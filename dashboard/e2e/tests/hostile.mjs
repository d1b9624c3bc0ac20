import assert from 'node:assert/strict';
import { TABS, session, test, until } from '../lib/harness.mjs';

/** Nothing of what strangers wrote became an element, whatever tab shows it. */
async function staysText(one, what) {
  const bad = await one.page.evaluate(() => {
    const found = [...document.querySelectorAll('main script, main iframe, main object, main embed, main base, main link, main style, main form[action], main math')];
    const images = [...document.querySelectorAll('main img')].filter((image) => !image.src.startsWith(location.origin) && !image.src.startsWith('data:'));
    const links = [...document.querySelectorAll('main a[href]')].filter((link) => /^(javascript|data|vbscript):/i.test(link.getAttribute('href') ?? ''));
    const handlers = [...document.querySelectorAll('main *')].filter((element) => element.getAttributeNames().some((name) => name.startsWith('on')));
    return [...found, ...images, ...links, ...handlers].map((element) => element.outerHTML.slice(0, 120));
  });
  assert.deepEqual(bad, [], what);
}

async function look(one, route) {
  await one.open(route);
  await until(`${route} says something`, async () => (await one.text()).length > 20);
  // What is folded away is text, too.
  await one.page.evaluate(() => document.querySelectorAll('main details').forEach((details) => (details.open = true)));
  await staysText(one, route);
}

test('hostile: texts that mean harm stay text in every tab', async () => {
  const one = await session('hostile');
  for (const tab of TABS) await look(one, tab);
  for (const route of ['pipeline?view=queue', 'graph?view=list', 'map?task=anything', 'sessions?q=alert']) await look(one, route);
});

test('hostile: memories, sessions and runs one by one', async () => {
  const one = await session('hostile');
  await one.open('overview');
  const [memories, sessions, runs] = await Promise.all(['/api/memories?limit=12', '/api/sessions?limit=6', '/api/runs?limit=12'].map((path) => one.api('GET', path)));
  const routes = [
    ...memories.body.memories.flatMap(({ id }) => [`memories/${id}`, `graph/${id}`]),
    ...sessions.body.sessions.map(({ id }) => `sessions/${id}`),
    ...runs.body.runs.map(({ id }) => `pipeline/${id}`),
  ];
  for (const route of routes) await look(one, route);
});

test('hostile: an answer, a sync and an error', async () => {
  const one = await session('hostile');
  await one.open('ask');
  await one.page.getByLabel('Question').fill(`<img src=x onerror="alert('xss')"> Where is the queue kept?`);
  await one.page.keyboard.press('Enter');
  await until('it is answered', async () => (await one.page.locator('article').first().getAttribute('aria-busy')) === 'false', 120_000);
  await staysText(one, 'answer');
  await one.open('pipeline');
  await one.page.getByRole('button', { name: 'Sync now' }).click();
  await one.page.locator('article').getByText('completed', { exact: true }).waitFor({ timeout: 60_000 });
  await staysText(one, 'sync');
  await one.open(`pipeline/${encodeURIComponent(`<img src=x onerror="alert('xss')">`)}`);
  await one.page.getByRole('alert').first().waitFor();
  await staysText(one, 'error');
}, { allow: [/404/] });
