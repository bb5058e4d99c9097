import { randomInt, timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { Tx } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';

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
        sealed_patient_details: null,
        ...(ehrAppointmentId === undefined ? {} : { ehr_appointment_id: ehrAppointmentId }),
      })
      .where('emr', '=', emr)
      .where('appointment_id', '=', id)
      .where('state', '<>', 'confirmed')
      .execute();
  }
}

/**
 * After a write ended without confirming its ids: makes them `pending` again. Ids in `taken`, whose times are taken,
 * become `released`.
 */
export async function resetToPending(tx: Tx, writeId: string, taken: readonly string[] = []): Promise<void> {
  await tx
    .updateTable('confirmation_items')
    .set({
      state: sql<
        'pending' | 'released'
      >`CASE WHEN appointment_id = ANY(${[...taken]}::text[]) THEN 'released' ELSE 'pending' END`,
      operation_id: null,
    })
    .where('operation_id', '=', writeId)
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

/** The encryption context of an item's sealed columns. */
export function itemContext(emr: string, appointmentId: string): string {
  return `item ${emr} ${appointmentId}`;
}

/** Random digits from the system's secure source. May begin with zeros. */
export function makeCode(length: number): string {
  return Array.from({ length }, () => randomInt(10)).join('');
}

/** A keyed hash: without the secret key, trying all six-digit codes does not reveal the code. */
export function hashCode(keys: KeyRing, confirmationId: string, code: string): Buffer {
  return keys.hashes('code', `${confirmationId} ${code}`)[0];
}

/** Compares in constant time, with every known secret key. */
export function isCode(keys: KeyRing, confirmationId: string, code: string, kept: Buffer): boolean {
  let matches = false;
  for (const hash of keys.hashes('code', `${confirmationId} ${code}`)) {
    matches = (hash.length === kept.length && timingSafeEqual(hash, kept)) || matches;
  }
  return matches;
}
