/// Describes runs: the information in their ids, and their results in words.
import { plural } from '../../lib/format';
import type { MaintainedStore, RunCounts, RunEntry, RunReport, SessionRun, StoreMaintenance, UndoRunReport } from '../../lib/wire';
import type { Tone } from '../../parts/tones';

/** Returns the time in an id such as `sync-20261113-173000-41bede8e`. */
export function momentOf(id: string): string | null {
  const found = /-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-/.exec(id);
  if (!found) return null;
  const [, year, month, day, hour, minute, second] = found;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}

/** Returns the kind of run, from its report or else from its id. */
export function modeOf(run: RunEntry): string {
  return run.mode ?? run.id.split('-', 1)[0] ?? '';
}

const PAST: Record<string, string> = {
  add: 'added',
  update: 'updated',
  no_op: 'already known',
  supersede: 'superseded',
  merge: 'merged',
  consolidate: 'consolidated',
  archive: 'archived',
  stale: 'marked stale',
  restore: 'restored',
  freshen: 'freshened',
  establish: 'established',
  validate: 'validated',
  doubt: 'doubted',
  relink: 'relinked',
};

/** Formats counts as `2 added, 1 superseded`, or as an empty string if all are 0. */
export function countsText(counts: RunCounts | null | undefined): string {
  const parts = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
  return parts.map(([verb, count]) => `${count} ${PAST[verb] ?? verb}`).join(', ');
}

export const isSession = (report: RunReport): report is SessionRun => 'checklist' in report;
export const isMaintenance = (report: RunReport): report is StoreMaintenance => 'contradictions' in report;
export const isUndo = (report: RunReport): report is UndoRunReport => 'of' in report;

const VERB_TONES: Record<string, Tone> = {
  add: 'good',
  update: 'info',
  supersede: 'warn',
  merge: 'info',
  consolidate: 'info',
  archive: 'warn',
  stale: 'warn',
  doubt: 'warn',
  restore: 'good',
  establish: 'good',
  validate: 'good',
};

export const verbTone = (verb: string): Tone => VERB_TONES[verb] ?? 'plain';

/** Returns a trace's file name, without its directory. */
export function fileName(path: string): string {
  return path.split('/').at(-1) || path;
}

/** Describes the result of maintaining one store. */
export function storeText(store: MaintainedStore): string {
  if (store.state === 'failed') return `${store.project}: ${store.reason ?? 'failed'}`;
  if (store.state === 'skipped') return `${store.project}: nothing has changed since the last run`;
  const done = countsText(store.report?.counts);
  return `${store.project}: ${done || `nothing to do in ${plural(store.report?.memories ?? 0, 'memory', 'memories')}`}`;
}
