/// Keys: pages say which they take, one listener dispatches them, and `?` lists them.

export interface Binding {
  /** As `KeyboardEvent.key` says it, or two with a space between: `g o`. */
  keys: string;
  label: string;
  run: (event: KeyboardEvent) => void;
  /** Also while a field has the focus. */
  inFields?: boolean;
}

export interface KeyGroup {
  title: string;
  bindings: Binding[];
}

const groups = $state.raw<{ list: KeyGroup[] }>({ list: [] });
let shown = $state.raw<KeyGroup[]>([]);

/** The groups that hold now, those of the page first. */
export function keyGroups(): KeyGroup[] {
  return shown;
}

/** Takes keys as long as the calling component is on the page. Call it while the component is set up. */
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

/** Enter and Space belong to a button or a link that has the focus. */
function isTaken(event: KeyboardEvent): boolean {
  const isPress = event.key === 'Enter' || event.key === ' ';
  return isPress && event.target instanceof HTMLElement && event.target.closest('a, button, summary') !== null;
}

let pending = '';
let pendingUntil = 0;

export function dispatchKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  // A dialog keeps its keys to itself.
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
