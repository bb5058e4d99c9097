import { ConnectorError, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import { type Directory, timeSlotsFor } from '@crossward/connector-kit/rest';
import { childrenOf, type XmlElement } from '@crossward/connector-kit/soap';
import { listsWith } from './bookings.ts';
import { type At, askUnit, servicesFor } from './ehr.ts';
import { bookingKeyOf, subjectOf } from './ids.ts';
import { freePeriod, localDate, readLocalTime } from './local-time.ts';
import { messageNamespace } from './producer.ts';
import { type FreeSlot, readTimeslot, resourceIdOf, serviceIdOf, untypedService } from './timeslot.ts';

const namespace = messageNamespace('GetAvailableTimeslots');

/** What to look for. All filters apply. */
interface Search {
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
export async function findFreeSlots(at: At, search: Search): Promise<readonly FreeSlot[]> {
  const { subject, resourceIds, healthcareServiceIds = [], bookingId } = search;
  const now = at.now();
  const start = search.start > now ? search.start : now;
  if (search.end <= start) return [];
  const { timeZone } = at.careUnit;
  const performer = resourceIds?.every((it) => hsaId.test(it) && it !== at.unit.hsaId) ? resourceIds : [];
  const [service, another] = healthcareServiceIds;
  const texts = {
    bookingId,
    startDateInclusive: localDate(start, timeZone),
    // Both dates are inclusive, and the end of the range is not.
    endDateInclusive: localDate(new Date(search.end.getTime() - 1), timeZone),
    performer,
    timeTypeID: another === undefined && service !== untypedService ? service : undefined,
  };
  const answer = await askUnit(at, 'GetAvailableTimeslots', subject, texts, { subject_of_care: subject });
  const slots = childrenOf(answer, namespace, 'timeslotDetail').flatMap((it) => readFree(at, it) ?? []);
  return slots.filter((it) => it.start > now && suits(it, { ...search, start }));
}

/** `undefined`: another unit's, an invitation, not offered because of the clock change, or left out. */
function readFree(at: At, element: XmlElement): FreeSlot | undefined {
  const { record: slot, path } = readTimeslot(element);
  const isOther = slot?.isInvitation || slot?.texts.healthcare_facility !== at.unit.hsaId;
  if (slot && isOther) return undefined;
  const { startTimeInclusive, endTimeExclusive } = slot?.texts ?? {};
  const period = freePeriod(startTimeInclusive, endTimeExclusive, at.careUnit.timeZone, at.settings.repeated_hour);
  if (slot && period) return period === 'not offered' ? undefined : { ...slot, ...period };
  const wrong = readLocalTime(startTimeInclusive) ? '/endTimeExclusive' : '/startTimeInclusive';
  at.leftOut({ type: 'timeslotDetail', path: path ?? wrong });
  return undefined;
}

function suits(slot: FreeSlot, { start, end, resourceIds, healthcareServiceIds }: Search): boolean {
  const isInRange = slot.start >= start && slot.end <= end;
  const isResource = resourceIds?.includes(resourceIdOf(slot)) ?? true;
  return isInRange && isResource && (healthcareServiceIds?.includes(serviceIdOf(slot)) ?? true);
}

/** Free slots for a caller. */
export async function listTimeSlots(at: At, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const { start, end, forAppointment, freeing = [], healthcareServiceIds: wanted } = query;
  const { resourceIds, hasResource, offered: everybodys } = await knownOf(at, query);
  const moved = forAppointment === undefined ? undefined : bookingKeyOf(forAppointment);
  const named = query.patientId === undefined ? moved?.subject : subjectOf(query.patientId);
  const offered = await offeredOf(at, named, everybodys, wanted ?? []);
  const healthcareServiceIds = wanted?.filter((id) => offered.has(id));
  if (resourceIds?.length === 0 || healthcareServiceIds?.length === 0) return [];
  const subject = named ?? at.settings.search_subject;
  if (subject === undefined) throw new ConnectorError('unsupported', 'The producer has free times for a patient only');
  const search = { start, end, subject, resourceIds, healthcareServiceIds, bookingId: moved?.bookingId };
  const free = await findFreeSlots(at, search);
  const own = await ownTimes(at, search, freeing);
  const ofKnown = [...free, ...own].filter(hasResource);
  // A time of a resource or service that nobody lists cannot be booked by its id.
  const bookable = await offeredOf(at, named, offered, ofKnown.map(serviceIdOf));
  const slots = ofKnown.map((it): TimeSlot => {
    const ids = { resourceId: resourceIdOf(it), healthcareServiceId: serviceIdOf(it) };
    return { start: it.start, end: it.end, ...ids };
  });
  const shown = slots.filter((it) => bookable.has(it.healthcareServiceId));
  return timeSlotsFor(shown, query, at.now());
}

/** What the unit has of what is wanted. A producer responds with a fault to a performer whom it does not know. */
async function knownOf({ lists }: At, { resourceIds, healthcareServiceIds }: TimeSlotQuery) {
  const hasAll = ({ resources, services }: Directory) =>
    resourceIds?.every((id) => resources.some((it) => it.id === id)) !== false &&
    healthcareServiceIds?.every((id) => services.some((it) => it.id === id)) !== false;
  const complete = await lists.find((unit) => (hasAll(unit) ? unit : undefined));
  const { resources, services } = complete ?? (await lists.get());
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
  at: At,
  patient: string | undefined,
  everybodys: ReadonlySet<string>,
  wanted: readonly string[],
): Promise<ReadonlySet<string>> {
  if (patient === undefined || wanted.every((id) => everybodys.has(id))) return everybodys;
  return new Set((await servicesFor(at, patient)).map(({ id }) => id));
}

/** The times of these appointments that the search would find if they were free. */
async function ownTimes(at: At, search: Search, ids: readonly string[]): Promise<readonly FreeSlot[]> {
  const now = at.now();
  return (await listsWith(at, ids))
    .flatMap(({ wanted, bookings }) => bookings.filter(({ texts }) => wanted.has(texts.bookingId ?? '')))
    .flatMap(({ end, ...it }) => (end ? { ...it, end } : []))
    .filter((it) => it.start > now && suits(it, search));
}
