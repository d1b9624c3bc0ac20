// Writes src/lib/settings-doc.ts from docs/config.md: the meaning and the allowed values of each setting.
import { readFileSync, writeFileSync } from 'node:fs';

const source = readFileSync(new URL('../../docs/config.md', import.meta.url), 'utf8');
const rows = [];
// The keys of `[roles.…]` and `[providers.…]` apply to every name: `roles.*.model`.
let section = '';
for (const line of source.split('\n')) {
  if (line.startsWith('## ')) section = /^## `\[(\w+)\.…\]`/.exec(line)?.[1] ?? '';
  const named = section && /^\| `(\w+)` \| (.+?) \| (.+) \|$/.exec(line);
  if (named) rows.push({ key: `${section}.*.${named[1]}`, values: named[2], variable: '', fromRepo: 'no', meaning: named[3] });
  if (!line.startsWith('| `') || !/^\| `[a-z_]+\./.test(line)) continue;
  const [, key, , values, variable, fromRepo, meaning] = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
  if (!meaning) continue;
  const choices = /^`[^`]+`(, `[^`]+`)+$/.test(values) ? values.split(', ').map((one) => one.replaceAll('`', '')) : undefined;
  rows.push({ key: key.replaceAll('`', ''), values, variable: variable.replaceAll('`', ''), fromRepo, meaning, ...(choices ? { choices } : {}) });
}
const body = rows.map(({ key, ...rest }) => `  ${JSON.stringify(key)}: ${JSON.stringify(rest)},`).join('\n');
writeFileSync(
  new URL('../src/lib/settings-doc.ts', import.meta.url),
  `// Written by \`npm run settings\` from docs/config.md. Do not edit.

export interface SettingDoc {
  values: string;
  variable: string;
  /** Whether the repository's file may set it: \`yes\`, \`no\` or a restriction. */
  fromRepo: string;
  meaning: string;
  choices?: string[];
}

/** Returns a setting's documentation. A role's or provider's name is the middle part of its key. */
export function settingDoc(key: string): SettingDoc | undefined {
  return SETTING_DOCS[key] ?? SETTING_DOCS[key.replace(/^(roles|providers)\\.[^.]+\\./, '$1.*.')];
}

export const SETTING_DOCS: Record<string, SettingDoc> = {\n${body}\n};\n`,
);
console.log(`${rows.length} settings`);
