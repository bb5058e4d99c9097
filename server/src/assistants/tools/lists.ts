import Type from 'typebox';
import { endOfRange, startOfRange } from '../ranges.ts';
import { dataFromEhr, id, modality, reference, resourceId, strictObject, time } from '../shapes.ts';
import { dataText } from '../texts.ts';
import { hints, tool } from '../tool.ts';

/** A person reads no longer list. */
const mostTimes = 20;
/** Services and resources. */
const mostEntries = 100;

const serviceId = id('`service_id` of list_services.');
const hasMore = Type.Boolean({ description: 'Whether there are more. If so, ask more narrowly.' });
const day = (text: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2})?)?$',
    description: `${text} A date (2030-03-15) or a time (2030-03-15T09:00), local time of the care unit.`,
  });

export const listServices = tool({
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

export const listResources = tool({
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
  description: `Finds free times, at most ${mostTimes}. Give a time_ref of the result to preview_booking or preview_move.`,
  hints: hints.reads,
  input: strictObject({
    service_id: serviceId,
    resource_id: Type.Optional(resourceId),
    from: day('First day or time.'),
    until: day('Last day, or time before which the appointment ends. At most 92 days after `from`.'),
  }),
  output: strictObject({
    times: Type.Array(
      strictObject({ time_ref: reference(''), start: time, end: time, resource_id: Type.String(), modality }),
    ),
    has_more: hasMore,
  }),
  async run({ service_id, resource_id, from, until }, { client, careUnit, references, assignment }) {
    const { capabilities } = await client.emrs.get(assignment.emr);
    const { items, nextCursor } = await careUnit.timeSlots
      .list({
        start: startOfRange(from),
        end: endOfRange(until),
        healthcare_service_id: [service_id],
        limit: mostTimes,
        ...(resource_id === undefined ? {} : { resource_id: [resource_id] }),
        ...(capabilities.timeslots_by_patient === 'none' ? {} : { patient_id: assignment.patient }),
      })
      .firstPage();
    const times = items.map(({ start, end, resource_id, healthcare_service_id, modality }) => ({
      time_ref: references.sealTime({ start, end, resourceId: resource_id, serviceId: healthcare_service_id }),
      start,
      end,
      resource_id,
      modality,
    }));
    return { times, has_more: nextCursor !== null };
  },
});
