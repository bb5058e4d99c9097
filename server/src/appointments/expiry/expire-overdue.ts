import { randomUUID } from 'node:crypto';
import { type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import { recordedAccess } from '../../api/recorded-access.ts';
import type { Db, Tx } from '../../db/kysely.ts';
import { inTransaction } from '../../db/transactions.ts';
import type { CareUnitConnection, EhrConnection } from '../../ehr/connection.ts';
import { describeError } from '../../log/describe-error.ts';
import { OutdatedPlan } from '../../problems/write-errors.ts';
import { write } from '../../writes/write.ts';
import type { WriteServices } from '../../writes/write-kind.ts';
import { plannedWrite } from '../../writes/write-kind.ts';
import { type ExpiryPlan, expiryKind, markExpired } from './kind.ts';

const atOnce = 100;
/** The client id of writes without a client. */
const clientId = 'background';

/** A condition on `confirmation_items AS item`: no write releases its hold yet. */
export const mayExpire = sql<SqlBool>`(item.state = 'pending' OR (item.state = 'expiring' AND item.operation_id IS NULL))`;

/** A condition on `confirmations AS confirmation`. */
const isOverdue = sql<SqlBool>`confirmation.expires_at <= now()`;

/**
 * Expires overdue confirmations of one EHR: marks their items `expiring`, releases their holds in the EHR, and marks them
 * `expired`. The timing is not critical, since every check of a code compares the time too. Returns how many confirmations
 * were overdue.
 */
export async function expireOverdue(services: WriteServices, ehr: EhrConnection, log: Logger): Promise<number> {
  const overdue = await findOverdue(services.db, ehr);
  const byCareUnit = Map.groupBy(overdue, ({ care_unit_id }) => care_unit_id);
  await Promise.all(
    [...byCareUnit].map(([careUnitId, confirmations]) => {
      const careUnit = ehr.careUnits.get(careUnitId);
      const ids = confirmations.map(({ id }) => id);
      return careUnit ? expireIn(services, { ehr, careUnit }, ids, log) : expireWithoutEhr(services, ids);
    }),
  );
  return overdue.length;
}

async function expireIn(
  services: WriteServices,
  place: { readonly ehr: EhrConnection; readonly careUnit: CareUnitConnection },
  ids: readonly string[],
  log: Logger,
): Promise<void> {
  const emr = place.ehr.id;
  const access = {
    actor: 'background' as const,
    clientId,
    emr,
    careUnitId: place.careUnit.id,
    operation: expiryKind.name,
    outcomeOf: (_: object, left = 'success') => left,
    notStored: (cause: unknown) => log.error({ emr, cause: describeError(cause) }, 'audit entry not stored'),
  };
  const request = {
    ...place,
    clientId,
    requestId: randomUUID(),
    keyed: undefined,
    begin: async () => undefined,
    plan: () => planExpiry(services.db, ids),
  };
  try {
    await recordedAccess(services.audit, access, () => write(services, request));
  } catch (error) {
    log.warn({ emr, cause: describeError(error) }, 'expired holds could not be released yet');
  }
}

/** The EHR of the care unit is no longer configured. */
function expireWithoutEhr(services: WriteServices, ids: readonly string[]): Promise<void> {
  return inTransaction(services.db, async (tx) => {
    await markExpiring(tx, randomUUID(), ids);
    await markExpired(tx, ids);
  });
}

async function planExpiry(db: Db, ids: readonly string[]) {
  const items = await db
    .selectFrom('confirmation_items as item')
    .innerJoin('confirmations as confirmation', 'confirmation.id', 'item.confirmation_id')
    .select(['item.confirmation_id', 'item.kind', 'item.ehr_appointment_id'])
    .where('confirmation.id', 'in', [...ids])
    .where(isOverdue)
    .where(mayExpire)
    .execute();
  const confirmationIds = [...new Set(items.map(({ confirmation_id }) => confirmation_id))];
  const plan: ExpiryPlan = { confirmationIds, holds: holdsOf(items) };
  return plannedWrite(expiryKind, plan, async (tx, writeId) => {
    const holds = await markExpiring(tx, writeId, confirmationIds);
    if (holds.toSorted().join() !== plan.holds.toSorted().join())
      throw new OutdatedPlan('A code was accepted, or another gateway releases the holds.');
    return undefined;
  });
}

/** Those of a care unit that is not configured here wait for another gateway first, which can release their holds. */
function findOverdue(db: Db, { id: emr, careUnits }: EhrConnection) {
  return db
    .selectFrom('confirmations as confirmation')
    .select(['confirmation.id', 'confirmation.care_unit_id'])
    .where(
      'confirmation.id',
      'in',
      db
        .selectFrom('confirmation_items as item')
        .select('item.confirmation_id')
        .where('item.emr', '=', emr)
        .where(mayExpire)
        .where('item.state', 'in', ['pending', 'expiring']),
    )
    .where(isOverdue)
    .where(
      sql<SqlBool>`(confirmation.care_unit_id = ANY(${[...careUnits.keys()]}::text[])
        OR confirmation.expires_at <= now() - interval '10 minutes')`,
    )
    .orderBy('confirmation.expires_at')
    .limit(atOnce)
    .execute();
}

/**
 * Marks items under the lock that `decideCode` takes. Afterwards no code confirms them. A code that was accepted just before
 * keeps its hold. Returns the EHR's ids of their holds.
 */
async function markExpiring(tx: Tx, writeId: string, confirmationIds: readonly string[]): Promise<readonly string[]> {
  if (confirmationIds.length === 0) return [];
  const overdue = await tx
    .selectFrom('confirmations as confirmation')
    .select('confirmation.id')
    .where('confirmation.id', 'in', [...confirmationIds])
    .where(isOverdue)
    .orderBy('confirmation.id')
    .forUpdate()
    .execute();
  if (overdue.length === 0) return [];
  const items = await tx
    .updateTable('confirmation_items as item')
    .set({ state: 'expiring', sealed_comment: null, operation_id: writeId })
    .where(
      'item.confirmation_id',
      'in',
      overdue.map(({ id }) => id),
    )
    .where(mayExpire)
    .returning(['item.kind', 'item.ehr_appointment_id'])
    .execute();
  return holdsOf(items);
}

function holdsOf(items: readonly { readonly kind: string; readonly ehr_appointment_id: string | null }[]): string[] {
  return items.flatMap(({ kind, ehr_appointment_id }) => (kind === 'booking' ? (ehr_appointment_id ?? []) : []));
}
