import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { recordedAccess } from '../api/recorded-access.ts';
import { outcomeOfError } from '../audit/outcome-of-error.ts';
import type { Db } from '../db/kysely.ts';
import { LeaseLost, leaseEnd, updateLeased, withoutLease } from '../db/write-lease.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { hasOutageLines } from '../ehr/outage-log.ts';
import { describeError } from '../log/describe-error.ts';
import { WriteEnded } from '../problems/write-errors.ts';
import { sinceBoot } from '../time/since-boot.ts';
import { type Recovery, recover } from '../writes/recover.ts';
import { openStored, type StoredRow } from '../writes/stored-write.ts';
import { leaseSeconds } from '../writes/work.ts';
import type { WriteServices } from '../writes/write-kind.ts';
import { leaseDue, outageReasons } from './due-writes.ts';

/** Batch size. After a full batch, the next one follows at once. */
export const dueAtOnce = 20;
/** Failures in a row before a write is suspended. */
const mostFailures = 5;
const longestPauseSeconds = 300;
/** While an EHR is away, its circuit breaker answers nearly all attempts. One of them finds out that it is back. */
const longestOutagePauseSeconds = 30;
const daySeconds = 24 * 60 * 60;

/** Recovers the writes of an EHR that are due. Returns how many there were. */
export async function recoverDue(services: WriteServices, ehr: EhrConnection, log: Logger): Promise<number> {
  const takenAt = sinceBoot();
  const token = randomUUID();
  const leasing = {
    emr: ehr.id,
    careUnits: ehr.careUnits.keys(),
    token,
    leaseSeconds: leaseSeconds(ehr),
    limit: dueAtOnce,
  };
  services.liveTokens.add(token);
  try {
    const due = await leaseDue(services.db, leasing);
    await Promise.all(due.map((row) => recoverOne(services, row, takenAt, log)));
    return due.length;
  } finally {
    services.liveTokens.delete(token);
  }
}

async function recoverOne(services: WriteServices, row: StoredRow, takenAt: number, log: Logger): Promise<void> {
  const about = { operation_id: row.id, emr: row.emr };
  const { clientId, emr, careUnitId } = row;
  const access = {
    actor: 'background' as const,
    clientId,
    emr,
    careUnitId,
    operation: row.kind ?? 'unknown',
    outcomeOf: (recovery: Recovery, left?: string) => left ?? (recovery === 'later' ? 'looked_up' : 'success'),
    notStored: (cause: unknown) => log.error({ ...about, cause: describeError(cause) }, 'audit entry not stored'),
  };
  const recovering = async () => recover(services, openStored(services.keys, row), takenAt);
  try {
    const recovery = await recordedAccess(services.audit, access, recovering).catch(asEnded);
    if (recovery === 'ended') log.info(about, 'operation recovered');
    else await postpone(services.db, row, { seconds: pauseSeconds(row, services), failures: 0, isSuspended: false });
  } catch (error) {
    if (error instanceof LeaseLost) {
      services.writeMetrics.leaseLost(row.emr);
      return;
    }
    const level = hasOutageLines(error) ? 'info' : 'warn';
    log[level]({ ...about, failures: row.failures + 1, cause: describeError(error) }, 'operation recovery failed');
    await recordFailure(services, row, error).catch((failure) =>
      log.error({ ...about, cause: describeError(failure) }, 'operation could not be postponed'),
    );
  }
}

/** A write that ended with a problem has no caller to report it to. */
function asEnded(error: unknown): Recovery {
  if (error instanceof WriteEnded) return 'ended';
  throw error;
}

/** The pause grows with the time since the EHR was last called. */
function pauseSeconds({ state, secondsSinceLastCall, emr }: StoredRow, { ehrs }: WriteServices): number {
  const settlingSeconds = ehrs.get(emr)?.times.settlingSeconds ?? 0;
  return state === 'done'
    ? Math.min(Math.max(secondsSinceLastCall, settlingSeconds), 3600)
    : Math.min(1 + secondsSinceLastCall / 4, 30);
}

async function recordFailure(services: WriteServices, row: StoredRow, error: unknown): Promise<void> {
  const reason = outcomeOfError(error);
  const isOutage = outageReasons.has(reason);
  const isSameKind = row.lastFailure === null || outageReasons.has(row.lastFailure) === isOutage;
  const failures = isSameKind ? row.failures + 1 : 1;
  // During an outage of the EHR or the database, recovery is retried for up to a day.
  const isSuspended = isOutage ? row.secondsSinceFirstCall > daySeconds : failures >= mostFailures;
  const seconds = Math.min(2 ** (failures - 1), isOutage ? longestOutagePauseSeconds : longestPauseSeconds);
  await postpone(services.db, row, { seconds, failure: reason, failures, isSuspended });
  if (isSuspended) services.writeMetrics.suspended(row);
}

/** Schedules the next attempt of background recovery, or suspends the write. */
async function postpone(
  db: Db,
  row: StoredRow,
  { seconds, failure, failures, isSuspended }: Postponement,
): Promise<void> {
  await updateLeased(db, row)
    .set({
      ...withoutLease,
      next_attempt_at: isSuspended ? null : leaseEnd(seconds),
      last_failure: failure ?? null,
      consecutive_failures: failures,
      ...(isSuspended ? { suspended_at: sql<Date>`now()` } : {}),
    })
    .execute();
}

interface Postponement {
  readonly seconds: number;
  readonly failure?: string | undefined;
  /** Failures of this kind in a row. */
  readonly failures: number;
  readonly isSuspended: boolean;
}
