import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import type { ConfirmationKind } from '../db/tables/confirmations.ts';
import type { Channel } from '../db/tables/messages.ts';
import { expireItems } from './expire-items.ts';

export interface NewConfirmation {
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
  readonly draft?: {
    readonly sealed: Buffer;
    readonly patientHash: Buffer;
    readonly resourceId: string;
    readonly start: Date;
    readonly end: Date;
  };
}

export async function storeConfirmation(tx: Tx, made: NewConfirmation): Promise<void> {
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

interface ConfirmedItem {
  readonly id: string;
  /** The EHR's id of a booked draft. */
  readonly ehrAppointmentId?: string | undefined;
}

/**
 * Records that the EHR has performed what the code confirms. This overrides any other state of the ids.
 */
export async function confirmItems(
  tx: Tx,
  {
    emr,
    confirmationId,
    items,
  }: {
    readonly emr: string;
    readonly confirmationId: string;
    readonly items: readonly ConfirmedItem[];
  },
): Promise<void> {
  // Lock the confirmation before its items, like `decideCode`, to avoid deadlocks.
  await tx
    .updateTable('confirmations')
    .set({ confirmed_at: sql<Date>`coalesce(confirmed_at, clock_timestamp())` })
    .where('id', '=', confirmationId)
    .execute();
  for (const { id, ehrAppointmentId } of items) {
    await tx
      .updateTable('confirmation_items')
      .set({
        state: 'confirmed',
        sealed_comment: null,
        sealed_draft: null,
        ...(ehrAppointmentId === undefined ? {} : { ehr_appointment_id: ehrAppointmentId }),
      })
      .where('emr', '=', emr)
      .where('appointment_id', '=', id)
      .where('state', '<>', 'confirmed')
      .execute();
  }
}

/**
 * After an operation ended without confirming its ids: makes them `pending` again. Ids in `taken`, whose times are taken,
 * become `released`.
 */
export async function resetToPending(tx: Tx, operationId: string, taken: readonly string[] = []): Promise<void> {
  await tx
    .updateTable('confirmation_items')
    .set({
      state: sql<
        'pending' | 'released'
      >`CASE WHEN appointment_id = ANY(${[...taken]}::text[]) THEN 'released' ELSE 'pending' END`,
      operation_id: null,
    })
    .where('operation_id', '=', operationId)
    .where('state', '=', 'confirming')
    .execute();
}

/** Releases ids that await a code. Returns them, and the confirmations that no id awaits any longer. */
export async function releaseItems(tx: Tx, emr: string, ids: readonly string[]) {
  if (ids.length === 0) return { released: [], finished: [] };
  const released = await tx
    .updateTable('confirmation_items')
    .set({ state: 'released' })
    .where('emr', '=', emr)
    .where('appointment_id', 'in', [...ids])
    .where('state', 'in', ['pending', 'confirming'])
    .returning(['confirmation_id', 'appointment_id', 'sealed_draft'])
    .execute();
  const touched = [...new Set(released.map((row) => row.confirmation_id))];
  if (touched.length === 0) return { released, finished: [] };
  const waiting = await tx
    .selectFrom('confirmation_items')
    .select('confirmation_id')
    .distinct()
    .where('confirmation_id', 'in', touched)
    .where('state', 'in', ['pending', 'confirming'])
    .execute();
  const stillWaiting = new Set(waiting.map((row) => row.confirmation_id));
  return { released, finished: touched.filter((id) => !stillWaiting.has(id)) };
}

export async function replaceDraft(tx: Tx, emr: string, id: string, sealed: Buffer): Promise<void> {
  await tx
    .updateTable('confirmation_items')
    .set({ sealed_draft: sealed })
    .where('emr', '=', emr)
    .where('appointment_id', '=', id)
    .execute();
}

/** The encryption context of a confirmation's sealed column. */
export function confirmationContext(id: string): string {
  return `confirmation ${id}`;
}

/** The encryption context of an item's sealed columns. */
export function itemContext(emr: string, appointmentId: string): string {
  return `item ${emr} ${appointmentId}`;
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
