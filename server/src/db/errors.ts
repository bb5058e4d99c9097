import { type DatabaseFailure, type Effect, failureOf } from './failure-table.ts';

/** A database error that the operator must fix. The message contains no URL, password or data. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** SQLSTATE or system error code, if any. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** SQLSTATE of a PostgreSQL error, or Node's code of a system error; otherwise `undefined`. */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/**
 * Whether the server has rejected a row of the statement, for a value or a constraint (SQLSTATE classes 22 and 23). Any other
 * error concerns all rows.
 */
export function isRejectedRow(error: unknown): boolean {
  return /^2[23][0-9A-Z]{3}$/.test(errorCode(error) ?? '');
}

/** The transaction conflicts with another one and can be retried from its start. */
export function isSerializationFailure(error: unknown): boolean {
  const code = errorCode(error);
  return code === '40001' || code === '40P01';
}

/** The statement waited for a lock until the database gave up, and was rolled back. */
export function isLockTimeout(error: unknown): boolean {
  return errorCode(error) === '55P03';
}

/**
 * The server did not execute a prepared statement, because a migration changed its tables, or a pooler dropped it or lent
 * a connection on which another gateway has prepared it.
 */
export function isStaleStatement(error: unknown): boolean {
  const code = errorCode(error);
  if (code === '26000' || code === '42P05') return true;
  return code === '0A000' && error instanceof Error && error.message.startsWith('cached plan must not change');
}

/** Tracked by object, because connections to callers fail with the same system codes (`ECONNRESET`). */
const thrownByPool = new WeakMap<object, Effect>();

/**
 * Marks an error as thrown by the gateway's database pool, and returns it.
 *
 * @param effect what the time of the failure proves. The error itself can prove more.
 */
export function ofDatabase<Thrown>(error: Thrown, effect: Effect = 'unknown'): Thrown {
  if (typeof error === 'object' && error !== null) thrownByPool.set(error, effect);
  return error;
}

/** The failure of a statement that somebody has waited for in vain. It may be executed still. */
export function databaseSilent(): Error {
  return ofDatabase(new Error('Query read timeout'));
}

interface Failure extends Omit<DatabaseFailure, 'effect'> {
  readonly effect: Effect;
}

/** Errors of the gateway's own pool alone. */
function databaseFailure(error: unknown): Failure | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const placed = thrownByPool.get(error);
  const failure = placed === undefined ? undefined : failureOf(error);
  return placed === undefined || failure === undefined ? undefined : { ...failure, effect: failure.effect ?? placed };
}

/**
 * The database did not do what it was asked, for a reason that passes: it cannot be reached, is down, has no free connection,
 * did not respond in time, or gave up waiting. Not a fault of the statement.
 */
export function isDatabaseFailure(error: unknown): boolean {
  return databaseFailure(error) !== undefined;
}

/**
 * A failure of the database that has cost the connection, or left no connection to use.
 *
 * @internal For tests of what became of the connection.
 */
export function isConnectionFailure(error: unknown): boolean {
  return databaseFailure(error)?.isConnectionLost === true;
}

/** The database failed, and it is unknown whether the statement or commit was executed, or still will be. */
export function mayHaveBeenSent(error: unknown): boolean {
  return databaseFailure(error)?.effect === 'unknown';
}

/**
 * The database failed in a transaction before COMMIT, or rolled it back. The transaction has no effect.
 *
 * @internal For tests of what is not repeated at once.
 */
export function isRolledBack(error: unknown): boolean {
  return databaseFailure(error)?.effect === 'rolled back';
}

/** The transaction has no effect and can be retried from its start at once, without waiting for the database again. */
export function canBeRepeatedAtOnce(error: unknown): boolean {
  const failure = databaseFailure(error);
  return failure?.isRepeatedAtOnce === true && failure.effect === 'rolled back';
}
