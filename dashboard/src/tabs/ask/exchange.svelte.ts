/// One question with its progress, streamed sentences and report.
import { api, asApiError, isStarted } from '../../lib/api';
import type { AskReport } from '../../lib/wire';
import type { StreamEvent } from '../../lib/wire-new';

export interface Sentence {
  text: string;
  startsLine: boolean;
}

/** The questions asked since the page was opened, kept when the user switches tabs. */
export const asked = $state<{ list: Exchange[] }>({ list: [] });

export class Exchange {
  readonly question: string;
  task = $state<string | null>(null);
  state = $state<'running' | 'done' | 'failed' | 'cancelled'>('running');
  step = $state('Sending the question');
  sentences = $state<Sentence[]>([]);
  warnings = $state<{ message: string; hint: string | null }[]>([]);
  report = $state.raw<AskReport | null>(null);
  error = $state.raw<unknown>(undefined);
  /** Events received before the task's id was known. */
  #early: StreamEvent[] | null = [];

  constructor(
    readonly number: number,
    readonly project: string | null,
    question: string,
    readonly noModel: boolean,
  ) {
    this.question = question;
  }

  async start(): Promise<void> {
    try {
      const answer = await api.ask({ question: this.question, no_model: this.noModel });
      if (!isStarted(answer)) {
        this.report = answer;
        this.state = 'done';
        return;
      }
      this.task = answer.task;
      const early = this.#early ?? [];
      this.#early = null;
      early.forEach((event) => this.hear(event));
      // Polling still gets the report if the event stream is down.
      void this.poll();
    } catch (error) {
      this.fail(error);
    }
  }

  hear(event: StreamEvent): void {
    if (this.state !== 'running') return;
    if (this.task === null) {
      this.#early?.push(event);
      return;
    }
    if (event.task !== this.task) return;
    if (event.event === 'step' || event.event === 'note') this.step = event.text;
    if (event.event === 'sentence') this.sentences.push({ text: event.text, startsLine: event.starts_line });
    if (event.event === 'warning') this.warnings.push({ message: event.message, hint: event.hint });
    if (event.event !== 'task') return;
    if (event.state === 'completed') void this.finish();
    if (event.state === 'cancelled') this.state = 'cancelled';
    if (event.state === 'failed') void this.finish();
  }

  /** Polls the task's state, and requests the report only once the task is over. */
  private async poll(): Promise<void> {
    for (let wait = 4000; this.state === 'running'; wait = Math.min(wait * 1.5, 20_000)) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (this.state !== 'running' || this.task === null) return;
      try {
        const { task } = await api.task(this.task);
        if (task.state === 'completed' || task.state === 'failed') await this.finish();
        if (task.state === 'cancelled') this.state = 'cancelled';
      } catch (error) {
        if (!asApiError(error).isOffline) return this.fail(error);
      }
    }
  }

  private async finish(): Promise<void> {
    if (this.task === null || this.report !== null) return;
    try {
      this.report = await api.taskReport<AskReport>(this.task);
      this.state = 'done';
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    this.error = error;
    this.state = 'failed';
  }

  async cancel(): Promise<void> {
    if (this.task !== null) await api.cancelTask(this.task);
  }
}
