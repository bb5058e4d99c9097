import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError } from '@crossward/connector-kit';

// SQLSTATE codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const exclusionViolation = '23P01';
const serializationFailure = '40001';
const deadlockDetected = '40P01';

/** After a serialization failure another write was made, so as many attempts suffice as there are concurrent writes. */
const attempts = 100;
/** Milliseconds. */
const longestDelay = 30;

export function slotTaken(cause?: unknown): ConnectorError {
  return new ConnectorError('time_slot_unavailable', 'No free time slot covers the range', { cause });
}

/** What was read has changed since, or concurrent transactions conflict. */
export function isSerializationFailure(error: unknown): boolean {
  return sqlState(error) === serializationFailure;
}

/** PostgreSQL has rolled back what several writes did together: one of them was rejected, conflicts, or waits for a lock. */
export function isOfOneWrite(error: unknown): boolean {
  return /^(22|23|40001|40P01|55P03)/.test(sqlState(error) ?? '');
}

/**
 * Runs a database call and maps its errors to `ConnectorError`. Retries serialization failures and deadlocks, with random
 * delays after the first retry: PostgreSQL has rolled those transactions back.
 */
export function inPortVocabulary<Result>(call: () => Promise<Result>): Promise<Result> {
  return translated(call, () => false);
}

/** As `inPortVocabulary`, for writes: a connection that fails after it was established leaves the outcome unknown. */
export function writeInPortVocabulary<Result>(call: () => Promise<Result>): Promise<Result> {
  return translated(call, mayHaveWritten);
}

async function translated<Result>(
  call: () => Promise<Result>,
  isUnknown: (error: unknown, code: string | undefined) => boolean,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const code = sqlState(error);
      if (code === serializationFailure || code === deadlockDetected) {
        if (attempt === attempts)
          throw new ConnectorError('unavailable', 'Too many concurrent writes', { cause: error });
        if (attempt > 1) await sleep(Math.random() * longestDelay);
        continue;
      }
      if (error instanceof ConnectorError) throw error;
      if (code === exclusionViolation) throw slotTaken(error);
      if (isDown(error, code)) {
        if (isUnknown(error, code)) {
          throw new ConnectorError('outcome_unknown', 'The connection to the database of the sandbox failed', {
            cause: error,
          });
        }
        throw new ConnectorError('unavailable', 'The database of the sandbox cannot be reached', { cause: error });
      }
      throw error;
    }
  }
}

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** There was no connection, or the server rejected the statement because it is down or accepts no writes. */
const rejected = /^(08003|25006|28|3D000|53|57P03|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)/;
const withoutConnection = /when trying to connect|timeout expired|connection timeout|Cannot use a pool/;

function mayHaveWritten(error: unknown, code: string | undefined): boolean {
  if (code !== undefined) return !rejected.test(code);
  return !(error instanceof Error && withoutConnection.test(error.message));
}

/** SQLSTATE classes: 08 connection exception, 25006 read-only server, 53 insufficient resources, 57P operator intervention. */
function isDown(error: unknown, code: string | undefined): boolean {
  if (code === undefined) return error instanceof Error && /connection|timeout|pool/i.test(error.message);
  return /^(08|25006|53|57P)/.test(code) || /^E(CONN|PIPE|TIMEDOUT|NOTFOUND|HOSTUNREACH)/.test(code);
}
