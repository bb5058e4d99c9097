import type { TimeSlot, UnansweredCareUnit } from '@crossward/client';
import Type from 'typebox';
import type { Desk } from '../desk.ts';
import { namesAt, noNames } from '../names.ts';
import { endOfRange, startOfRange } from '../ranges.ts';
import { dataFromEhr, name, shownModality, shownText, strictObject, time } from '../shapes.ts';
import { spread } from '../spread.ts';
import { dataText } from '../texts.ts';
import { hints, tool } from '../tool.ts';

/** A person reads no longer list. */
const mostTimes = 20;
/** Services and resources. */
const mostEntries = 100;

/** What is read to spread times over: a gateway sends at most so many at once. */
const longestPage = 500;
const mostPages = 4;

const serviceId = shownText('`service_id` of list_services.');
const hasMore = Type.Boolean({ description: 'Whether there are more. If so, ask more narrowly.' });
const day = (meaning: string) =>
  shownText(
    `${meaning} A date (2030-03-15) or a time (2030-03-15T09:00), local time of the care unit unless it has an offset.`,
  );

export const listServicesTool = tool({
  name: 'list_services',
  title: 'List services',
  description: 'Lists what can be booked.',
  hints: hints.reads,
  input: strictObject({}),
  output: strictObject({
    services: Type.Array(
      strictObject({
        service_id: Type.String(),
        name: dataFromEhr,
        typical_minutes: Type.Union([Type.Number(), Type.Null()]),
      }),
    ),
    has_more: hasMore,
  }),
  async run(_, desk) {
    const unitIds = await desk.careUnitIds();
    const all = await Promise.all(unitIds.map((id) => desk.at(id).healthcareServices.list().all()));
    const offered = byId(all.flat());
    const services = offered.slice(0, mostEntries).map(({ id, name, duration_minutes }) => ({
      service_id: id,
      name: dataText(name),
      typical_minutes: duration_minutes,
    }));
    return { services, has_more: offered.length > services.length };
  },
});

export const listResourcesTool = tool({
  name: 'list_resources',
  title: 'List practitioners, rooms and devices',
  description: 'Lists with whom or what an appointment can be booked.',
  hints: hints.reads,
  input: strictObject({ service_id: Type.Optional(serviceId) }),
  output: strictObject({
    resources: Type.Array(
      strictObject({
        resource_id: Type.String(),
        kind: Type.Union([Type.Literal('practitioner'), Type.Literal('room'), Type.Literal('device')]),
        name: dataFromEhr,
        service_ids: Type.Array(Type.String()),
      }),
    ),
    has_more: hasMore,
  }),
  async run({ service_id: wanted }, desk) {
    const unitIds = await desk.careUnitIds();
    const all = byId((await Promise.all(unitIds.map((id) => desk.at(id).resources.list().all()))).flat());
    const offering = all.filter((it) => wanted === undefined || it.healthcare_service_ids.includes(wanted));
    const resources = offering.slice(0, mostEntries).map(({ id, kind, name, healthcare_service_ids }) => ({
      resource_id: id,
      kind,
      name: dataText(name),
      service_ids: healthcare_service_ids,
    }));
    return { resources, has_more: offering.length > resources.length };
  },
});

export const findTimes = tool({
  name: 'find_times',
  title: 'Find free times',
  description: `Finds free times, at most ${mostTimes}: spread over the days of the range, or the first ones if there are several care units. Give a time_ref of the result to preview_booking or preview_move.`,
  hints: hints.reads,
  input: strictObject({
    service_id: serviceId,
    resource_id: Type.Optional(shownText('`resource_id` of list_resources.')),
    from: day('First day or time.'),
    until: day('Last day, or time before which the appointment ends. At most 92 days after `from`.'),
  }),
  output: strictObject({
    times: Type.Array(
      strictObject({
        time_ref: Type.String(),
        start: time,
        end: time,
        care_unit_id: Type.String(),
        care_unit_name: name,
        resource_id: Type.String(),
        resource_name: name,
        modality: shownModality,
      }),
    ),
    has_more: hasMore,
    without_answer: Type.Array(dataFromEhr, {
      description: 'Care units that may have other times: they did not answer.',
    }),
  }),
  async run({ service_id, resource_id, from, until }, desk) {
    const timeZone = await desk.timeZone();
    const wanted = {
      serviceId: service_id,
      resourceIds: resource_id === undefined ? undefined : [resource_id],
      range: { start: startOfRange(from, timeZone), end: endOfRange(until, timeZone) },
    };
    const { careUnitId } = desk.assignment;
    const { chosen, isWhole, unanswered } = await (careUnitId === undefined
      ? findAnywhere(desk, wanted)
      : findAt(desk, careUnitId, wanted));
    const unitIds = chosen.map(({ careUnitId }) => careUnitId);
    const { careUnits, resources } = chosen.length + unanswered.length > 0 ? await namesAt(desk, unitIds) : noNames;
    const times = chosen.map(({ careUnitId, start, end, resourceId, modality }) => ({
      time_ref: desk.references.sealTime({ start, end, resourceId, serviceId: service_id, careUnitId }),
      start,
      end,
      care_unit_id: careUnitId,
      care_unit_name: careUnits.get(careUnitId) ?? null,
      resource_id: resourceId,
      resource_name: resources.get(resourceId) ?? null,
      modality,
    }));
    return { times, has_more: !isWhole, without_answer: unanswered.map((id) => careUnits.get(id) ?? dataText(id)) };
  },
});

interface Wanted {
  readonly serviceId: string;
  readonly resourceIds: string[] | undefined;
  readonly range: { readonly start: string; readonly end: string };
}

interface Found {
  readonly chosen: readonly (Pick<TimeSlot, 'start' | 'end' | 'modality'> & {
    readonly careUnitId: string;
    readonly resourceId: string;
  })[];
  /** Whether there are no other times. */
  readonly isWhole: boolean;
  /** Ids of care units that may have other times. */
  readonly unanswered: readonly string[];
}

/** Times of one care unit, spread over the days of the range. */
async function findAt(desk: Desk, careUnitId: string, { serviceId, resourceIds, range }: Wanted): Promise<Found> {
  const { client, assignment } = desk;
  const { capabilities } = await client.emrs.get(assignment.emr);
  const pages = desk
    .at(careUnitId)
    .timeSlots.list({
      ...range,
      healthcare_service_id: [serviceId],
      limit: longestPage,
      ...(resourceIds && { resource_id: resourceIds }),
      ...(capabilities.timeslots_by_patient === 'none' ? {} : { patient_id: assignment.patient }),
    })
    .pages();
  const found: TimeSlot[] = [];
  let isWhole = false;
  for (let page = 0; page < mostPages && !isWhole; page++) {
    const { value, done } = await pages.next();
    if (value) found.push(...value.items);
    isWhole = done === true || value?.nextCursor === null;
  }
  // A start has the care unit's offset, so its date is the day there.
  const chosen = spread(found, mostTimes, ({ start }) => start.slice(0, 'YYYY-MM-DD'.length)).map((slot) => ({
    ...slot,
    careUnitId,
    resourceId: slot.resource_id,
  }));
  return { chosen, isWhole: isWhole && found.length === chosen.length, unanswered: [] };
}

/** The first times of all care units. */
async function findAnywhere(desk: Desk, { serviceId, resourceIds, range }: Wanted): Promise<Found> {
  const { client, assignment } = desk;
  const unitIds = await desk.careUnitIds();
  const unanswered = new Set<string>();
  const search = {
    ...range,
    care_units: unitIds.map((id) => ({ emr: assignment.emr, care_unit_id: id, healthcare_service_ids: [serviceId] })),
    limit: mostTimes,
    ...(resourceIds && { resource_ids: resourceIds }),
  };
  const onUnanswered = (careUnits: readonly UnansweredCareUnit[]) => {
    for (const { care_unit_id } of careUnits) unanswered.add(care_unit_id);
  };
  const { items, nextCursor } = await client.timeSlots.search(search, { onUnanswered }).firstPage();
  const chosen = items.map((slot) => ({ ...slot, careUnitId: slot.care_unit_id, resourceId: slot.resource.id }));
  return { chosen, isWhole: nextCursor === null, unanswered: [...unanswered] };
}

/** Each entry once: care units of an EHR can share services and resources. */
function byId<Entry extends { readonly id: string }>(entries: readonly Entry[]): readonly Entry[] {
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}
