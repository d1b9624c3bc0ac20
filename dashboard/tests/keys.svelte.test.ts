/// Keys: which binding gets one, and when none does.
import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dispatchKey, keyGroups, useKeys, type Binding } from '../src/lib/keys.svelte';

let pressed: string[] = [];
let leave: (() => void)[] = [];

function take(title: string, ...keys: (string | Partial<Binding>)[]): () => void {
  const bindings = keys.map((one): Binding => {
    const given = typeof one === 'string' ? { keys: one } : one;
    return { keys: '', label: '', ...given, run: () => pressed.push(`${title} ${given.keys}`) };
  });
  const stop = $effect.root(() => useKeys(title, bindings));
  flushSync();
  leave.push(stop);
  return stop;
}

function press(key: string, init: KeyboardEventInit = {}, target: HTMLElement = document.body): boolean {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...init });
  target.addEventListener('keydown', dispatchKey, { once: true });
  target.dispatchEvent(event);
  return event.defaultPrevented;
}

function add(html: string): HTMLElement {
  document.body.innerHTML = html;
  return document.body.firstElementChild as HTMLElement;
}

beforeEach(() => {
  pressed = [];
});

afterEach(() => {
  for (const stop of leave) stop();
  leave = [];
  document.body.innerHTML = '';
});

describe('keys', () => {
  it('go to the page before the application', () => {
    take('app', 'e');
    take('page', 'e');
    expect(press('e')).toBe(true);
    expect(pressed).toEqual(['page e']);
  });
  it('are given back when the page is left', () => {
    take('app', 'e');
    take('page', 'e')();
    flushSync();
    press('e');
    expect(pressed).toEqual(['app e']);
    expect(keyGroups().map((group) => group.title)).toEqual(['app']);
  });
  it('can be two after each other', () => {
    take('app', 'g m', 'm');
    press('g');
    press('m');
    expect(pressed).toEqual(['app g m']);
  });
  it('that start nothing are themselves again', () => {
    take('app', 'g m', 'j');
    press('g');
    press('j');
    expect(pressed).toEqual(['app j']);
  });
  it('are not taken from what is typed', () => {
    take('page', 'e', { keys: 'Escape', inFields: true });
    for (const html of ['<input>', '<textarea></textarea>', '<select></select>']) {
      expect(press('e', {}, add(html))).toBe(false);
    }
    press('Escape', {}, add('<input>'));
    expect(pressed).toEqual(['page Escape']);
  });
  it('work while a box is ticked', () => {
    take('page', 'j');
    press('j', {}, add('<input type="checkbox">'));
    expect(pressed).toEqual(['page j']);
  });
  it('leave Enter to the button that has the focus', () => {
    take('page', 'Enter');
    expect(press('Enter', {}, add('<button>x</button>'))).toBe(false);
    expect(press('Enter')).toBe(true);
  });
  it('leave the browser its own', () => {
    take('page', 'r');
    for (const init of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { isComposing: true }]) press('r', init);
    expect(pressed).toEqual([]);
  });
  it('wait while a dialog is open', () => {
    take('page', 'a');
    add('<dialog open></dialog>');
    press('a');
    expect(pressed).toEqual([]);
  });
});
