import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NARROW, TABS, WIDE, session, test, until } from '../lib/harness.mjs';

const folder = process.env.NACRE_E2E_PICTURES ?? fileURLToPath(new URL('../../../docs/dashboard/', import.meta.url));

/** What is open in a tab's picture: something that shows what it is for. */
async function routeOf(one, tab) {
  const first = async (path, pick) => pick((await one.api('GET', path)).body);
  if (tab === 'memories') return `memories/${await first('/api/memories?limit=1', ({ memories }) => memories[0]?.id ?? '')}`;
  if (tab === 'sessions') {
    const most = ({ facts }) => facts.counts.tool_calls;
    return `sessions/${await first('/api/sessions?limit=0', ({ sessions }) => sessions.sort((a, b) => most(b) - most(a))[0]?.id ?? '')}`;
  }
  if (tab === 'graph') {
    const most = await first('/api/graph?all=true', ({ nodes }) => nodes.sort((a, b) => b.degree - a.degree)[0]?.id ?? '');
    return `graph/${most}?summaries=1`;
  }
  return tab;
}

async function take(name, options) {
  mkdirSync(folder, { recursive: true });
  const one = await session('full', options);
  await one.open('overview');
  for (const tab of TABS) {
    await one.open(await routeOf(one, tab));
    if (tab === 'ask') {
      await one.page.getByLabel('Question').fill('Where is the queue kept, and how is money stored?');
      await one.page.keyboard.press('Enter');
      await until('it is answered', async () => (await one.page.locator('article').first().getAttribute('aria-busy')) === 'false', 120_000);
    }
    await until(`${tab} is drawn`, async () => (await one.text()).length > 20);
    // Plots and the graph draw in frames of their own.
    await one.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 250)))));
    const path = `${folder}/${name(tab)}.png`;
    await one.page.screenshot({ path });
    assert.ok(statSync(path).size < 250_000, `${path} is small`);
  }
}

test('pictures: each tab, light, 1440 pixels wide', () => take((tab) => tab, { theme: 'light', viewport: WIDE }));

// To look at: NACRE_E2E_LOOK=1.
if (process.env.NACRE_E2E_LOOK) {
  test('pictures: each tab, dark', () => take((tab) => `${tab}-dark`, { theme: 'dark', viewport: WIDE }));
  test('pictures: each tab, narrow', () => take((tab) => `${tab}-narrow`, { theme: 'light', viewport: NARROW }));
  test('pictures: each tab, narrow and dark', () => take((tab) => `${tab}-narrow-dark`, { theme: 'dark', viewport: NARROW }));
}
