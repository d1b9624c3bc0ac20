import { expect, test } from 'vitest';
import { numbered, pieces } from '../src/lib/citations';

const MONEY = '20261005-money-is-whole-cents';

test('brackets with ids are citations, the blank before them is not shown', () => {
  expect(pieces(`It is cents [${MONEY}].`)).toEqual([
    { text: 'It is cents' },
    { sources: [{ kind: 'memory', id: MONEY }] },
    { text: '.' },
  ]);
});

test('several ids, and places in sessions', () => {
  const [, cited] = pieces(`Both say so [${MONEY}, 2ee363ab-5012:14]`);
  expect(cited).toEqual({ sources: [{ kind: 'memory', id: MONEY }, { kind: 'message', id: '2ee363ab-5012:14' }] });
});

test.each(['See [the docs].', 'An array a[0] and [x](javascript:alert(1))', '[ ] open', 'a [20261005-x not an id] b'])('%s stays text', (text) => {
  expect(pieces(text).map((piece) => ('text' in piece ? piece.text : '?')).join('')).toBe(text);
});

test('sources are numbered in the order in which they are cited', () => {
  const numbers = numbered([`B [20260102-b].`, `A and B [20260101-a] [20260102-b].`]);
  expect([...numbers]).toEqual([['20260102-b', 1], ['20260101-a', 2]]);
});
