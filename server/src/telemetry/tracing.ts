/**
 * What is traced. Attributes are ids from the configuration, names in the code and fixed words, never values from a request, a
 * response or a row.
 */
export interface Tracing {
  /**
   * Begins the span of a request.
   *
   * @param traceparent the header of the caller (https://www.w3.org/TR/trace-context/)
   */
  request(traceparent: unknown): RequestSpan;
  /** Begins the span of a call to an EHR, or of an attempt to deliver an event. */
  call(name: string, attributes: Attributes): CallSpan;
  /** Begins the span of a statement. `undefined` outside all other spans: jobs that look for work are not traced. */
  statement(text: string): StatementSpan | undefined;
  /** The headers that pass the current span on. */
  headers(): Readonly<Record<string, string>>;
}

export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface RequestSpan {
  readonly traceId: string;
  /** Runs `work` so that spans which begin in it are within this one. */
  within<Result>(work: () => Result): Result;
  /** @param failure why it failed. Absent: it did not */
  end(name: string, attributes: Attributes, failure?: string): void;
}

export interface CallSpan {
  within<Result>(work: () => Result): Result;
  /** @param outcome `ok`, or why it failed */
  end(outcome: string): void;
}

export interface StatementSpan {
  /** @param failure SQLSTATE or another code. Absent: it did not fail */
  end(failure?: string): void;
}

/** `undefined` unless OpenTelemetry is on: then nothing of it is loaded. */
export let tracing: Tracing | undefined;

/** Turns tracing on for this process, or off. */
export function traceWith(it: Tracing | undefined): void {
  tracing = it;
}

const none: Readonly<Record<string, string>> = {};

/** The headers of a request to an EHR or a webhook. Empty outside a trace. */
export function traceHeaders(): Readonly<Record<string, string>> {
  return tracing?.headers() ?? none;
}

/**
 * Runs a call within a span.
 *
 * @param outcomeOf the outcome of a call that failed
 */
export async function inCallSpan<Result>(
  span: CallSpan,
  work: () => Promise<Result>,
  outcomeOf: (error: unknown) => string,
): Promise<Result> {
  try {
    const result = await span.within(work);
    span.end('ok');
    return result;
  } catch (error) {
    span.end(outcomeOf(error));
    throw error;
  }
}
