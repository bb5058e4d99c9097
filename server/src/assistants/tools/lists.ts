import type { TimeSlot } from '@crossward/client';
import Type from 'typebox';
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
  description: 'Lists what can be booked at the care unit.',
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
  async run(_, { careUnit }) {
    const { items, nextCursor } = await careUnit.healthcareServices.list({ limit: mostEntries }).firstPage();
    const services = items.map(({ id, name, duration_minutes }) => ({
      service_id: id,
      name: dataText(name),
      typical_minutes: duration_minutes,
    }));
    return { services, has_more: nextCursor !== null };
  },
});

export const listResourcesTool = tool({
  name: 'list_resources',
  title: 'List practitioners, rooms and devices',
  description: 'Lists with whom or what an appointment can be booked at the care unit.',
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
  async run({ service_id: wanted }, { careUnit }) {
    const all = await careUnit.resources.list().all();
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
  description: `Finds free times, at most ${mostTimes}, spread over the days of the range. Give a time_ref of the result to preview_booking or preview_move.`,
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
        resource_id: Type.String(),
        resource_name: name,
        modality: shownModality,
      }),
    ),
    has_more: hasMore,
  }),
  async run({ service_id, resource_id, from, until }, desk) {
    const { client, careUnit, references, assignment } = desk;
    const [{ capabilities }, timeZone] = await Promise.all([client.emrs.get(assignment.emr), desk.timeZone()]);
    const pages = careUnit.timeSlots
      .list({
        start: startOfRange(from, timeZone),
        end: endOfRange(until, timeZone),
        healthcare_service_id: [service_id],
        limit: longestPage,
        ...(resource_id === undefined ? {} : { resource_id: [resource_id] }),
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
    const chosen = spread(found, mostTimes, ({ start }) => start.slice(0, 'YYYY-MM-DD'.length));
    const { resources } = chosen.length > 0 ? await namesAt(desk) : noNames;
    const times = chosen.map(({ start, end, resource_id, healthcare_service_id, modality }) => ({
      time_ref: references.sealTime({ start, end, resourceId: resource_id, serviceId: healthcare_service_id }),
      start,
      end,
      resource_id,
      resource_name: resources.get(resource_id) ?? null,
      modality,
    }));
    return { times, has_more: !isWhole || found.length > times.length };
  },
});
