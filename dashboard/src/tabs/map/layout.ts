/// Places modules in columns, with importers to the left of the modules they import unless there is a cycle.
/// Long edges get a lane in every column that they cross, so that they do not pass through modules.
import type { ModuleNode } from '../../lib/wire';

export const WIDTH = 164;
export const HEIGHT = 40;
const GAP_X = 78;
const GAP_Y = 14;
const LANE = 16;

export interface PlacedModule {
  name: string;
  files: number;
  imports: string[];
  importers: string[];
  x: number;
  y: number;
}

export interface ModuleEdge {
  from: string;
  to: string;
  /** Whether the modules import each other. */
  isMutual: boolean;
  /** Whether the edge points to the left because it is part of a cycle. */
  isBack: boolean;
  path: string;
}

export interface ModuleLayout {
  modules: PlacedModule[];
  edges: ModuleEdge[];
  /** Modules that import no other module and are not imported. */
  alone: { name: string; files: number }[];
  width: number;
  height: number;
}

type Graph = Map<string, string[]>;

function importersOf(graph: Graph): Graph {
  const out: Graph = new Map([...graph.keys()].map((name) => [name, []]));
  for (const [from, targets] of graph) for (const to of targets) out.get(to)?.push(from);
  return out;
}

/** Orders modules so that few edges point backwards (Eades, Lin and Smyth): sources first, sinks last, otherwise the module with the most imports next. */
function orderOf(graph: Graph): string[] {
  const importers = importersOf(graph);
  const left = new Set(graph.keys());
  const [front, back]: [string[], string[]] = [[], []];
  const degree = (name: string, of: Graph) => (of.get(name) ?? []).filter((one) => left.has(one)).length;
  const take = (name: string, list: string[]) => {
    left.delete(name);
    list.push(name);
  };
  while (left.size > 0) {
    const names = [...left].sort();
    const sink = names.find((name) => degree(name, graph) === 0);
    const source = names.find((name) => degree(name, importers) === 0);
    if (sink !== undefined) take(sink, back);
    else if (source !== undefined) take(source, front);
    else take(names.reduce((a, b) => (degree(b, graph) - degree(b, importers) > degree(a, graph) - degree(a, importers) ? b : a)), front);
  }
  return [...front, ...back.reverse()];
}

interface Link {
  from: string;
  to: string;
  isMutual: boolean;
  isBack: boolean;
}

/** Returns each connected pair once, from the module that comes first. */
function linksOf(graph: Graph, order: string[]): Link[] {
  const rank = new Map(order.map((name, at) => [name, at]));
  const links: Link[] = [];
  for (const [from, targets] of graph) {
    for (const to of targets) {
      const isForward = (rank.get(from) ?? 0) < (rank.get(to) ?? 0);
      const isMutual = graph.get(to)?.includes(from) === true;
      if (isForward) links.push({ from, to, isMutual, isBack: false });
      else if (!isMutual) links.push({ from: to, to: from, isMutual, isBack: true });
    }
  }
  return links;
}

/** Assigns columns by the longest path to each module. */
function columnsOf(order: string[], links: Link[]): Map<string, number> {
  const column = new Map(order.map((name) => [name, 0]));
  for (const name of order) {
    for (const { from, to } of links) {
      if (from === name) column.set(to, Math.max(column.get(to) ?? 0, (column.get(name) ?? 0) + 1));
    }
  }
  return column;
}

/** An entry in a column: a module, or a long edge's lane. */
interface Cell {
  key: string;
  column: number;
  height: number;
  at: number;
  y: number;
  near: Cell[];
}

function cellsOf(order: string[], links: Link[], column: Map<string, number>): { cells: Map<string, Cell>; ways: Map<Link, Cell[]> } {
  const cells = new Map<string, Cell>();
  const cell = (key: string, at: number, height: number): Cell => {
    const made = { key, column: at, height, at: cells.size, y: 0, near: [] };
    cells.set(key, made);
    return made;
  };
  for (const name of order) cell(name, column.get(name) ?? 0, HEIGHT + GAP_Y);
  const ways = new Map<Link, Cell[]>();
  for (const link of links) {
    const way = [cells.get(link.from) as Cell];
    for (let at = (column.get(link.from) ?? 0) + 1; at < (column.get(link.to) ?? 0); at += 1) way.push(cell(`${link.from}\n${link.to}\n${at}`, at, LANE));
    way.push(cells.get(link.to) as Cell);
    for (let n = 1; n < way.length; n += 1) {
      const [a, b] = [way[n - 1] as Cell, way[n] as Cell];
      a.near.push(b);
      b.near.push(a);
    }
    ways.set(link, way);
  }
  return { cells, ways };
}

/** Sorts the cells of each column by the average position of their neighbours, in several passes in both directions. */
function stack(cells: Cell[], columns: number): number {
  const inColumn = Array.from({ length: columns }, (_, at) => cells.filter((cell) => cell.column === at));
  const place = (column: Cell[]) => {
    let y = -column.reduce((sum, cell) => sum + cell.height, 0) / 2;
    for (const cell of column) {
      cell.y = y + cell.height / 2;
      y += cell.height;
    }
  };
  inColumn.forEach(place);
  for (let round = 0; round < 8; round += 1) {
    const step = round % 2 === 0 ? 1 : -1;
    for (const column of step === 1 ? inColumn : [...inColumn].reverse()) {
      const middle = new Map(column.map((cell) => {
        const before = cell.near.filter((one) => (one.column - cell.column) * step < 0);
        const tied = before.length > 0 ? before : cell.near;
        return [cell, tied.length === 0 ? cell.y : tied.reduce((sum, one) => sum + one.y, 0) / tied.length];
      }));
      column.sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0) || a.at - b.at);
      place(column);
    }
  }
  return Math.max(0, ...inColumn.map((column) => column.reduce((sum, cell) => sum + cell.height, 0)));
}

const leftOf = (column: number) => column * (WIDTH + GAP_X);

/** Returns a smooth path from the first cell's right side to the last cell's left side, through the lanes in between. */
function pathOf(way: Cell[], isReversed: boolean, middle: number): string {
  const points: [number, number][] = [];
  way.forEach((cell, at) => {
    const y = cell.y + middle;
    const isEnd = at === 0 || at === way.length - 1;
    if (at !== 0) points.push([leftOf(cell.column) - (isEnd ? 1 : 0), y]);
    if (at !== way.length - 1) points.push([leftOf(cell.column) + WIDTH + (isEnd ? 1 : 0), y]);
  });
  if (isReversed) points.reverse();
  let text = '';
  points.forEach(([x, y], at) => {
    const before = points[at - 1];
    if (!before) text = `M${x},${y}`;
    else if (before[1] === y) text += ` L${x},${y}`;
    else text += ` C${(before[0] + x) / 2},${before[1]} ${(before[0] + x) / 2},${y} ${x},${y}`;
  });
  return text;
}

export function layOut(all: ModuleNode[], limit: number): ModuleLayout {
  const names = new Set([...all].sort((a, b) => b.files - a.files).slice(0, limit).map((one) => one.module));
  const graph: Graph = new Map(
    all.filter((one) => names.has(one.module)).map((one) => [one.module, [...new Set(one.imports)].filter((to) => names.has(to) && to !== one.module)]),
  );
  const importers = importersOf(graph);
  const files = new Map(all.map((one) => [one.module, one.files]));
  const alone: ModuleLayout['alone'] = [];
  for (const name of [...graph.keys()]) {
    if ((graph.get(name)?.length ?? 0) + (importers.get(name)?.length ?? 0) > 0) continue;
    alone.push({ name, files: files.get(name) ?? 0 });
    graph.delete(name);
  }
  const order = orderOf(graph);
  const links = linksOf(graph, order);
  const column = columnsOf(order, links);
  const columns = Math.max(0, ...order.map((name) => (column.get(name) ?? 0) + 1));
  const { cells, ways } = cellsOf(order, links, column);
  const height = stack([...cells.values()], columns);
  const modules = order.map((name) => ({
    name,
    files: files.get(name) ?? 0,
    imports: graph.get(name) ?? [],
    importers: importers.get(name) ?? [],
    x: leftOf(column.get(name) ?? 0),
    y: (cells.get(name)?.y ?? 0) + height / 2 - HEIGHT / 2,
  }));
  const edges = links.map((link) => ({
    from: link.isBack ? link.to : link.from,
    to: link.isBack ? link.from : link.to,
    isMutual: link.isMutual,
    isBack: link.isBack,
    path: pathOf(ways.get(link) ?? [], link.isBack, height / 2),
  }));
  return { modules, edges, alone, width: Math.max(0, leftOf(columns) - GAP_X), height };
}
