// Pictures of pages, to look at: node tools/shots.mjs [--base URL] [--only TEXT] [--out DIR] [NAME=ROUTE …]
// Every page is taken in both themes, at 1440 × 900 and 390 × 844. What the console says is printed.
import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: 'string', default: 'http://127.0.0.1:8799' },
    out: { type: 'string', default: '.shots' },
    only: { type: 'string', default: '' },
    full: { type: 'boolean', default: false },
  },
});
const usual = ['overview', 'memories', 'review', 'settings', 'ask', 'graph', 'sessions', 'pipeline', 'map'].map((tab) => `${tab}=${tab}`);
const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };

mkdirSync(values.out, { recursive: true });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const colorScheme of ['light', 'dark']) {
  for (const [size, viewport] of Object.entries(SIZES)) {
    if (!`${size}-${colorScheme}`.includes(values.only)) continue;
    const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: 1, reducedMotion: 'reduce' });
    const page = await context.newPage();
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && console.log(`  ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => console.log(`  page error: ${error.message}`));
    await page.goto(`${values.base}/#code=mock`);
    await page.waitForTimeout(400);
    for (const wanted of positionals.length > 0 ? positionals : usual) {
      const cut = wanted.indexOf('=');
      const [name, route] = [wanted.slice(0, cut), wanted.slice(cut + 1)];
      await page.evaluate((hash) => { location.hash = hash; }, `#/${route}`);
      await page.waitForTimeout(700);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (over > 0) console.log(`  ${name} ${size}: ${over} px too wide`);
      await page.screenshot({ path: `${values.out}/${name}-${size}-${colorScheme}.png`, fullPage: values.full });
    }
    await context.close();
  }
}
await browser.close();
