/// Pieces of text to be shown differently.

export interface MarkedText {
  text: string;
  isTerm: boolean;
}

/** Cuts a text where one of the terms stands, at the start of a word. */
export function markTerms(text: string, terms: string[]): MarkedText[] {
  const wanted = terms.filter((term) => term.length > 1).map(escapeRegExp);
  if (wanted.length === 0) return [{ text, isTerm: false }];
  // Longer terms first, so that `retries` is marked whole where `retry` is searched, too.
  wanted.sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])((?:${wanted.join('|')})[\\p{L}\\p{N}]*)`, 'giu');
  const parts = text.split(pattern).map((part, at) => ({ text: part, isTerm: at % 2 === 1 }));
  return parts.filter((part) => part.text !== '');
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** A place in a session, `SESSION:SEQ`; nothing for words that were said to Nacre itself. */
export function sessionPlace(place: string): string | null {
  return /^[\w.-]+(?::[\w.-]+)*:\d+$/.test(place) ? place : null;
}

/** An id of a memory as words, where its title is not at hand: `20261007-use-sqlite` is about `use sqlite`. */
export function nameOfId(id: string): string {
  return id.replace(/^\d{8}-/, '').replaceAll('-', ' ');
}
