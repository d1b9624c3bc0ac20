import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { session, test, until } from '../lib/harness.mjs';

const secretOf = (page) => page.evaluate(() => localStorage.getItem('nacre.login'));
const isIn = (page) => page.getByRole('navigation').first().waitFor();

test('login: a browser that was not let in is told what to type', async () => {
  const one = await session('full', { login: false });
  await one.page.goto(one.server.base);
  await one.page.getByText('nacre dashboard').first().waitFor();
}, { allow: [/401/] });

test('login: the code leaves the address, and no cookie is set', async () => {
  const one = await session('full');
  await one.open('overview');
  assert.ok(!one.page.url().includes('code='), one.page.url());
  assert.equal(await one.page.evaluate(() => document.cookie), '');
  assert.deepEqual(await one.context.cookies(), []);
});

test('login: a page loaded again and another tab stay in', async () => {
  const one = await session('full');
  await one.open('overview');
  await one.page.reload();
  await isIn(one.page);
  const other = await one.context.newPage();
  await other.goto(one.server.base);
  await isIn(other);
});

test('login: a link that another tab opens lets in a tab that waits', async () => {
  const one = await session('full');
  await one.open('overview');
  const secret = await secretOf(one.page);
  await one.page.evaluate(() => localStorage.setItem('nacre.login', 'of-a-server-that-is-gone'));
  await one.page.reload();
  await one.page.getByText('Login needed').waitFor();
  await until('the refused secret is gone', async () => (await secretOf(one.page)) === null);
  const other = await one.context.newPage();
  await other.goto(one.server.base);
  await other.getByText('Login needed').waitFor();
  await other.evaluate((value) => localStorage.setItem('nacre.login', value), secret);
  await isIn(one.page);
}, { allow: [/401/] });

// Whoever else has a port of this machine: another user, or a container.
async function withStranger(run) {
  const seen = [];
  const page = '<script>fetch("/x").then(() => { document.title = JSON.stringify([document.cookie, Object.keys(localStorage), Object.keys(sessionStorage)]) })</script>';
  const server = createServer((request, response) => {
    seen.push(request.headers);
    response.setHeader('Content-Type', 'text/html');
    response.end(page);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run(`http://127.0.0.1:${server.address().port}/`, seen);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('login: another port of this machine is sent nothing and reads nothing', () => withStranger(async (address, seen) => {
  const one = await session('full');
  await one.open('overview');
  const secret = await secretOf(one.page);
  assert.match(secret, /^[-\w]{8,}$/);
  await one.page.goto(address);
  await until('the stranger tells what it read', async () => (await one.page.title()) !== '');
  assert.deepEqual(JSON.parse(await one.page.title()), ['', [], []]);
  assert.ok(seen.length >= 2);
  for (const headers of seen) {
    assert.deepEqual([headers.cookie, headers.authorization], [undefined, undefined]);
    assert.ok(!JSON.stringify(headers).includes(secret));
  }
  const shown = await fetch(`${one.server.base}/api/project/list`, { headers: { Cookie: `nacre_${new URL(one.server.base).port}=${secret}`, Origin: one.server.base } });
  assert.equal(shown.status, 401);
}), { allow: [/^request to http:\/\/127\.0\.0\.1:/, /favicon/] });

test('login: a code that was used is refused with a hint', async () => {
  const one = await session('full', { login: false });
  await one.page.goto(`${one.server.base}/#code=used-already`);
  await one.page.getByText('nacre dashboard').first().waitFor();
}, { allow: [/401/] });
