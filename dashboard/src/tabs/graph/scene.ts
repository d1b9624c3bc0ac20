/// Lays out a graph with d3's forces and draws it on a canvas, spending a few milliseconds per frame.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type Simulation } from 'd3-force';
import { KINDS, TYPE_COLORS, type Visible } from './model';
import type { GraphEdge, GraphNode } from '../../lib/wire-new';

interface Point {
  node: GraphNode;
  index?: number;
  x: number;
  y: number;
  vx?: number;
  vy?: number;
  fx?: number | null;
  fy?: number | null;
  radius: number;
}

interface Line {
  source: Point;
  target: Point;
  edge: GraphEdge;
}

export interface SceneEvents {
  onSelect: (id: string | null) => void;
  onExpand: (id: string) => void;
  onHover: (node: GraphNode | null, x: number, y: number) => void;
}

/** The time limit for the layout in each frame. */
const FRAME_MS = 9;
const MIN_SCALE = 0.05;
const MAX_SCALE = 6;

export class Scene {
  private points = new Map<string, Point>();
  private lines: Line[] = [];
  private near = new Map<string, Set<string>>();
  private simulation: Simulation<Point, undefined>;
  private scale = 1;
  private x = 0;
  private y = 0;
  private selected: string | null = null;
  private found = new Set<string>();
  private hovered: string | null = null;
  private frame = 0;
  /** Whether the user has zoomed or moved the view, which turns off automatic fitting. */
  private isMoved = false;
  private colors: Record<string, string> = {};
  private readonly context: CanvasRenderingContext2D;
  private readonly still: boolean;
  private readonly observers: { disconnect: () => void }[] = [];

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly events: SceneEvents,
  ) {
    const context = canvas.getContext('2d');
    if (!context) throw new Error('This browser cannot draw the graph. Use the list instead.');
    this.context = context;
    this.still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.simulation = forceSimulation<Point>().stop();
    this.listen();
    this.readColors();
    this.resize();
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    this.simulation.stop();
    this.observers.forEach((one) => one.disconnect());
  }

  /** Shows a graph. Memories that were already shown keep their positions. */
  show({ nodes, edges }: Visible): void {
    const before = this.points;
    this.points = new Map(nodes.map((node) => [node.id, this.pointOf(node, before)]));
    this.place(nodes, edges, before);
    this.lines = edges.flatMap((edge) => {
      const [source, target] = [this.points.get(edge.from), this.points.get(edge.to)];
      return source && target ? [{ source, target, edge }] : [];
    });
    this.near = new Map();
    for (const { source, target } of this.lines) {
      this.nearOf(source.node.id).add(target.node.id);
      this.nearOf(target.node.id).add(source.node.id);
    }
    this.startLayout(before.size === 0);
  }

  private nearOf(id: string): Set<string> {
    const known = this.near.get(id);
    if (known) return known;
    const made = new Set<string>();
    this.near.set(id, made);
    return made;
  }

  private pointOf(node: GraphNode, before: Map<string, Point>): Point {
    const radius = 3.5 + Math.min(9, Math.sqrt(node.degree) * 1.5);
    const known = before.get(node.id);
    return known ? Object.assign(known, { node, radius }) : { node, radius, x: NaN, y: NaN };
  }

  /** Places new nodes next to a neighbour, or else on a spiral. */
  private place(nodes: GraphNode[], edges: GraphEdge[], before: Map<string, Point>): void {
    const beside = new Map<string, string>();
    for (const { from, to } of edges) {
      if (before.has(from)) beside.set(to, from);
      if (before.has(to)) beside.set(from, to);
    }
    nodes.forEach((node, at) => {
      const point = this.points.get(node.id);
      if (!point || !Number.isNaN(point.x)) return;
      const anchor = before.get(beside.get(node.id) ?? '');
      const angle = at * 2.399963;
      const distance = anchor ? 30 : 11 * Math.sqrt(at + 0.5);
      point.x = (anchor?.x ?? 0) + distance * Math.cos(angle);
      point.y = (anchor?.y ?? 0) + distance * Math.sin(angle);
    });
  }

  private startLayout(isFirst: boolean): void {
    const points = [...this.points.values()];
    const isLarge = points.length > 600;
    const links = forceLink<Point, Line>(this.lines)
      .distance((line) => (line.edge.kind === 'shared tag' ? 70 : 42))
      .strength((line) => (line.edge.kind === 'shared tag' ? 0.05 : 0.35));
    this.simulation.stop();
    this.simulation = forceSimulation(points)
      .force('link', links)
      .force('charge', forceManyBody<Point>().strength(isLarge ? -34 : -90 - 3 * Math.max(0, 60 - points.length)).theta(isLarge ? 1.2 : 0.9).distanceMax(isLarge ? 260 : 500))
      .force('x', forceX(0).strength(0.045))
      .force('y', forceY(0).strength(0.055))
      .alphaDecay(isLarge ? 0.035 : 0.028)
      .stop();
    if (!isLarge) this.simulation.force('collide', forceCollide<Point>((point) => point.radius + 3));
    // Run the layout briefly before the first frame, so that nodes do not jump.
    const until = performance.now() + (this.still ? 1500 : isFirst ? 160 : 0);
    while (performance.now() < until && this.isSettling()) this.simulation.tick();
    if (!this.isMoved) this.fit();
    this.animate();
  }

  private isSettling(): boolean {
    return this.simulation.alpha() > 0.02;
  }

  private animate(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const until = performance.now() + FRAME_MS;
      while (this.isSettling() && performance.now() < until) this.simulation.tick();
      if (!this.isMoved) this.fit();
      this.draw();
      if (this.isSettling()) this.animate();
    });
  }

  private redraw(): void {
    if (!this.isSettling()) this.animate();
  }

  select(id: string | null, isCentred: boolean): void {
    this.selected = id;
    const point = id === null ? undefined : this.points.get(id);
    if (point && isCentred) {
      this.isMoved = true;
      this.scale = Math.max(this.scale, 1.1);
      this.x = -point.x * this.scale;
      this.y = -point.y * this.scale;
    }
    this.redraw();
  }

  /** Highlights search results. */
  mark(ids: Set<string>): void {
    this.found = ids;
    this.redraw();
  }

  /** Fits the whole graph into the view. */
  fit(): void {
    const points = [...this.points.values()];
    if (points.length === 0) return;
    const [left, right] = [Math.min(...points.map((one) => one.x)), Math.max(...points.map((one) => one.x))];
    const [top, bottom] = [Math.min(...points.map((one) => one.y)), Math.max(...points.map((one) => one.y))];
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const room = Math.min((width - 70) / (right - left + 40), (height - 70) / (bottom - top + 40));
    this.scale = Math.min(1.6, Math.max(MIN_SCALE, room));
    this.x = (-(left + right) / 2) * this.scale;
    this.y = (-(top + bottom) / 2) * this.scale;
  }

  fitNow(): void {
    this.isMoved = false;
    this.fit();
    this.redraw();
  }

  zoom(factor: number, atX = 0, atY = 0): void {
    const next = Math.min(MAX_SCALE, Math.max(MIN_SCALE, this.scale * factor));
    const change = next / this.scale;
    this.x = atX - (atX - this.x) * change;
    this.y = atY - (atY - this.y) * change;
    this.scale = next;
    this.isMoved = true;
    this.redraw();
  }

  pan(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
    this.isMoved = true;
    this.redraw();
  }

  private listen(): void {
    const resized = new ResizeObserver(() => this.resize());
    resized.observe(this.canvas);
    const themed = new MutationObserver(() => {
      this.readColors();
      this.redraw();
    });
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    this.observers.push(resized, themed);
    this.canvas.addEventListener('wheel', (event) => this.wheeled(event), { passive: false });
    this.canvas.addEventListener('pointerdown', (event) => this.pressed(event));
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => this.setHover(null, 0, 0));
    this.canvas.addEventListener('dblclick', (event) => {
      const point = this.at(event);
      if (point) this.events.onExpand(point.node.id);
    });
  }

  private wheeled(event: WheelEvent): void {
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    const amount = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    this.zoom(Math.exp(-amount * 0.0016), event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2);
  }

  private readonly pointers = new Map<number, { x: number; y: number }>();

  private pressed(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const grabbed = this.pointers.size === 1 ? this.at(event) : null;
    let hasMoved = false;
    const moved = (next: PointerEvent) => {
      const last = this.pointers.get(next.pointerId);
      if (!last) return;
      const [dx, dy] = [next.clientX - last.x, next.clientY - last.y];
      hasMoved ||= Math.hypot(next.clientX - event.clientX, next.clientY - event.clientY) > 4;
      if (this.pointers.size === 2) this.pinch(next, last);
      else if (grabbed && hasMoved) this.drag(grabbed, dx, dy);
      else if (!grabbed) this.pan(dx, dy);
      this.pointers.set(next.pointerId, { x: next.clientX, y: next.clientY });
    };
    const ended = (last: PointerEvent) => {
      this.pointers.delete(last.pointerId);
      this.canvas.removeEventListener('pointermove', moved);
      this.canvas.removeEventListener('pointerup', ended);
      this.canvas.removeEventListener('pointercancel', ended);
      if (grabbed) Object.assign(grabbed, { fx: null, fy: null });
      if (!hasMoved && last.type === 'pointerup') this.events.onSelect(grabbed?.node.id ?? null);
    };
    this.canvas.addEventListener('pointermove', moved);
    this.canvas.addEventListener('pointerup', ended);
    this.canvas.addEventListener('pointercancel', ended);
  }

  private drag(point: Point, dx: number, dy: number): void {
    point.fx = (point.fx ?? point.x) + dx / this.scale;
    point.fy = (point.fy ?? point.y) + dy / this.scale;
    point.x = point.fx;
    point.y = point.fy;
    this.isMoved = true;
    this.simulation.alpha(Math.max(this.simulation.alpha(), 0.12));
    this.animate();
  }

  private pinch(next: PointerEvent, last: { x: number; y: number }): void {
    const other = [...this.pointers].find(([id]) => id !== next.pointerId)?.[1];
    if (!other) return;
    const box = this.canvas.getBoundingClientRect();
    const before = Math.hypot(last.x - other.x, last.y - other.y);
    const after = Math.hypot(next.clientX - other.x, next.clientY - other.y);
    const [x, y] = [(next.clientX + other.x) / 2 - box.left - box.width / 2, (next.clientY + other.y) / 2 - box.top - box.height / 2];
    if (before > 0) this.zoom(after / before, x, y);
  }

  private at(event: MouseEvent): Point | null {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - box.width / 2 - this.x) / this.scale;
    const y = (event.clientY - box.top - box.height / 2 - this.y) / this.scale;
    let best: Point | null = null;
    let nearest = Infinity;
    for (const point of this.points.values()) {
      const distance = Math.hypot(point.x - x, point.y - y);
      if (distance < point.radius + 5 / this.scale && distance < nearest) [best, nearest] = [point, distance];
    }
    return best;
  }

  private hover(event: PointerEvent): void {
    if (event.pointerType === 'touch' || this.pointers.size > 0) return;
    const box = this.canvas.getBoundingClientRect();
    this.setHover(this.at(event), event.clientX - box.left, event.clientY - box.top);
  }

  private setHover(point: Point | null, x: number, y: number): void {
    const id = point?.node.id ?? null;
    this.canvas.style.cursor = point ? 'pointer' : 'grab';
    if (id !== this.hovered) {
      this.hovered = id;
      this.redraw();
    }
    this.events.onHover(point?.node ?? null, x, y);
  }

  private resize(): void {
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    if (!this.isMoved) this.fit();
    this.animate();
  }

  private readColors(): void {
    const style = getComputedStyle(document.documentElement);
    const names = ['--bg', '--text', '--text-soft', '--text-faint', '--line-strong', '--accent', '--warn', ...KINDS.map((one) => one.color), ...Object.values(TYPE_COLORS)];
    this.colors = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name).trim()]));
    this.colors.font = style.getPropertyValue('--font').trim() || 'sans-serif';
  }

  private color(name: string): string {
    return this.colors[name] ?? '#888888';
  }

  private draw(): void {
    const { context, canvas } = this;
    const ratio = devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio * this.scale, 0, 0, ratio * this.scale, (canvas.clientWidth / 2 + this.x) * ratio, (canvas.clientHeight / 2 + this.y) * ratio);
    const centre = this.hovered ?? this.selected;
    const lit = centre === null ? null : new Set([centre, ...(this.near.get(centre) ?? [])]);
    this.drawLines(centre);
    this.drawPoints(lit);
    this.drawLabels(lit);
  }

  private drawLines(centre: string | null): void {
    const { context } = this;
    const alike = new Map<string, Line[]>();
    for (const line of this.lines) {
      const isLit = centre !== null && (line.source.node.id === centre || line.target.node.id === centre);
      const key = `${isLit ? 1 : 0}${line.edge.kind}`;
      const group = alike.get(key);
      if (group) group.push(line);
      else alike.set(key, [line]);
    }
    for (const { kind, color } of [...KINDS].reverse()) {
      for (const isLit of [false, true]) {
        const lines = alike.get(`${isLit ? 1 : 0}${kind}`);
        if (!lines) continue;
        context.beginPath();
        for (const { source, target } of lines) {
          context.moveTo(source.x, source.y);
          context.lineTo(target.x, target.y);
        }
        context.strokeStyle = this.color(color);
        const usual = (kind === 'shared tag' ? 0.22 : 0.45) * (this.lines.length > 3000 ? 0.5 : 1);
        context.globalAlpha = isLit ? 0.95 : centre === null ? usual : usual * 0.35;
        context.lineWidth = (isLit ? 1.8 : 1) / Math.sqrt(this.scale);
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }

  /** Draws points that look the same as one path, which keeps thousands of points fast. */
  private drawPoints(lit: Set<string> | null): void {
    const { context } = this;
    const alike = new Map<string, Point[]>();
    for (const point of this.points.values()) {
      const { node } = point;
      const isFaded = (lit !== null && !lit.has(node.id)) || (this.found.size > 0 && !this.found.has(node.id));
      const alpha = isFaded ? 0.25 : node.status === 'superseded' || node.archived ? 0.55 : 1;
      const key = `${alpha} ${node.type} ${node.status === 'candidate'}`;
      const group = alike.get(key);
      if (group) group.push(point);
      else alike.set(key, [point]);
    }
    for (const [key, points] of alike) {
      const [alpha, type, isCandidate] = key.split(' ');
      const color = this.color(TYPE_COLORS[type ?? ''] ?? '--text-soft');
      context.globalAlpha = Number(alpha);
      context.beginPath();
      for (const { x, y, radius } of points) {
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, Math.PI * 2);
      }
      // Candidates are drawn as rings.
      context.fillStyle = isCandidate === 'true' ? this.color('--bg') : color;
      context.strokeStyle = isCandidate === 'true' ? color : this.color('--bg');
      context.lineWidth = isCandidate === 'true' ? 2 : 1;
      context.fill();
      context.stroke();
    }
    context.globalAlpha = 1;
    for (const id of [...this.found, this.selected ?? '']) this.drawRing(id);
  }

  private drawRing(id: string): void {
    const point = this.points.get(id);
    if (!point) return;
    const { context } = this;
    context.beginPath();
    context.arc(point.x, point.y, point.radius + 3.5, 0, Math.PI * 2);
    context.lineWidth = 2;
    context.strokeStyle = this.color(id === this.selected ? '--text' : '--warn');
    context.stroke();
  }

  /** Draws the titles of the selected memory and its neighbours, and of others if there is room. */
  private drawLabels(lit: Set<string> | null): void {
    const { context } = this;
    const size = 11.5 / this.scale;
    context.font = `${size}px ${this.colors.font}`;
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    const taken: { x: number; y: number; width: number }[] = [];
    const points = [...this.points.values()];
    for (const point of this.labelled(lit)) {
      const isStrong = lit?.has(point.node.id) === true;
      const longest = this.canvas.clientWidth < 500 ? 24 : 44;
      const text = point.node.title.length > longest ? `${point.node.title.slice(0, longest - 1)}…` : point.node.title;
      const width = context.measureText(text).width;
      const gap = point.radius + 4 / this.scale;
      const left = (-this.canvas.clientWidth / 2 - this.x + 4) / this.scale;
      const right = (this.canvas.clientWidth / 2 - this.x - 4) / this.scale;
      const { y } = point;
      // A title must not cover another title or memory, or extend beyond the canvas.
      const isFree = (x: number) =>
        x >= left &&
        x + width <= right &&
        taken.every((other) => Math.abs(other.y - y) > size * 1.15 || x > other.x + other.width || other.x > x + width) &&
        points.every((other) => other === point || Math.abs(other.y - y) > size * 0.5 + other.radius || other.x + other.radius < x || other.x - other.radius > x + width);
      const sides = [point.x + gap, point.x - gap - width];
      const free = sides.find(isFree);
      if (free === undefined && point.node.id !== this.selected && point.node.id !== this.hovered) continue;
      const x = free ?? (point.x + gap + width > right ? point.x - gap - width : point.x + gap);
      taken.push({ x, y, width });
      context.lineWidth = 3 / this.scale;
      context.strokeStyle = this.color('--bg');
      context.strokeText(text, x, y);
      context.fillStyle = this.color(isStrong ? '--text' : '--text-soft');
      context.fillText(text, x, y);
    }
  }

  private labelled(lit: Set<string> | null): Point[] {
    const rank = (point: Point) =>
      (point.node.id === this.selected || point.node.id === this.hovered ? 1e9 : 0) + (lit?.has(point.node.id) ? 1e6 : 0) + (this.found.has(point.node.id) ? 1e6 : 0) + point.node.degree;
    const all = [...this.points.values()].filter((point) => lit === null || lit.has(point.node.id));
    const room = Math.round((80 * this.scale * this.scale * Math.min(1, this.canvas.clientWidth / 900))) + 4;
    const inView = all.filter((point) => Math.abs(point.x * this.scale + this.x) < this.canvas.clientWidth / 2 && Math.abs(point.y * this.scale + this.y) < this.canvas.clientHeight / 2);
    return inView.sort((a, b) => rank(b) - rank(a)).slice(0, lit === null ? Math.min(150, room) : 60);
  }
}
