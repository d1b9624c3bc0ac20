/// Keyboard shortcuts: pages register them, one listener dispatches them, and `?` lists them.

export interface Binding {
  /** A `KeyboardEvent.key`, or two separated by a space: `g o`. */
  keys: string;
  label: string;
  run: (event: KeyboardEvent) => void;
  /** Whether the shortcut also works while a field has the focus. */
  inFields?: boolean;
}

export interface KeyGroup {
  title: string;
  bindings: Binding[];
}

const groups = $state.raw<{ list: KeyGroup[] }>({ list: [] });
let shown = $state.raw<KeyGroup[]>([]);

/** The active groups, with the page's own first. */
export function keyGroups(): KeyGroup[] {
  return shown;
}

/** Registers shortcuts while the calling component is mounted. Call it during component setup. */
export function useKeys(title: string, bindings: Binding[]): void {
  $effect(() => {
    const group = { title, bindings };
    groups.list = [group, ...groups.list];
    shown = groups.list;
    return () => {
      groups.list = groups.list.filter((one) => one !== group);
      shown = groups.list;
    };
  });
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type);
  return target.isContentEditable || target.matches('textarea, select');
}

/** Enter and Space activate a focused button or link, so they are not shortcuts there. */
function isTaken(event: KeyboardEvent): boolean {
  const isPress = event.key === 'Enter' || event.key === ' ';
  return isPress && event.target instanceof HTMLElement && event.target.closest('a, button, summary') !== null;
}

let pending = '';
let pendingUntil = 0;

export function dispatchKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  // While a dialog is open, it handles all keys itself.
  if (document.querySelector('dialog[open]') || isTaken(event)) return;
  const inField = isField(event.target);
  const sequence = Date.now() < pendingUntil ? `${pending} ${event.key}` : event.key;
  pending = '';
  pendingUntil = 0;
  for (const wanted of new Set([sequence, event.key])) {
    for (const group of groups.list) {
      const binding = group.bindings.find((one) => one.keys === wanted && (one.inFields || !inField));
      if (!binding) continue;
      event.preventDefault();
      binding.run(event);
      return;
    }
  }
  const starts = (one: Binding) => one.keys.startsWith(`${event.key} `);
  if (!inField && groups.list.some((group) => group.bindings.some(starts))) {
    pending = event.key;
    pendingUntil = Date.now() + 1200;
  }
}
