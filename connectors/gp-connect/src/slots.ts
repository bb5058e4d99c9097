import { instantIn, type Reading, readRecord } from '@crossward/connector-kit/rest';
import type { Static, TSchema } from 'typebox';
import type { GpConnectConnection } from './connection.ts';
import { type FhirResource, idIn } from './fhir.ts';
import { deliveryChannel } from './modality.ts';
import { actorSchema, type FhirSchedule, scheduleSchema, slotSchema } from './records.ts';
import type { References } from './references.ts';
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
  ehr: GpConnectConnection,
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
  { client, settings: { organization }, references, leftOut }: GpConnectConnection,
  start: Date,
  end: Date,
): Promise<SlotPage> {
  const parameters = new URLSearchParams({ status: 'free' });
  for (const [name, value] of [
    ['start', `ge${ukTime(start)}`],
    ['end', `le${ukTime(end)}`],
    ['_include', 'Slot:schedule'],
    ['_include:recurse', 'Schedule:actor:Practitioner'],
    ['_include:recurse', 'Schedule:actor:Location'],
    ['searchFilter', `${identifierSystems.odsCode}|${organization.ods_code}`],
    ...(organization.type === undefined
      ? []
      : [['searchFilter', `${organisationTypes}|${organization.type}`] as const]),
  ] as const) {
    parameters.append(name, value);
  }
  const found = await client.search('search:slot-1', `Slot?${parameters}`);
  /** Those of a type that can be read. */
  function read<Found>(type: string, as: (resource: FhirResource) => Reading<Found>): Found[] {
    return found.flatMap((resource) => {
      if (resource.resourceType !== type) return [];
      const { record, path } = as(resource);
      if (path !== undefined) leftOut({ type, id: idIn(resource), path });
      return path === undefined ? [record] : [];
    });
  }
  const withSchema =
    <Schema extends TSchema>(schema: Schema) =>
    (resource: FhirResource) =>
      readRecord(schema, resource);
  const schedules = new Map(read('Schedule', withSchema(scheduleSchema)).map((it) => [`Schedule/${it.id}`, it]));
  const slots = read('Slot', (resource) => freeSlot(resource, schedules, references)).filter((it) => it !== null);
  const names = ['Practitioner', 'Location'].flatMap((type) =>
    read(type, withSchema(actorSchema)).map(({ id, name }): [string, string] => [`${type}/${id}`, inWords(name)]),
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
