import assert from 'node:assert/strict';
import { session, test } from '../lib/harness.mjs';

test('map: modules, hot paths, changes, and the context of a task', async () => {
  const one = await session('full');
  await one.open('map');
  const { body } = await one.api('POST', '/v1/explore', { detail: 'verbose' });
  const hot = body.hot_paths.items[0];
  await one.page.getByRole('region', { name: 'Hot paths' }).getByText(hot.path, { exact: true }).waitFor();
  await one.page.getByRole('region', { name: 'Recent changes' }).waitFor();
  const context = one.page.getByRole('region', { name: 'Context for a task' });
  await context.getByLabel('Task').fill('retry orders when the queue fails');
  await context.getByRole('button', { name: 'Collect' }).click();
  await context.locator('details summary').first().waitFor();
  assert.ok((await context.locator('details').count()) > 0);
  const tied = body.module_graph.modules.items.find(({ imports }) => imports.length > 0);
  if (tied) {
    await one.page.getByRole('region', { name: 'Modules' }).getByRole('button').first().click();
    await one.page.getByText(/imported by/).first().waitFor();
  }
});
