/// The counts of pending items shown next to the tab names.
import { api } from '../lib/api';

export const counts = $state<Record<string, number>>({});

/** Best effort: if this fails, the pages themselves still show the pending items. */
export async function loadCounts(): Promise<void> {
  try {
    const status = await api.status();
    counts.review = status.stores.reduce((sum, store) => sum + store.candidates, 0);
    counts.pipeline = status.waiting?.ready ?? 0;
  } catch {
    counts.review = counts.pipeline = 0;
  }
}
