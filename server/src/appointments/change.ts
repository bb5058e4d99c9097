import type { Static } from 'typebox';
import { inBody } from '../api/places.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import type { Answer } from '../operations/answer.ts';
import { Problem } from '../problems/problem.ts';
import { cancelMany, confirmMany, noDryRun, updateMany } from './bulk.ts';
import type {
  AppointmentCancellationBody,
  AppointmentConfirmationBody,
  AppointmentUpdateBody,
  appointmentCreationSchema,
  BulkCancellationBody,
  BulkConfirmationBody,
  BulkUpdateBody,
} from './contract.ts';
import { planCancellation, prepareCancellations } from './plan-cancellation.ts';
import { isConfirmable, planConfirmation } from './plan-confirmation.ts';
import { planCreation } from './plan-creation.ts';
import { planUpdate, readUpdate, updated, updatePlaces } from './plan-update.ts';
import { rescheduleMany } from './reschedule.ts';
import type { Scene } from './scene.ts';
import { requireTarget } from './targets.ts';
import { slotFault } from './time-rules.ts';
import { carryOut, carryOutConfirmed, type Writing } from './write-appointments.ts';

export async function create(
  scene: Scene,
  writing: Writing,
  body: Static<typeof appointmentCreationSchema>,
  readHeader: ReadHeader,
): Promise<Answer> {
  return carryOut(scene, writing, await planCreation(scene, body, readHeader));
}

type OneBody = AppointmentUpdateBody | AppointmentCancellationBody | AppointmentConfirmationBody;

export function changeOne(
  scene: Scene,
  writing: Writing,
  id: string,
  body: OneBody,
  readHeader: ReadHeader,
): Promise<Answer> {
  if ('confirmation' in body) return confirmOne(scene, writing, id, body);
  return 'status' in body ? cancelOne(scene, writing, id, body) : updateOne(scene, writing, id, body, readHeader);
}

async function updateOne(
  scene: Scene,
  writing: Writing,
  id: string,
  body: AppointmentUpdateBody,
  readHeader: ReadHeader,
): Promise<Answer> {
  const target = await requireTarget(scene, id);
  const wanted = await readUpdate(scene, body, readHeader);
  const place = wanted.time ? updatePlaces.start : inBody('resource_id');
  const taken = slotFault(updated(target.appointment, wanted), scene.careUnit.timeZone, place);
  return carryOut(scene, writing, planUpdate(target, wanted, { taken }));
}

async function cancelOne(
  scene: Scene,
  writing: Writing,
  id: string,
  body: AppointmentCancellationBody,
): Promise<Answer> {
  const target = await requireTarget(scene, id);
  const comment = body.comment === undefined ? undefined : body.comment || null;
  const prepared = await prepareCancellations(scene, [target]);
  return carryOut(scene, writing, await planCancellation(scene, target, comment, prepared));
}

async function confirmOne(
  scene: Scene,
  { execute, dryRun }: Writing,
  id: string,
  { confirmation: { code } }: AppointmentConfirmationBody,
): Promise<Answer> {
  if (dryRun) throw noDryRun();
  return carryOutConfirmed(scene, execute, code, async () => {
    const target = await requireTarget(scene, id, 'all');
    if (!isConfirmable(scene, target)) throw new Problem('confirmation_not_pending');
    return planConfirmation(scene, [target], code);
  });
}

type ManyBody = BulkUpdateBody | BulkCancellationBody | BulkConfirmationBody;

export function changeMany(scene: Scene, writing: Writing, body: ManyBody, readHeader: ReadHeader): Promise<Answer> {
  if ('confirmation' in body) return confirmMany(scene, writing, body);
  if ('status' in body) return cancelMany(scene, writing, body);
  const run = body.start === undefined ? updateMany : rescheduleMany;
  return run(scene, writing, body, readHeader);
}
