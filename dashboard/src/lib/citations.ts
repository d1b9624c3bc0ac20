/// Sentences of an answer: text, and in brackets the memories and messages that prove it.

export type Source = { kind: 'memory' | 'message'; id: string };
export type Piece = { text: string } | { sources: Source[] };

// As Nacre names memories: a day and a slug. Messages are a session's id and a number.
const MEMORY = /^\d{8}-[a-z0-9-]+$/;
const MESSAGE = /^[A-Za-z0-9_.-]+:\d+$/;

function sourceOf(text: string): Source | undefined {
  if (MEMORY.test(text)) return { kind: 'memory', id: text };
  if (MESSAGE.test(text)) return { kind: 'message', id: text };
  return undefined;
}

/** Splits a sentence at its citations; brackets that cite nothing stay text. */
export function pieces(sentence: string): Piece[] {
  const out: Piece[] = [];
  let from = 0;
  for (const found of sentence.matchAll(/ ?\[([^[\]]+)\]/g)) {
    const sources = (found[1] ?? '').split(/[,;]\s*|\s+/).map(sourceOf);
    if (sources.length === 0 || sources.some((one) => one === undefined)) continue;
    if (found.index > from) out.push({ text: sentence.slice(from, found.index) });
    out.push({ sources: sources as Source[] });
    from = found.index + found[0].length;
  }
  if (from < sentence.length) out.push({ text: sentence.slice(from) });
  return out;
}

/** Gives each source a number, in the order in which they are first cited. */
export function numbered(sentences: string[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const sentence of sentences) {
    for (const piece of pieces(sentence)) {
      if (!('sources' in piece)) continue;
      for (const { id } of piece.sources) if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
    }
  }
  return numbers;
}

/** Why sentences were left out, in the words of a person. */
export const DOUBTS: Record<string, string> = {
  no_source: 'named no source',
  not_shown: 'named a source that was not found',
  gone: 'named a memory that is gone',
  archived: 'named a memory that is archived',
  overturned: 'told of an overturned memory as if it held, or without what overturned it',
  unrelated: 'named a source that is about something else',
  invented: 'had a name, number or command that its source does not have there',
  negated: 'said the opposite of its source',
  unsupported: 'said more than its source',
};
