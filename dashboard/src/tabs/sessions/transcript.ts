/// Converts a transcript to displayed items: messages, and tool calls with their results.
import type { TraceEvent } from '../../lib/wire';

export type Item =
  | { kind: 'message'; key: number; event: TraceEvent }
  | { kind: 'tool'; key: number; call: TraceEvent | null; results: TraceEvent[] }
  | { kind: 'aside'; key: number; event: TraceEvent };

const ASIDE = new Set(['reasoning', 'meta', 'compaction', 'summary']);

/** Groups results with their calls. A result whose call is not loaded is a separate item. */
export function itemsOf(events: TraceEvent[]): Item[] {
  const items: Item[] = [];
  const calls = new Map<string, Extract<Item, { kind: 'tool' }>>();
  for (const event of events) {
    const key = event.sequence;
    if (event.kind === 'tool_call') {
      const item = { kind: 'tool' as const, key, call: event, results: [] };
      if (event.call) calls.set(event.call, item);
      items.push(item);
    } else if (event.kind === 'tool_result') {
      const item = event.call ? calls.get(event.call) : undefined;
      if (item) item.results.push(event);
      else items.push({ kind: 'tool', key, call: null, results: [event] });
    } else if (ASIDE.has(event.kind) || event.injected) {
      items.push({ kind: 'aside', key, event });
    } else {
      items.push({ kind: 'message', key, event });
    }
  }
  return items;
}

/** Whether this item contains the linked event. */
export function holds(item: Item, sequence: number | null): boolean {
  if (sequence === null) return false;
  if (item.kind !== 'tool') return item.event.sequence === sequence;
  return item.call?.sequence === sequence || item.results.some((one) => one.sequence === sequence);
}

const TELLING = ['command', 'cmd', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'prompt'];

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Summarizes a call in one line. */
export function gist(event: TraceEvent): string {
  const input = parsed(event.text);
  if (typeof input !== 'object' || input === null) return firstLine(event.text);
  for (const name of TELLING) {
    const value = (input as Record<string, unknown>)[name];
    if (typeof value === 'string') return firstLine(value);
    if (Array.isArray(value)) return firstLine(shellWords(value));
  }
  return firstLine(event.text);
}

/** Shortens `["bash", "-lc", "make"]` to `make`. */
function shellWords(words: unknown[]): string {
  const texts = words.map(String);
  const isShell = /^(ba|z|fi)?sh$/.test(texts[0] ?? '') && /^-l?c$/.test(texts[1] ?? '');
  return (isShell ? texts.slice(2) : texts).join(' ');
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

/** Formats JSON with line breaks; returns other text unchanged. */
export function pretty(text: string): string {
  const value = parsed(text);
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : text;
}

/** Returns the number of bytes truncated from the middle of a text. */
export function lost(event: TraceEvent): number {
  if (event.text_end === '') return 0;
  const size = new TextEncoder();
  return Math.max(0, event.full_bytes - size.encode(event.text).length - size.encode(event.text_end).length);
}

export function parsePlace(rest: string): { id: string; sequence: number | null } {
  const found = /^(.*?)(?::(\d+))?$/.exec(rest);
  return { id: found?.[1] ?? rest, sequence: found?.[2] === undefined ? null : Number(found[2]) };
}
