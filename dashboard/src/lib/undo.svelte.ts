/// Takes changes back, and says so.
import { api, asApiError } from './api';
import { plural } from './format';
import { done, failed } from './toast.svelte';

/** Whether it was taken back. What was changed since is left as it is, where the person agrees. */
export async function undoChange(id: string): Promise<boolean> {
  try {
    return await undo(id, false);
  } catch (error) {
    if (!asApiError(error).isConflict || !window.confirm(keepQuestion(error))) {
      failed(error, 'Not undone');
      return false;
    }
  }
  try {
    return await undo(id, true);
  } catch (error) {
    failed(error, 'Not undone');
    return false;
  }
}

function keepQuestion(error: unknown): string {
  return `${asApiError(error).message}.\n\nUndo the rest, and leave what was changed since?`;
}

async function undo(id: string, keepChanged: boolean): Promise<boolean> {
  const report = await api.undoRun(id, { keep_changed: keepChanged });
  const kept = report.kept.length > 0 ? `; ${plural(report.kept.length, 'file')} left as changed since` : '';
  const redo = { label: 'Redo', run: () => void undoChange(report.run) };
  done(`Undid nacre ${report.command}: ${plural(report.memories.length, 'memory', 'memories')}${kept}`, redo);
  return true;
}

/** Says what was done, with a button that takes it back. */
export function doneWithUndo(text: string, change: string | null | undefined, after?: () => void): void {
  if (!change) return done(text);
  done(text, {
    label: 'Undo',
    run: () => void undoChange(change).then((isUndone) => isUndone && after?.()),
  });
}
