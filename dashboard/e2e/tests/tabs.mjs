import assert from 'node:assert/strict';
import { NARROW, TABS, WIDE, session, test, until } from '../lib/harness.mjs';

for (const kind of ['full', 'empty']) {
  for (const [size, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    test(`tabs: every one ${kind === 'full' ? 'with data' : 'empty'}, ${size}`, async () => {
      const one = await session(kind, { viewport });
      for (const tab of TABS) {
        await one.open(tab);
        await until(`${tab} says something`, async () => (await one.text()).length > 20);
        await one.noErrorBox(tab);
        await one.noSidewaysScroll(`${tab} ${size}`);
        assert.equal(await one.page.locator('h1').count(), 1, `${tab} has one heading`);
      }
    });
  }
}

test('tabs: an empty project says what to type', async () => {
  const one = await session('empty');
  for (const tab of ['memories', 'review', 'graph', 'sessions', 'pipeline']) {
    await one.open(tab);
    await one.page.locator('main code').filter({ hasText: 'nacre ' }).first().waitFor();
  }
});

test('tabs: the keyboard goes everywhere', async () => {
  const one = await session('full');
  await one.open('overview');
  for (const [keys, tab] of [['gm', 'memories'], ['gp', 'pipeline'], ['gs', 'sessions'], ['gg', 'graph'], ['go', 'overview']]) {
    for (const key of keys) await one.page.keyboard.press(key);
    await until(`${keys} opens ${tab}`, () => one.page.url().endsWith(`#/${tab}`));
  }
  await one.page.keyboard.press('?');
  await one.page.getByRole('dialog').waitFor();
});
