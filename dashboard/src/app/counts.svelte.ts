/// Numbers beside the names of tabs: what waits there.
import { api } from '../lib/api';

export const counts = $state<Record<string, number>>({});

/** Best effort: without the numbers, the pages still say what waits. */
export async function loadCounts(): Promise<void> {
  try {
    const status = await api.status();
    counts.review = status.stores.reduce((sum, store) => sum + store.candidates, 0);
    counts.pipeline = status.waiting?.ready ?? 0;
  } catch {
    counts.review = counts.pipeline = 0;
  }
}
