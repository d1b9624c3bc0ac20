// The servers that the tests run against. A link of `nacre dashboard` in NACRE_E2E_FULL, NACRE_E2E_EMPTY or NACRE_E2E_HOSTILE names a
// real one, with data, without, and with texts that mean harm; where none is named, the mock stands in, with the
// page in dist. NACRE_E2E_DIST names another folder of files, also for a real server; NACRE_E2E_HOMES the folder with the homes.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Home } from '../../mock/home.mjs';

const mock = fileURLToPath(new URL('../../mock/server.mjs', import.meta.url));
const started = [];

/** Starts the mock on a free port; `flags` as it takes them. */
export async function startMock(flags) {
  const dist = process.env.NACRE_E2E_DIST ? ['--dist', process.env.NACRE_E2E_DIST] : [];
  const child = spawn(process.execPath, [mock, '--port', '0', ...dist, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const link = /http:\S+/.exec(line)?.[0];
    if (link) return server(link, true);
  }
  throw new Error('The mock server did not start');
}

function server(link, isMock) {
  return { link, base: new URL(link).origin, isMock };
}

const running = new Map();

/** The server of a kind: `full`, `empty` or `hostile`. Started when it is first needed. */
export function serverOf(kind) {
  if (!running.has(kind)) {
    const link = process.env[`NACRE_E2E_${kind.toUpperCase()}`];
    running.set(kind, link ? Promise.resolve(server(link, false)) : startMock(['--login', '--variant', kind]));
  }
  return running.get(kind);
}

/** The home that a real server works in, to write sessions there; none for the mock. */
export function homeOf(kind) {
  const homes = process.env.NACRE_E2E_HOMES;
  return homes && process.env[`NACRE_E2E_${kind.toUpperCase()}`] ? new Home('nacre', join(homes, kind)) : null;
}

/** The servers that the environment names. */
export function namedServers() {
  const kinds = ['full', 'empty', 'hostile'].filter((kind) => process.env[`NACRE_E2E_${kind.toUpperCase()}`]);
  return Promise.all(kinds.map(serverOf));
}

export function stopMocks() {
  for (const child of started) child.kill();
}
