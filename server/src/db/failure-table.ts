/**
 * What became of a statement and its transaction. `not sent`: the server did not get it. `rolled back`: it has no effect, and
 * neither has its transaction.
 */
export type Effect = 'unknown' | 'not sent' | 'rolled back';

/** What a failure of the database or of the connection to it means. A retry can succeed after each of them. */
export interface DatabaseFailure {
  /** What the error proves. Absent: it depends on when the connection failed. */
  readonly effect?: Exclude<Effect, 'unknown'>;
  /** Whether to start a transaction without an effect again at once. Otherwise the database has been waited for already. */
  readonly isRepeatedAtOnce: boolean;
  /** The connection is gone, or there was none. */
  readonly isConnectionLost: boolean;
}

const conflict: DatabaseFailure = { effect: 'rolled back', isRepeatedAtOnce: true, isConnectionLost: false };
const gaveUp: DatabaseFailure = { effect: 'rolled back', isRepeatedAtOnce: false, isConnectionLost: false };
const ended: DatabaseFailure = { effect: 'rolled back', isRepeatedAtOnce: true, isConnectionLost: true };
const notConnected: DatabaseFailure = { effect: 'not sent', isRepeatedAtOnce: false, isConnectionLost: true };
const lost: DatabaseFailure = { isRepeatedAtOnce: true, isConnectionLost: true };
const silent: DatabaseFailure = { isRepeatedAtOnce: false, isConnectionLost: true };

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) or Node's code of a system error. */
const byCode: Readonly<Record<string, DatabaseFailure>> = {
  // The server chose this transaction to end a conflict: serialization_failure, deadlock_detected.
  '40001': conflict,
  '40P01': conflict,
  // A pooler mixes up prepared statements: invalid_sql_statement_name, duplicate_prepared_statement.
  '26000': conflict,
  '42P05': conflict,
  // It gave up: query_canceled (`statement_timeout`), lock_not_available (`lock_timeout`), a lack of memory, space or other
  // resources, an error of its disk.
  '57014': gaveUp,
  '55P03': gaveUp,
  '53000': gaveUp,
  '53100': gaveUp,
  '53200': gaveUp,
  '53400': gaveUp,
  '58000': gaveUp,
  '58030': gaveUp,
  // It ended a transaction that was left idle or took too long. COMMIT has not begun, since that stops both clocks.
  '25P03': ended,
  '25P04': ended,
  // It accepts no writes: a standby, or a primary that was demoted.
  '25006': ended,
  // It rejected the connection: too many, starting or stopping, no such database, no such user, wrong password.
  '53300': notConnected,
  '57P03': notConnected,
  '3D000': notConnected,
  '28000': notConnected,
  '28P01': notConnected,
  '08001': notConnected,
  '08004': notConnected,
  // It shut down, crashed, lost its database, or ended a session that was idle. A COMMIT may have been made.
  '57P01': lost,
  '57P02': lost,
  '57P04': lost,
  '57P05': lost,
  // The other connection exceptions.
  '08000': lost,
  '08003': lost,
  '08006': lost,
  '08007': lost,
  '08P01': lost,
  ECONNREFUSED: lost,
  ECONNRESET: lost,
  ECONNABORTED: lost,
  EPIPE: lost,
  ETIMEDOUT: lost,
  EHOSTUNREACH: lost,
  EHOSTDOWN: lost,
  ENETUNREACH: lost,
  ENETDOWN: lost,
  ENOTFOUND: lost,
  EAI_AGAIN: lost,
};

/** By message, since node-postgres sets no code on these errors. */
const byMessage: Readonly<Record<string, DatabaseFailure>> = {
  'timeout exceeded when trying to connect': notConnected,
  'timeout expired': notConnected,
  'Connection terminated due to connection timeout': notConnected,
  'Cannot use a pool after calling end on the pool': notConnected,
  'Client has encountered a connection error and is not queryable': lost,
  'Client was closed and is not queryable': lost,
  'Connection terminated': lost,
  'Connection terminated unexpectedly': lost,
  'Query read timeout': silent,
};

/** @internal For the test that goes through all of them. */
export const databaseFailures = { byCode, byMessage };

/** `undefined` for any other error, such as one of the statement. */
export function failureOf(error: object): DatabaseFailure | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === undefined) return error instanceof Error ? byMessage[error.message] : undefined;
  // The server is not running: its Unix socket does not exist.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect' ? notConnected : undefined;
  return byCode[code];
}
