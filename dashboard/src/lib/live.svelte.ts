/// The server's event stream: one connection, shared by all pages and resumed after an interruption.
import { currentProject, streamEvents, type StreamState } from './api';
import { debounce } from './load.svelte';
import type { ChangedWhat, StreamEvent } from './wire-new';

export const live = $state<{ state: StreamState; lastAt: string | null; running: Record<string, string> }>({
  state: 'connecting',
  lastAt: null,
  /** Titles of the running tasks, by id. */
  running: {},
});

type Listener = (event: StreamEvent) => void;
const listeners = new Set<Listener>();
let connection: AbortController | undefined;

function receive(event: StreamEvent): void {
  live.lastAt = event.at;
  if (event.event === 'task' && event.task) {
    const isRunning = ['accepted', 'queued', 'running'].includes(event.state);
    if (isRunning) live.running[event.task] = event.title || event.agent;
    else delete live.running[event.task];
  }
  // Tasks may have ended in the missed events.
  if (event.event === 'missed') live.running = {};
  for (const listener of listeners) listener(event);
}

export function startLive(): void {
  if (connection) return;
  connection = new AbortController();
  const onState = (state: StreamState) => (live.state = state);
  void streamEvents({ onEvent: receive, onState, signal: connection.signal });
}

export function stopLive(): void {
  connection?.abort();
  connection = undefined;
}

/** Calls `listener` for every event while the calling component is mounted. Call it during component setup. */
export function useEvents(listener: Listener): void {
  $effect(() => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  });
}

/** Calls `refresh` shortly after one of `kinds` changed in the project, or after events were lost. */
export function useChanges(kinds: ChangedWhat[], refresh: () => void): void {
  const soon = debounce(250, refresh);
  useEvents((event) => {
    const isHere = event.project === null || currentProject() === null || event.project === currentProject();
    const isWanted = event.event === 'changed' && kinds.includes(event.what);
    if (event.event === 'missed' || (isHere && isWanted)) soon();
  });
}
