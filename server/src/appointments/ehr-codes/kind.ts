import { randomUUID } from 'node:crypto';
import type { Appointment, EhrConfirmation } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { hashCode } from '../../confirmations/codes.ts';
import { type Awaited, awaitedOf, findItems } from '../../confirmations/items.ts';
import { patientHashes } from '../../confirmations/limits.ts';
import { confirmItems, resetToPending, storeConfirmation } from '../../confirmations/store.ts';
import type { Tx } from '../../db/kysely.ts';
import type { Found, OperationKind, Work } from '../../operations/kind.ts';
import type { OperationResponse } from '../../operations/operation-response.ts';
import { Problem } from '../../problems/problem.ts';
import { type AppointmentEventType, appointmentEvent } from '../events.ts';
import { appointmentPath, writtenBody } from '../representation.ts';
import { sealReturnUrl } from '../write/record.ts';
import type { EhrCodePlan } from './plan.ts';

/** An appointment, and the EHR's confirmation if one was requested. */
interface Outcome {
  readonly appointment: Appointment;
  readonly confirmation?: EhrConfirmation;
}

/**
 * Writes for which the EHR sends and checks the codes. The gateway passes them through. Nobody can look up whether a code
 * was sent; the hold or cancellation that it is for expires in the EHR on its own.
 */
export const ehrCodeKind: OperationKind<EhrCodePlan, Outcome> = {
  name: 'ehr_codes',
  callsEhr: () => true,
  patientsOf: ({ patientId }) => [patientId],
  codesFor: ({ ehrCode, patientId }) => (ehrCode.kind === 'confirm' ? [] : [patientId]),
  findsOperations: (ehr) => ehr.offers('findOperation'),
  perform,
  lookUp,
  needsNoCompensation: true,
  compensate: async () => undefined,
  hasRecords: () => true,
  respond() {
    throw new Error('A write with a code always has a record');
  },
  record,
  events: codeEvents,
  async releaseReservations(tx, { operationId }, { ehrCode }, problem) {
    if (ehrCode.kind === 'resend' && problem) await uncountCode(tx, ehrCode.confirmationId);
    if (ehrCode.kind !== 'confirm') return;
    const remaining = problem?.extensions.attempts_remaining;
    if (remaining !== undefined) await recordAttemptsRemaining(tx, ehrCode.confirmationId, remaining);
    await resetToPending(tx, operationId);
  },
};

function codeEvents(work: Work, { ehrCode, response: { replacesId } }: EhrCodePlan, { appointment }: Outcome) {
  const about = (type: AppointmentEventType, id: string, cancellationId?: string) => [
    appointmentEvent(work, appointment, { type, id, cancellationId }),
  ];
  switch (ehrCode.kind) {
    case 'request booking':
      return about('appointment.awaiting_confirmation', appointment.id);
    case 'request cancellation':
      return about('appointment.awaiting_confirmation', ehrCode.replacesId, ehrCode.newId);
    case 'confirm':
      return replacesId === undefined
        ? about('appointment.booked', ehrCode.itemId)
        : about('appointment.cancelled', replacesId, ehrCode.itemId);
    case 'resend':
      return [];
  }
}

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

/** The appointment shows whether the EHR accepted the code. */
async function lookUp({ call, careUnit, ehr }: Work, { ehrCode, response }: EhrCodePlan): Promise<Found<Outcome>> {
  if (ehrCode.kind === 'confirm') {
    const [appointment] = await call('findAppointments', careUnit, [response.appointment.id]);
    const wanted = response.replacesId === undefined ? 'booked' : 'cancelled';
    if (appointment?.state === wanted) return { outcome: { appointment } };
  }
  return ehr.offers('findOperation') ? 'nothing' : 'not known';
}

/** Adds the place in the request to the EHR's problem. */
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

async function record(
  tx: Tx,
  work: Work,
  plan: EhrCodePlan,
  { appointment, confirmation }: Outcome,
): Promise<OperationResponse> {
  const { services, ehr, careUnit } = work;
  const { ehrCode, response, many } = plan;
  let awaited: Awaited | undefined;
  let { id } = response;
  if (ehrCode.kind === 'confirm') {
    const { confirmationId, itemId, code } = ehrCode;
    // The EHR has checked the code. The hash recognises a repeated request.
    const codeHash = hashCode(services.keys, confirmationId, code);
    await confirmItems(tx, { emr: ehr.id, confirmationId, items: [{ id: itemId }], codeHash });
  } else if (confirmation && ehrCode.kind === 'resend') {
    await recordResentCode(tx, ehrCode.confirmationId, confirmation);
    const item = (await findItems(tx, ehr.id, careUnit.id, [ehrCode.itemId])).get(ehrCode.itemId);
    awaited = item && awaitedOf(item);
  } else if (confirmation) {
    id = ehrCode.kind === 'request cancellation' ? ehrCode.newId : appointment.id;
    awaited = await recordConfirmation(tx, work, plan, id, confirmation);
  }
  const shown = ehrCode.kind === 'resend' ? response.appointment : appointment;
  const body = writtenBody(shown, { ehr, careUnit, services, id, replacesId: response.replacesId, awaited });
  if (many) return { body: { appointments: [body] } };
  return ehrCode.kind === 'request booking'
    ? { body, headers: { location: appointmentPath(ehr.id, careUnit.id, body.id) } }
    : { body };
}

/** Stores the EHR's reference to its confirmation. The gateway never sees the code that the EHR sends. */
async function recordConfirmation(
  tx: Tx,
  { services, clientId, ehr, careUnit }: Work,
  { ehrCode, patientId, returnUrl }: EhrCodePlan,
  id: string,
  { appointment, channel, expiresAt, attemptsRemaining, reference }: EhrConfirmation,
): Promise<Awaited> {
  const kind = ehrCode.kind === 'request booking' ? 'booking' : 'cancellation';
  const replacesId = ehrCode.kind === 'request cancellation' ? ehrCode.replacesId : null;
  const confirmationId = randomUUID();
  const pageTokenHash = services.pages.hashFor(confirmationId);
  await storeConfirmation(tx, {
    id: confirmationId,
    clientId,
    emr: ehr.id,
    careUnitId: careUnit.id,
    kind,
    channel,
    codeHash: null,
    ehrReference: reference,
    pageTokenHash,
    sealedReturnUrl: sealReturnUrl(services.keys, confirmationId, returnUrl),
    attempts: attemptsRemaining,
    expiresAt,
    patientHash: patientHashes(services.keys, ehr.id, patientId)[0],
    items: [{ id, ehrAppointmentId: appointment.id, replacesId }],
  });
  return { confirmationId, kind, channel, delivery: 'sent', expiresAt, attemptsRemaining, pageTokenHash };
}

async function recordResentCode(tx: Tx, confirmationId: string, confirmation: EhrConfirmation): Promise<void> {
  await tx
    .updateTable('confirmations')
    .set({
      channel: confirmation.channel,
      expires_at: confirmation.expiresAt,
      failed_attempts: 0,
      max_attempts: confirmation.attemptsRemaining,
    })
    .where('id', '=', confirmationId)
    .execute();
}

/** The code was counted before the call, but the EHR did not send it. */
async function uncountCode(tx: Tx, confirmationId: string): Promise<void> {
  await tx
    .updateTable('confirmations')
    .set({ codes_sent: sql<number>`greatest(codes_sent - 1, 1)` })
    .where('id', '=', confirmationId)
    .execute();
}

async function recordAttemptsRemaining(tx: Tx, confirmationId: string, remaining: number): Promise<void> {
  await tx
    .updateTable('confirmations')
    .set({ failed_attempts: sql<number>`greatest(max_attempts - ${remaining}, 0)` })
    .where('id', '=', confirmationId)
    .execute();
}
