import { randomUUID } from 'node:crypto';
import type { Appointment, EhrConfirmation } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { hashCode, makeCode } from '../confirmations/codes.ts';
import { awaitedOf, findPendingCancellations } from '../confirmations/items.ts';
import { patientHashes } from '../confirmations/limits.ts';
import type { Tx } from '../db/kysely.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { CodeMessage } from '../messages/outbox.ts';
import { type Awaited, changeIndexOf, type PlannedConfirmation, type PlannedItem, type WritePlan } from './plan.ts';
import type { WriteServices } from './services.ts';

export interface Commit {
  readonly services: WriteServices;
  readonly clientId: string;
  readonly ehr: EhrConnection;
  readonly careUnit: CareUnitConnection;
  readonly plan: WritePlan;
  /** The EHR's answers to the changes. */
  readonly results: readonly Appointment[];
  readonly expiresAt: Date | null;
  readonly ehrConfirmation?: EhrConfirmation | undefined;
}

/** An id of the answer that awaits a code. */
export interface Made {
  readonly id: string;
  readonly awaited: Awaited;
}
/** By the id that the plan gave it, which differs where a cancellation was waiting already. */
export type MadeIds = ReadonlyMap<string, Made>;

/**
 * What the gateway itself has to remember of a write that the EHR has done, in the transaction that ends it: codes and
 * their messages, codes that have served or are given up. Answers which ids of the answer await a code.
 */
export async function commitPlan(tx: Tx, commit: Commit): Promise<MadeIds> {
  const made = new Map<string, Made>();
  await endConfirming(tx, commit);
  await releaseItems(tx, commit);
  const ehrMade = await noteEhrConfirmation(tx, commit);
  if (ehrMade) made.set(ehrMade.id, ehrMade);
  for (const planned of commit.plan.confirmations) {
    const { waiting, rest } = await withoutWaiting(tx, commit, planned);
    for (const [plannedId, it] of waiting) made.set(plannedId, it);
    if (rest.items.length === 0) continue;
    const { ids, confirmation } = await makeConfirmation(tx, commit, rest);
    for (const id of ids) made.set(id, { id, awaited: confirmation });
  }
  return made;
}

/**
 * Another request may have started the cancellation of the same appointment a moment before: then its id is answered and
 * nothing is sent again. Whoever comes second waits here for the first.
 */
async function withoutWaiting(tx: Tx, { ehr, careUnit }: Commit, planned: PlannedConfirmation) {
  const originals = planned.items.flatMap((item) => ('original' in item ? item.original.id : [])).sort();
  for (const id of originals) {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`cancellation ${ehr.id} ${id}`}, 0))`.execute(tx);
  }
  const found = await findPendingCancellations(tx, ehr.id, careUnit.id, originals);
  const waiting = new Map<string, Made>();
  const items = planned.items.filter((item) => {
    const pending = 'original' in item ? found.get(item.original.id) : undefined;
    if (!pending || !('original' in item)) return true;
    waiting.set(item.newId, { id: pending.id, awaited: awaitedOf(pending) });
    return false;
  });
  return { waiting, rest: { ...planned, items } };
}

async function makeConfirmation(tx: Tx, commit: Commit, planned: PlannedConfirmation) {
  const { services, ehr, careUnit, clientId, expiresAt } = commit;
  if (!expiresAt) throw new Error('A write that makes a code has no expiry');
  const id = randomUUID();
  const code = makeCode(careUnit.code.length);
  const items = planned.items.map((item, position) => ({
    ...itemRow(commit, planned, item),
    confirmation_id: id,
    position,
  }));
  await tx
    .insertInto('confirmations')
    .values({
      id,
      client_id: clientId,
      emr: ehr.id,
      care_unit_id: careUnit.id,
      kind: planned.kind,
      channel: planned.channel,
      code_hash: hashCode(services.keys, id, code),
      ehr_reference: null,
      attempts_allowed: careUnit.code.attempts,
      expires_at: expiresAt,
      patient_hash: patientHashes(services.keys, ehr.id, planned.patientId)[0],
      confirmed_at: null,
    })
    .execute();
  await expireOverdueCancellations(
    tx,
    ehr.id,
    items.flatMap((item) => item.ehr_appointment_id ?? []),
  );
  await tx.insertInto('confirmation_items').values(items).execute();
  await services.outbox.enqueue(tx, message(commit, planned, id, code, expiresAt));
  return {
    ids: items.map((item) => item.appointment_id),
    confirmation: {
      confirmationId: id,
      kind: planned.kind,
      channel: planned.channel,
      delivery: 'queued' as const,
      expiresAt,
      attemptsRemaining: careUnit.code.attempts,
    },
  };
}

/** A code that the EHR has sent: nothing of it is kept but the EHR's name for it. */
async function noteEhrConfirmation(tx: Tx, { services, clientId, ehr, careUnit, plan, ehrConfirmation }: Commit) {
  const { viaEhr } = plan;
  if (!viaEhr || viaEhr.kind === 'confirm' || !ehrConfirmation) return undefined;
  const { appointment, channel, expiresAt, attemptsRemaining, reference } = ehrConfirmation;
  const kind = viaEhr.kind === 'request booking' ? 'booking' : 'cancellation';
  const id = viaEhr.kind === 'request booking' ? appointment.id : viaEhr.newId;
  const confirmationId = randomUUID();
  await tx
    .insertInto('confirmations')
    .values({
      id: confirmationId,
      client_id: clientId,
      emr: ehr.id,
      care_unit_id: careUnit.id,
      kind,
      channel,
      code_hash: null,
      ehr_reference: reference,
      attempts_allowed: attemptsRemaining,
      expires_at: expiresAt,
      patient_hash: patientHashes(services.keys, ehr.id, appointment.patientId)[0],
      confirmed_at: null,
    })
    .execute();
  if (kind === 'cancellation') await expireOverdueCancellations(tx, ehr.id, [appointment.id]);
  await tx
    .insertInto('confirmation_items')
    .values({
      emr: ehr.id,
      appointment_id: id,
      confirmation_id: confirmationId,
      care_unit_id: careUnit.id,
      position: 0,
      kind,
      ehr_appointment_id: appointment.id,
      replaces_id: viaEhr.kind === 'request cancellation' ? viaEhr.replacesId : null,
      sealed_comment: null,
      sealed_draft: null,
      patient_hash: null,
      draft_resource_id: null,
      draft_start: null,
      draft_end: null,
    })
    .execute();
  return {
    id,
    awaited: { confirmationId, kind, channel, delivery: 'sent' as const, expiresAt, attemptsRemaining } as const,
  };
}

/** A code that has run out makes room for a new one, whether or not the job has been by. */
async function expireOverdueCancellations(tx: Tx, emr: string, ehrAppointmentIds: readonly string[]): Promise<void> {
  if (ehrAppointmentIds.length === 0) return;
  await tx
    .updateTable('confirmation_items as item')
    .from('confirmations as confirmation')
    .set({ state: 'expired' })
    .whereRef('confirmation.id', '=', 'item.confirmation_id')
    .where('item.emr', '=', emr)
    .where('item.ehr_appointment_id', 'in', [...ehrAppointmentIds])
    .where('item.kind', '=', 'cancellation')
    .where('item.state', '=', 'pending')
    .where(sql<boolean>`confirmation.expires_at <= clock_timestamp()`)
    .execute();
}

function message(
  { plan, results, ehr, careUnit }: Commit,
  planned: PlannedConfirmation,
  confirmationId: string,
  code: string,
  expiresAt: Date,
): CodeMessage {
  const inAnswer = (id: string) =>
    plan.answer.findIndex((entry) => (entry.id ?? answeredId(entry.from, results)) === id);
  const appointments = planned.items
    .map((item) => itemAppointment(item, results))
    .sort((a, b) => inAnswer(a.id) - inAnswer(b.id));
  return {
    confirmationId,
    emr: ehr.id,
    careUnitId: careUnit.id,
    kind: planned.kind,
    channel: planned.channel,
    to: planned.to,
    language: careUnit.language,
    clinicName: careUnit.name,
    timeZone: careUnit.timeZone,
    appointments,
    code,
    expiresAt,
  };
}

function answeredId(from: WritePlan['answer'][number]['from'], results: readonly Appointment[]): string | undefined {
  return 'change' in from ? results[from.change]?.id : from.appointment.id;
}

function itemAppointment(item: PlannedItem, results: readonly Appointment[]): { id: string; start: Date } {
  if ('change' in item) return result(results, item.change);
  if ('draft' in item) return { id: item.newId, start: item.draft.start };
  return { id: item.newId, start: item.original.start };
}

function result(results: readonly (Appointment | undefined)[], index: number): Appointment {
  const appointment = results[index];
  if (!appointment) throw new Error('The EHR answered fewer appointments than it was given changes');
  return appointment;
}

function itemRow({ services, ehr, careUnit, results }: Commit, planned: PlannedConfirmation, item: PlannedItem) {
  const { id } = itemAppointment(item, results);
  const common = {
    emr: ehr.id,
    appointment_id: id,
    care_unit_id: careUnit.id,
    kind: planned.kind,
    ehr_appointment_id: null,
    replaces_id: null,
    sealed_comment: null,
    sealed_draft: null,
    patient_hash: null,
    draft_resource_id: null,
    draft_start: null,
    draft_end: null,
  };
  if ('change' in item) return { ...common, ehr_appointment_id: id };
  const seal = (value: unknown) => services.keys.seal('confirmation', JSON.stringify(value), itemContext(ehr.id, id));
  if ('draft' in item) {
    return {
      ...common,
      sealed_draft: seal(item.draft),
      patient_hash: patientHashes(services.keys, ehr.id, planned.patientId)[0],
      draft_resource_id: item.draft.resourceId,
      draft_start: item.draft.start,
      draft_end: item.draft.end,
    };
  }
  return {
    ...common,
    ehr_appointment_id: item.original.id,
    replaces_id: item.replacesId,
    sealed_comment: item.comment === undefined ? null : seal(item.comment),
  };
}

/** What sealed columns of an item are bound to. */
export function itemContext(emr: string, appointmentId: string): string {
  return `item ${emr} ${appointmentId}`;
}

/**
 * The code has come: its ids are booked or cancelled in the EHR, and a draft has become an appointment. What the EHR has
 * done counts, whatever else was decided about them meanwhile.
 */
async function endConfirming(tx: Tx, { services, plan, results, ehr }: Commit): Promise<void> {
  if (!plan.confirming) return;
  const { confirmationId, ids } = plan.confirming;
  // The EHR has checked the code; its hash recognises it when it is sent again.
  const checked =
    plan.viaEhr?.kind === 'confirm' ? hashCode(services.keys, confirmationId, plan.viaEhr.code) : undefined;
  // Before its items, as whoever decides on a code locks them.
  await tx
    .updateTable('confirmations')
    .set({ confirmed_at: firstConfirmed, ...(checked ? { code_hash: checked } : {}) })
    .where('id', '=', confirmationId)
    .execute();
  for (const id of ids) await confirmItem(tx, ehr.id, plan, id, results);
}

/** Of a write that the EHR has refused, the ids that it has confirmed all the same, and does not give back. */
export async function confirmStuck(
  tx: Tx,
  emr: string,
  plan: WritePlan,
  stuck: ReadonlyMap<number, Appointment>,
): Promise<void> {
  const { confirming } = plan;
  if (!confirming || stuck.size === 0) return;
  await tx
    .updateTable('confirmations')
    .set({ confirmed_at: firstConfirmed })
    .where('id', '=', confirming.confirmationId)
    .execute();
  const results = plan.changes.map((_, index) => stuck.get(index));
  for (const id of confirming.ids) {
    if (stuck.has(changeIndexOf(plan, id) ?? -1)) await confirmItem(tx, emr, plan, id, results);
  }
}

const firstConfirmed = sql<Date>`coalesce(confirmed_at, clock_timestamp())`;

async function confirmItem(
  tx: Tx,
  emr: string,
  plan: WritePlan,
  id: string,
  results: readonly (Appointment | undefined)[],
): Promise<void> {
  const index = changeIndexOf(plan, id);
  await tx
    .updateTable('confirmation_items')
    .set({
      state: 'confirmed',
      sealed_comment: null,
      sealed_draft: null,
      ...(index !== undefined && plan.changes[index]?.kind === 'create'
        ? { ehr_appointment_id: result(results, index).id }
        : {}),
    })
    .where('emr', '=', emr)
    .where('appointment_id', '=', id)
    .where('state', '<>', 'confirmed')
    .execute();
}

async function releaseItems(tx: Tx, { services, plan, ehr }: Commit): Promise<void> {
  if (!plan.releasing || plan.releasing.length === 0) return;
  const released = await tx
    .updateTable('confirmation_items')
    .set({ state: 'released' })
    .where('emr', '=', ehr.id)
    .where('appointment_id', 'in', [...plan.releasing])
    .where('state', 'in', ['pending', 'confirming'])
    .returning(['confirmation_id', 'appointment_id', 'sealed_draft'])
    .execute();
  for (const { appointment_id: id, sealed_draft } of released) {
    const comment = plan.answer.find((entry) => entry.id === id)?.preview.comment;
    const text = sealed_draft && services.keys.open('confirmation', sealed_draft, itemContext(ehr.id, id));
    if (!text || comment === undefined) continue;
    // Nobody but the gateway knows a draft: its last comment is kept here.
    const sealed = services.keys.seal(
      'confirmation',
      JSON.stringify({ ...JSON.parse(text), comment }),
      itemContext(ehr.id, id),
    );
    await tx
      .updateTable('confirmation_items')
      .set({ sealed_draft: sealed })
      .where('emr', '=', ehr.id)
      .where('appointment_id', '=', id)
      .execute();
  }
  await withdrawFinished(
    tx,
    services,
    released.map((row) => row.confirmation_id),
  );
}

/** A code that confirms nothing any more need not be sent. */
async function withdrawFinished(tx: Tx, { outbox }: WriteServices, confirmationIds: readonly string[]): Promise<void> {
  const ids = [...new Set(confirmationIds)];
  if (ids.length === 0) return;
  const waiting = await tx
    .selectFrom('confirmation_items')
    .select('confirmation_id')
    .distinct()
    .where('confirmation_id', 'in', ids)
    .where('state', 'in', ['pending', 'confirming'])
    .execute();
  const stillWaiting = new Set(waiting.map((row) => row.confirmation_id));
  const finished = ids.filter((id) => !stillWaiting.has(id));
  if (finished.length > 0) await outbox.withdraw(tx, finished);
}
