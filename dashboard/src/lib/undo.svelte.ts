/// Undoes changes and reports the result.
import { api, asApiError } from './api';
import { plural } from './format';
import { done, failed } from './toast.svelte';

/** Returns whether the change was undone. If files have changed since, the user can choose to keep those. */
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
  return `${asApiError(error).message}.\n\nUndo the rest, and keep the files that have changed since?`;
}

async function undo(id: string, keepChanged: boolean): Promise<boolean> {
  const report = await api.undoRun(id, { keep_changed: keepChanged });
  const kept = report.kept.length > 0 ? `; ${plural(report.kept.length, 'file')} kept because of later changes` : '';
  const redo = { label: 'Redo', run: () => void undoChange(report.run) };
  done(`Undid nacre ${report.command}: ${plural(report.memories.length, 'memory', 'memories')}${kept}`, redo);
  return true;
}

/** Shows a success message with an undo button. */
export function doneWithUndo(text: string, change: string | null | undefined, after?: () => void): void {
  if (!change) return done(text);
  done(text, {
    label: 'Undo',
    run: () => void undoChange(change).then((isUndone) => isUndone && after?.()),
  });
}
