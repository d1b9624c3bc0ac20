// What tests share: a browser, a page that reports everything suspicious, and waiting without sleeping.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { serverOf } from './servers.mjs';

/** The last moment of the data, and the time that real servers are started with: ages in pictures stay the same. */
const DATA_NOW = '2026-11-16T18:00:00Z';
export const TABS = ['overview', 'ask', 'memories', 'review', 'graph', 'sessions', 'pipeline', 'map', 'settings'];
export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 390, height: 844 };

export const tests = [];

/** Registers a test. `allow`: patterns of console errors that belong to it, such as a refused request. */
export function test(name, run, { allow = [] } = {}) {
  tests.push({ name, run, allow });
}

let browser;
export async function launch() {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  return browser;
}

/** Waits until `check` gives something true; says what did not come. */
export async function until(what, check, ms = 15_000) {
  const end = Date.now() + ms;
  let last;
  while (Date.now() < end) {
    try {
      const value = await check();
      if (value) return value;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  throw new Error(`Waited in vain: ${what}${last ? ` (${last.message})` : ''}`);
}

/** Uses the links of real servers at once: they work for two minutes. */
export async function logIn(servers) {
  for (const server of servers) await loginOf(server);
}

/** The files of the page from the folder that NACRE_E2E_DIST names, with the headers that a real server gives its own. */
async function withOtherFiles(context, server) {
  const folder = process.env.NACRE_E2E_DIST;
  if (!folder || server.isMock) return;
  await context.route(`${server.base}/**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    const path = join(folder, pathname === '/' ? 'index.html' : pathname);
    if (/^\/(api|v1)\//.test(pathname) || !existsSync(path)) return route.fallback();
    const { 'content-security-policy': policy } = (await route.fetch({ url: `${server.base}/` })).headers();
    return route.fulfill({ path, headers: { 'content-security-policy': policy, 'content-type': TYPES[path.split('.').at(-1)] ?? 'text/plain' } });
  });
}

const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };

// A link works once, so the login of each server is kept.
const logins = new Map();

async function loginOf(server) {
  if (!logins.has(server.link)) {
    const context = await browser.newContext();
    await withOtherFiles(context, server);
    const page = await context.newPage();
    await page.goto(server.link);
    await page.getByRole('navigation').first().waitFor();
    logins.set(server.link, await context.storageState());
    await context.close();
  }
  return logins.get(server.link);
}

export class Session {
  constructor(server, context, page) {
    Object.assign(this, { server, context, page, problems: [], requests: [] });
  }

  /** Opens a route and waits until it shows something else than grey bars. */
  async open(route) {
    await this.page.goto(`${this.server.base}/#/${route}`);
    await this.settled();
  }

  async settled() {
    await this.page.locator('main').first().waitFor();
    await until('the page is loaded', async () => (await this.page.locator('main .loading').count()) === 0);
  }

  /** Calls the API with the page's login. */
  api(method, path, body, headers = {}) {
    const call = async ([method, path, body, headers]) => {
      const type = { Authorization: `Bearer ${localStorage.getItem('nacre.login')}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) };
      const response = await fetch(path, { method, headers: { ...type, ...headers }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      return { status: response.status, etag: response.headers.get('ETag'), body: response.status === 204 ? null : await response.json() };
    };
    return this.page.evaluate(call, [method, path, body, headers]);
  }

  async text() {
    return (await this.page.locator('main').innerText()).trim();
  }

  async noSidewaysScroll(what) {
    const over = await this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(over <= 0, `${what}: the page is ${over} px too wide`);
  }

  async noErrorBox(what) {
    assert.equal(await this.page.locator('main [role=alert]').count(), 0, `${what} shows an error`);
  }
}

const open = new Set();

/** A page of its own, logged in, that notes errors, dialogs, violations of the policy and requests to elsewhere. */
export async function session(kind, { viewport = WIDE, theme = 'light', login = true, server } = {}) {
  const target = server ?? (await serverOf(kind));
  const options = { viewport, colorScheme: theme, timezoneId: 'UTC', locale: 'en-GB', reducedMotion: 'reduce' };
  if (login) options.storageState = await loginOf(target);
  const context = await browser.newContext(options);
  await withOtherFiles(context, target);
  const page = await context.newPage();
  await page.clock.setFixedTime(new Date(DATA_NOW));
  const made = new Session(target, context, page);
  const note = (text) => made.problems.push(text);
  page.on('console', (message) => message.type() === 'error' && note(`console: ${message.text()} ${message.location().url}`));
  page.on('pageerror', (error) => note(`page error: ${error.message}`));
  page.on('dialog', (dialog) => {
    note(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    made.requests.push(url.href);
    if (url.protocol.startsWith('http') && url.origin !== target.base) note(`request to ${url.href}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
  });
  open.add(made);
  return made;
}

/** Runs one test, then looks at what its pages noted. */
export async function runTest({ run, allow }) {
  try {
    await run();
    const problems = [...open].flatMap((one) => one.problems).filter((text) => !allow.some((pattern) => pattern.test(text)));
    assert.deepEqual(problems, []);
  } finally {
    for (const one of open) await one.context.close();
    open.clear();
  }
}
