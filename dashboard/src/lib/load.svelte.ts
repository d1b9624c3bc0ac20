/// Loads data for a page, with its error and loading state.
import { explain } from './errors';

export class Loader<T> {
  data = $state.raw<T | undefined>(undefined);
  error = $state.raw<unknown>(undefined);
  loading = $state(false);
  #current: AbortController | undefined;

  /** Starts a request and aborts the previous one. The old data stays visible until the new data arrives. */
  async load(fetcher: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.#current?.abort();
    const controller = new AbortController();
    this.#current = controller;
    this.loading = true;
    try {
      const data = await fetcher(controller.signal);
      if (this.#current !== controller) return undefined;
      this.data = data;
      this.error = undefined;
      return data;
    } catch (error) {
      if (this.#current !== controller || explain(error).isAbort) return undefined;
      this.error = error;
      return undefined;
    } finally {
      if (this.#current === controller) this.loading = false;
    }
  }

  /** Resets the loader, for a page that now shows something else. */
  clear(): void {
    this.#current?.abort();
    this.#current = undefined;
    this.data = undefined;
    this.error = undefined;
    this.loading = false;
  }
}

/** Calls `run` once after calls have stopped for `ms`. */
export function debounce<A extends unknown[]>(ms: number, run: (...args: A) => void): (...args: A) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), ms);
  };
}
