/// Running tasks: their steps, progress and results, as reported by the server.
import { api, asApiError } from '../../lib/api';
import type { TaskEntry, TaskEvent } from '../../lib/wire';
import type { StreamEvent } from '../../lib/wire-new';

export interface Step {
  at: string;
  text: string;
  tone: 'step' | 'note' | 'warning';
}

export class LiveTask {
  state = $state('running');
  title = $state('');
  agent = $state('');
  steps = $state<Step[]>([]);
  progress = $state.raw<{ done: number; total: number } | null>(null);
  report = $state.raw<unknown>(null);
  started = $state<string | null>(null);
  error = $state.raw<unknown>(undefined);
  isCancelling = $state(false);
  isOver = $derived(['completed', 'failed', 'cancelled'].includes(this.state));

  constructor(readonly id: string) {}

  hear(event: StreamEvent): void {
    if (event.event === 'task') {
      this.state = event.state;
      this.title = event.title || this.title;
      this.agent = event.agent || this.agent;
      this.started ??= event.at;
    } else if (event.event === 'step' || event.event === 'note') {
      this.add({ at: event.at, text: event.text, tone: event.event });
    } else if (event.event === 'warning') {
      const hint = event.hint ? ` (${event.hint})` : '';
      this.add({ at: event.at, text: `${event.message}${hint}`, tone: 'warning' });
    } else if (event.event === 'progress') {
      this.progress = { done: event.done, total: event.total };
    }
  }

  private add(step: Step): void {
    this.steps.push(step);
    if (this.steps.length > 200) this.steps.splice(0, this.steps.length - 200);
  }

  /** Adds the events from before the page was opened. */
  adopt(entry: TaskEntry, events: TaskEvent[]): void {
    this.state = entry.state;
    this.title = entry.title;
    this.agent = entry.agent;
    this.started = entry.started ?? entry.created;
    const told = events.filter((one) => typeof one.text === 'string');
    if (this.steps.length === 0) this.steps = told.map((one) => ({ at: one.at, text: String(one.text), tone: 'step' }));
  }

  async fetchReport(): Promise<void> {
    try {
      this.report = await api.taskReport<unknown>(this.id);
    } catch (error) {
      // A failed task returns its error; a task of another process has no report here.
      if (this.state === 'failed' && asApiError(error).status !== 404) this.error = error;
    }
  }

  /** Marks a task that was already over when the server responded. */
  end(report: unknown): void {
    this.state = 'completed';
    this.report = report;
  }
}

/** The displayed tasks: those that are running, and those that ended while the page was open. */
export class LiveTasks {
  list = $state<LiveTask[]>([]);

  get(id: string): LiveTask {
    const known = this.list.find((one) => one.id === id);
    if (known) return known;
    this.list = [new LiveTask(id), ...this.list].slice(0, 6);
    // Return the list's entry, because only that one is reactive.
    return this.list[0] as LiveTask;
  }

  hear(event: StreamEvent): void {
    // The Ask tab shows these.
    if (event.task === null || (event.event === 'task' && event.agent === 'ask')) return;
    const known = this.list.find((one) => one.id === event.task);
    if (!known && event.event !== 'task') return;
    const task = known ?? this.get(event.task);
    const wasOver = task.isOver;
    task.hear(event);
    if (!wasOver && task.isOver && task.state !== 'cancelled') void task.fetchReport();
  }

  /** Loads the tasks that are already running. */
  async adopt(signal: AbortSignal): Promise<void> {
    const { tasks } = await api.tasks(20, signal);
    for (const entry of tasks.filter((one) => ['accepted', 'queued', 'running'].includes(one.state) && one.agent !== 'ask')) {
      const shown = await api.task(entry.id, signal);
      this.get(entry.id).adopt(shown.task, shown.events);
    }
  }

  dismiss(id: string): void {
    this.list = this.list.filter((one) => one.id !== id);
  }
}
