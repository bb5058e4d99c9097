import { sql } from 'kysely';
import { isFree } from '../appointments/free-time.ts';
import type { Tx } from '../db/kysely.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type Intent, otherPlans } from '../writes/intents.ts';
import { changeIndexOf, type PlannedChange, type WritePlan } from '../writes/plan.ts';

interface Scene {
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
}

/** Of the ids whose right code came too late for their time: those that cannot be booked any more. */
export async function idsWhoseTimeIsGone(scene: Scene, plan: WritePlan): Promise<string[]> {
  const gone: string[] = [];
  for (const id of plan.confirming?.ids ?? []) {
    const index = changeIndexOf(plan, id);
    const change = index === undefined ? undefined : plan.changes[index];
    if (change && (await isGone(scene, change))) gone.push(id);
  }
  return gone;
}

async function isGone({ ehr, careUnit }: Scene, change: PlannedChange): Promise<boolean> {
  if (change.kind === 'create') return !(await isFree(ehr, careUnit, change));
  if (change.kind !== 'confirm') return false;
  const [appointment] = await ehr.call('findAppointments', careUnit, [change.appointmentId]);
  return appointment === undefined || appointment.state === 'cancelled';
}

/**
 * The EHR has not done what the right code asked for, and the write has ended: the code waits again, except for times that
 * are gone. Ids that another request is confirming at the same time do not wait: that one's outcome counts.
 */
export async function waitAgain(
  tx: Tx,
  keys: KeyRing,
  ended: Pick<Intent, 'emr' | 'careUnitId' | 'operationId'>,
  plan: WritePlan,
  gone: readonly string[] = [],
): Promise<void> {
  const { confirming } = plan;
  if (!confirming) return;
  // Before its items, as whoever decides on a code locks them; and of two that end at once the second one is alone.
  await tx.selectFrom('confirmations').select('id').where('id', '=', confirming.confirmationId).forUpdate().execute();
  const others = await otherPlans(tx, keys, ended);
  const elsewhere = new Set(others.flatMap((other) => other?.confirming?.ids ?? []));
  for (const id of confirming.ids.filter((it) => !elsewhere.has(it))) {
    await tx
      .updateTable('confirmation_items')
      .set({ state: gone.includes(id) ? 'released' : 'pending' })
      .where('emr', '=', ended.emr)
      .where('appointment_id', '=', id)
      .where('state', '=', 'confirming')
      .execute();
  }
}

/** What the right code asked for was done in the EHR and undone: the next time it is another operation. */
export async function noteUndone(tx: Tx, { confirming }: WritePlan): Promise<void> {
  if (!confirming) return;
  await tx
    .updateTable('confirmations')
    .set({ times_undone: sql<number>`times_undone + 1` })
    .where('id', '=', confirming.confirmationId)
    .execute();
}
