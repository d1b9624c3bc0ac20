// The package's only error class.

export interface NacreErrorDetails {
  causes?: string[];
  hints?: string[];
  status?: number | null;
  retryAfter?: number | null;
}

/**
 * A call that failed.
 *
 * `code` is one of the server's codes (`not_found`, `conflict`, `busy`, ... see `types.ErrorCode`). If
 * no server responded, it is `unreachable` (nothing was sent), `disconnected`, `timeout` or `protocol`,
 * and `status` is `null`.
 */
export class NacreError extends Error {
  readonly code: string;
  /** The causes, outermost first. */
  readonly causes: string[];
  /** Suggestions for the user. */
  readonly hints: string[];
  readonly status: number | null;
  /** Seconds to wait before retrying, if the server sent them. */
  readonly retryAfter: number | null;

  constructor(code: string, message: string, details: NacreErrorDetails = {}) {
    super(message);
    this.name = "NacreError";
    this.code = code;
    this.causes = details.causes ?? [];
    this.hints = details.hints ?? [];
    this.status = details.status ?? null;
    this.retryAfter = details.retryAfter ?? null;
  }

  override toString(): string {
    const causes = this.causes.map((cause) => `\ncaused by: ${cause}`);
    const hints = this.hints.map((hint) => `\nhint: ${hint}`);
    return `${this.message} (${this.code})${[...causes, ...hints].join("")}`;
  }
}

/** The server's error, or an error for a response that is not from Nacre. */
export function fromResponse(status: number, body: string, retryAfter: string | null): NacreError {
  const seconds = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : null;
  const details = { status, retryAfter: seconds };
  try {
    const failure = (JSON.parse(body) as { error: Record<string, unknown> }).error;
    if (typeof failure["code"] === "string" && typeof failure["message"] === "string") {
      const causes = texts(failure["causes"]);
      return new NacreError(failure["code"], failure["message"], { ...details, causes, hints: texts(failure["hints"]) });
    }
  } catch {
    // Not from Nacre; handled below.
  }
  return new NacreError("failed", `The server responded with status ${status}`, details);
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

const NOTHING_SENT = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** A failed connection. The underlying error is left out, because it may contain headers. */
export function fromConnection(address: string, error: unknown): NacreError {
  const { code, message } = innermost(error);
  const causes = [code || message].filter((cause) => cause !== "");
  if (NOTHING_SENT.has(code)) {
    const hints = ["Start it with `nacre up`"];
    return new NacreError("unreachable", `Cannot reach the server at ${address}`, { causes, hints });
  }
  if (code.endsWith("_TIMEOUT") || code === "ETIMEDOUT") return timedOut(address);
  return new NacreError("disconnected", `The connection to ${address} was lost`, { causes });
}

/** Returns the system's error, which `fetch` wraps. With several addresses, there are several errors. */
function innermost(error: unknown): { code: string; message: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return innermost(error.errors[0]);
  if (error instanceof Error && error.cause instanceof Error) return innermost(error.cause);
  const code = (error as { code?: unknown } | null)?.code;
  return { code: typeof code === "string" ? code : "", message: error instanceof Error ? error.name : "" };
}

export function timedOut(address: string): NacreError {
  return new NacreError("timeout", `The server at ${address} did not answer in time`);
}

export function protocol(address: string, cause: string): NacreError {
  return new NacreError("protocol", `The answer of ${address} is not one of Nacre's`, { causes: [cause] });
}

/** Whether another attempt may succeed. */
export function isPassing(error: NacreError): boolean {
  return (
    ["unreachable", "disconnected", "timeout"].includes(error.code) ||
    [429, 502, 503, 504].includes(error.status ?? 0)
  );
}
