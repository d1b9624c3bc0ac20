import { expect, test } from 'vitest';
import type { GraphNode, GraphReport } from '../src/lib/wire-new';
import type { ModuleNode, TraceEvent } from '../src/lib/wire';
import { matching, neighbours, normalized, visible } from '../src/tabs/graph/model';
import { layOut } from '../src/tabs/map/layout';
import { countsText, momentOf } from '../src/tabs/pipeline/runs';
import { gist, holds, itemsOf, lost, parsePlace } from '../src/tabs/sessions/transcript';

const event = (sequence: number, kind: string, more: Partial<TraceEvent> = {}) =>
  ({ sequence, kind, text: '', text_end: '', full_bytes: 0, lane: 'main', error: false, place: { row: { key: '' } }, ...more }) as TraceEvent;

test('results stand under their calls, also when others come between', () => {
  const items = itemsOf([
    event(0, 'user'),
    event(1, 'tool_call', { call: 'a' }),
    event(2, 'tool_call', { call: 'b' }),
    event(3, 'tool_result', { call: 'b' }),
    event(4, 'tool_result', { call: 'a' }),
    event(5, 'tool_result', { call: 'lost' }),
    event(6, 'reasoning'),
    event(7, 'user', { injected: 'rules' }),
  ]);
  expect(items.map((item) => item.kind)).toEqual(['message', 'tool', 'tool', 'tool', 'aside', 'aside']);
  expect(items.map((item) => (item.kind === 'tool' ? item.results.map((one) => one.sequence) : []))).toEqual([[], [4], [3], [5], [], []]);
  expect(items.map((item) => holds(item, 4))).toEqual([false, true, false, false, false, false]);
});

test.each([
  ['{"command":"cargo test"}', 'cargo test'],
  ['{"command":["bash","-lc","make all"]}', 'make all'],
  ['{"command":["git","status"]}', 'git status'],
  ['{"file_path":"a.rs","old_string":"x"}', 'a.rs'],
  ['not json\nsecond line', 'not json'],
  ['{"other":1}', '{"other":1}'],
  ['null', 'null'],
])('the gist of %s is %s', (text, wanted) => {
  expect(gist(event(0, 'tool_call', { text }))).toBe(wanted);
});

test('a cut text says how much is missing', () => {
  expect(lost(event(0, 'tool_result', { text: 'ä', text_end: 'b', full_bytes: 103 }))).toBe(100);
  expect(lost(event(0, 'tool_result', { text: 'ab', full_bytes: 2 }))).toBe(0);
});

test('places are ids with a number, or ids', () => {
  expect(parsePlace('abc:12')).toEqual({ id: 'abc', sequence: 12 });
  expect(parsePlace('abc')).toEqual({ id: 'abc', sequence: null });
  expect(parsePlace('sess:abc')).toEqual({ id: 'sess:abc', sequence: null });
});

test('runs: the moment in the id, and what was counted', () => {
  expect(momentOf('sync-20261113-173000-41bede8e')).toBe('2026-11-13T17:30:00Z');
  expect(momentOf('strange')).toBe(null);
  expect(countsText({ add: 2, update: 0, no_op: 1, supersede: 0 })).toBe('2 added, 1 already known');
});

const node = (id: string, more: Partial<GraphNode> = {}) => ({ id, type: 'decision', title: id, tags: [], status: 'active', degree: 0, ...more }) as unknown as GraphNode;
const report: GraphReport = {
  nodes: [node('a', { tags: ['x'] }), node('b'), node('c', { type: 'learning' }), node('d')],
  edges: [
    { from: 'a', to: 'b', kind: 'superseded by' },
    { from: 'b', to: 'a', kind: 'supersedes' },
    { from: 'b', to: 'c', kind: 'related' },
    { from: 'c', to: 'gone', kind: 'related' },
  ],
  left_out: 0,
};
const all = { hidden: new Set<string>(), type: '', tag: '', expanded: new Set<string>() };

test('graph: both directions of an edge are one, and both its ends are there', () => {
  const graph = normalized(report);
  expect(graph.edges.map(({ from, to, kind }) => `${from} ${kind} ${to}`)).toEqual(['b supersedes a', 'b related c']);
  expect(neighbours(graph).get('b')?.map((one) => one.node.id)).toEqual(['a', 'c']);
});

test('graph: filters leave no edge without its ends', () => {
  const graph = normalized(report);
  expect(visible(graph, { ...all, type: 'decision' }).edges).toHaveLength(1);
  expect(visible(graph, { ...all, hidden: new Set(['related']) }).edges).toHaveLength(1);
  expect(visible(graph, { ...all, expanded: new Set(['c']) }).nodes.map((one) => one.id)).toEqual(['b', 'c']);
  expect(visible(graph, { ...all, tag: 'x' }).nodes.map((one) => one.id)).toEqual(['a']);
  expect(matching(graph.nodes, 'X').map((one) => one.id)).toEqual(['a']);
});

const modules = (text: string): ModuleNode[] =>
  text.split(' ').map((part) => {
    const [module = '', imports = ''] = part.split('>');
    return { module, files: 1, imports: imports === '' ? [] : imports.split(',') };
  });

test('modules: what imports stands left of what it imports', () => {
  const { modules: placed, alone } = layOut(modules('app>lib,ui ui>lib lib tests'), 40);
  const x = (name: string) => placed.find((one) => one.name === name)?.x ?? -1;
  expect([x('app') < x('ui'), x('ui') < x('lib')]).toEqual([true, true]);
  expect(alone.map((one) => one.name)).toEqual(['tests']);
});

test('modules: circles end, each pair is one edge, and nothing overlaps', () => {
  const { modules: placed, edges } = layOut(modules('a>b b>c c>a,b d>a'), 40);
  expect(edges).toHaveLength(4);
  expect(edges.filter((edge) => edge.isMutual)).toHaveLength(1);
  expect(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size).toBe(placed.length);
  for (const { path } of edges) expect(path).not.toContain('NaN');
});

test('modules: two hundred of them, each importing ten', () => {
  const many = Array.from({ length: 200 }, (_, at) => ({ module: `m${at}`, files: 200 - at, imports: Array.from({ length: 10 }, (_, n) => `m${(at * 7 + n * 13) % 200}`) }));
  expect(layOut(many, 40).modules.length).toBeLessThanOrEqual(40);
  expect(layOut([], 40)).toMatchObject({ modules: [], edges: [], width: 0 });
});
