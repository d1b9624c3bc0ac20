/// Computes line diffs of two texts and parses unified diffs from the server.

export interface DiffLine {
  kind: 'same' | 'add' | 'del' | 'meta';
  text: string;
}

// The comparison table has lines × lines cells. Larger changes are shown as a full replacement.
const MOST_CELLS = 4_000_000;

/** Returns the changes from `before` to `after`, by the longest common subsequence of lines. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n');
  const b = after.split('\n');
  const start = commonStart(a, b);
  const end = commonEnd(a, b, start);
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  const middle = diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)];
}

function commonStart(a: string[], b: string[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

function commonEnd(a: string[], b: string[], start: number): number {
  let size = 0;
  while (size < Math.min(a.length, b.length) - start && a[a.length - 1 - size] === b[b.length - 1 - size]) size += 1;
  return size;
}

function diffMiddle(a: string[], b: string[]): DiffLine[] {
  const del = (text: string): DiffLine => ({ kind: 'del', text });
  const add = (text: string): DiffLine => ({ kind: 'add', text });
  if (a.length * b.length > MOST_CELLS) return [...a.map(del), ...b.map(add)];
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  const cell = (i: number, j: number) => table[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i * width + j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (cell(i + 1, j) >= cell(i, j + 1)) {
      lines.push(del(a[i++] ?? ''));
    } else {
      lines.push(add(b[j++] ?? ''));
    }
  }
  return [...lines, ...a.slice(i).map(del), ...b.slice(j).map(add)];
}

/** Leaves out unchanged lines, except for `around` lines before and after each change. */
export function onlyChanges(lines: DiffLine[], around = 3): DiffLine[] {
  const isNear = lines.map(() => false);
  lines.forEach((line, at) => {
    if (line.kind === 'same') return;
    for (let near = Math.max(0, at - around); near <= Math.min(lines.length - 1, at + around); near += 1) isNear[near] = true;
  });
  const kept: DiffLine[] = [];
  lines.forEach((line, at) => {
    if (isNear[at]) kept.push(line);
    else if (at === 0 || isNear[at - 1]) kept.push({ kind: 'meta', text: '…' });
  });
  return kept;
}

/** Parses the lines of a unified diff, without its file names, which the page shows above it. */
export function parseUnified(diff: string): DiffLine[] {
  const lines = diff.replace(/\n$/, '').split('\n');
  const shown = lines.filter((line) => !line.startsWith('--- ') && !line.startsWith('+++ '));
  return shown.map((line) => {
    if (line.startsWith('@@') || line.startsWith('\\')) return { kind: 'meta', text: line };
    if (line.startsWith('+')) return { kind: 'add', text: line.slice(1) };
    if (line.startsWith('-')) return { kind: 'del', text: line.slice(1) };
    return { kind: 'same', text: line.replace(/^ /, '') };
  });
}
