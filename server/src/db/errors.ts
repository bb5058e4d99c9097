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

function violates(error: unknown, code: string, constraint: string | undefined): boolean {
  if (errorCode(error) !== code) return false;
  return constraint === undefined || (error as { constraint?: unknown }).constraint === constraint;
}

/** A unique constraint or index (of this name, if given) rejected the row. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return violates(error, '23505', constraint);
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

/** A prepared statement is stale, because a migration changed its tables or a pooler dropped it. */
export function isStaleStatement(error: unknown): boolean {
  const code = errorCode(error);
  if (code === '26000') return true;
  return code === '0A000' && error instanceof Error && error.message.startsWith('cached plan must not change');
}

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  // Shut down, crashed, starting, idle too long, too many connections, database or user gone, a transaction left idle.
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53300',
  '3D000',
  '28000',
  '28P01',
  '25P03',
  // The server accepts no writes: a standby, or a primary that was demoted.
  '25006',
]);

// node-postgres sets no code on these errors.
const lostMessages = new Set([
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
  'Query read timeout',
]);

/**
 * What became of the statement and its transaction when a connection failed. `not sent`: there was no connection.
 * `rolled back`: COMMIT was not sent.
 */
export type Effect = 'unknown' | 'not sent' | 'rolled back';

/** Tracked by object, because connections to callers fail with the same system codes (`ECONNRESET`). */
const thrownByPool = new WeakMap<object, Effect>();

/** Marks an error as thrown by the gateway's database pool, and returns it. */
export function ofDatabase<Thrown>(error: Thrown, effect: Effect = 'unknown'): Thrown {
  if (typeof error === 'object' && error !== null) thrownByPool.set(error, effect);
  return error;
}

/**
 * The database cannot be reached, is down, or has no free connection. True only for errors of the gateway's own pool,
 * because connections to callers fail with the same codes.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !thrownByPool.has(error)) return false;
  const code = errorCode(error);
  if (code !== undefined) {
    if (unreachable.has(code) || /^08[0-9A-Z]{3}$/.test(code)) return true;
    // The server is not running: its Unix socket does not exist.
    return code === 'ENOENT' && (error as { syscall?: unknown }).syscall === 'connect';
  }
  return error instanceof Error && lostMessages.has(error.message);
}

/** The connection failed, and it is unknown whether the statement or commit was executed. */
export function mayHaveBeenSent(error: unknown): boolean {
  return isConnectionFailure(error) && effectOf(error) === 'unknown';
}

/** The connection failed during a transaction, before COMMIT was sent. The transaction can be retried from its start. */
export function isRolledBack(error: unknown): boolean {
  return isConnectionFailure(error) && effectOf(error) === 'rolled back';
}

function effectOf(error: unknown): Effect | undefined {
  return typeof error === 'object' && error !== null ? thrownByPool.get(error) : undefined;
}
