import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Tx } from '../db/kysely.ts';
import { describeError } from '../http/describe-error.ts';
import { partId } from '../writes/ehr-write.ts';
import { releaseHolds } from '../writes/release-holds.ts';
import type { WriteServices } from '../writes/services.ts';

const atOnce = 50;

/**
 * Ends what has run out: it is marked, its holds are given up in the EHR, and it is marked as ended. What was broken off
 * in between goes on in the next round. Nobody depends on when this happens: whoever looks at a code looks at the clock
 * too.
 */
export async function expireConfirmations(services: WriteServices, log: Logger): Promise<void> {
  const overdue = await services.db
    .selectFrom('confirmations as confirmation')
    .innerJoin('confirmation_items as item', 'item.confirmation_id', 'confirmation.id')
    .select(['confirmation.id', 'confirmation.emr', 'confirmation.care_unit_id'])
    .where('item.state', 'in', ['pending', 'expiring'])
    .where(sql<boolean>`confirmation.expires_at <= clock_timestamp()`)
    .groupBy(['confirmation.id', 'confirmation.emr', 'confirmation.care_unit_id'])
    // Those of an EHR that is down must not keep the others waiting.
    .orderBy(sql`random()`)
    .limit(atOnce)
    .execute();
  for (const confirmation of overdue) {
    try {
      const held = await services.db.transaction().execute((tx) => beginToExpire(tx, services, confirmation.id));
      await release(services, confirmation, held);
      await markExpired(services, confirmation.id);
    } catch (error) {
      log.warn({ emr: confirmation.emr, cause: describeError(error) }, 'a hold that has run out could not be given up');
    }
  }
}

interface Overdue {
  readonly id: string;
  readonly emr: string;
  readonly care_unit_id: string;
}

/**
 * Marks what has run out, under the lock that deciding on a code takes: from then on no code confirms it, and one that
 * was taken a moment before keeps its hold. Answers what the EHR holds for it.
 */
async function beginToExpire(tx: Tx, { outbox }: WriteServices, id: string): Promise<readonly string[]> {
  const over = await tx
    .selectFrom('confirmations')
    .select('id')
    .where('id', '=', id)
    .where(sql<boolean>`expires_at <= clock_timestamp()`)
    .forUpdate()
    .executeTakeFirst();
  if (!over) return [];
  const { numUpdatedRows } = await tx
    .updateTable('confirmation_items')
    .set({ state: 'expiring', sealed_comment: null })
    .where('confirmation_id', '=', id)
    .where('state', '=', 'pending')
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await outbox.withdraw(tx, [id]);
  const items = await tx
    .selectFrom('confirmation_items')
    .select('ehr_appointment_id')
    .where('confirmation_id', '=', id)
    .where('state', '=', 'expiring')
    .where('kind', '=', 'booking')
    .orderBy('position')
    .execute();
  return items.flatMap((item) => item.ehr_appointment_id ?? []);
}

async function release(
  { ehrs }: WriteServices,
  { id, emr, care_unit_id }: Overdue,
  held: readonly string[],
): Promise<void> {
  const ehr = ehrs.get(emr);
  const careUnit = ehr?.careUnits.get(care_unit_id);
  if (ehr && careUnit) await releaseHolds({ ehr, careUnit }, partId(id, 'expired'), held);
}

async function markExpired({ db }: WriteServices, id: string): Promise<void> {
  await db
    .updateTable('confirmation_items')
    .set({ state: 'expired' })
    .where('confirmation_id', '=', id)
    .where('state', '=', 'expiring')
    .execute();
}
