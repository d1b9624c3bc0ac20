/// Formats setting values for display and for editing.
import type { Setting } from '../../lib/wire';

export function shownValue(setting: Setting | null): string {
  if (setting === null) return '–';
  const { value } = setting;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (value === '') return 'empty';
  return typeof value === 'number' ? value.toLocaleString('en-US', { maximumFractionDigits: 6 }) : String(value);
}

/** Formats a value as `nacre config set` accepts it. */
export function asTyped(setting: Setting | null): string {
  if (setting === null) return '';
  return Array.isArray(setting.value) ? setting.value.join(', ') : String(setting.value);
}

/** Removes the preposition from an origin such as `in /home/ana/.nacre/config.toml`. */
export function shownOrigin(setting: Setting | null): string {
  return (setting?.origin ?? '').replace(/^(?:in|by|from) (?:the )?/, '');
}
