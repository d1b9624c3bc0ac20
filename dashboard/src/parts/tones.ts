/// The colours of states.

export type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad' | 'info';

const TONES: Record<string, Tone> = {
  active: 'good',
  candidate: 'warn',
  superseded: 'plain',
  stale: 'plain',
  archived: 'plain',
  quarantined: 'bad',
  foreign: 'warn',
  ok: 'good',
  broken: 'bad',
  unchecked: 'plain',
  ready: 'good',
  missing: 'bad',
  'no store': 'warn',
  on: 'good',
  off: 'plain',
  outdated: 'warn',
  idle: 'plain',
  running: 'info',
  paused: 'warn',
  waiting: 'plain',
  queued: 'plain',
  completed: 'good',
  done: 'good',
  failed: 'bad',
  cancelled: 'plain',
  decision: 'accent',
  learning: 'info',
  summary: 'plain',
};

export function toneOf(state: string): Tone {
  return TONES[state] ?? 'plain';
}
