import type { CareUnit, Withdrawal } from '@crossward/connector-kit';
import { operationSystem } from '../booking/operation-ids.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type FhirSchedule, type FhirSlot, referenceTo } from '../fhir.ts';
import { type OwnSchedule, ownScheduleOf, timetableOf, withOwnSchedule } from '../mappers/schedule.ts';
import { freedSlot, removedSlot, removerOf, slotTime } from '../mappers/slot.ts';
import { chunks } from '../server/chunks.ts';
import type { FhirConnection } from '../server/connection.ts';
import { searchSlots } from '../slots/search.ts';
import { appointmentsIn, overlapsAnother } from './conflicts.ts';
import { newSlot, slotsStartingIn } from './grow.ts';
import { directoryWith, resourcesOfWrite } from './read.ts';
import { transactionSize, untilCurrent, writeTogether } from './transaction.ts';

/** Reverts a write to a schedule, unless somebody has changed the schedule or booked its slots since. */
export function withdrawSchedule(ehr: FhirConnection, careUnit: CareUnit, operationId: string): Promise<Withdrawal> {
  return untilCurrent(async () => {
    for (const resource of await resourcesOfWrite(ehr, operationId)) {
      const own = ownScheduleOf(resource);
      if (!own) continue;
      const withdrawal =
        own.createdBy === operationId
          ? await withdrawCreation(ehr, { careUnit, resource, own, operationId })
          : await withdrawChange(ehr, careUnit, resource, own, operationId);
      if (withdrawal === 'changed') return 'changed';
    }
    return 'withdrawn';
  });
}

interface Creation {
  readonly careUnit: CareUnit;
  readonly resource: FhirSchedule;
  readonly own: OwnSchedule;
  readonly operationId: string;
}

/**
 * Takes the slots out first, in as many transactions as they need, and the Schedule with the last of them. If somebody books
 * one in between, the others are given back.
 */
async function withdrawCreation(ehr: FhirConnection, creation: Creation): Promise<Withdrawal> {
  const { careUnit, resource, own, operationId } = creation;
  const directory = await directoryWith(ehr, careUnit, resource);
  const slots = await slotsIn(ehr, directory, resource, own);
  const standing = slots.filter(({ status }) => status !== 'entered-in-error');
  // Somebody may have booked the time of a slot that an earlier attempt has taken out.
  const offered = slots.filter((slot) => slot.status !== 'entered-in-error' || removerOf(slot) === operationId);
  const resourceId = directory.offerOfSchedule(referenceTo(resource))?.resourceId;
  const isBooked = resourceId !== undefined && (await appointmentsIn(ehr, careUnit, resourceId, offered)).length > 0;
  if (isBooked || own.ends.length + own.exceptions.length > 0) {
    await giveBack(ehr, creation, slots);
    return 'changed';
  }
  const most = transactionSize(ehr, standing.length + 1);
  for (const some of chunks(standing.slice(most - 1), most)) {
    await writeTogether(ehr, { updates: some.map((slot) => ({ before: slot, after: takenBack(slot, operationId) })) });
  }
  await putOutOfUse(ehr, resource, own, standing.slice(0, most - 1));
  await ehr.directory.reload(careUnit);
  return 'withdrawn';
}

/** A slot of a schedule that is being withdrawn. One that was free can be given back. */
function takenBack(slot: FhirSlot, operationId: string): FhirSlot {
  return { ...(slot.status === 'free' ? removedSlot(slot, operationId) : slot), status: 'entered-in-error' };
}

/** Gives back what a withdrawal that cannot be finished has taken. */
async function giveBack(
  ehr: FhirConnection,
  { careUnit, own, operationId }: Creation,
  slots: readonly FhirSlot[],
): Promise<void> {
  const all = slotsStartingIn(own, careUnit, { start: new Date(), end: own.slotsUntil });
  const wanted = new Set(all.map(({ start }) => start.getTime()));
  const taken = slots.filter(
    (slot) => removerOf(slot) === operationId && wanted.has(slotTime(slot)?.start.getTime() ?? 0),
  );
  for (const some of chunks(taken, transactionSize(ehr, Math.max(1, taken.length)))) {
    await writeTogether(ehr, { updates: some.map((slot) => ({ before: slot, after: freedSlot(slot) })) });
  }
}

/** Takes a Schedule and its Slots out of use. Not every server deletes. Its operation id is no longer found. */
export async function putOutOfUse(
  ehr: FhirConnection,
  resource: FhirSchedule,
  own: OwnSchedule,
  slots: readonly FhirSlot[],
): Promise<void> {
  const { identifier = [], ...rest } = withOwnSchedule(resource, own);
  const others = identifier.filter(({ system }) => system !== operationSystem);
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
      { before: resource, after: withOwnSchedule(resource, restored) },
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
