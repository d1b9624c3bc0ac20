import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { NARROW, TABS, WIDE, session, test, until } from '../lib/harness.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serious and critical faults of the page, in a line each. */
async function faults(one) {
  await one.page.evaluate(axe);
  const { violations } = await one.page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary.split('\n')[1]?.trim() ?? ''}`));
}

for (const theme of ['light', 'dark']) {
  for (const [size, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    test(`axe: every tab, ${theme}, ${size}`, async () => {
      const one = await session('full', { theme, viewport });
      await one.open('overview');
      const { body: memories } = await one.api('GET', '/api/memories?limit=1');
      const { body: sessions } = await one.api('GET', '/api/sessions?limit=1');
      const { body: runs } = await one.api('GET', '/api/runs?limit=10');
      const run = runs.runs.find(({ mode }) => mode === 'sync') ?? runs.runs[0];
      const more = [`memories/${memories.memories[0].id}`, `sessions/${sessions.sessions[0].id}`, `pipeline/${run.id}`, 'pipeline?view=queue', 'graph?view=list', `graph/${memories.memories[0].id}`];
      const found = [];
      for (const route of [...TABS, ...more]) {
        await one.open(route);
        await until(`${route} says something`, async () => (await one.text()).length > 20);
        found.push(...(await faults(one)).map((fault) => `${route}: ${fault}`));
      }
      assert.deepEqual(found, []);
    });
  }
}

test('axe: empty tabs', async () => {
  const one = await session('empty');
  const found = [];
  for (const tab of TABS) {
    await one.open(tab);
    await until(`${tab} says something`, async () => (await one.text()).length > 20);
    found.push(...(await faults(one)).map((fault) => `${tab}: ${fault}`));
  }
  assert.deepEqual(found, []);
});
