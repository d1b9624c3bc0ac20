/// Titles of sessions, and the colours and meanings of their states.
import type { SessionEntry } from '../../lib/wire';
import type { Tone } from '../../parts/tones';

export function titleOf(session: SessionEntry): string {
  return session.facts.title || `Session ${session.id}`;
}

const TONES: Record<string, Tone> = { pending: 'info', running: 'info', done: 'good', empty: 'plain', skipped: 'plain', dead: 'bad' };

export function stateTone(state: string): Tone {
  return TONES[state] ?? 'plain';
}

/** Explains each state. */
export const STATES: Record<string, string> = {
  pending: 'Queued for the next sync',
  running: 'A sync is reading it',
  done: 'A sync kept what was worth keeping',
  empty: 'It contained nothing worth keeping',
  skipped: 'Skipped for a reason that may change',
  dead: 'It failed too many times',
};
