import { isComplete, type TimeSlot, type TimeSlotQuery } from '@crossward/connector-kit';
import {
  counted,
  firstSlotStart,
  instantIn,
  pageOfTimeSlots,
  type Reading,
  readRecord,
} from '@crossward/connector-kit/rest';
import type { Static } from 'typebox';
import { findAppointments } from './appointments.ts';
import { type At, type Ehr, isAt, resourceIdOf, serviceOf } from './ehr.ts';
import { deliveryChannel, type FhirResource, modalityOf, type References } from './fhir.ts';
import { actorSchema, type FhirSchedule, scheduleSchema, slotSchema } from './records.ts';
import { plusUkDays, ukTime } from './uk-time.ts';
import { identifierSystems, organisationTypes } from './urls.ts';

const day = 24 * 60 * 60 * 1000;
/** Windows overlap, because a search leaves out a slot that begins before it or ends after it. No slot lasts a day. */
const overlap = day;

/** A slot of a schedule with a location, without which nothing can be booked. */
export interface FreeSlot {
  readonly id: string;
  readonly start: Date;
  readonly end: Date;
  /** As the practice writes them. A booking must repeat them character by character. */
  readonly startText: string;
  readonly endText: string;
  readonly schedule: string;
  readonly location: string;
  readonly practitioner: string | undefined;
  readonly slotType: string | undefined;
  readonly scheduleType: string | undefined;
  readonly channel: string | undefined;
}

/** Free slots, and the names of the practitioners and locations in their schedules, by reference. */
export interface SlotPage {
  readonly slots: readonly FreeSlot[];
  readonly names: ReadonlyMap<string, string>;
}

/** Free slots that lie wholly in the range, ordered by start and id: as many searches as are read, one after another. */
export async function* freeSlots(
  ehr: Ehr,
  { start, end }: { readonly start: Date; readonly end: Date },
): AsyncGenerator<SlotPage> {
  // Times of GP Connect are whole seconds.
  const last = Math.floor(end.getTime() / 1000) * 1000;
  for (let from = Math.ceil(start.getTime() / 1000) * 1000; from < last; ) {
    const until = Math.min(twoWeeksAfter(from), last);
    const next = until === last ? last : until - overlap;
    const { slots, names } = await searchSlots(ehr, new Date(from), new Date(until));
    const isOfWindow = ({ start: at }: FreeSlot) => at.getTime() >= from && at.getTime() < next;
    yield { slots: slots.filter(isOfWindow).sort(compare), names };
    from = next;
  }
}

/**
 * GP Connect refuses searches of more than two weeks. It does not say whether these are 14 times 24 hours or 14 days of the
 * clock: the shorter of both is never too long.
 */
function twoWeeksAfter(time: number): number {
  return Math.min(time + 14 * day, plusUkDays(new Date(time), 14).getTime());
}

/** Of parallel slots, always the same is the first: the one that is shown is the one that is booked. */
function compare(a: FreeSlot, b: FreeSlot): number {
  return a.start.getTime() - b.start.getTime() || (a.id < b.id ? -1 : 1);
}

async function searchSlots(
  { client, settings: { organization }, leftOut }: Ehr,
  start: Date,
  end: Date,
): Promise<SlotPage> {
  const parameters = new URLSearchParams({
    status: 'free',
    start: `ge${ukTime(start)}`,
    end: `le${ukTime(end)}`,
    _include: 'Slot:schedule',
    '_include:recurse': 'Schedule:actor:Practitioner',
  });
  parameters.append('_include:recurse', 'Schedule:actor:Location');
  parameters.append('searchFilter', `${identifierSystems.odsCode}|${organization.ods_code}`);
  if (organization.type) parameters.append('searchFilter', `${organisationTypes}|${organization.type}`);
  const found = await client.search('search:slot-1', `Slot?${parameters}`);
  /** Those of a type that can be read. */
  const read = <Found>(type: string, as: (resource: FhirResource) => Reading<Found>) =>
    found
      .filter(({ resourceType }) => resourceType === type)
      .flatMap((it) => counted({ leftOut }, type, as(it), it.id) ?? []);
  const ofSchedules = read('Schedule', (it) => readRecord(scheduleSchema, it));
  const schedules = new Map(ofSchedules.map((it) => [`Schedule/${it.id}`, it]));
  const slots = read('Slot', (it) => freeSlot(it, schedules, client.references));
  const names = ['Practitioner', 'Location'].flatMap((type) =>
    read(type, (it) => readRecord(actorSchema, it)).map(({ id, name }) => [`${type}/${id}`, inWords(name)] as const),
  );
  return { slots: slots.filter((it) => it.start >= start && it.end <= end), names: new Map(names) };
}

/** `null`: it is not free, or of a schedule without a location. */
function freeSlot(
  resource: FhirResource,
  schedules: ReadonlyMap<string, FhirSchedule>,
  references: References,
): Reading<FreeSlot | null> {
  const { record: slot, path } = readRecord(slotSchema, resource);
  if (!slot) return { path };
  const { id, status, start: startText, end: endText, serviceType } = slot;
  const [start, end] = [instantIn(startText), instantIn(endText)];
  const schedule = schedules.get(references.to('Schedule', [slot.schedule]) ?? '');
  if (!start) return { path: '/start' };
  if (!end || end <= start) return { path: '/end' };
  if (!schedule) return { path: '/schedule' };
  const location = references.to('Location', schedule.actor);
  if (status !== 'free' || location === undefined) return { record: null };
  return {
    record: {
      id,
      start,
      end,
      startText,
      endText,
      schedule: `Schedule/${schedule.id}`,
      location,
      practitioner: references.to('Practitioner', schedule.actor),
      slotType: serviceType?.[0]?.text,
      scheduleType: schedule.serviceCategory?.text,
      channel: deliveryChannel(slot),
    },
  };
}

/**
 * Adjacent slots from the start to the end. Slots of one booking must have the same schedule, service type and delivery
 * channel. `undefined`: there are none.
 */
export function adjacentSlots(
  slots: readonly FreeSlot[],
  { start, end }: { readonly start: Date; readonly end: Date },
): [FreeSlot, ...FreeSlot[]] | undefined {
  const inRange = slots.filter((it) => it.start >= start && it.end <= end);
  for (const first of inRange.filter((it) => it.start.getTime() === start.getTime())) {
    if (first.end.getTime() === end.getTime()) return [first];
    const rest = adjacentSlots(
      inRange.filter((it) => canJoin(it, first)),
      { start: first.end, end },
    );
    if (rest) return [first, ...rest];
  }
  return undefined;
}

function canJoin(a: FreeSlot, b: FreeSlot): boolean {
  return a.schedule === b.schedule && a.slotType === b.slotType && a.channel === b.channel;
}

function inWords(name: Static<typeof actorSchema>['name']): string {
  if (typeof name === 'string') return name;
  const { prefix = [], given = [], family = '' } = name?.[0] ?? {};
  return [...prefix, ...given, family].join(' ').trim();
}

/** Searches only as far ahead as the page needs: a search of two weeks can take seconds. */
export async function listTimeSlots(at: At, query: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const now = at.now();
  return pageOfTimeSlots(searched(at, query, firstSlotStart(query, now)), query, now, await freedSlots(at, query));
}

async function* searched(at: At, { end }: TimeSlotQuery, start: Date) {
  for await (const { slots } of freeSlots(at, { start, end })) yield slots.flatMap((it) => timeSlot(at, it));
}

function timeSlot(at: At, slot: FreeSlot): TimeSlot[] {
  const { start, end, channel } = slot;
  const [resourceId, healthcareServiceId = ''] = [resourceIdOf(slot), serviceOf(at, slot)?.id];
  const resource = at.unit.resources.find(({ id }) => id === resourceId);
  const isWanted = isAt(at, slot) && resource?.healthcareServiceIds.includes(healthcareServiceId);
  return isWanted ? [{ start, end, resourceId, healthcareServiceId, modality: modalityOf(channel) }] : [];
}

/** The times of the appointments that the caller is about to leave: one slot each, because their own slots are not shown. */
async function freedSlots(at: At, { freeing = [] }: TimeSlotQuery): Promise<readonly TimeSlot[]> {
  const appointments = (await findAppointments(at, freeing)).filter(isComplete);
  return appointments
    .filter(({ state }) => state === 'booked')
    .map(({ start, end, resourceId, healthcareServiceId, modality }) => ({
      ...{ start, end, resourceId, healthcareServiceId, modality },
    }));
}
