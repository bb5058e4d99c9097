import type { Appointment } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { codeExpiry, issueCode, type NewItem } from '../../confirmations/issue.ts';
import { awaitedOf, findItems, findPendingCancellations, patientHashes } from '../../confirmations/items.ts';
import { confirmItems, itemContext, releaseItems, replaceDraft, resetToPending } from '../../confirmations/store.ts';
import type { Tx } from '../../db/kysely.ts';
import { writeEvents } from '../../events/write-events.ts';
import type { Problem } from '../../problems/problem.ts';
import type { Work, WriteResponse } from '../../writes/write-kind.ts';
import { planEvents } from '../events.ts';
import { writtenResponse } from '../representation.ts';
import type { Results } from './changes.ts';
import { NotCompensated } from './compensate.ts';
import { TimesTaken } from './perform-plan.ts';
import { type AppointmentPlan, type AwaitingStep, codeGroups, type Made } from './plan.ts';

/**
 * Stores the gateway's records of a plan: new codes and their messages, confirmed codes, and released ids. Returns the
 * response.
 */
export async function recordPlan(tx: Tx, work: Work, plan: AppointmentPlan, results: Results): Promise<WriteResponse> {
  await recordConfirmed(tx, work, plan, results);
  await recordReleased(tx, work, plan);
  const made = new Map<number | string, Made>();
  for (const group of codeGroups(plan)) {
    for (const [key, it] of await makeCodes(tx, work, group, results)) made.set(key, it);
  }
  return writtenResponse(work, plan, results, made);
}

/** The ids that the write was confirming await their code again. Records what could not be compensated. */
export async function cleanUpPlan(
  tx: Tx,
  work: Work,
  plan: AppointmentPlan,
  problem: Problem | undefined,
): Promise<void> {
  if (problem instanceof NotCompensated) {
    await writeEvents(tx, planEvents(work, plan, problem.uncompensated));
    await recordConfirmed(tx, work, plan, problem.uncompensated);
  }
  if (plan.confirmationId === undefined) return;
  await resetToPending(tx, work.writeId, problem instanceof TimesTaken ? problem.ids : []);
}

/** Whether the ids still await confirmation. A draft that is already booked needs no second booking. */
export async function isStillWanted({ services, ehr, careUnit }: Work, { steps }: AppointmentPlan): Promise<boolean> {
  const changing = steps.filter(({ confirms, change }) => confirms !== undefined && change);
  const ids = changing.flatMap(({ confirms }) => confirms ?? []);
  const items = await findItems(services.db, ehr.id, careUnit.id, ids);
  return changing.every(({ confirms, change }) => {
    const state = items.get(confirms ?? '')?.state;
    return state === 'pending' || state === 'confirming' || (state === 'confirmed' && change?.kind !== 'create');
  });
}

async function recordConfirmed(tx: Tx, { ehr }: Work, { confirmationId, steps }: AppointmentPlan, results: Results) {
  if (confirmationId === undefined) return;
  const items = steps.flatMap(({ confirms, change }, index) => {
    const result = results.get(index);
    if (confirms === undefined || (change && !result)) return [];
    return [{ id: confirms, ...(change?.kind === 'create' ? { ehrAppointmentId: result?.id } : {}) }];
  });
  if (items.length > 0) await confirmItems(tx, { emr: ehr.id, confirmationId, items });
}

async function recordReleased(tx: Tx, { services, ehr }: Work, { steps }: AppointmentPlan): Promise<void> {
  const ids = steps.flatMap(({ releases }) => releases ?? []);
  const { released, finished } = await releaseItems(tx, ehr.id, ids);
  for (const { appointment_id: id, sealed_draft } of released) {
    const comment = steps.find(({ releases }) => releases === id)?.response?.appointment.comment;
    const context = itemContext(ehr.id, id);
    const text = sealed_draft && services.keys.open('confirmation', sealed_draft, context);
    if (!text || comment === undefined) continue;
    // Only the gateway stores a draft, so its last comment is stored here.
    const draft = JSON.stringify({ ...JSON.parse(text), comment });
    await replaceDraft(tx, ehr.id, id, services.keys.seal('confirmation', draft, context));
  }
  // A code is not sent if no id awaits it.
  if (finished.length > 0) await services.outbox.withdraw(tx, finished);
}

async function makeCodes(tx: Tx, work: Work, group: readonly AwaitingStep[], results: Results) {
  const { waiting, rest } = await withoutWaiting(tx, work, group);
  const [first] = rest;
  if (!first) return waiting;
  const { kind, channel, to, patientId, returnUrl } = first.awaits;
  const patientHash = patientHashes(work.services.keys, work.ehr.id, patientId)[0];
  const awaited = await issueCode(tx, work, {
    kind,
    channel,
    to,
    patientHash,
    returnUrl,
    expiresAt: await expiryOf(tx, work, rest, results),
    items: rest.map((step) => newItem(work, step, results, patientHash)),
    appointments: rest.map((step) => ({ id: itemId(step, results), start: startOf(step, results) })),
  });
  return new Map<number | string, Made>([
    ...waiting,
    ...rest.map((step) => [step.awaits.newId ?? step.index, { id: itemId(step, results), awaited }] as const),
  ]);
}

/** A hold from an earlier attempt expires before a new code would. The code expires with the hold. */
async function expiryOf(tx: Tx, work: Work, steps: readonly AwaitingStep[], results: Results): Promise<Date> {
  const planned = work.expiresAt ?? (await codeExpiry(tx, work.careUnit.code.lifetimeSeconds));
  const ends = steps.flatMap(({ index }) => results.get(index)?.heldUntil ?? []);
  return [planned, ...ends].reduce((earliest, end) => (end < earliest ? end : earliest));
}

/**
 * Separates cancellations that another request has just started. Their existing ids are returned, and no second code is
 * sent. A lock makes concurrent requests wait here.
 */
async function withoutWaiting(tx: Tx, { ehr, careUnit }: Work, group: readonly AwaitingStep[]) {
  const waiting = new Map<number | string, Made>();
  const originals = group.flatMap(({ awaits, before }) => (awaits.kind === 'cancellation' && before ? before.id : []));
  for (const id of originals.toSorted()) {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`cancellation ${ehr.id} ${id}`}, 0))`.execute(tx);
  }
  const found = await findPendingCancellations(tx, ehr.id, careUnit.id, originals);
  const rest = group.filter(({ awaits, before, index }) => {
    const pending = awaits.kind === 'cancellation' && before ? found.get(before.id) : undefined;
    if (pending) waiting.set(awaits.newId ?? index, { id: pending.id, awaited: awaitedOf(pending) });
    return !pending;
  });
  return { waiting, rest };
}

function itemId({ awaits, index }: AwaitingStep, results: Results): string {
  return awaits.newId ?? resultOf(index, results).id;
}

function startOf({ awaits, index, before }: AwaitingStep, results: Results): Date {
  return (
    awaits.draft?.start ??
    (awaits.kind === 'cancellation' ? before?.start : undefined) ??
    resultOf(index, results).start
  );
}

function resultOf(index: number, results: Results): Appointment {
  const appointment = results.get(index);
  if (!appointment) throw new Error('The EHR returned fewer appointments than it was sent changes');
  return appointment;
}

function newItem({ services, ehr }: Work, step: AwaitingStep, results: Results, patientHash: Buffer): NewItem {
  const id = itemId(step, results);
  const { draft, comment, replacesId, patientDetails } = step.awaits;
  const seal = (value: unknown) => services.keys.seal('confirmation', JSON.stringify(value), itemContext(ehr.id, id));
  const item = { id, sealedPatientDetails: patientDetails && seal(patientDetails) };
  if (draft) {
    const { resourceId, start, end } = draft;
    return { ...item, ehrAppointmentId: null, draft: { sealed: seal(draft), patientHash, resourceId, start, end } };
  }
  if (step.awaits.kind === 'booking') return { ...item, ehrAppointmentId: id };
  return {
    id,
    ehrAppointmentId: step.before?.id ?? null,
    replacesId: replacesId ?? null,
    sealedComment: comment === undefined ? null : seal(comment),
  };
}
