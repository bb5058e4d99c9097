import { type CareUnit, ConnectorError, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import { type Directory, timeSlotsFor } from '@crossward/connector-kit/rest';
import { childrenOf, type XmlElement } from '@crossward/connector-kit/soap';
import { bookingKeyOf } from './appointment-id.ts';
import { listsWith } from './bookings.ts';
import type { RivtaDirectory } from './directory.ts';
import { freePeriod, localDate, readLocalTime } from './local-time.ts';
import { subjectOf } from './patient-id.ts';
import { messageNamespace, type Producer } from './producer.ts';
import { type FreeSlot, readTimeslot, resourceIdOf, serviceIdOf, untypedService } from './timeslot.ts';

const namespace = messageNamespace('GetAvailableTimeslots');

/** What to look for. All filters apply. */
interface Search {
  readonly careUnit: CareUnit;
  readonly start: Date;
  readonly end: Date;
  readonly subject: string;
  readonly resourceIds?: readonly string[] | undefined;
  readonly healthcareServiceIds?: readonly string[] | undefined;
  /** The booking that is to be moved: the producer then looks for times that suit it. */
  readonly bookingId?: string | undefined;
}

/** Performers have HSA ids. Other resources cannot be named in a search. */
const hsaId = /^SE[0-9]{10}-[0-9A-Z]+$/i;

/** Free slots of the unit that lie inside the range and have not started, in no order. */
export async function findFreeSlots(producer: Producer, search: Search): Promise<readonly FreeSlot[]> {
  const { careUnit, subject, resourceIds, healthcareServiceIds, bookingId } = search;
  const { timeZone } = careUnit;
  const now = producer.now();
  const start = search.start > now ? search.start : now;
  if (search.end <= start) return [];
  const facility = producer.facilityOf(careUnit);
  const performers = resourceIds?.every((it) => hsaId.test(it) && it !== facility.hsaId) ? resourceIds : [];
  const [service, another] = healthcareServiceIds ?? [];
  const texts = [
    ['bookingId', bookingId],
    ['startDateInclusive', localDate(start, timeZone)],
    // Both dates are inclusive, and the end of the range is not.
    ['endDateInclusive', localDate(new Date(search.end.getTime() - 1), timeZone)],
    ...performers.map((it) => ['performer', it] as const),
    ['timeTypeID', another === undefined && service !== untypedService ? service : undefined],
  ] as const;
  const added = [['subject_of_care', subject]] as const;
  const answer = await producer.askUnit('GetAvailableTimeslots', { careUnit, subject }, texts, added);
  const slots = childrenOf(answer, namespace, 'timeslotDetail').flatMap((it) => readFree(producer, careUnit, it) ?? []);
  return slots.filter((it) => it.start >= start && it.start > now && it.end <= search.end && suits(it, search));
}

/** `undefined`: another unit's, an invitation, not offered because of the clock change, or left out. */
function readFree(producer: Producer, careUnit: CareUnit, element: XmlElement): FreeSlot | undefined {
  const { record: slot, path } = readTimeslot(element);
  const isOther = slot?.isInvitation || slot?.texts.healthcare_facility !== producer.facilityOf(careUnit).hsaId;
  if (slot && isOther) return undefined;
  const { startTimeInclusive, endTimeExclusive } = slot?.texts ?? {};
  const period = freePeriod(startTimeInclusive, endTimeExclusive, careUnit.timeZone, producer.repeatedHour);
  if (slot && period) return period === 'not offered' ? undefined : { ...slot, ...period };
  const wrong = readLocalTime(startTimeInclusive) ? '/endTimeExclusive' : '/startTimeInclusive';
  producer.leftOut({ type: 'timeslotDetail', path: path ?? wrong });
  return undefined;
}

function suits(
  slot: FreeSlot,
  { resourceIds, healthcareServiceIds }: Pick<Search, 'resourceIds' | 'healthcareServiceIds'>,
): boolean {
  return (
    (resourceIds?.includes(resourceIdOf(slot)) ?? true) && (healthcareServiceIds?.includes(serviceIdOf(slot)) ?? true)
  );
}

/** Free slots for a caller. */
export async function listTimeSlots(
  producer: Producer,
  directory: RivtaDirectory,
  query: TimeSlotQuery,
): Promise<readonly TimeSlot[]> {
  const { careUnit, start, end, forAppointment, freeing = [] } = query;
  const { resourceIds, hasResource, offered: everybodys } = await knownOf(directory, query);
  const moved = forAppointment === undefined ? undefined : bookingKeyOf(forAppointment);
  const named = query.patientId === undefined ? moved?.subject : subjectOf(query.patientId);
  const wanted = query.healthcareServiceIds;
  const offered = await offeredOf(directory, careUnit, named, everybodys, wanted ?? []);
  const healthcareServiceIds = wanted?.filter((id) => offered.has(id));
  if (resourceIds?.length === 0 || healthcareServiceIds?.length === 0) return [];
  const subject = named ?? producer.searchSubject;
  if (subject === undefined) throw new ConnectorError('unsupported', 'The producer has free times for a patient only');
  const search = { careUnit, start, end, subject, resourceIds, healthcareServiceIds, bookingId: moved?.bookingId };
  const free = await findFreeSlots(producer, search);
  const own = await ownTimes(producer, search, freeing);
  const ofKnown = [...free, ...own].filter(hasResource);
  // A time of a resource or service that nobody lists cannot be booked by its id.
  const bookableServices = await offeredOf(directory, careUnit, named, offered, ofKnown.map(serviceIdOf));
  const bookable = ofKnown.filter((it) => bookableServices.has(serviceIdOf(it)));
  return timeSlotsFor(bookable.map(asTimeSlot), query, producer.now());
}

/** What the unit has of what is wanted. A producer responds with a fault to a performer whom it does not know. */
async function knownOf(directory: RivtaDirectory, { careUnit, resourceIds, healthcareServiceIds }: TimeSlotQuery) {
  const hasAll = ({ resources, services }: Directory) =>
    resourceIds?.every((id) => resources.some((it) => it.id === id)) !== false &&
    healthcareServiceIds?.every((id) => services.some((it) => it.id === id)) !== false;
  const complete = await directory.find(careUnit, (unit) => (hasAll(unit) ? unit : undefined));
  const { resources, services } = complete ?? (await directory.of(careUnit));
  const known = new Set(resources.map(({ id }) => id));
  return {
    resourceIds: resourceIds?.filter((id) => known.has(id)),
    hasResource: (slot: FreeSlot) => known.has(resourceIdOf(slot)),
    offered: new Set(services.map(({ id }) => id)),
  };
}

/**
 * The services of these that the patient can book. Only if one of them is not offered to everybody, the producer is asked for
 * those of the patient.
 */
async function offeredOf(
  directory: RivtaDirectory,
  careUnit: CareUnit,
  patient: string | undefined,
  everybodys: ReadonlySet<string>,
  wanted: readonly string[],
): Promise<ReadonlySet<string>> {
  if (patient === undefined || wanted.every((id) => everybodys.has(id))) return everybodys;
  return new Set((await directory.servicesFor(careUnit, patient)).map(({ id }) => id));
}

/** The times of these appointments that the search would find if they were free. */
async function ownTimes(producer: Producer, search: Search, ids: readonly string[]): Promise<readonly FreeSlot[]> {
  const now = producer.now();
  const lists = await listsWith(producer, search.careUnit, ids);
  return lists
    .flatMap(({ wanted, bookings }) => bookings.filter(({ texts }) => wanted.has(texts.bookingId ?? '')))
    .flatMap(({ end, ...it }) => (end ? { ...it, end } : []))
    .filter((it) => it.start > now && it.start >= search.start && it.end <= search.end && suits(it, search));
}

function asTimeSlot(slot: FreeSlot): TimeSlot {
  return {
    start: slot.start,
    end: slot.end,
    resourceId: resourceIdOf(slot),
    healthcareServiceId: serviceIdOf(slot),
  };
}
