/// Values of settings as they are shown and as they are typed.
import type { Setting } from '../../lib/wire';

export function shownValue(setting: Setting | null): string {
  if (setting === null) return '–';
  const { value } = setting;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (value === '') return 'empty';
  return typeof value === 'number' ? value.toLocaleString('en-US', { maximumFractionDigits: 6 }) : String(value);
}

/** As `nacre config set` takes it. */
export function asTyped(setting: Setting | null): string {
  if (setting === null) return '';
  return Array.isArray(setting.value) ? setting.value.join(', ') : String(setting.value);
}

/** `in /home/ana/.nacre/config.toml` without the preposition. */
export function shownOrigin(setting: Setting | null): string {
  return (setting?.origin ?? '').replace(/^(?:in|by|from) (?:the )?/, '');
}
