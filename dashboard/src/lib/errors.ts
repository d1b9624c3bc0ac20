/// Describes an error to the user: a message, its causes, and hints.
import { asApiError, isAbort } from './api';

export interface Explained {
  code: string;
  message: string;
  causes: string[];
  hints: string[];
  /** Whether the page itself aborted the request; such errors are not shown. */
  isAbort: boolean;
}

export function explain(error: unknown): Explained {
  const { code, message, causes, hints } = asApiError(error);
  return { code, message, causes, hints, isAbort: isAbort(error) };
}
