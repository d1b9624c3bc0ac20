/// Differences, marked terms, places in sessions, and routes.
import { describe, expect, it } from 'vitest';
import { link, parseHash } from '../src/app/router.svelte';
import { diffLines, onlyChanges, parseUnified } from '../src/lib/diff';
import { markTerms, nameOfId, sessionPlace } from '../src/lib/text';

const told = (lines: { kind: string; text: string }[]) => lines.map((line) => `${line.kind} ${line.text}`);

describe('differences', () => {
  it('names what was added and taken out', () => {
    expect(told(diffLines('a\nb\nc', 'a\nx\nc\nd'))).toEqual(['same a', 'del b', 'add x', 'same c', 'add d']);
  });
  it('finds none in equal texts', () => expect(diffLines('a\nb', 'a\nb').every((line) => line.kind === 'same')).toBe(true));
  it('leads from the one text to the other', () => {
    const [before, after] = ['a\nb\nc\nd\ne\n', 'b\nc\nx\ne\ny\n'];
    const lines = diffLines(before, after);
    const side = (drop: string) => lines.filter((line) => line.kind !== drop).map((line) => line.text).join('\n');
    expect(side('add')).toBe(before);
    expect(side('del')).toBe(after);
  });
  it('compares files that are too large as a whole', () => {
    const many = (letter: string) => Array.from({ length: 2100 }, (_, at) => `${letter}${at}`).join('\n');
    expect(diffLines(many('a'), many('b'))).toHaveLength(4200);
  });
  it('leaves out what is far from a change', () => {
    const lines = diffLines('1\n2\n3\n4\n5\n6\n7\n8\n9', '1\n2\n3\n4\n5\n6\n7\n8\nx');
    expect(told(onlyChanges(lines, 1))).toEqual(['meta …', 'same 8', 'del 9', 'add x']);
  });
  it('reads unified diffs', () => {
    const lines = parseUnified('--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n');
    expect(told(lines)).toEqual(['meta @@ -1,2 +1,2 @@', 'same same', 'del old', 'add new']);
  });
});

describe('marked terms', () => {
  const marked = (text: string, terms: string[]) => markTerms(text, terms).filter((one) => one.isTerm).map((one) => one.text);
  it('marks words that start with a term', () => expect(marked('Retries retry, no tries', ['retr'])).toEqual(['Retries', 'retry']));
  it('does not mark the middle of a word', () => expect(marked('entry', ['try'])).toEqual([]));
  it('loses nothing of the text', () => {
    const text = 'a (b) [c] $d ^e retry.';
    expect(markTerms(text, ['retry', '(b', '$d', '[']).map((one) => one.text).join('')).toBe(text);
  });
});

describe('places', () => {
  it.each(['2ee363ab-5012:2', 'codex:abc:17'])('%s is one', (place) => expect(sessionPlace(place)).toBe(place));
  it.each(['', 'human', 'abc', 'a b:3', '../x:1', 'x:y'])('%s is none', (place) => expect(sessionPlace(place)).toBeNull());
});

describe('routes', () => {
  it.each([
    ['', { tab: 'overview', rest: '', query: {} }],
    ['#/', { tab: 'overview', rest: '', query: {} }],
    ['#/memories', { tab: 'memories', rest: '', query: {} }],
    ['#/sessions/abc:17', { tab: 'sessions', rest: 'abc:17', query: {} }],
    ['#/memories/a%2Fb?q=x%20y&type=decision', { tab: 'memories', rest: 'a/b', query: { q: 'x y', type: 'decision' } }],
    ['#/memories/%E0%A4%A', { tab: 'memories', rest: '%E0%A4%A', query: {} }],
  ])('%s is read', (hash, route) => expect(parseHash(hash)).toEqual(route));

  it('are written so that they read back the same', () => {
    const hash = link('memories', 'a/b?c#d:3', { q: 'tag:x & y', empty: '' });
    expect(parseHash(hash)).toEqual({ tab: 'memories', rest: 'a/b?c#d:3', query: { q: 'tag:x & y' } });
  });
});

describe('ids', () => {
  it('are read as words', () => {
    expect(nameOfId('20261007-use-sqlite-for-the-queue')).toBe('use sqlite for the queue');
    expect(nameOfId('plain')).toBe('plain');
  });
});
