import { sql } from 'kysely';
import type { Logger } from 'pino';
import { describeError } from '../http/describe-error.ts';
import { changeAppointments, partId } from '../writes/ehr-changes.ts';
import type { WriteServices } from '../writes/services.ts';

const atOnce = 50;

/**
 * Ends what has run out: holds are given up in the EHR, and what waited is marked. Nobody depends on when this happens:
 * whoever looks at a code looks at the clock too.
 */
export async function expireConfirmations(services: WriteServices, log: Logger): Promise<void> {
  const overdue = await services.db
    .selectFrom('confirmations as confirmation')
    .innerJoin('confirmation_items as item', 'item.confirmation_id', 'confirmation.id')
    .select([
      'confirmation.id',
      'confirmation.emr',
      'confirmation.care_unit_id',
      sql<string[]>`array_agg(item.ehr_appointment_id ORDER BY item.position)
        FILTER (WHERE item.kind = 'booking' AND item.ehr_appointment_id IS NOT NULL)`.as('held'),
    ])
    .where('item.state', '=', 'pending')
    .where(sql<boolean>`confirmation.expires_at <= clock_timestamp()`)
    .groupBy(['confirmation.id', 'confirmation.emr', 'confirmation.care_unit_id'])
    .limit(atOnce)
    .execute();
  for (const confirmation of overdue) {
    try {
      await release(services, confirmation);
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
  readonly held: readonly string[] | null;
}

/** What somebody has booked in the meantime stays booked: the EHR refuses to release it. */
async function release({ ehrs }: WriteServices, { id, emr, care_unit_id, held }: Overdue): Promise<void> {
  const ehr = ehrs.get(emr);
  const careUnit = ehr?.careUnits.get(care_unit_id);
  if (!ehr || !careUnit) return;
  const appointments = held && held.length > 0 ? await ehr.call('findAppointments', careUnit, held) : [];
  const changes = appointments
    .filter(({ state }) => state === 'held')
    .map(({ id: appointmentId }) => ({ kind: 'release', appointmentId }) as const);
  if (changes.length === 0) return;
  await changeAppointments({ ehr, careUnit, operationId: partId(id, 'expired'), changes });
}

async function markExpired({ db, outbox }: WriteServices, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('confirmation_items')
      .set({ state: 'expired', sealed_comment: null })
      .where('confirmation_id', '=', id)
      .where('state', '=', 'pending')
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('confirmations')
            .select('id')
            .where('id', '=', id)
            .where(sql<boolean>`expires_at <= clock_timestamp()`),
        ),
      )
      .executeTakeFirst();
    if (numUpdatedRows > 0n) await outbox.withdraw(tx, [id]);
  });
}
