import assert from 'node:assert/strict';
import { session, test, until } from '../lib/harness.mjs';
import { startMock } from '../lib/servers.mjs';

test('graph: search, details, expand, and the same as a list', async () => {
  const one = await session('full');
  await one.open('graph');
  await one.page.locator('canvas').waitFor();
  const { body } = await one.api('GET', '/api/graph');
  const node = body.nodes.find(({ degree }) => degree > 0);
  await one.page.getByLabel('Search in the graph').fill(node.title.slice(0, 30));
  await one.page.keyboard.press('Enter');
  const details = one.page.getByRole('region', { name: 'Selected memory' });
  await details.waitFor();
  await details.getByRole('button', { name: 'Expand' }).click();
  await one.page.getByRole('button', { name: 'Show all memories' }).click();
  await one.page.getByLabel('Search in the graph').fill('');
  await one.page.getByRole('link', { name: 'List' }).click();
  const rows = one.page.getByRole('list', { name: 'Memories and their connections' }).locator(':scope > li');
  await until('all are listed', async () => (await rows.count()) >= Math.min(100, body.nodes.length));
});

test('graph: kinds of edges can be hidden', async () => {
  const one = await session('full');
  await one.open('graph');
  const label = () => one.page.locator('canvas').getAttribute('aria-label');
  await one.page.locator('canvas').waitFor();
  const before = await label();
  await one.page.getByRole('group', { name: 'Kinds of edges' }).getByRole('checkbox').first().uncheck();
  await until('fewer edges are shown', async () => (await label()) !== before);
});

test('graph: two thousand memories', async () => {
  const server = await startMock(['--login', '--variant', 'many']);
  const one = await session('many', { server });
  await one.open('graph');
  await one.page.locator('canvas').waitFor();
  assert.match(await one.page.locator('canvas').getAttribute('aria-label'), /^1,1\d\d memories/);
  await one.page.getByRole('button', { name: 'Zoom in' }).click();
  await one.page.getByLabel('Search in the graph').fill('(1500)');
  await one.page.keyboard.press('Enter');
  await one.page.getByRole('region', { name: 'Selected memory' }).waitFor();
});
