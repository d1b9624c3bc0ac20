/// Splits and shortens text for display.

export interface MarkedText {
  text: string;
  isTerm: boolean;
}

/** Splits text at words that start with one of the terms. */
export function markTerms(text: string, terms: string[]): MarkedText[] {
  const wanted = terms.filter((term) => term.length > 1).map(escapeRegExp);
  if (wanted.length === 0) return [{ text, isTerm: false }];
  // Longer terms first, so that the longest matching term is marked.
  wanted.sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])((?:${wanted.join('|')})[\\p{L}\\p{N}]*)`, 'giu');
  const parts = text.split(pattern).map((part, at) => ({ text: part, isTerm: at % 2 === 1 }));
  return parts.filter((part) => part.text !== '');
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}

/** Returns a position in a session, `SESSION:SEQ`, or `null` for words said to Nacre itself. */
export function sessionPlace(place: string): string | null {
  return /^[\w.-]+(?::[\w.-]+)*:\d+$/.test(place) ? place : null;
}

/** Converts a memory id to words, for memories whose title is not loaded: `20261007-use-sqlite` becomes `use sqlite`. */
export function nameOfId(id: string): string {
  return id.replace(/^\d{8}-/, '').replaceAll('-', ' ');
}
