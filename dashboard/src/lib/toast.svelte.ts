/// Short messages in the corner: a completed action with an undo button, or an error with hints.
import { explain } from './errors';

export interface Toast {
  id: number;
  tone: 'done' | 'bad';
  text: string;
  hints: string[];
  action?: { label: string; run: () => void };
}

export const toasts = $state<Toast[]>([]);
let next = 1;

function show(toast: Omit<Toast, 'id'>, seconds: number): void {
  const id = next++;
  // A new message replaces older success messages; the last two errors stay.
  const kept = toasts.filter((one) => one.tone === 'bad').slice(-2);
  toasts.splice(0, toasts.length, ...kept, { id, ...toast });
  setTimeout(() => dismiss(id), seconds * 1000);
}

export function dismiss(id: number): void {
  const at = toasts.findIndex((toast) => toast.id === id);
  if (at >= 0) toasts.splice(at, 1);
}

export function done(text: string, action?: Toast['action']): void {
  show({ tone: 'done', text, hints: [], action }, action ? 10 : 5);
}

export function failed(error: unknown, during?: string): void {
  const told = explain(error);
  if (told.isAbort) return;
  const text = during ? `${during}: ${told.message}` : told.message;
  show({ tone: 'bad', text, hints: told.hints }, 14);
}
