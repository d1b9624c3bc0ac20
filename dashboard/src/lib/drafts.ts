/// Unsaved edits, which are kept when the user switches to another tab.

export interface Draft {
  /** The original file and its version. */
  base: string;
  version: string;
  text: string;
}

const drafts = new Map<string, Draft>();

export function draftOf(id: string): Draft | undefined {
  return drafts.get(id);
}

export function keepDraft(id: string, draft: Draft): void {
  if (draft.text === draft.base) drafts.delete(id);
  else drafts.set(id, draft);
}

export function dropDraft(id: string): void {
  drafts.delete(id);
}

window.addEventListener('beforeunload', (event) => {
  if (drafts.size > 0) event.preventDefault();
});
