/// Parses an answer's sentences: text, with the cited memories and messages in brackets.

export type Source = { kind: 'memory' | 'message'; id: string };
export type Piece = { text: string } | { sources: Source[] };

// A memory id is a date and a slug; a message id is a session id and a number.
const MEMORY = /^\d{8}-[a-z0-9-]+$/;
const MESSAGE = /^[A-Za-z0-9_.-]+:\d+$/;

function sourceOf(text: string): Source | undefined {
  if (MEMORY.test(text)) return { kind: 'memory', id: text };
  if (MESSAGE.test(text)) return { kind: 'message', id: text };
  return undefined;
}

/** Splits a sentence at its citations; other text in brackets stays part of the text. */
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

/** Numbers the sources in the order of their first citation. */
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

/** Why sentences were left out, worded for the user. */
export const DOUBTS: Record<string, string> = {
  no_source: 'cited no source',
  not_shown: 'cited a source that was not shown to the model',
  gone: 'cited a memory that no longer exists',
  archived: 'cited an archived memory',
  overturned: 'cited a superseded memory without its successor',
  unrelated: 'cited a source about something else',
  invented: 'contained a name, number or command that is not in its source',
  negated: 'contradicted its source',
  unsupported: 'claimed more than its source',
};
