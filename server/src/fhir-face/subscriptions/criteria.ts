import type { EventFilter } from '../../db/tables/webhooks.ts';
import { type EventType, eventTypes } from '../../events/event-types.ts';
import type { InCareUnit } from '../../writes/write-kind.ts';
import { unprocessable } from '../from-fhir/faults.ts';
import { careUnitLocationId, notationOf, readReference } from '../ids.ts';
import { type Topic, topics } from './topics.ts';

/** Which events a Subscription gets. */
export interface WantedEvents {
  readonly types: readonly EventType[];
  readonly filter: EventFilter;
}

/** A search in a criteria or in a filter, with where it was sent. */
interface SentSearch {
  /** Behind the `?`. */
  readonly query: string;
  readonly pointer: string;
  readonly parameters: readonly string[];
}

const actors: Readonly<Record<string, string | undefined>> = {
  actor: undefined,
  practitioner: 'Practitioner',
  location: 'Location',
};

/** The native statuses of events. What attendance says of an appointment, other events do not know. */
const statuses: Readonly<Record<string, string>> = {
  booked: 'booked',
  pending: 'awaiting_confirmation',
  cancelled: 'cancelled',
};

/**
 * Reads the criteria of a Subscription: the canonical URL of a topic with filters, or a search for Appointments of which events know
 * all that it names.
 *
 * @param base of the care unit
 * @throws Problem `request_invalid` (422), with the place
 */
export function readCriteria(
  criteria: string,
  filters: readonly string[],
  base: string,
  unit: InCareUnit,
): WantedEvents {
  const topic = topics.find(({ url }) => url === criteria);
  if (topic) return ofTopic(topic, filters, base, unit);
  const [name, ...query] = criteria.split('?');
  if (name !== 'Appointment') {
    const known = topics.map(({ url }) => url).join(', ');
    const detail = `The criteria must be the URL of a topic (${known}), or a search for Appointment.`;
    throw unprocessable('/criteria', detail, 'not-supported');
  }
  if (filters.length > 0) throw unprocessable('/criteria/extension/0', 'Filters are of a topic.', 'not-supported');
  const all = eventTypes.filter((type) => type.startsWith('appointment.'));
  const parameters = [...Object.keys(actors), 'status'];
  const search = { query: query.join('?'), pointer: '/criteria', parameters };
  const filter = readFilter(search, base, unit);
  // An Appointment with attendance is not `booked`.
  const types = filter.statuses ? all.filter((type) => type !== 'appointment.attendance_changed') : all;
  return { types, filter };
}

function ofTopic(
  { types, statuses: of }: Topic,
  filters: readonly string[],
  base: string,
  unit: InCareUnit,
): WantedEvents {
  const [first, ...others] = filters;
  if (others.length > 0) throw unprocessable('/criteria/extension/1', 'One filter is taken.', 'not-supported');
  const pointer = '/criteria/extension/0/valueString';
  const query = first?.replace(/^Appointment\?/, '') ?? '';
  const filter = readFilter({ query, pointer, parameters: Object.keys(actors) }, base, unit);
  return { types, filter: { ...filter, ...(of && { statuses: of }) } };
}

function readFilter({ query, pointer, parameters }: SentSearch, base: string, unit: InCareUnit): EventFilter {
  const found: { statuses?: readonly string[]; resource_ids?: readonly string[] } = {};
  for (const [name, value] of new URLSearchParams(query)) {
    if (!parameters.includes(name)) {
      const detail = `Events are filtered by ${parameters.join(', ')}. They do not know the patient or other elements.`;
      throw unprocessable(pointer, detail, 'not-supported');
    }
    const key = name === 'status' ? 'statuses' : 'resource_ids';
    if (found[key]) throw unprocessable(pointer, 'A Subscription names status and actors once each.', 'not-supported');
    const values = value.split(',');
    if (key === 'statuses') found.statuses = values.map((it) => readStatus(it, pointer));
    else found.resource_ids = values.map((it) => readActor(it, actors[name], base, pointer));
  }
  const isOfUnit = found.resource_ids?.includes(`emr_id:${careUnitLocationId(unit.careUnit.id)}`);
  const { resource_ids: _, ...withoutActors } = found;
  return isOfUnit ? withoutActors : found;
}

function readStatus(value: string, pointer: string): string {
  const known = statuses[value.replace(/^http:\/\/hl7\.org\/fhir\/appointmentstatus\|/, '')];
  if (known !== undefined) return known;
  throw unprocessable(pointer, `The status is one of ${Object.keys(statuses).join(', ')}.`, 'not-supported');
}

function readActor(value: string, type: string | undefined, base: string, pointer: string): string {
  const reference = value.includes('/') ? readReference(value, base) : type && { type, id: value };
  const isActor = reference && ['Practitioner', 'Location', 'Device'].includes(reference.type);
  const id = isActor && (type ?? reference.type) === reference.type ? notationOf(reference.id) : undefined;
  if (id !== undefined) return id;
  throw unprocessable(
    pointer,
    'An actor is a reference such as Practitioner/1, Location/1 or Device/1 of this base URL.',
  );
}
