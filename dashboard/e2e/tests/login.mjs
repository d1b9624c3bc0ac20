import assert from 'node:assert/strict';
import { session, test } from '../lib/harness.mjs';

test('login: without a cookie it says what to type', async () => {
  const one = await session('full', { login: false });
  await one.page.goto(one.server.base);
  await one.page.getByText('nacre dashboard').first().waitFor();
}, { allow: [/401/] });

test('login: the code leaves the address, and scripts cannot read the cookie', async () => {
  const one = await session('full');
  await one.open('overview');
  assert.ok(!one.page.url().includes('code='), one.page.url());
  assert.equal(await one.page.evaluate(() => document.cookie), '');
});

test('login: a code that was used is refused with a hint', async () => {
  const one = await session('full', { login: false });
  await one.page.goto(`${one.server.base}/#code=used-already`);
  await one.page.getByText('nacre dashboard').first().waitFor();
}, { allow: [/401/] });
