import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import type { ConfirmationKind } from '../db/tables/confirmations.ts';
import type { Channel } from '../db/tables/messages.ts';
import type { CodeMessage } from '../messages/outbox.ts';
import type { Proposal } from '../writes/write-kind.ts';
import type { Awaited } from './items.ts';
import { countMessage } from './limits.ts';
import { hashCode, makeCode } from './store.ts';

interface CodeToIssue {
  readonly kind: ConfirmationKind;
  readonly channel: Channel;
  readonly to: string;
  readonly patientHash: Buffer;
  /** Where the page for the patient links back to. */
  readonly returnUrl: string | undefined;
  readonly expiresAt: Date;
  readonly items: readonly NewItem[];
  /** What the message lists. */
  readonly appointments: CodeMessage['appointments'];
}

/** Creates a code for ids that are not known to await one, and sends it. Returns what callers see of it. */
export async function issueCode(tx: Tx, place: Proposal, input: CodeToIssue): Promise<Awaited> {
  const { services, ehr, careUnit, clientId } = place;
  const { kind, channel, returnUrl, expiresAt, patientHash, items } = input;
  const { attempts } = careUnit.code;
  const id = randomUUID();
  const code = makeCode(careUnit.code.length);
  const pageTokenHash = services.pages.hashFor(id);
  // The URL can contain the caller's own identifiers.
  const sealedReturnUrl =
    returnUrl === undefined ? null : services.keys.seal('confirmation', returnUrl, confirmationContext(id));
  await storeConfirmation(tx, {
    id,
    clientId,
    emr: ehr.id,
    careUnitId: careUnit.id,
    kind,
    channel,
    codeHash: hashCode(services.keys, id, code),
    pageTokenHash,
    sealedReturnUrl,
    attempts,
    expiresAt,
    patientHash,
    items,
  });
  await sendCode(tx, place, { ...input, confirmationId: id, pageTokenHash, code });
  return {
    confirmationId: id,
    clientId,
    kind,
    channel,
    delivery: 'queued',
    expiresAt,
    attemptsRemaining: attempts,
    pageTokenHash,
  };
}

interface CodeToReplace {
  readonly confirmationId: string;
  readonly channel: Channel;
  readonly to: string;
  readonly expiresAt: Date;
  readonly appointments: CodeMessage['appointments'];
}

/** Replaces the code of a confirmation, and sends the new one. The lifetime restarts, the attempts do not. */
export async function replaceCode(tx: Tx, place: Proposal, input: CodeToReplace): Promise<void> {
  const { confirmationId, channel, expiresAt } = input;
  const { services, careUnit } = place;
  const code = makeCode(careUnit.code.length);
  const { kind, pageTokenHash } = await tx
    .updateTable('confirmations')
    .set({
      code_hash: hashCode(services.keys, confirmationId, code),
      channel,
      codes_sent: sql<number>`codes_sent + 1`,
      last_code_sent_at: sql<Date>`clock_timestamp()`,
      expires_at: expiresAt,
    })
    .where('id', '=', confirmationId)
    .returning(['kind', 'page_token_hash as pageTokenHash'])
    .executeTakeFirstOrThrow();
  await sendCode(tx, place, { ...input, kind, pageTokenHash, code });
}

type CodeToSend = Pick<
  CodeMessage,
  'confirmationId' | 'kind' | 'channel' | 'to' | 'code' | 'expiresAt' | 'appointments'
>;

async function sendCode(
  tx: Tx,
  { services, ehr, careUnit, clientId }: Proposal,
  { pageTokenHash, ...message }: CodeToSend & { readonly pageTokenHash: Buffer | null },
): Promise<void> {
  const { confirmationId, kind, channel, to, expiresAt, appointments } = message;
  const isLinked = careUnit.patientPage.link_in_messages;
  await countMessage(tx, clientId, channel);
  await services.outbox.enqueue(tx, {
    confirmationId,
    kind,
    channel,
    to,
    code: message.code,
    expiresAt,
    appointments,
    emr: ehr.id,
    careUnitId: careUnit.id,
    language: careUnit.language,
    clinicName: careUnit.name,
    timeZone: careUnit.timeZone,
    pageUrl: isLinked ? services.pages.urlOf(confirmationId, pageTokenHash) : null,
  });
}

interface NewConfirmation {
  readonly id: string;
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly kind: ConfirmationKind;
  readonly channel: Channel;
  readonly codeHash: Buffer;
  /** Null: there is no page for the patient. */
  readonly pageTokenHash: Buffer | null;
  /** Where the page links back to, encrypted. */
  readonly sealedReturnUrl: Buffer | null;
  readonly attempts: number;
  readonly expiresAt: Date;
  readonly patientHash: Buffer;
  readonly items: readonly NewItem[];
}

/** An appointment id that awaits the code. */
export interface NewItem {
  readonly id: string;
  /** Null: a draft that only the gateway stores. */
  readonly ehrAppointmentId: string | null;
  readonly replacesId?: string | null;
  readonly sealedComment?: Buffer | null;
  readonly sealedPatientDetails?: Buffer | undefined;
  readonly draft?: {
    readonly sealed: Buffer;
    readonly patientHash: Buffer;
    readonly resourceId: string;
    readonly start: Date;
    readonly end: Date;
  };
}

async function storeConfirmation(tx: Tx, made: NewConfirmation): Promise<void> {
  const { id, emr, careUnitId, kind } = made;
  await tx
    .insertInto('confirmations')
    .values({
      id,
      client_id: made.clientId,
      emr,
      care_unit_id: careUnitId,
      kind,
      channel: made.channel,
      code_hash: made.codeHash,
      page_token_hash: made.pageTokenHash,
      sealed_return_url: made.sealedReturnUrl,
      max_attempts: made.attempts,
      expires_at: made.expiresAt,
      patient_hash: made.patientHash,
      confirmed_at: null,
    })
    .execute();
  if (kind === 'cancellation') await expireOverdueCancellations(tx, made);
  await tx
    .insertInto('confirmation_items')
    .values(
      made.items.map((item, position) => ({
        emr,
        appointment_id: item.id,
        confirmation_id: id,
        care_unit_id: careUnitId,
        position,
        kind,
        ehr_appointment_id: item.ehrAppointmentId,
        replaces_id: item.replacesId ?? null,
        sealed_comment: item.sealedComment ?? null,
        sealed_draft: item.draft?.sealed ?? null,
        sealed_patient_details: item.sealedPatientDetails ?? null,
        patient_hash: item.draft?.patientHash ?? null,
        draft_resource_id: item.draft?.resourceId ?? null,
        draft_start: item.draft?.start ?? null,
        draft_end: item.draft?.end ?? null,
      })),
    )
    .execute();
}

/** An expired cancellation makes room for a new one, even before the background job has run. */
async function expireOverdueCancellations(tx: Tx, { emr, items }: NewConfirmation): Promise<void> {
  const ids = items.flatMap(({ ehrAppointmentId }) => ehrAppointmentId ?? []);
  if (ids.length === 0) return;
  await expireItems(
    tx,
    sql`emr = ${emr} AND ehr_appointment_id = ANY(${ids}::text[]) AND kind = 'cancellation' AND state = 'pending'
      AND (SELECT expires_at FROM confirmations WHERE id = confirmation_id) <= clock_timestamp()`,
  );
}

/** When a code that is created now expires, by the database's clock. */
export async function codeExpiry(tx: Tx, lifetimeSeconds: number): Promise<Date> {
  const { rows } = await sql<{ expires_at: Date }>`
    SELECT date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => ${lifetimeSeconds}) AS expires_at`.execute(
    tx,
  );
  if (!rows[0]) throw new Error('The database returned no time');
  return rows[0].expires_at;
}

/** The encryption context of a confirmation's sealed column. */
export function confirmationContext(id: string): string {
  return `confirmation ${id}`;
}

/**
 * Marks items of `confirmation_items` as `expired`, and writes the event of each by the same statement.
 *
 * @param which condition over `confirmation_items`, such as their confirmation and their present state
 */
export async function expireItems(tx: Tx, which: RawBuilder<boolean>): Promise<void> {
  await sql`
    WITH expired AS (
      UPDATE confirmation_items SET state = 'expired', operation_id = NULL WHERE ${which}
      RETURNING emr, care_unit_id, kind, appointment_id, coalesce(replaces_id, appointment_id) AS subject, confirmation_id)
    INSERT INTO events (type, emr, care_unit_id, subject, data, began_at)
    SELECT 'appointment.confirmation_expired', emr, care_unit_id, subject, jsonb_build_object(
      'appointment_id', subject,
      'cancellation_id', CASE kind WHEN 'cancellation' THEN appointment_id END,
      'status', CASE kind WHEN 'cancellation' THEN 'booked' ELSE 'cancelled' END,
      'start', NULL, 'end', NULL, 'resource_id', NULL, 'healthcare_service_id', NULL),
      (SELECT created_at FROM confirmations WHERE id = confirmation_id)
    FROM expired`.execute(tx);
}
