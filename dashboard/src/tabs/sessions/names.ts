/// How sessions are called, and which colour their state has.
import type { SessionEntry } from '../../lib/wire';
import type { Tone } from '../../parts/tones';

export function titleOf(session: SessionEntry): string {
  return session.facts.title || `Session ${session.id}`;
}

const TONES: Record<string, Tone> = { pending: 'info', running: 'info', done: 'good', empty: 'plain', skipped: 'plain', dead: 'bad' };

export function stateTone(state: string): Tone {
  return TONES[state] ?? 'plain';
}

/** What each state means, for those who meet it first. */
export const STATES: Record<string, string> = {
  pending: 'Waits for a sync',
  running: 'A sync reads it now',
  done: 'A sync kept what was worth keeping',
  empty: 'There was nothing in it to keep',
  skipped: 'Left out, for a reason that can change',
  dead: 'It failed too often',
};
