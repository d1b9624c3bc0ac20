/// What to tell a person about an error: a message, its causes, and what to do.
import { asApiError, isAbort } from './api';

export interface Explained {
  code: string;
  message: string;
  causes: string[];
  hints: string[];
  /** The page itself gave up the request; nobody needs to be told. */
  isAbort: boolean;
}

export function explain(error: unknown): Explained {
  const { code, message, causes, hints } = asApiError(error);
  return { code, message, causes, hints, isAbort: isAbort(error) };
}
