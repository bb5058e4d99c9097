/** An error for the log: type, code and stack. The message is left out, because it can contain a value. */
interface ErrorDescription {
  readonly type: string;
  readonly code: string | undefined;
  readonly stack: readonly string[];
  readonly cause?: ErrorDescription;
}

export function describeError(error: unknown): ErrorDescription | undefined {
  if (error === undefined || error === null) return undefined;
  if (!(error instanceof Error)) return { type: typeof error, code: undefined, stack: [] };
  const cause = describeError(error.cause);
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
