import type { EhrConfirmation, Patient } from '@crossward/connector-kit';
import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import { retrySerialization } from '../db/retry.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { Answer } from '../idempotency/kept-write.ts';
import type { CodeMessage } from '../messages/outbox.ts';
import { Problem } from '../problems/problem.ts';
import { expiry } from '../writes/perform.ts';
import type { WriteServices } from '../writes/services.ts';
import { hashCode, makeCode } from './codes.ts';
import { assertWithinLimits, patientHashes } from './limits.ts';

const mostCodes = 3;
const secondsBetween = 30;

interface Resend {
  readonly services: WriteServices;
  readonly clientId: string;
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly confirmationId: string;
  readonly patient: Pick<Patient, 'id'>;
  readonly contact: Pick<CodeMessage, 'channel' | 'to'>;
  readonly appointments: CodeMessage['appointments'];
  /** Lets the EHR hold its times until then. No connection to the database is held meanwhile. */
  readonly extendHolds: (until: Date) => Promise<void>;
  readonly keepAnswer: KeepAnswer;
}

/** Makes the answer and stores it, in the transaction that makes it true: a retry must not send once more. */
type KeepAnswer = (tx: Tx) => Promise<Answer>;

/** Lets an EHR that sends codes itself send a fresh one. The limits are the same. */
export async function resendByEhr(
  { db }: WriteServices,
  confirmationId: string,
  ask: () => Promise<EhrConfirmation>,
  keepAnswer: KeepAnswer,
): Promise<Answer> {
  await db.transaction().execute((tx) => assertMayResend(tx, confirmationId));
  const { channel, expiresAt, attemptsRemaining } = await ask();
  return db.transaction().execute(async (tx) => {
    await tx
      .updateTable('confirmations')
      .set({
        channel,
        expires_at: expiresAt,
        attempts_used: 0,
        attempts_allowed: attemptsRemaining,
        codes_sent: sql<number>`codes_sent + 1`,
        code_sent_at: sql<Date>`clock_timestamp()`,
      })
      .where('id', '=', confirmationId)
      .execute();
    return keepAnswer(tx);
  });
}

/**
 * Sends a fresh code: the old one dies, the lifetime starts anew, the attempts do not.
 *
 * @throws Problem `confirmation_expired`, `confirmation_locked`, `confirmation_not_pending`, `resend_limit_reached`,
 *   `rate_limited`, `patient_limit_reached`
 */
export async function resendCode(resend: Resend): Promise<Answer> {
  const { services, clientId, ehr, careUnit, confirmationId, patient, contact } = resend;
  const hashes = patientHashes(services.keys, ehr.id, patient.id);
  const inTurn = <Result>(run: (tx: Tx) => Promise<Result>) =>
    retrySerialization(() =>
      services.db.transaction().execute(async (tx) => {
        await assertMayResend(tx, confirmationId);
        await assertWithinLimits(tx, { clientId, hashes }, careUnit.limitsPerPatient, 'fresh code');
        return run(tx);
      }),
    );
  const expiresAt = await inTurn((tx) => expiry(tx, careUnit.code.lifetimeSeconds));
  await resend.extendHolds(expiresAt);
  return inTurn(async (tx) => {
    const code = makeCode(careUnit.code.length);
    const { kind } = await tx
      .updateTable('confirmations')
      .set({
        code_hash: hashCode(services.keys, confirmationId, code),
        channel: contact.channel,
        codes_sent: sql<number>`codes_sent + 1`,
        code_sent_at: sql<Date>`clock_timestamp()`,
        expires_at: expiresAt,
      })
      .where('id', '=', confirmationId)
      .returning('kind')
      .executeTakeFirstOrThrow();
    await services.outbox.enqueue(tx, {
      confirmationId,
      emr: ehr.id,
      careUnitId: careUnit.id,
      kind,
      ...contact,
      language: careUnit.language,
      clinicName: careUnit.name,
      timeZone: careUnit.timeZone,
      appointments: resend.appointments,
      code,
      expiresAt,
    });
    return resend.keepAnswer(tx);
  });
}

async function assertMayResend(tx: Tx, confirmationId: string): Promise<void> {
  const row = await tx
    .selectFrom('confirmations as confirmation')
    .select(['attempts_used', 'attempts_allowed', 'codes_sent'])
    .select(sql<boolean>`expires_at <= clock_timestamp()`.as('is_over'))
    .select(
      sql<number>`ceil(${secondsBetween}::float8 - extract(epoch FROM clock_timestamp() - code_sent_at)::float8)`.as(
        'seconds_to_wait',
      ),
    )
    .select(
      sql<boolean>`EXISTS (SELECT 1 FROM confirmation_items WHERE confirmation_id = confirmation.id AND state = 'pending')`.as(
        'is_pending',
      ),
    )
    .where('id', '=', confirmationId)
    .forUpdate()
    .executeTakeFirst();
  if (!row?.is_pending) throw new Problem('confirmation_not_pending');
  if (row.attempts_used >= row.attempts_allowed) throw new Problem('confirmation_locked');
  if (row.is_over) throw new Problem('confirmation_expired');
  if (row.codes_sent >= mostCodes) throw new Problem('resend_limit_reached');
  if (row.seconds_to_wait > 0) {
    throw new Problem('rate_limited', {
      detail: `A fresh code can be sent ${secondsBetween} seconds after the one before.`,
      headers: { 'retry-after': String(row.seconds_to_wait) },
    });
  }
}
