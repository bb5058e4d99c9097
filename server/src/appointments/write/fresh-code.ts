import { sql } from 'kysely';
import { hashCode, makeCode } from '../../confirmations/codes.ts';
import { awaitedOf, findItems } from '../../confirmations/items.ts';
import { assertWithinLimits, patientHashes } from '../../confirmations/limits.ts';
import { assertMayResend } from '../../confirmations/resend.ts';
import { codeExpiry } from '../../confirmations/store.ts';
import type { Tx } from '../../db/kysely.ts';
import type { Work } from '../../operations/kind.ts';
import type { FreshCode } from './plan.ts';
import { codeMessage, type Made } from './record.ts';

/**
 * The old code dies and a new one leaves; the lifetime starts anew, the attempts do not. Answers what awaits it.
 *
 * @throws Problem when the confirmation has ended or changed since the EHR was asked
 */
export async function recordFreshCode(
  tx: Tx,
  work: Work,
  fresh: FreshCode,
): Promise<readonly (readonly [string, Made])[]> {
  const { services, ehr, careUnit } = work;
  const { confirmationId, channel, to, appointments } = fresh;
  await assertMayResend(tx, confirmationId);
  const expiresAt = work.expiresAt ?? (await codeExpiry(tx, careUnit.code.lifetimeSeconds));
  const code = makeCode(careUnit.code.length);
  const { kind } = await tx
    .updateTable('confirmations')
    .set({
      code_hash: hashCode(services.keys, confirmationId, code),
      channel,
      codes_sent: sql<number>`codes_sent + 1`,
      code_sent_at: sql<Date>`clock_timestamp()`,
      expires_at: expiresAt,
    })
    .where('id', '=', confirmationId)
    .returning('kind')
    .executeTakeFirstOrThrow();
  await services.outbox.enqueue(tx, {
    ...codeMessage(work, { id: confirmationId, kind, channel, to }, appointments),
    code,
    expiresAt,
  });
  const ids = appointments.map(({ id }) => id);
  const items = await findItems(tx, ehr.id, careUnit.id, ids);
  return [...items].map(([id, item]) => [id, { id, awaited: awaitedOf(item) }] as const);
}

/** Before the EHR is asked: whether one more code may be sent. @throws Problem */
export async function assertMaySend(
  tx: Tx,
  { services, ehr, careUnit, clientId }: Pick<Work, 'services' | 'ehr' | 'careUnit' | 'clientId'>,
  { confirmationId, patientId }: Pick<FreshCode, 'confirmationId' | 'patientId'>,
): Promise<void> {
  await assertMayResend(tx, confirmationId);
  const hashes = patientHashes(services.keys, ehr.id, patientId);
  await assertWithinLimits(tx, { clientId, hashes }, careUnit.limitsPerPatient, 'fresh code');
}
