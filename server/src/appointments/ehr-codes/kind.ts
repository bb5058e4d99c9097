import { randomUUID } from 'node:crypto';
import type { Appointment, EhrConfirmation } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { hashCode } from '../../confirmations/codes.ts';
import { type Awaited, awaitedOf, findItems } from '../../confirmations/items.ts';
import { patientHashes } from '../../confirmations/limits.ts';
import { confirmItems, storeConfirmation, waitAgain } from '../../confirmations/store.ts';
import type { Tx } from '../../db/kysely.ts';
import type { Answer } from '../../operations/answer.ts';
import type { Found, OperationKind, Work } from '../../operations/kind.ts';
import { Problem } from '../../problems/problem.ts';
import { appointmentPath, writtenBody } from '../representation.ts';
import type { EhrCodePlan } from './plan.ts';

/** An appointment, and the EHR's confirmation where one was asked for. */
interface Outcome {
  readonly appointment: Appointment;
  readonly confirmation?: EhrConfirmation;
}

/**
 * Writes that wait for a code of the EHR's own: the gateway passes them through. Whether a code was sent cannot be asked;
 * what it was sent for runs out in the EHR by itself.
 */
export const ehrCodeKind: OperationKind<EhrCodePlan, Outcome> = {
  name: 'ehr_codes',
  asksEhr: () => true,
  codesFor: ({ ehrCode, patientId }) => (ehrCode.kind === 'confirm' ? [] : [patientId]),
  perform,
  lookUp,
  takesNothingBack: true,
  undo: async () => undefined,
  remembers: () => true,
  answer() {
    throw new Error('A step with a code is always remembered');
  },
  record,
  async letGo(tx, { operationId }, { ehrCode }, refusal) {
    if (ehrCode.kind === 'resend' && refusal) await takeBackCode(tx, ehrCode.confirmationId);
    if (ehrCode.kind !== 'confirm') return;
    const remaining = refusal?.extensions.attempts_remaining;
    if (remaining !== undefined) await noteAttemptsRemaining(tx, ehrCode.confirmationId, remaining);
    await waitAgain(tx, operationId);
  },
};

async function perform({ call, careUnit, ehrId }: Work, { ehrCode, taken }: EhrCodePlan): Promise<Outcome> {
  const write = { operationId: ehrId(), careUnit };
  switch (ehrCode.kind) {
    case 'request booking':
      return requested(await call('requestBooking', { ...write, creation: ehrCode.creation }).catch(naming(taken)));
    case 'request cancellation':
      return requested(await call('requestCancellation', { ...write, cancellation: ehrCode.cancellation }));
    case 'resend':
      return requested(await call('resendCode', { ...write, reference: ehrCode.reference }));
    case 'confirm': {
      const { reference, code } = ehrCode;
      return { appointment: await call('confirmCode', { ...write, reference, code }) };
    }
  }
}

/** Whether a code was taken shows in the appointment. */
async function lookUp({ call, careUnit, ehr }: Work, { ehrCode, answer }: EhrCodePlan): Promise<Found<Outcome>> {
  if (ehrCode.kind === 'confirm') {
    const [appointment] = await call('findAppointments', careUnit, [answer.appointment.id]);
    const wanted = answer.replacesId === undefined ? 'booked' : 'cancelled';
    if (appointment?.state === wanted) return { outcome: { appointment } };
  }
  return ehr.offers('findOperation') ? 'nothing' : 'not known';
}

/** The EHR does not say where the time was asked for. */
function naming(taken: EhrCodePlan['taken']) {
  return (error: unknown): never => {
    const isTaken = taken && error instanceof Problem && error.reason === 'time_slot_unavailable';
    if (!isTaken || error.faults.length > 0) throw error;
    throw new Problem('time_slot_unavailable', { detail: taken.detail, faults: [taken], cause: error.cause });
  };
}

function requested(confirmation: EhrConfirmation): Outcome {
  return { appointment: confirmation.appointment, confirmation };
}

async function record(tx: Tx, work: Work, plan: EhrCodePlan, { appointment, confirmation }: Outcome): Promise<Answer> {
  const { services, ehr, careUnit } = work;
  const { ehrCode, answer, many } = plan;
  let awaited: Awaited | undefined;
  let { id } = answer;
  if (ehrCode.kind === 'confirm') {
    const { confirmationId, itemId, code } = ehrCode;
    // The EHR has checked the code; its hash recognises it when it is sent again.
    const codeHash = hashCode(services.keys, confirmationId, code);
    await confirmItems(tx, { emr: ehr.id, confirmationId, items: [{ id: itemId }], codeHash });
  } else if (confirmation && ehrCode.kind === 'resend') {
    await noteFreshCode(tx, ehrCode.confirmationId, confirmation);
    const item = (await findItems(tx, ehr.id, careUnit.id, [ehrCode.itemId])).get(ehrCode.itemId);
    awaited = item && awaitedOf(item);
  } else if (confirmation) {
    id = ehrCode.kind === 'request cancellation' ? ehrCode.newId : appointment.id;
    awaited = await noteConfirmation(tx, work, plan, id, confirmation);
  }
  const shown = ehrCode.kind === 'resend' ? answer.appointment : appointment;
  const body = writtenBody(shown, { ehr, careUnit, id, replacesId: answer.replacesId, awaited });
  if (many) return { body: { appointments: [body] } };
  return ehrCode.kind === 'request booking'
    ? { body, headers: { location: appointmentPath(ehr.id, careUnit.id, body.id) } }
    : { body };
}

/** Nothing of the EHR's code is kept but the EHR's name for it. */
async function noteConfirmation(
  tx: Tx,
  { services, clientId, ehr, careUnit }: Work,
  { ehrCode, patientId }: EhrCodePlan,
  id: string,
  { appointment, channel, expiresAt, attemptsRemaining, reference }: EhrConfirmation,
): Promise<Awaited> {
  const kind = ehrCode.kind === 'request booking' ? 'booking' : 'cancellation';
  const replacesId = ehrCode.kind === 'request cancellation' ? ehrCode.replacesId : null;
  const confirmationId = randomUUID();
  await storeConfirmation(tx, {
    id: confirmationId,
    clientId,
    emr: ehr.id,
    careUnitId: careUnit.id,
    kind,
    channel,
    codeHash: null,
    ehrReference: reference,
    attempts: attemptsRemaining,
    expiresAt,
    patientHash: patientHashes(services.keys, ehr.id, patientId)[0],
    items: [{ id, ehrAppointmentId: appointment.id, replacesId }],
  });
  return { confirmationId, kind, channel, delivery: 'sent', expiresAt, attemptsRemaining };
}

async function noteFreshCode(tx: Tx, confirmationId: string, fresh: EhrConfirmation): Promise<void> {
  await tx
    .updateTable('confirmations')
    .set({
      channel: fresh.channel,
      expires_at: fresh.expiresAt,
      failed_attempts: 0,
      max_attempts: fresh.attemptsRemaining,
    })
    .where('id', '=', confirmationId)
    .execute();
}

/** It was counted before the EHR was asked for it, which has not sent it. */
async function takeBackCode(tx: Tx, confirmationId: string): Promise<void> {
  await tx
    .updateTable('confirmations')
    .set({ codes_sent: sql<number>`greatest(codes_sent - 1, 1)` })
    .where('id', '=', confirmationId)
    .execute();
}

async function noteAttemptsRemaining(tx: Tx, confirmationId: string, remaining: number): Promise<void> {
  await tx
    .updateTable('confirmations')
    .set({ failed_attempts: sql<number>`greatest(max_attempts - ${remaining}, 0)` })
    .where('id', '=', confirmationId)
    .execute();
}
