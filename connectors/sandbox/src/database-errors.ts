import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError } from '@crossward/connector-kit';

// SQLSTATE codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const exclusionViolation = '23P01';
const serializationFailure = '40001';
const deadlockDetected = '40P01';

const attempts = 10;
/** Milliseconds. */
const firstDelay = 4;
const longestDelay = 100;

export function slotTaken(cause?: unknown): ConnectorError {
  return new ConnectorError('time_slot_unavailable', 'No free time slot covers the range', { cause });
}

/** What was read has changed since, or concurrent transactions conflict. */
export function isSerializationFailure(error: unknown): boolean {
  return sqlState(error) === serializationFailure;
}

/**
 * Runs a database call and maps its errors to `ConnectorError`. Retries serialization failures and deadlocks, with random
 * delays after the first retry: PostgreSQL has rolled those transactions back.
 */
export async function inPortVocabulary<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const code = sqlState(error);
      if (code === serializationFailure || code === deadlockDetected) {
        if (attempt === attempts)
          throw new ConnectorError('unavailable', 'Too many concurrent writes', { cause: error });
        if (attempt > 1) await sleep(Math.random() * Math.min(firstDelay * 2 ** attempt, longestDelay));
        continue;
      }
      if (error instanceof ConnectorError) throw error;
      if (code === exclusionViolation) throw slotTaken(error);
      if (isDown(error, code)) {
        throw new ConnectorError('unavailable', 'The database of the sandbox cannot be reached', { cause: error });
      }
      throw error;
    }
  }
}

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** SQLSTATE classes: 08 connection exception, 53 insufficient resources, 57P operator intervention. */
function isDown(error: unknown, code: string | undefined): boolean {
  if (code === undefined) return error instanceof Error && /connection|timeout|pool/i.test(error.message);
  return /^(08|53|57P)/.test(code) || /^E(CONN|PIPE|TIMEDOUT|NOTFOUND|HOSTUNREACH)/.test(code);
}
