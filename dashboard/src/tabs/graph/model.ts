/// The displayed memory graph: nodes, edges, filters and neighbours. `scene.ts` draws it.
import type { EdgeKind, MemoryEntry, RelatedMemory } from '../../lib/wire';
import type { GraphEdge, GraphNode, GraphReport } from '../../lib/wire-new';

/** Kinds of edges, strongest first, each with a colour token. */
export const KINDS: { kind: EdgeKind; label: string; color: string }[] = [
  { kind: 'supersedes', label: 'supersedes', color: '--plot-4' },
  { kind: 'contradicts', label: 'contradicts', color: '--bad' },
  { kind: 'newer than', label: 'newer than', color: '--plot-2' },
  { kind: 'related', label: 'related', color: '--plot-1' },
  { kind: 'same session', label: 'same session', color: '--plot-6' },
  { kind: 'same file', label: 'same file', color: '--plot-5' },
  { kind: 'same symbol', label: 'same symbol', color: '--plot-3' },
  { kind: 'shared tag', label: 'shared tag', color: '--text-faint' },
];

export const TYPE_COLORS: Record<string, string> = { decision: '--plot-1', learning: '--plot-3', summary: '--plot-2' };

export interface Filters {
  /** Kinds of edges that are hidden. */
  hidden: ReadonlySet<string>;
  type: string;
  tag: string;
  /** Shows only these memories and their neighbours; if empty, all memories. */
  expanded: ReadonlySet<string>;
}

export interface Visible {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** Converts both directions of an edge to the same kind. */
function straight(edge: GraphEdge): GraphEdge {
  if (edge.kind !== 'superseded by') return edge;
  return { ...edge, from: edge.to, to: edge.from, kind: 'supersedes' };
}

const keyOf = (edge: GraphEdge) => `${edge.kind} ${edge.from} ${edge.to}`;

/** Removes duplicate edges, and edges with a missing end. */
export function normalized(report: GraphReport): Visible {
  const ids = new Set(report.nodes.map((node) => node.id));
  const edges = new Map<string, GraphEdge>();
  for (const edge of report.edges.map(straight)) {
    if (ids.has(edge.from) && ids.has(edge.to) && edge.from !== edge.to) edges.set(keyOf(edge), edge);
  }
  return { nodes: report.nodes, edges: [...edges.values()] };
}

/** Adds a memory's related memories, including those beyond the graph's limit. */
export function withRelated(graph: Visible, id: string, related: RelatedMemory[]): Visible {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const edges = new Map(graph.edges.map((edge) => [keyOf(edge), edge]));
  for (const one of related) {
    const { edge, ...memory } = one;
    if (!nodes.has(memory.id)) nodes.set(memory.id, { ...(memory as MemoryEntry), degree: 0 });
    const added = straight({ from: id, to: memory.id, kind: edge.kind, shared: edge.shared ?? null });
    const reverse = keyOf({ ...added, from: added.to, to: added.from });
    if (!edges.has(reverse)) edges.set(keyOf(added), added);
  }
  const degree = new Map<string, number>();
  for (const { from, to } of edges.values()) {
    degree.set(from, (degree.get(from) ?? 0) + 1);
    degree.set(to, (degree.get(to) ?? 0) + 1);
  }
  return {
    nodes: [...nodes.values()].map((node) => ({ ...node, degree: Math.max(node.degree, degree.get(node.id) ?? 0) })),
    edges: [...edges.values()],
  };
}

export function visible(graph: Visible, filters: Filters): Visible {
  const fits = (node: GraphNode) =>
    (filters.type === '' || node.type === filters.type) && (filters.tag === '' || node.tags.includes(filters.tag));
  let nodes = graph.nodes.filter(fits);
  let edges = graph.edges.filter((edge) => !filters.hidden.has(edge.kind));
  if (filters.expanded.size > 0) {
    const near = new Set(filters.expanded);
    for (const { from, to } of edges) {
      if (filters.expanded.has(from)) near.add(to);
      if (filters.expanded.has(to)) near.add(from);
    }
    nodes = nodes.filter((node) => near.has(node.id));
  }
  const ids = new Set(nodes.map((node) => node.id));
  edges = edges.filter((edge) => ids.has(edge.from) && ids.has(edge.to));
  return { nodes, edges };
}

export interface Neighbour {
  node: GraphNode;
  edge: GraphEdge;
  isOutgoing: boolean;
}

/** Returns each memory's edges. */
export function neighbours({ nodes, edges }: Visible): Map<string, Neighbour[]> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const out = new Map<string, Neighbour[]>();
  const push = (id: string, other: string, edge: GraphEdge, isOutgoing: boolean) => {
    const node = byId.get(other);
    if (!node) return;
    const list = out.get(id);
    if (list) list.push({ node, edge, isOutgoing });
    else out.set(id, [{ node, edge, isOutgoing }]);
  };
  for (const edge of edges) {
    push(edge.from, edge.to, edge, true);
    push(edge.to, edge.from, edge, false);
  }
  return out;
}

/** Describes an edge from one of its ends. */
export function edgeText({ edge, isOutgoing }: Neighbour): string {
  const shared = edge.shared ? ` ${edge.shared}` : '';
  if (edge.kind === 'supersedes') return isOutgoing ? 'supersedes' : 'superseded by';
  if (edge.kind === 'newer than') return isOutgoing ? 'newer than' : 'older than';
  return `${edge.kind}${shared}`;
}

export function tagsOf(nodes: GraphNode[]): { tag: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const node of nodes) for (const tag of node.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].map(([tag, count]) => ({ tag, count })).sort((a, b) => b.count - a.count || a.tag.localeCompare(b.tag));
}

/** Returns the memories whose title, tags or id contain all words. */
export function matching(nodes: GraphNode[], words: string): GraphNode[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return [];
  return nodes.filter((node) => {
    const text = `${node.title} ${node.tags.join(' ')} ${node.id}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
