import { connectionFault } from './connection-fault.ts';

/** An error for the log: type, code and stack. The message is left out, because it can contain a value. */
interface ErrorDescription {
  /** The fault of a connection, in words. */
  readonly fault?: string;
  readonly type: string;
  readonly code: string | undefined;
  readonly stack: readonly string[];
  readonly cause?: ErrorDescription;
}

export function describeError(error: unknown): ErrorDescription | undefined {
  const fault = connectionFault(error);
  const description = describe(error);
  return fault && description ? { fault: fault.text, ...description } : description;
}

function describe(error: unknown): ErrorDescription | undefined {
  if (error === undefined || error === null) return undefined;
  if (!(error instanceof Error)) return { type: typeof error, code: undefined, stack: [] };
  const cause = describe(error.cause);
  return {
    type: error.name,
    code:
      'code' in error && typeof error.code === 'string' && /^[A-Z0-9_]{1,64}$/.test(error.code)
        ? error.code
        : undefined,
    stack: (error.stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .map((line) => line.trim()),
    ...(cause ? { cause } : {}),
  };
}
