/// Numbers, ages and costs as they are shown.
import { describe, expect, it } from 'vitest';
import { age, bytes, capital, count, day, dollars, duration, moment, nanoDollars, percent, plural, short, words } from '../src/lib/format';

const NOW = Date.parse('2026-11-16T12:00:00Z');
const before = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

describe('numbers', () => {
  it.each([
    [0, '0'],
    [950, '950'],
    [999.4, '999.4'],
    [1000, '1k'],
    [1234, '1.2k'],
    [9960, '10k'],
    [34_400, '34k'],
    [999_949, '1000k'],
    [999_950, '1M'],
    [1_800_000, '1.8M'],
    [2_000_000_000, '2B'],
    [-1500, '-1.5k'],
    [null, '–'],
    [undefined, '–'],
    [NaN, '–'],
  ])('%s is shortened to %s', (value, text) => expect(short(value)).toBe(text));

  it('groups thousands', () => expect(count(1_234_567)).toBe('1,234,567'));
  it('has a dash for nothing', () => expect(count(null)).toBe('–'));
  it('knows one from many', () => {
    expect(plural(1, 'memory', 'memories')).toBe('1 memory');
    expect(plural(0, 'memory', 'memories')).toBe('0 memories');
    expect(plural(1200, 'session')).toBe('1,200 sessions');
  });
  it('writes shares as percent', () => {
    expect(percent(0.756)).toBe('76%');
    expect(percent(null)).toBe('–');
  });
});

describe('costs', () => {
  it.each([
    [0, '$0'],
    [0.00001, '<$0.0001'],
    [0.0023, '$0.0023'],
    [0.61, '$0.61'],
    [12.5, '$12.50'],
    [12_345.6, '$12,346'],
    [null, 'unknown'],
  ])('%s dollars are %s', (value, text) => expect(dollars(value)).toBe(text));

  it('counts billionths of a dollar', () => expect(nanoDollars(610_000_000)).toBe('$0.61'));
  it('does not take an unknown price for nothing', () => expect(nanoDollars(null)).toBe('unknown'));
});

describe('ages', () => {
  it.each([
    [0, 'just now'],
    [4, 'just now'],
    [59, '59 s ago'],
    [60, '1 min ago'],
    [3599, '59 min ago'],
    [3600, '1 h ago'],
    [86_399, '23 h ago'],
    [86_400, '1 d ago'],
    [86_400 * 13, '13 d ago'],
    [86_400 * 15, '2 w ago'],
    [86_400 * 90, '2 mo ago'],
    [86_400 * 800, '2 y ago'],
    [-90, 'in 1 min'],
  ])('%s seconds before now is %s', (seconds, text) => expect(age(before(seconds), NOW)).toBe(text));

  it('has a dash for no time and for text that is none', () => {
    expect(age(null, NOW)).toBe('–');
    expect(age('yesterday-ish', NOW)).toBe('–');
  });
  it('keeps a day a day in every time zone', () => {
    expect(moment('2026-11-16')).toBe('16 Nov 2026');
    expect(day('2026-11-16')).toBe('16 Nov');
  });
  it('shows text that is no time as it is', () => expect(moment('soon')).toBe('soon'));
});

describe('durations and sizes', () => {
  it.each([
    [820, '820 ms'],
    [3400, '3.4 s'],
    [9960, '10 s'],
    [125_000, '2 min 5 s'],
    [120_000, '2 min'],
    [4_320_000, '1 h 12 min'],
    [90_000_000, '1 d 1 h'],
    [null, '–'],
  ])('%s ms are %s', (ms, text) => expect(duration(ms)).toBe(text));

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1500, '1.5 KB'],
    [2_000_000, '2 MB'],
    [123_456_789, '123 MB'],
  ])('%s bytes are %s', (value, text) => expect(bytes(value)).toBe(text));
});

describe('words', () => {
  it('writes names of the wire as words', () => expect(words('not_set_up')).toBe('not set up'));
  it('starts with a capital', () => expect(capital('useful')).toBe('Useful'));
});
