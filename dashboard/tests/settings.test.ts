/// The meanings of settings are those of docs/config.md.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SETTING_DOCS, settingDoc } from '../src/lib/settings-doc';
import { asTyped, shownOrigin, shownValue } from '../src/tabs/settings/values';

const setting = (value: string | number | boolean | string[]) => ({ value, origin: 'in /home/ana/.nacre/config.toml' });

describe('meanings of settings', () => {
  it('are up to date; if not, run `npm run settings`', () => {
    const page = readFileSync('../docs/config.md', 'utf8');
    const keys = [...page.matchAll(/^\| `([a-z_]+\.[^`]+)` \|.*\|$/gm)].map((found) => found[1]);
    expect(Object.keys(SETTING_DOCS).filter((key) => !key.includes('*'))).toEqual(keys);
    expect(settingDoc('roles.default.model')?.meaning).toBeTruthy();
    for (const doc of Object.values(SETTING_DOCS)) expect(page).toContain(doc.meaning);
  });
});

describe('values of settings', () => {
  it('are shown for people', () => {
    expect(shownValue(setting(20_000_000))).toBe('20,000,000');
    expect(shownValue(setting([]))).toBe('none');
    expect(shownValue(setting(''))).toBe('empty');
    expect(shownValue(setting(false))).toBe('false');
    expect(shownValue(null)).toBe('–');
  });
  it('are typed as `nacre config set` takes them', () => {
    expect(asTyped(setting(20_000_000))).toBe('20000000');
    expect(asTyped(setting(['a', 'b']))).toBe('a, b');
    expect(asTyped(null)).toBe('');
  });
  it('say where they come from', () => expect(shownOrigin(setting(1))).toBe('/home/ana/.nacre/config.toml'));
});
