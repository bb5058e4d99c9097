import { randomUUID } from 'node:crypto';
import { type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Tx } from '../../db/kysely.ts';
import { retryTransaction } from '../../db/retry.ts';
import type { CareUnitConnection, EhrConnection } from '../../ehr/connection.ts';
import { describeError } from '../../log/describe-error.ts';
import { OperationEnded } from '../../operations/end.ts';
import { perform, plannedFor } from '../../operations/execute.ts';
import { recordedInBackground } from '../../operations/record-background.ts';
import type { OperationServices } from '../../operations/services.ts';
import { storePlan } from '../../operations/store-plan.ts';
import type { Leased } from '../../operations/stored-operation.ts';
import { startRun } from '../../operations/work.ts';
import { sinceBoot } from '../../time/since-boot.ts';
import { type ExpiryPlan, expiryKind, markExpired } from './kind.ts';

const atOnce = 100;
/** The client id of operations without a client. */
const clientId = 'background';

/** A condition on `confirmation_items AS item`: no operation releases its hold yet. */
export const mayExpire = sql<SqlBool>`(item.state = 'pending' OR (item.state = 'expiring' AND item.operation_id IS NULL))`;

interface Expiry {
  readonly careUnit: CareUnitConnection;
  readonly operation: Leased;
  readonly plan: ExpiryPlan;
}

/**
 * Expires overdue confirmations of one EHR: marks their items `expiring`, releases their holds in the EHR, and marks them
 * `expired`. The timing is not critical, since every check of a code compares the time too. Returns how many confirmations
 * were overdue.
 */
export async function expireOverdue(services: OperationServices, ehr: EhrConnection, log: Logger): Promise<number> {
  const { db } = services;
  const leasedAt = sinceBoot();
  const { count, expiries } = await retryTransaction(() => db.transaction().execute((tx) => begin(tx, services, ehr)));
  await Promise.all(
    expiries.map(async ({ careUnit, operation, plan }) => {
      const run = startRun(services, { ehr, careUnit }, operation, {
        expiresAt: null,
        isFirst: true,
        hasCaller: true,
        leasedAt,
        patients: expiryKind.patientsOf(plan),
      });
      try {
        const about = { operation, kind: expiryKind.name, log };
        await recordedInBackground(services, about, () => perform(run, expiryKind, plan));
      } catch (error) {
        const cause = describeError(error instanceof OperationEnded ? error.problem : error);
        log.warn({ emr: ehr.id, operation_id: operation.id, cause }, 'expired holds could not be released yet');
      }
    }),
  );
  return count;
}

/**
 * Marks overdue confirmations under the lock that `decideCode` takes. Afterwards no code confirms them. A code that was
 * accepted just before keeps its hold.
 */
async function begin(tx: Tx, services: OperationServices, ehr: EhrConnection) {
  const overdue = await tx
    .selectFrom('confirmations as confirmation')
    .select(['confirmation.id', 'confirmation.care_unit_id'])
    .where(
      'confirmation.id',
      'in',
      tx
        .selectFrom('confirmation_items as item')
        .select('item.confirmation_id')
        .where('item.emr', '=', ehr.id)
        .where(mayExpire)
        .where('item.state', 'in', ['pending', 'expiring']),
    )
    .where(sql<SqlBool>`confirmation.expires_at <= now()`)
    .orderBy('confirmation.expires_at')
    .limit(atOnce)
    .forUpdate()
    .skipLocked()
    .execute();
  const expiries: Expiry[] = [];
  for (const [careUnitId, ids] of byCareUnit(overdue)) {
    const careUnit = ehr.careUnits.get(careUnitId);
    const operation = newOperation(ehr.id, careUnitId);
    const holds = await markExpiring(tx, operation.id, ids);
    if (!careUnit || holds.length === 0) {
      await markExpired(tx, ids);
      continue;
    }
    const plan = { confirmationIds: ids, holds };
    await storePlan(tx, operation, plannedFor({ services, ehr, careUnit, operation }, expiryKind, plan));
    expiries.push({ careUnit, operation, plan });
  }
  return { count: overdue.length, expiries };
}

function newOperation(emr: string, careUnitId: string): Leased {
  return { id: randomUUID(), clientId, emr, careUnitId, keyHash: undefined, token: randomUUID(), attempt: 0 };
}

function byCareUnit(overdue: readonly { readonly id: string; readonly care_unit_id: string }[]) {
  const groups = new Map<string, string[]>();
  for (const { id, care_unit_id } of overdue) groups.set(care_unit_id, [...(groups.get(care_unit_id) ?? []), id]);
  return groups;
}

/** Returns the EHR's ids of their holds. */
async function markExpiring(
  tx: Tx,
  operationId: string,
  confirmationIds: readonly string[],
): Promise<readonly string[]> {
  const items = await tx
    .updateTable('confirmation_items')
    .set({ state: 'expiring', sealed_comment: null, operation_id: operationId })
    .where('confirmation_id', 'in', [...confirmationIds])
    .where('state', 'in', ['pending', 'expiring'])
    .returning(['kind', 'ehr_appointment_id'])
    .execute();
  return items.flatMap(({ kind, ehr_appointment_id }) => (kind === 'booking' ? (ehr_appointment_id ?? []) : []));
}
