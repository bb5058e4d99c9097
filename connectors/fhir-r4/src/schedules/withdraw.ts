import type { CareUnit, Withdrawal } from '@crossward/connector-kit';
import type { FhirConnection } from '../connection.ts';
import type { CareUnitDirectory } from '../directory.ts';
import { type FhirSchedule, type FhirSlot, referenceTo } from '../fhir.ts';
import { type OwnSchedule, ownScheduleOf, timetableOf, withOwnSchedule } from '../mappers/schedule.ts';
import { freedSlot, removerOf, slotTime } from '../mappers/slot.ts';
import { searchSlots } from '../time-slots/search.ts';
import { appointmentsIn, overlapsAnother } from './conflicts.ts';
import { newSlot, slotsStartingIn } from './grow.ts';
import { directoryWith, resourcesOfWrite } from './read.ts';
import { untilCurrent, writeTogether } from './transaction.ts';

/** Reverts a write to a schedule, unless somebody has changed the schedule or booked its slots since. */
export function withdrawSchedule(ehr: FhirConnection, careUnit: CareUnit, operationId: string): Promise<Withdrawal> {
  return untilCurrent(async () => {
    for (const resource of await resourcesOfWrite(ehr, operationId)) {
      const own = ownScheduleOf(resource);
      if (!own) continue;
      const withdrawal =
        own.createdBy === operationId
          ? await withdrawCreation(ehr, careUnit, resource, own)
          : await withdrawChange(ehr, careUnit, resource, own, operationId);
      if (withdrawal === 'changed') return 'changed';
    }
    return 'withdrawn';
  });
}

async function withdrawCreation(
  ehr: FhirConnection,
  careUnit: CareUnit,
  resource: FhirSchedule,
  own: OwnSchedule,
): Promise<Withdrawal> {
  if (own.ends.length + own.exceptions.length > 0) return 'changed';
  const directory = await directoryWith(ehr, careUnit, resource);
  const slots = await slotsIn(ehr, directory, resource, own);
  const resourceId = directory.offerOfSchedule(referenceTo(resource))?.resourceId;
  if (resourceId !== undefined && (await appointmentsIn(ehr, careUnit, resourceId, slots)).length > 0) return 'changed';
  await putOutOfUse(ehr, resource, own, slots);
  await ehr.directory.reload(careUnit);
  return 'withdrawn';
}

/** Takes a Schedule and its Slots out of use. Not every server deletes. Its operation id is no longer found. */
export async function putOutOfUse(
  ehr: FhirConnection,
  resource: FhirSchedule,
  own: OwnSchedule,
  slots: readonly FhirSlot[],
): Promise<void> {
  const { identifier = [], ...rest } = withOwnSchedule(resource, own, ehr.dialect.operationSystem);
  const others = identifier.filter(({ system }) => system !== ehr.dialect.operationSystem);
  const after: FhirSchedule = { ...rest, active: false, ...(others.length > 0 ? { identifier: others } : {}) };
  const removed = slots.map((slot) => ({ before: slot, after: { ...slot, status: 'entered-in-error' } }));
  await writeTogether(ehr, { updates: [{ before: resource, after }, ...removed] });
}

/** Gives back the slots that an end or an exception has removed, and those that were not created because of it. */
async function withdrawChange(
  ehr: FhirConnection,
  careUnit: CareUnit,
  resource: FhirSchedule,
  own: OwnSchedule,
  operationId: string,
): Promise<Withdrawal> {
  const isOther = (it: { readonly operationId: string }) => it.operationId !== operationId;
  const restored = { ...own, ends: own.ends.filter(isOther), exceptions: own.exceptions.filter(isOther) };
  const directory = await ehr.directory.reload(careUnit);
  const resourceId = directory.offerOfSchedule(referenceTo(resource))?.resourceId;
  if (resourceId === undefined) return 'changed';
  const timetable = timetableOf(restored);
  if (await overlapsAnother(ehr, directory, { careUnit, resourceId, timetable, own: resource })) return 'changed';
  const slots = await slotsIn(ehr, directory, resource, own);
  const known = new Set(slots.map((slot) => slotTime(slot)?.start.getTime()));
  const all = slotsStartingIn(restored, careUnit, { start: new Date(), end: own.slotsUntil });
  const wanted = new Set(all.map(({ start }) => start.getTime()));
  const returned = slots.filter(
    (slot) => removerOf(slot) !== undefined && wanted.has(slotTime(slot)?.start.getTime() ?? 0),
  );
  await writeTogether(ehr, {
    updates: [
      { before: resource, after: withOwnSchedule(resource, restored, ehr.dialect.operationSystem) },
      ...returned.map((slot) => ({ before: slot, after: freedSlot(slot) })),
    ],
    creations: all.filter(({ start }) => !known.has(start.getTime())).map((slot) => newSlot(resource, slot)),
  });
  return 'withdrawn';
}

/** All Slots of the schedule to come. */
function slotsIn(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  resource: FhirSchedule,
  { slotsUntil }: OwnSchedule,
): Promise<FhirSlot[]> {
  const range = { start: new Date(), before: slotsUntil, statuses: undefined };
  return searchSlots(ehr, directory, [referenceTo(resource)], range);
}
