// Runs the browser tests: `npm run build && npm run e2e [-- TEXT …]` runs those whose name holds one of the texts.
// e2e/lib/servers.mjs says how they run against a real `nacre serve`.
import { launch, logIn, runTest, tests } from './lib/harness.mjs';
import { namedServers, stopMocks } from './lib/servers.mjs';

for (const file of ['login', 'tabs', 'memories', 'review', 'sessions', 'graph', 'pipeline', 'ask', 'map', 'hostile', 'axe', 'pictures']) {
  await import(`./tests/${file}.mjs`);
}

const wanted = process.argv.slice(2);
const browser = await launch();
let failed = 0;
try {
  await logIn(await namedServers());
  for (const test of tests.filter(({ name }) => wanted.length === 0 || wanted.some((text) => name.includes(text)))) {
    const started = Date.now();
    try {
      await runTest(test);
      console.log(`ok    ${test.name} (${Date.now() - started} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${test.name}\n${String(error.stack ?? error).replaceAll(/^/gm, '      ')}`);
    }
  }
} finally {
  await browser.close();
  stopMocks();
}
console.log(failed === 0 ? 'all passed' : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
