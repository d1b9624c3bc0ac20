/// What the list of memories asks for, and unsaved texts.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseHash } from '../src/app/router.svelte';
import { draftOf, dropDraft, keepDraft } from '../src/lib/drafts';
import { addressOf, hasFilters, loadRows, viewOf, type View } from '../src/tabs/memories/view';

const view = (change: Partial<View> = {}): View => ({ ...viewOf(parseHash('#/memories')), ...change });

async function asked(wanted: View): Promise<URL> {
  const report = { memories: [], hits: [], total: 0, broken: [], query: '' };
  const fetch = vi.fn((_address: string) => Promise.resolve(new Response(JSON.stringify(report))));
  vi.stubGlobal('fetch', fetch);
  await loadRows(wanted, new AbortController().signal);
  return new URL(fetch.mock.calls[0]?.[0] ?? '', 'http://x');
}

afterEach(() => vi.unstubAllGlobals());

describe('the list', () => {
  it('reads back the address that it writes', () => {
    const wanted = view({ q: 'a & b', type: 'decision', status: 'stale', tag: 'auth', archived: true, sort: 'title', page: 3 });
    const route = parseHash(addressOf(wanted, '2026-x'));
    expect(viewOf(route)).toEqual(wanted);
    expect(route.rest).toBe('2026-x');
  });
  it('has a plain address when nothing is chosen', () => expect(addressOf(view())).toBe('#/memories'));
  it('survives an address that makes no sense', () => {
    expect(viewOf(parseHash('#/memories?page=-3')).page).toBe(1);
    expect(viewOf(parseHash('#/memories?page=x')).page).toBe(1);
  });
  it('knows whether anything is filtered', () => {
    expect(hasFilters(view())).toBe(false);
    expect(hasFilters(view({ sort: 'title', page: 2 }))).toBe(false);
    expect(hasFilters(view({ tag: 'auth' }))).toBe(true);
  });
  it('asks for a page of the list', async () => {
    const url = await asked(view({ kind: 'pitfall', archived: true, page: 2 }));
    expect(url.pathname).toBe('/api/memories');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      kind: 'pitfall',
      archived: 'true',
      sort: '-updated',
      limit: '50',
      offset: '50',
    });
  });
  it('asks for summaries only where they are wanted', async () => {
    expect((await asked(view({ type: 'all' }))).searchParams.get('all')).toBe('true');
    expect((await asked(view({ type: 'all' }))).searchParams.has('type')).toBe(false);
  });
  it('searches, with kinds and states among the words', async () => {
    const url = await asked(view({ q: ' retry ', kind: 'pitfall', status: 'stale', type: 'learning', tag: 'http' }));
    expect(url.pathname).toBe('/api/search');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      query: 'retry kind:pitfall status:stale',
      type: 'learning',
      tag: 'http',
      limit: '50',
    });
  });
  it('sends no filter that the server does not know', async () => {
    const url = await asked(view({ type: 'evil', kind: 'x y', status: 'z' }));
    for (const key of ['type', 'kind', 'status']) expect(url.searchParams.has(key)).toBe(false);
  });
});

describe('unsaved texts', () => {
  const draft = { base: 'a', version: 'v1', text: 'b' };
  it('are kept until they are dropped', () => {
    keepDraft('m', draft);
    expect(draftOf('m')).toEqual(draft);
    dropDraft('m');
    expect(draftOf('m')).toBeUndefined();
  });
  it('are none where nothing was changed', () => {
    keepDraft('m', draft);
    keepDraft('m', { ...draft, text: 'a' });
    expect(draftOf('m')).toBeUndefined();
  });
  it('hold the page back while there are any', () => {
    const leave = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
    expect(leave()).toBe(false);
    keepDraft('m', draft);
    expect(leave()).toBe(true);
    dropDraft('m');
  });
});
