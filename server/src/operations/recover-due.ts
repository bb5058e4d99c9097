import type { Logger } from 'pino';
import { isConnectionFailure } from '../db/errors.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { describeError } from '../log/describe-error.ts';
import { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { type DueOperation, takeDue } from './due.ts';
import { LeaseLost } from './errors.ts';
import { postpone } from './lease.ts';
import { recover } from './recover.ts';
import type { OperationServices } from './services.ts';
import { type Leased, openStored, type Stored } from './stored-operation.ts';
import { leaseSeconds } from './work.ts';

/** So many at once: more follow as soon as these are done. */
export const dueAtOnce = 20;
/** After so many failures in a row an operator has to look. */
const mostFailures = 5;
const longestPauseSeconds = 300;
const daySeconds = 24 * 60 * 60;

/** Works on the operations of an EHR that nobody asks for. Answers how many there were. */
export async function recoverDue(services: OperationServices, ehr: EhrConnection, log: Logger): Promise<number> {
  const takenAt = performance.now();
  const due = await takeDue(services.db, ehr.id, leaseSeconds(ehr), dueAtOnce);
  await Promise.all(due.map((row) => recoverOne(services, row, takenAt, log)));
  return due.length;
}

async function recoverOne(services: OperationServices, row: DueOperation, takenAt: number, log: Logger): Promise<void> {
  const about = { operation_id: row.id, emr: row.emr };
  const leased = {
    ...row,
    clientId: row.client_id,
    careUnitId: row.care_unit_id,
    keyHash: row.idempotency_key_hash ?? undefined,
  };
  let stored: Stored | undefined;
  try {
    stored = openStored(services.keys, row.token, row);
    const recovery = await recover(services, stored, takenAt);
    if (recovery === 'ended') log.info(about, 'operation recovered');
    else
      await postpone(services.db, leased, {
        seconds: pauseUntilNextLook(stored, services),
        failures: 0,
        isSuspended: false,
      });
  } catch (error) {
    if (error instanceof LeaseLost) return services.operationMetrics.leaseLost(row.emr);
    log.warn(
      { ...about, failures: row.consecutive_failures + 1, cause: describeError(error) },
      'operation recovery failed',
    );
    await noteFailure(services, leased, row, error).catch((failure) =>
      log.error({ ...about, cause: describeError(failure) }, 'operation could not be postponed'),
    );
  }
}

/** The longer nothing shows, the longer it is left alone. */
function pauseUntilNextLook({ state, silence, emr }: Stored, { ehrs }: OperationServices): number {
  const settlingSeconds = ehrs.get(emr)?.patience.settlingSeconds ?? 0;
  return state === 'done' ? Math.min(Math.max(silence, settlingSeconds), 3600) : Math.min(1 + silence / 4, 30);
}

const awayReasons: ReadonlySet<string> = new Set([
  'ehr_unavailable',
  'ehr_timeout',
  'outcome_unknown',
  'database_unavailable',
] satisfies Reason[]);

function reasonOf(error: unknown): Reason {
  if (error instanceof Problem) return error.reason;
  return isConnectionFailure(error) ? 'database_unavailable' : 'internal_error';
}

async function noteFailure(
  services: OperationServices,
  leased: Leased,
  row: DueOperation,
  error: unknown,
): Promise<void> {
  const reason = reasonOf(error);
  const isAway = awayReasons.has(reason);
  const isSameKind = row.last_failure === null || awayReasons.has(row.last_failure) === isAway;
  const failures = isSameKind ? row.consecutive_failures + 1 : 1;
  // The EHR or the database that is away is waited for, up to a day.
  const isSuspended = isAway ? row.age > daySeconds : failures >= mostFailures;
  const seconds = Math.min(2 ** (failures - 1), longestPauseSeconds);
  await postpone(services.db, leased, { seconds, failure: reason, failures, isSuspended });
  if (isSuspended) services.operationMetrics.suspended({ operationId: row.id, emr: row.emr });
}
