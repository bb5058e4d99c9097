import { randomUUID } from 'node:crypto';
import { findItems, type Item, selectItems } from '../confirmations/items.ts';
import { resendByEhr, resendCode } from '../confirmations/resend.ts';
import type { Tx } from '../db/kysely.ts';
import { inPath } from '../http/places.ts';
import { type Answer, completeKey, type KeptWrite } from '../idempotency/kept-write.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { changeAppointments } from '../writes/ehr-changes.ts';
import { contactOf } from './contact.ts';
import { isConfirmable } from './plan-confirmation.ts';
import { appointmentBody } from './representation.ts';
import type { Scene } from './scene.ts';
import { findTargets, type Target } from './targets.ts';

/** Sends a fresh code for everything that awaits the same one as this id. */
export async function resend(scene: Scene, write: KeptWrite, id: string): Promise<Answer> {
  try {
    return await sendFreshCode(scene, write, id);
  } catch (error) {
    if (!(error instanceof Problem) || error.reason !== 'confirmation_not_pending') throw error;
    // The EHR may have said so of what has been confirmed, given up or run out a moment ago: a second look tells which.
    return sendFreshCode(scene, write, id);
  }
}

async function sendFreshCode(scene: Scene, write: KeptWrite, id: string): Promise<Answer> {
  const { services, ehr, careUnit } = scene;
  const target = await requireTarget(scene, id, 'all');
  if (!isConfirmable(scene, target)) throw new Problem('confirmation_not_pending');
  const { item, appointment } = target;
  if (!item.isPending) throw new Problem(whyOver(item));
  const keepAnswer = async (tx: Tx) => completeKey(tx, write, await shown(tx, scene, target));
  const { ehrReference } = item;
  if (ehrReference !== null) {
    const { operationId } = write;
    const ask = () => ehr.call('resendCode', { operationId, careUnit, reference: ehrReference });
    return resendByEhr(services, item.confirmationId, ask, keepAnswer);
  }
  const waiting = await waitingTogether(scene, item.confirmationId);
  if (!waiting.some((it) => it.id === id)) throw new Problem('confirmation_not_pending');
  const patient = await ehr.call('findPatient', { type: 'emr_id', value: appointment.patientId });
  if (!patient) throw new Problem('no_contact_channel');
  return resendCode({
    services,
    clientId: scene.client.id,
    ehr,
    careUnit,
    confirmationId: item.confirmationId,
    patient,
    contact: contactOf(patient, item.kind, careUnit, services.channels),
    appointments: waiting.map((it) => ({ id: it.id, start: it.appointment.start })),
    extendHolds: (holdUntil) => extendHolds(scene, waiting, holdUntil),
    keepAnswer,
  });
}

function whyOver({ state, attemptsRemaining }: Item): Reason {
  if (state !== 'pending' && state !== 'expired') return 'confirmation_not_pending';
  return attemptsRemaining === 0 ? 'confirmation_locked' : 'confirmation_expired';
}

async function shown(tx: Tx, scene: Scene, { id, appointment }: Target): Promise<Answer> {
  const item = (await findItems(tx, scene.ehr.id, scene.careUnit.id, [id])).get(id);
  return { body: appointmentBody(appointment, scene, { id, item }) };
}

/** @throws Problem `appointment_not_found` */
export async function requireTarget(scene: Scene, id: string, codes?: 'all'): Promise<Target> {
  const target = (await findTargets(scene, [id], codes)).get(id);
  if (!target) {
    throw problemAt(
      inPath('appointment_id'),
      'appointment_not_found',
      'The care unit has no appointment with this id.',
    );
  }
  return target;
}

/** What is pending here may be booked or cancelled in the EHR already, which is asked before the gateway takes note. */
async function waitingTogether(scene: Scene, confirmationId: string): Promise<readonly Target[]> {
  const { services, ehr, careUnit } = scene;
  const items = await selectItems(services.db, ehr.id, careUnit.id)
    .where('item.confirmation_id', '=', confirmationId)
    .where('item.state', '=', 'pending')
    .orderBy('item.position')
    .execute();
  const ids = items.map(({ id }) => id);
  const targets = await findTargets(scene, ids);
  return ids
    .flatMap((id) => targets.get(id) ?? [])
    .filter(({ kind, appointment }) => kind !== 'appointment' || appointment.state === 'held');
}

async function extendHolds({ ehr, careUnit }: Scene, waiting: readonly Target[], holdUntil: Date): Promise<void> {
  const changes = waiting
    .filter(({ kind }) => kind === 'appointment')
    .map(({ appointment }) => ({ kind: 'extend', appointmentId: appointment.id, holdUntil }) as const);
  if (changes.length > 0) await changeAppointments({ ehr, careUnit, operationId: randomUUID(), changes });
}
