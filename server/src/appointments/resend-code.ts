import { randomUUID } from 'node:crypto';
import { selectItems } from '../confirmations/items.ts';
import { resendByEhr, resendCode } from '../confirmations/resend.ts';
import { inPath } from '../http/places.ts';
import type { Answer } from '../idempotency/kept-write.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import { changeAppointments } from '../writes/ehr-changes.ts';
import { contactOf } from './contact.ts';
import { appointmentBody } from './representation.ts';
import type { Scene } from './scene.ts';
import { findTargets, type Target } from './targets.ts';

/** Sends a fresh code for everything that awaits the same one as this id. */
export async function resend(scene: Scene, id: string): Promise<Answer> {
  const { services, ehr, careUnit } = scene;
  const target = await requireTarget(scene, id, 'all');
  const { item, appointment } = target;
  if (!item) throw new Problem('confirmation_not_pending');
  if (!item.isPending)
    throw new Problem(
      item.state === 'pending' || item.state === 'expired' ? 'confirmation_expired' : 'confirmation_not_pending',
    );
  const { ehrReference } = item;
  if (ehrReference !== null) {
    await resendByEhr(services, item.confirmationId, () =>
      ehr.call('resendCode', { operationId: randomUUID(), careUnit, reference: ehrReference }),
    );
    return shown(scene, id);
  }
  const waiting = await waitingTogether(scene, item.confirmationId);
  const patient = await ehr.call('findPatient', { type: 'emr_id', value: appointment.patientId });
  if (!patient) throw new Problem('no_contact_channel');
  await resendCode({
    services,
    ehr,
    careUnit,
    confirmationId: item.confirmationId,
    patient,
    contact: contactOf(patient, item.kind, careUnit, services.channels),
    appointments: waiting.map((it) => ({ id: it.id, start: it.appointment.start })),
    extendHolds: (holdUntil) => extendHolds(scene, waiting, holdUntil),
  });
  return shown(scene, id);
}

async function shown(scene: Scene, id: string): Promise<Answer> {
  const { appointment, item } = await requireTarget(scene, id);
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

async function waitingTogether(scene: Scene, confirmationId: string): Promise<readonly Target[]> {
  const { services, ehr, careUnit } = scene;
  const items = await selectItems(services.db, ehr.id, careUnit.id)
    .where('item.confirmation_id', '=', confirmationId)
    .where('item.state', '=', 'pending')
    .orderBy('item.position')
    .execute();
  const ids = items.map(({ id }) => id);
  const targets = await findTargets(scene, ids);
  return ids.flatMap((id) => targets.get(id) ?? []);
}

async function extendHolds({ ehr, careUnit }: Scene, waiting: readonly Target[], holdUntil: Date): Promise<void> {
  const changes = waiting
    .filter(({ kind, appointment }) => kind === 'appointment' && appointment.state === 'held')
    .map(({ appointment }) => ({ kind: 'extend', appointmentId: appointment.id, holdUntil }) as const);
  if (changes.length === 0) return;
  try {
    await changeAppointments({ ehr, careUnit, operationId: randomUUID(), changes });
  } catch (error) {
    if (error instanceof Problem && error.reason === 'confirmation_not_pending')
      throw new Problem('confirmation_expired');
    throw error;
  }
}
