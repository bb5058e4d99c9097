import type { Refusal } from '@crossward/connector-kit';
import { connectionFault } from './connection-fault.ts';

/** An error for the log: type, code and stack. The message is left out, because it can contain a value. */
interface ErrorDescription {
  /** The fault of a connection, in words. */
  readonly fault?: string;
  /** How an EHR refused a request: the status and the class of the exception, never its words. */
  readonly refusal?: Refusal;
  readonly type: string;
  readonly code: string | undefined;
  readonly stack: readonly string[];
  readonly cause?: ErrorDescription;
}

export function describeError(error: unknown): ErrorDescription | undefined {
  const fault = connectionFault(error);
  const refusal = refusalIn(error);
  const description = describe(error);
  return description && { ...(fault && { fault: fault.text }), ...(refusal && { refusal }), ...description };
}

/** The first one among an error and its causes. */
function refusalIn(error: unknown): Refusal | undefined {
  if (!(error instanceof Error)) return undefined;
  const { refusal }: Error & { readonly refusal?: Partial<Refusal> | undefined } = error;
  if (typeof refusal?.status !== 'number') return refusalIn(error.cause);
  const { status, code } = refusal;
  return typeof code === 'string' && looksLikeName.test(code) ? { status, code } : { status };
}

/** Such as `UserError`, `business-rule` or `VP007`, and nothing that could be a number of a patient. */
const looksLikeName = /^[A-Za-z](?:[A-Za-z_.-]|\d{1,3}(?!\d)){0,63}$/;

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
