/// The memory list's filters, as encoded in the address.
import { link, type Route } from '../../app/router.svelte';
import { api } from '../../lib/api';
import { LEARNING_KINDS, type BrokenFile, type MemoryEntry, type MemorySort, type MemoryStatus, type MemoryType } from '../../lib/wire';

export const PAGE = 50;
export const TYPES: MemoryType[] = ['decision', 'learning', 'summary'];
export const STATUSES: MemoryStatus[] = ['active', 'candidate', 'superseded', 'stale'];
export const SORTS: [MemorySort, string][] = [
  ['-updated', 'Updated'],
  ['-created', 'Created'],
  ['title', 'Title'],
  ['-confidence', 'Confidence, high first'],
  ['confidence', 'Confidence, low first'],
];

export interface View {
  q: string;
  /** A type, or `all` for summaries too. */
  type: string;
  kind: string;
  status: string;
  tag: string;
  archived: boolean;
  sort: string;
  page: number;
}

export interface Row {
  memory: MemoryEntry;
  snippet?: string;
  terms: string[];
}

export interface Rows {
  rows: Row[];
  total: number;
  hiddenSummaries: number;
  broken: BrokenFile[];
}

export function viewOf(route: Route): View {
  const { q = '', type = '', kind = '', status = '', tag = '', archived = '', sort = '-updated', page = '1' } = route.query;
  const number = Math.max(1, Math.floor(Number(page)) || 1);
  return { q, type, kind, status, tag, archived: archived === '1', sort, page: number };
}

export function addressOf(view: View, id = ''): string {
  return link('memories', id, {
    q: view.q,
    type: view.type,
    kind: view.kind,
    status: view.status,
    tag: view.tag,
    archived: view.archived ? '1' : '',
    sort: view.sort === '-updated' ? '' : view.sort,
    page: view.page > 1 ? String(view.page) : '',
  });
}

export function hasFilters(view: View): boolean {
  return Boolean(view.q || view.type || view.kind || view.status || view.tag || view.archived);
}

function pick<T extends string>(list: T[], text: string): T | null {
  return list.find((one) => one === text) ?? null;
}

export function loadRows(view: View, signal: AbortSignal): Promise<Rows> {
  return view.q.trim() ? search(view, signal) : list(view, signal);
}

async function list(view: View, signal: AbortSignal): Promise<Rows> {
  const report = await api.memories(
    {
      type: pick(TYPES, view.type),
      kind: pick(LEARNING_KINDS, view.kind),
      status: pick(STATUSES, view.status),
      tag: view.tag || null,
      archived: view.archived,
      all: view.type === 'all',
      sort: pick(SORTS.map(([sort]) => sort), view.sort),
      limit: PAGE,
      offset: (view.page - 1) * PAGE,
    },
    signal,
  );
  const rows = report.memories.map((memory) => ({ memory, terms: [] }));
  return { rows, total: report.total, hiddenSummaries: report.hidden_summaries ?? 0, broken: report.broken };
}

async function search(view: View, signal: AbortSignal): Promise<Rows> {
  // A search query contains the kind and status as filters.
  const kind = pick(LEARNING_KINDS, view.kind);
  const status = pick(STATUSES, view.status);
  const query = [view.q.trim(), kind && `kind:${kind}`, status && `status:${status}`].filter(Boolean).join(' ');
  const type = pick(TYPES, view.type);
  const report = await api.search({ query, type, tag: view.tag || null, archived: view.archived, limit: PAGE }, signal);
  const rows = report.hits.map((hit) => ({ memory: hit, snippet: hit.snippet, terms: hit.why.terms }));
  return { rows, total: report.total, hiddenSummaries: 0, broken: report.broken };
}
