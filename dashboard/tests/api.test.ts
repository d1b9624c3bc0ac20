import { afterEach, expect, test, vi } from 'vitest';
import { address, api, ApiError, EventParser, setProject, streamEvents } from '../src/lib/api';
import { dropLogin, keepLogin, loginSecret } from '../src/lib/login';
import type { StreamEvent } from '../src/lib/wire-new';

afterEach(() => {
  setProject(null);
  localStorage.clear();
  vi.unstubAllGlobals();
});

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });

test('an address has the project, repeats lists, and leaves out what is empty', () => {
  expect(address('/api/memories')).toBe('/api/memories');
  setProject('tide pool');
  expect(address('/api/memories', { tag: '', limit: 0, archived: false, all: true })).toBe('/api/memories?limit=0&all=true&project=tide+pool');
  expect(address('/x', { agents: ['a', 'b'], project: null })).toBe('/x?agents=a&agents=b');
});

test('an error of the server keeps its code, causes and hints', async () => {
  const error = { code: 'conflict', message: 'Somebody changed it', causes: ['a cause'], hints: ['Read it again'] };
  vi.stubGlobal('fetch', async () => answer(412, { error }));
  const failure = (await api.writeMemory('m', 'text', 'v1').catch((one: unknown) => one)) as ApiError;
  expect(failure).toBeInstanceOf(ApiError);
  expect([failure.status, failure.isConflict, failure.message, failure.causes, failure.hints]).toEqual([412, true, error.message, error.causes, error.hints]);
});

test('an answer that is not JSON, and none at all, are errors too', async () => {
  vi.stubGlobal('fetch', async () => new Response('<html>', { status: 502, statusText: 'Bad Gateway' }));
  await expect(api.health()).rejects.toMatchObject({ status: 502, code: 'failed' });
  vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('Failed to fetch')));
  await expect(api.health()).rejects.toMatchObject({ status: 0, isOffline: true });
});

test('a version goes from ETag to If-Match', async () => {
  const fetch = vi.fn(async () => answer(200, { id: 'm' }, { ETag: 'W/"abc"' }));
  vi.stubGlobal('fetch', fetch);
  const { version } = await api.memory('m');
  expect(version).toBe('abc');
  await api.writeMemory('m', 'text', version ?? '');
  const [, init] = fetch.mock.calls[1] as unknown as [string, RequestInit];
  expect(init.headers).toMatchObject({ 'If-Match': '"abc"', 'Content-Type': 'application/json' });
});

test('ids in paths are escaped, places stay readable', async () => {
  const fetch = vi.fn(async () => answer(200, {}));
  vi.stubGlobal('fetch', fetch);
  await api.session('ab/../c:12');
  expect((fetch.mock.calls[0] as unknown as [string])[0]).toBe('/api/sessions/ab%2F..%2Fc:12');
});

const sent = (fetch: { mock: { calls: unknown[][] } }, call: number) => (fetch.mock.calls[call]?.[1] as RequestInit).headers as Record<string, string>;

test('the secret of the login goes with every request, and out when the server refuses it', async () => {
  const answers = [answer(200, { secret: 's1' }), answer(200, {}), new Response(''), answer(401, {}), answer(200, {})];
  const fetch = vi.fn(async () => answers.shift() ?? answer(500, {}));
  vi.stubGlobal('fetch', fetch);
  await api.login('code');
  await api.status();
  const controller = new AbortController();
  const ended = streamEvents({ onEvent: () => {}, onState: (state) => state === 'closed' && controller.abort(), signal: controller.signal });
  await ended;
  await expect(api.status()).rejects.toMatchObject({ isLogin: true });
  await api.health();
  expect([0, 1, 2, 3, 4].map((call) => sent(fetch, call).Authorization)).toEqual([undefined, 'Bearer s1', 'Bearer s1', 'Bearer s1', undefined]);
});

test('a refused secret does not take away the one that another tab got meanwhile', async () => {
  keepLogin('old');
  const fetch = vi.fn(async () => {
    keepLogin('new');
    return answer(401, {});
  });
  vi.stubGlobal('fetch', fetch);
  await expect(api.status()).rejects.toMatchObject({ isLogin: true });
  expect([sent(fetch, 0).Authorization, loginSecret()]).toEqual(['Bearer old', 'new']);
});

test('a refused code leaves the login of before, and a browser without storage keeps it for the page', async () => {
  keepLogin('old');
  vi.stubGlobal('fetch', async () => answer(401, {}));
  await expect(api.login('used')).rejects.toMatchObject({ isLogin: true });
  expect(loginSecret()).toBe('old');
  const refuse = () => {
    throw new DOMException('no', 'SecurityError');
  };
  vi.stubGlobal('localStorage', { getItem: refuse, setItem: refuse, removeItem: refuse, clear: () => {} });
  keepLogin('page');
  expect(loginSecret()).toBe('page');
  dropLogin('page');
  expect(loginSecret()).toBe(null);
});

const STREAM = 'id: b-1\ndata: {"event":"step","text":"one"}\n\n: still here\n\nid: b-2\r\ndata: {"event":"step",\r\ndata: "text":"two"}\r\n\r\ndata: not json\n\nid: b-3\ndata: {"event":"missed"}\n\n';

test('events are read however the network cuts them', () => {
  for (let size = 1; size < 40; size += 1) {
    const seen: [string | null, StreamEvent | null][] = [];
    const parser = new EventParser((id, event) => seen.push([id, event]));
    for (let at = 0; at < STREAM.length; at += size) parser.push(STREAM.slice(at, at + size));
    expect(seen.map(([id, event]) => [id, event?.event]), `pieces of ${size}`).toEqual([['b-1', 'step'], ['b-2', 'step'], ['b-3', 'missed']]);
  }
});

test('a stream that ends is resumed after the last event, until it is aborted', async () => {
  vi.useFakeTimers();
  const controller = new AbortController();
  const fetch = vi.fn(async (_path: string, init: RequestInit) => {
    if (fetch.mock.calls.length === 3) controller.abort();
    void init;
    return new Response(`id: b-${fetch.mock.calls.length}\ndata: {"event":"missed"}\n\n`);
  });
  vi.stubGlobal('fetch', fetch);
  const events: StreamEvent[] = [];
  const ended = streamEvents({ onEvent: (event) => events.push(event), signal: controller.signal });
  await vi.advanceTimersByTimeAsync(10_000);
  await ended;
  vi.useRealTimers();
  const ids = fetch.mock.calls.map(([, init]) => (init.headers as Record<string, string>)['Last-Event-ID']);
  expect(ids).toEqual([undefined, 'b-1', 'b-2']);
  expect(events.length).toBeGreaterThanOrEqual(2);
});
