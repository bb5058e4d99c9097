import { randomUUID } from 'node:crypto';
import { type SqlBool, sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import type { ConfirmationKind, ItemState } from '../db/tables/confirmations.ts';
import type { Channel } from '../db/tables/messages.ts';
import { type DeliveryState, deliveryStateOf } from '../messages/delivery-state.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { patientBehind } from '../secrets/patient-tokens.ts';

/** An appointment id that awaits or awaited a code. */
export interface Item {
  readonly id: string;
  readonly confirmationId: string;
  /** The client that started the confirmation. Only this client can enter or resend its code. */
  readonly clientId: string;
  readonly kind: ConfirmationKind;
  readonly state: Exclude<ItemState, 'expiring'>;
  /** Awaits its code, by the database's clock. An id that is being confirmed does not expire. */
  readonly isPending: boolean;
  readonly ehrAppointmentId: string | null;
  readonly replacesId: string | null;
  readonly sealedComment: Buffer | null;
  readonly sealedDraft: Buffer | null;
  readonly sealedPatientDetails: Buffer | null;
  readonly channel: Channel;
  readonly delivery: DeliveryState;
  readonly expiresAt: Date;
  readonly attemptsRemaining: number;
  readonly pageTokenHash: Buffer | null;
}

/** A code that is awaited, as shown to the caller. */
export interface Awaited {
  readonly confirmationId: string;
  /** Absent in stored plans of earlier versions. */
  readonly clientId?: string;
  readonly kind: ConfirmationKind;
  readonly channel: Channel;
  readonly delivery: DeliveryState;
  readonly expiresAt: Date;
  readonly attemptsRemaining: number;
  readonly pageTokenHash: Buffer | null;
}

export function awaitedOf(item: Item): Awaited {
  const { confirmationId, clientId, kind, channel, delivery, expiresAt, attemptsRemaining, pageTokenHash } = item;
  return { confirmationId, clientId, kind, channel, delivery, expiresAt, attemptsRemaining, pageTokenHash };
}

/** SQL over a join of `item` and `confirmation`. */
export const isPendingSql = sql<boolean>`
  (item.state = 'confirming' OR (item.state = 'pending' AND confirmation.expires_at > clock_timestamp()))`;

/** Callers see `expiring` as `expired`: whether the EHR has released the hold yet does not matter to them. */
const stateSql = sql<Item['state']>`CASE item.state WHEN 'expiring' THEN 'expired' ELSE item.state END`;

/** A message is deleted before its confirmation. */
const deliverySql = sql<DeliveryState>`coalesce(${deliveryStateOf('confirmation.id')}, 'sent')`;

/** Selects items of one care unit with their confirmations. */
export function selectItems(db: Db | Tx, emr: string, careUnitId: string) {
  return db
    .selectFrom('confirmation_items as item')
    .innerJoin('confirmations as confirmation', 'confirmation.id', 'item.confirmation_id')
    .select([
      'item.appointment_id as id',
      'item.confirmation_id as confirmationId',
      'item.kind',
      'item.ehr_appointment_id as ehrAppointmentId',
      'item.replaces_id as replacesId',
      'item.sealed_comment as sealedComment',
      'item.sealed_draft as sealedDraft',
      'item.sealed_patient_details as sealedPatientDetails',
      'confirmation.client_id as clientId',
      'confirmation.channel',
      'confirmation.expires_at as expiresAt',
      'confirmation.page_token_hash as pageTokenHash',
    ])
    .select(sql<number>`greatest(confirmation.max_attempts - confirmation.failed_attempts, 0)`.as('attemptsRemaining'))
    .select(stateSql.as('state'))
    .select(isPendingSql.as('isPending'))
    .select(deliverySql.as('delivery'))
    .where('item.emr', '=', emr)
    .where('item.care_unit_id', '=', careUnitId);
}

/** Items by the callers' ids. */
export async function findItems(
  db: Db | Tx,
  emr: string,
  careUnitId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Item>> {
  if (ids.length === 0) return new Map();
  const rows: Item[] = await selectItems(db, emr, careUnitId)
    .where('item.appointment_id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Bookings that needed a code, by the EHR's id of the appointment. Callers know a booked draft by the id of the draft. */
export function findBookings(db: Db | Tx, emr: string, careUnitId: string, ehrIds: readonly string[]) {
  return findByEhrIds(ehrIds, selectItems(db, emr, careUnitId).where('item.kind', '=', 'booking'));
}

/** Cancellations that await a code, by the EHR's id of the original. */
export function findPendingCancellations(db: Db | Tx, emr: string, careUnitId: string, ehrIds: readonly string[]) {
  const cancellations = selectItems(db, emr, careUnitId).where('item.kind', '=', 'cancellation');
  return findByEhrIds(ehrIds, cancellations.where(sql<SqlBool>`${isPendingSql}`));
}

async function findByEhrIds(
  ids: readonly string[],
  items: ReturnType<typeof selectItems>,
): Promise<ReadonlyMap<string, Item>> {
  if (ids.length === 0) return new Map();
  const rows: Item[] = await items.where('item.ehr_appointment_id', 'in', [...ids]).execute();
  return new Map(rows.flatMap((row) => (row.ehrAppointmentId === null ? [] : [[row.ehrAppointmentId, row] as const])));
}

/** The cancellation of an appointment that awaits a code, or else the last one whose code was entered. */
export async function findCancellation(
  db: Db | Tx,
  emr: string,
  careUnitId: string,
  ehrAppointmentId: string,
): Promise<Item | undefined> {
  return selectItems(db, emr, careUnitId)
    .where('item.kind', '=', 'cancellation')
    .where('item.ehr_appointment_id', '=', ehrAppointmentId)
    .where(sql<SqlBool>`(${isPendingSql} OR item.state = 'confirmed')`)
    .orderBy(isPendingSql, 'desc')
    .orderBy('confirmation.expires_at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Keyed hashes that stand for a patient in the gateway's tables, one for each secret key, the newest first. */
export function patientHashes(keys: KeyRing, emr: string, patientId: string): [Buffer, ...Buffer[]] {
  return keys.hashes('patient', `${emr} ${patientBehind(keys, emr, patientId)}`);
}

/** Whether a confirmation item is of this patient. Not known any more once the item is purged. */
export async function isOfPatient(
  { db, keys }: { readonly db: Db; readonly keys: KeyRing },
  emr: string,
  appointmentId: string,
  patientId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('confirmation_items')
    .select('appointment_id')
    .where('emr', '=', emr)
    .where('appointment_id', '=', appointmentId)
    .where('patient_hash', 'in', patientHashes(keys, emr, patientId))
    .executeTakeFirst();
  return row !== undefined;
}

const prefix = 'cw-';
const pattern = /^cw-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Creates an appointment id for a two-step cancellation or a draft. */
export function makeGatewayId(): string {
  return `${prefix}${randomUUID()}`;
}

/** Whether the id has the gateway's format. Those are looked up in its tables before the EHR. */
export function isGatewayId(id: string): boolean {
  return pattern.test(id);
}
