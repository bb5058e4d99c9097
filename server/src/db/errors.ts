/** A trouble with the database that the operator has to see to. The message holds no URL, no password and no data. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** SQLSTATE or the system's error code, where there is one. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** SQLSTATE of an error that PostgreSQL answered, or Node's code of a system error; `undefined` for anything else. */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

function violates(error: unknown, code: string, constraint: string | undefined): boolean {
  if (errorCode(error) !== code) return false;
  return constraint === undefined || (error as { constraint?: unknown }).constraint === constraint;
}

/** A unique constraint or index (of this name, if given) refused the row. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return violates(error, '23505', constraint);
}

/** The transaction lost against another one and may be tried again from its beginning. */
export function isSerializationFailure(error: unknown): boolean {
  const code = errorCode(error);
  return code === '40001' || code === '40P01';
}

/** A prepared statement no longer fits, because a migration changed its tables or a pooler has lost it. */
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
]);

// node-postgres gives these no code.
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

/** By identity, since the system's codes (`ECONNRESET`) are the same for any other connection. */
const thrownByPool = new WeakSet<object>();

/** Marks whatever is thrown by the gateway's pool as the database's, and answers it. */
export function ofDatabase<Thrown>(error: Thrown): Thrown {
  if (typeof error === 'object' && error !== null) thrownByPool.add(error);
  return error;
}

/**
 * The database cannot be reached, is down, or has no connection left: not the fault of the statement. Only of errors that
 * the gateway's own pool has thrown: a caller's connection fails with the same codes.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !thrownByPool.has(error)) return false;
  const code = errorCode(error);
  if (code !== undefined) {
    if (unreachable.has(code) || /^08[0-9A-Z]{3}$/.test(code)) return true;
    // The Unix socket of a server that does not run.
    return code === 'ENOENT' && (error as { syscall?: unknown }).syscall === 'connect';
  }
  return error instanceof Error && lostMessages.has(error.message);
}

// No connection was made: no statement has left.
const withoutConnection = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'ENOENT',
  'EAI_AGAIN',
  '57P03',
  '53300',
  '3D000',
  '28000',
  '28P01',
]);
const withoutConnectionMessages = new Set([
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated due to connection timeout',
  'Cannot use a pool after calling end on the pool',
]);

/** The connection failed in a way that leaves open whether a statement, or its commit, was carried out. */
export function mayHaveBeenSent(error: unknown): boolean {
  if (!isConnectionFailure(error)) return false;
  const code = errorCode(error);
  if (code !== undefined) return !withoutConnection.has(code);
  return !(error instanceof Error && withoutConnectionMessages.has(error.message));
}
