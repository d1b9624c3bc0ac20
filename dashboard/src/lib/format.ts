/// Formats numbers, ages, costs and sizes.

const numbers = new Intl.NumberFormat('en-US');

export function count(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? '–' : numbers.format(value);
}

/** `1 memory`, `2 memories`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** At most three digits and a unit: 950, 1.2k, 34k, 1.8M. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size < 1000) return String(Math.round(value * 10) / 10);
  for (const [unit, letter] of [[1e9, 'B'], [1e6, 'M'], [1e3, 'k']] as const) {
    // 999,950 would round to 1000k.
    if (size < unit * 0.99995) continue;
    const scaled = value / unit;
    return `${Math.abs(scaled) < 10 ? trim(scaled.toFixed(1)) : Math.round(scaled)}${letter}`;
  }
  return `${trim((value / 1000).toFixed(1))}k`;
}

function trim(text: string): string {
  return text.replace(/\.0$/, '');
}

export function tokens(value: number | null | undefined): string {
  return short(value);
}

/** Dollars, with more decimals for small amounts. */
export function dollars(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return 'unknown';
  if (value === 0) return '$0';
  const size = Math.abs(value);
  if (size < 0.0001) return '<$0.0001';
  if (size < 0.01) return `$${value.toFixed(4)}`;
  if (size < 1000) return `$${value.toFixed(2)}`;
  return `$${numbers.format(Math.round(value))}`;
}

/** Formats a cost in billionths of a dollar, the API's unit; `null` means that the price is unknown. */
export function nanoDollars(value: number | null | undefined): string {
  return dollars(value === null || value === undefined ? value : value / 1e9);
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let size = value;
  let at = 0;
  while (size >= 1000 && at < units.length - 1) {
    size /= 1000;
    at += 1;
  }
  return `${at === 0 || size >= 100 ? Math.round(size) : trim(size.toFixed(1))} ${units[at]}`;
}

/** `820 ms`, `3.4 s`, `2 min 5 s`, `1 h 12 min`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${trim((ms / 1000).toFixed(1))} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return join(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  if (seconds < 86_400) return join(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min');
  return join(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h');
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

function time(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const value = Date.parse(text);
  return Number.isNaN(value) ? undefined : value;
}

const STEPS = [
  [60, 1, 's'],
  [3600, 60, 'min'],
  [86_400, 3600, 'h'],
  [86_400 * 14, 86_400, 'd'],
  [86_400 * 60, 86_400 * 7, 'w'],
  [86_400 * 365, 86_400 * 30.44, 'mo'],
  [Infinity, 86_400 * 365.25, 'y'],
] as const;

function span(seconds: number): string {
  for (const [below, unit, letter] of STEPS) {
    if (seconds < below) return `${Math.max(1, Math.floor(seconds / unit))} ${letter}`;
  }
  return '';
}

/** `just now`, `5 min ago`, `3 d ago`, and `in 4 min` for times in the future. */
export function age(text: string | null | undefined, now = Date.now()): string {
  const at = time(text);
  if (at === undefined) return '–';
  const seconds = (now - at) / 1000;
  if (Math.abs(seconds) < 5) return 'just now';
  return seconds < 0 ? `in ${span(-seconds)}` : `${span(seconds)} ago`;
}

/** `16 Nov 2026, 21:33` in the user's time zone. */
export function moment(text: string | null | undefined): string {
  const at = time(text);
  if (at === undefined) return text ?? '–';
  // A date without a time does not depend on the time zone.
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text ?? '');
  const options: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' };
  if (isDay) return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }).format(at);
  const clock = { hour: '2-digit', minute: '2-digit' } as const;
  return new Intl.DateTimeFormat('en-GB', { ...options, ...clock }).format(at);
}

/** `16 Nov`. */
export function day(text: string | null | undefined): string {
  const at = time(text);
  if (at === undefined) return text ?? '–';
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(at);
}

export function percent(share: number | null | undefined): string {
  return share === null || share === undefined || !Number.isFinite(share) ? '–' : `${Math.round(share * 100)}%`;
}

/** Converts a name such as `not_set_up` to words. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
