// Puts texts that mean harm wherever a stranger's words can stand: titles, bodies, tool output, file names, errors.
export const PAYLOADS = [
  `<img src=x onerror="alert('xss')">`,
  `<script>alert('xss')</script>`,
  `<svg/onload=alert('xss')>`,
  `"><iframe src="javascript:alert('xss')"></iframe>`,
  `[click](javascript:alert('xss'))`,
  `![x](https://evil.example/pixel.png)`,
  `<a href="javascript:alert('xss')">link</a>`,
  `<style>*{display:none}</style>`,
  `'-alert('xss')-'`,
  `{@html alert('xss')} {{constructor.constructor("alert('xss')")()}}`,
  `<math><mi xlink:href="data:x,<script>alert('xss')</script>">`,
  `<form action="https://evil.example/"><button>send</button></form>`,
  `\u202Ereversed\u202C and \u0000 zero`,
  `<object data="https://evil.example/x.swf"></object>`,
  `<link rel=stylesheet href="https://evil.example/x.css">`,
  `<base href="https://evil.example/">`,
];

const TEXTS = new Set(['title', 'text', 'text_end', 'body', 'snippet', 'quote', 'line', 'reason', 'message', 'note', 'answer', 'error', 'what', 'who', 'tool',
  'module', 'signature', 'origin', 'about', 'command', 'step', 'trace_path', 'run_folder', 'git_branch', 'cwd']);
// Identifiers and addresses inside the page stay as they are, so that the pages can still be reached.
const PATHS = new Set(['path']);

let next = 0;
const payload = () => PAYLOADS[next++ % PAYLOADS.length];

function spoil(key, value) {
  if (TEXTS.has(key)) return `${payload()} ${value}`;
  if (PATHS.has(key)) return value.replace(/([^/]*)$/, `${payload().replaceAll('/', '\u2215')}$1`);
  return value;
}

export function hostile(value, key = '') {
  if (typeof value === 'string') return spoil(key, value);
  if (Array.isArray(value)) return value.map((one) => (typeof one === 'string' && key === 'tags' ? `${payload()}` : hostile(one, key === 'imports' ? 'module' : '')));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hostile(one, name)]));
}
