import { type CareUnit, ConnectorError, type Schedule, type ScheduleCreation } from '@crossward/connector-kit';
import { instantOf } from '@crossward/connector-kit/timetable';
import { operationSystem } from '../booking/operation-ids.ts';
import {
  afterWriting,
  isBroken,
  isConflict,
  LostRace,
  nothingChanged,
  quietly,
  unknownOutcome,
} from '../booking/write/outcomes.ts';
import type { CareUnitDirectory } from '../directory/directory.ts';
import { type CodeableConcept, type FhirSchedule, referenceTo } from '../fhir.ts';
import { escapeToken } from '../mappers/identifiers.ts';
import { type OwnSchedule, ownScheduleOf, timetableOf, withOwnSchedule } from '../mappers/schedule.ts';
import type { FhirConnection } from '../server/connection.ts';
import { overlapsAnother } from './conflicts.ts';
import { grow, horizonOf, isDue } from './grow.ts';
import { directoryWith, resourcesOfWrite, toSchedule } from './read.ts';
import { untilCurrent } from './transaction.ts';
import { putOutOfUse } from './withdraw.ts';

/**
 * Creates a Schedule, makes sure that it overlaps no other, then creates its Slots up to the horizon. What an interrupted
 * call has left is found by its operation id, and finished.
 */
export async function createSchedule(ehr: FhirConnection, creation: ScheduleCreation): Promise<Schedule> {
  const { careUnit, operationId } = creation;
  const resource = (await resourceOfWrite(ehr, careUnit, operationId)) ?? (await createResource(ehr, creation));
  const schedule = await afterWriting(() => completed(ehr, careUnit, resource));
  if (!schedule) throw nothingChanged(overlap());
  return schedule;
}

/** The schedule of the write with this operation id. A creation that was interrupted is finished. */
export async function findScheduleWrite(
  ehr: FhirConnection,
  careUnit: CareUnit,
  operationId: string,
): Promise<Schedule | null> {
  const resource = await resourceOfWrite(ehr, careUnit, operationId);
  return resource && completed(ehr, careUnit, resource);
}

/** The schedule of the write. A duplicate that the server has made, without Slots, is taken out of use. */
async function resourceOfWrite(
  ehr: FhirConnection,
  careUnit: CareUnit,
  operationId: string,
): Promise<FhirSchedule | null> {
  const [first, ...others] = await resourcesOfWrite(ehr, operationId);
  for (const other of others) {
    const own = ownScheduleOf(other);
    if (own && !own.isReady) await quietly(() => putOutOfUse(ehr, other, own, []));
  }
  if (others.length > 0) await ehr.directory.reload(careUnit);
  return first ?? null;
}

/** The schedule with all its slots. `null`: it overlaps an older one, and is out of use now. */
async function completed(ehr: FhirConnection, careUnit: CareUnit, resource: FhirSchedule): Promise<Schedule | null> {
  const directory = await directoryWith(ehr, careUnit, resource);
  const own = ownScheduleOf(resource);
  const resourceId = directory.offerOfSchedule(referenceTo(resource))?.resourceId;
  if (!own || resourceId === undefined) return null;
  if (own.isReady && !isDue(ehr, own)) return toSchedule(resource, careUnit, directory);
  if (!own.isReady && !(await isAlone(ehr, careUnit, resourceId, resource, own))) return null;
  await grow(ehr, careUnit, referenceTo(resource), horizonOf(ehr));
  const stored = await ehr.client.read<FhirSchedule>(referenceTo(resource));
  return stored && toSchedule(stored, careUnit, directory);
}

function overlap(): ConnectorError {
  return new ConnectorError('schedule_overlap', 'Another schedule of the resource has the same times');
}

/** Checks for overlaps again now that others can see the schedule. The younger of two is taken out of use. */
async function isAlone(
  ehr: FhirConnection,
  careUnit: CareUnit,
  resourceId: string,
  resource: FhirSchedule,
  own: OwnSchedule,
): Promise<boolean> {
  const directory = await ehr.directory.reload(careUnit);
  const wanted = { careUnit, resourceId, timetable: timetableOf(own), own: resource };
  if (!(await overlapsAnother(ehr, directory, wanted))) return true;
  try {
    await putOutOfUse(ehr, resource, own, []);
  } catch (error) {
    // Somebody else has changed the Schedule. The operation looks it up again.
    throw error instanceof LostRace ? unknownOutcome(error) : error;
  }
  await ehr.directory.reload(careUnit);
  return false;
}

async function createResource(ehr: FhirConnection, creation: ScheduleCreation): Promise<FhirSchedule> {
  const { careUnit, operationId, resourceId } = creation;
  const directory = await ehr.directory.reload(careUnit);
  const own: OwnSchedule = {
    localStart: creation.localStart,
    localEnd: creation.localEnd,
    slotMinutes: creation.slotMinutes,
    recurrence: creation.recurrence,
    createdBy: operationId,
    isReady: false,
    slotsUntil: instantOf(creation.localStart, careUnit.timeZone),
    ends: [],
    exceptions: [],
  };
  const [like] = await ehr.client.readMany<FhirSchedule>(directory.schedulesOf([resourceId]).slice(0, 1));
  if (!like) throw new ConnectorError('resource_not_found', 'No such resource in this care unit');
  const serviceType = serviceTypesOf(directory, creation);
  if (await overlapsAnother(ehr, directory, { careUnit, resourceId, timetable: timetableOf(own) })) {
    // An earlier attempt of this write may have ended since it was looked for.
    const made = await resourceOfWrite(ehr, careUnit, operationId);
    if (made) return made;
    throw overlap();
  }
  const schedule = withOwnSchedule(newSchedule(like, serviceType, own), own);
  const ifNoneExist = `identifier=${encodeURIComponent(`${operationSystem}|${escapeToken(operationId)}`)}`;
  return untilCurrent(() => createOnce(ehr, creation, schedule, ifNoneExist));
}

/** @throws LostRace if the server created nothing because of another request, such as Medplum during concurrent creates */
async function createOnce(
  ehr: FhirConnection,
  { careUnit, operationId }: ScheduleCreation,
  schedule: FhirSchedule,
  ifNoneExist: string,
): Promise<FhirSchedule> {
  const response = await ehr.client.create(schedule, { ifNoneExist });
  if (isConflict(response.status)) {
    const found = await afterWriting(() => resourceOfWrite(ehr, careUnit, operationId));
    if (found) return found;
    throw new LostRace();
  }
  if (isBroken(response.status)) throw unknownOutcome(response.rejection);
  if (!response.ok) throw response.rejection ?? new ConnectorError('rejected', 'The EHR created no schedule');
  // As the EHR stored it: its version and its time decide which of two schedules is older.
  const stored = await afterWriting(() => resourceOfWrite(ehr, careUnit, operationId));
  if (!stored) throw unknownOutcome();
  return stored;
}

/** Has the actors of a schedule that the resource already has in the care unit, and so belongs to the care unit too. */
function newSchedule(like: FhirSchedule, serviceType: readonly CodeableConcept[], own: OwnSchedule): FhirSchedule {
  return {
    resourceType: 'Schedule',
    active: true,
    ...(serviceType.length > 0 ? { serviceType } : {}),
    ...(like.serviceCategory ? { serviceCategory: like.serviceCategory } : {}),
    ...(like.specialty ? { specialty: like.specialty } : {}),
    ...(like.actor ? { actor: like.actor } : {}),
    planningHorizon: { start: own.slotsUntil.toISOString(), end: own.slotsUntil.toISOString() },
  };
}

function serviceTypesOf(directory: CareUnitDirectory, { healthcareServiceIds }: ScheduleCreation): CodeableConcept[] {
  return healthcareServiceIds.map((id) => {
    const service = directory.services.find((it) => it.id === id);
    if (!service) throw new ConnectorError('healthcare_service_not_found', 'No such healthcare service');
    const [coding] = service.codings;
    if (!coding) throw new ConnectorError('rejected', 'The healthcare service has no code to write on a Schedule');
    return { coding: [coding], text: service.name };
  });
}
