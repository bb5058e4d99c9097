import type { Static } from 'typebox';
import type { Once } from '../http/once.ts';
import { inBody } from '../http/places.ts';
import type { Answer } from '../idempotency/kept-write.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { Problem } from '../problems/problem.ts';
import type { WritePlan } from '../writes/plan.ts';
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
import { creationPlaces, planCreation } from './plan-creation.ts';
import { planUpdate, readUpdate, updated, updatePlaces } from './plan-update.ts';
import { rescheduleMany } from './reschedule.ts';
import { requireTarget } from './resend-code.ts';
import type { Scene } from './scene.ts';
import { slotFault } from './time-rules.ts';
import { carryOut, carryOutConfirmed, type Mode, namingFaults } from './write-appointments.ts';

interface How {
  readonly once: Once;
  readonly dryRun: boolean | undefined;
}

function inMode({ once, dryRun }: How, run: (mode: Mode) => Promise<Answer>): Promise<Answer> {
  return dryRun ? run({ dryRun: true }) : once((write) => run({ write }));
}

export function create(
  scene: Scene,
  how: How,
  body: Static<typeof appointmentCreationSchema>,
  readHeader: ReadHeader,
): Promise<Answer> {
  return inMode(how, (mode) => {
    let plan: WritePlan | undefined;
    const faults = () =>
      plan?.answer.map(({ preview }) => slotFault(preview, scene.careUnit.timeZone, creationPlaces.start)) ?? [];
    return namingFaults(faults, () =>
      carryOut(scene, mode, async () => {
        plan = await planCreation(scene, body, readHeader);
        return plan;
      }),
    );
  });
}

type OneBody = AppointmentUpdateBody | AppointmentCancellationBody | AppointmentConfirmationBody;

export function changeOne(scene: Scene, how: How, id: string, body: OneBody, readHeader: ReadHeader): Promise<Answer> {
  return inMode(how, (mode) => {
    if ('confirmation' in body) return confirmOne(scene, mode, id, body);
    return 'status' in body ? cancelOne(scene, mode, id, body) : updateOne(scene, mode, id, body, readHeader);
  });
}

async function updateOne(
  scene: Scene,
  mode: Mode,
  id: string,
  body: AppointmentUpdateBody,
  readHeader: ReadHeader,
): Promise<Answer> {
  const target = await requireTarget(scene, id);
  const wanted = await readUpdate(scene, body, readHeader);
  const place = wanted.time ? updatePlaces.start : inBody('resource_id');
  return namingFaults(
    () => [slotFault(updated(target.appointment, wanted), scene.careUnit.timeZone, place)],
    () => carryOut(scene, mode, async () => planUpdate(target, wanted)),
  );
}

function cancelOne(scene: Scene, mode: Mode, id: string, body: AppointmentCancellationBody): Promise<Answer> {
  return carryOut(scene, mode, async () => {
    const target = await requireTarget(scene, id);
    const comment = body.comment === undefined ? undefined : body.comment || null;
    return planCancellation(scene, target, comment, await prepareCancellations(scene, [target]));
  });
}

async function confirmOne(scene: Scene, mode: Mode, id: string, body: AppointmentConfirmationBody): Promise<Answer> {
  if ('dryRun' in mode) throw noDryRun();
  const target = await requireTarget(scene, id, 'all');
  if (!isConfirmable(target)) throw new Problem('confirmation_not_pending');
  return carryOutConfirmed(
    scene,
    mode.write,
    planConfirmation(scene, [target], body.confirmation.code),
    body.confirmation.code,
  );
}

type ManyBody = BulkUpdateBody | BulkCancellationBody | BulkConfirmationBody;

export function changeMany(scene: Scene, how: How, body: ManyBody, readHeader: ReadHeader): Promise<Answer> {
  return inMode(how, (mode) => {
    if ('confirmation' in body) return confirmMany(scene, mode, body);
    if ('status' in body) return cancelMany(scene, mode, body);
    const run = body.start === undefined ? updateMany : rescheduleMany;
    return run(scene, mode, body, readHeader);
  });
}
