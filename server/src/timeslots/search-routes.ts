import type { Resource, ResourceIdentifier } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { endpoint, type Input } from '../api/endpoint.ts';
import { resourceIdentifier } from '../api/identifiers.ts';
import { readRange } from '../api/request-times.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import { reference } from '../api/schemas.ts';
import type { Client } from '../clients/client-registry.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { describeError } from '../log/describe-error.ts';
import { inBody } from '../problems/places.ts';
import { Problem, problemAt } from '../problems/problem.ts';
import type { KeptSlot } from '../slot-search/kept.ts';
import { positionOf, type SlotPosition, type UnitSearch } from '../slot-search/progress.ts';
import { type FoundSlot, findFreeSlots, type Unanswered } from '../slot-search/search.ts';
import { type ServiceIds, wantedService } from '../slot-search/services.ts';
import { instantFormatter } from '../time/date-times.ts';
import { longestRangeHours } from './contract.ts';
import { mostCareUnits, type timeslotSearchBody, timeslotSearchSchema, type Weekday } from './search-contract.ts';

type Body = Static<typeof timeslotSearchBody>;
type SearchInput = Pick<Input<'client'>, 'client' | 'services' | 'readHeader' | 'countRequest' | 'sameServices'> & {
  readonly body: Body;
};

export const searchTimeslots = endpoint({
  operationId: 'search_timeslots',
  tag: 'Time slots',
  summary: 'Search for time slots of many care units',
  description:
    'Returns the first free time slots of many care units as one list. An EHR that is slow or away neither delays nor hides ' +
    'the others: its care units are in `unanswered`. What EHRs have shown lately is used again, as far as `max_age_seconds` ' +
    'allows. A booking always asks the EHR. Each EHR that is asked, beyond the first one, counts as a request of the client.',
  level: 'client',
  method: 'POST',
  path: '/timeslots/search',
  audit: 'none',
  scopes: ['appointments:read', 'resources:read'],
  body: reference<Body>('TimeslotSearch'),
  response: {
    status: 200,
    description: 'Free time slots, sorted by start, EHR, care unit, resource and service.',
    schema: timeslotSearchSchema,
  },
  reasons: [
    'time_range_invalid',
    'local_time_nonexistent',
    'cursor_invalid',
    'emr_not_found',
    'care_unit_not_found',
    ...identifierReasons,
    ...ehrReadReasons,
  ],
  reasonsOfNames: ['healthcare_service_not_found'],
  examples: {
    body: { start: '2027-03-19T08:00:00', end: '2027-04-19T00:00:00', time_of_day: { end: '12:00' }, limit: 50 },
    response: {
      timeslots: [
        {
          emr: 'sandbox-no',
          care_unit_id: 'oslo-sentrum',
          start: '2027-03-19T08:00:00+01:00',
          end: '2027-03-19T08:30:00+01:00',
          resource: { id: 'emr_id:r-1', name: 'Lege Test Testesen' },
          healthcare_service_id: 'consultation',
          modality: null,
          as_of: '2027-03-18T14:02:11Z',
        },
      ],
      unanswered: [
        {
          emr: 'sandbox-se',
          care_unit_id: 'sodermalm',
          reason: 'ehr_timeout',
          detail: 'The EHR has not answered yet.',
          retry_after_seconds: 1,
        },
      ],
      next_cursor: null,
    },
  },
  async handle(input, { log }) {
    const { client, body, cursors, services, slots } = input;
    const { limit = 100, cursor, max_age_seconds = 60, wait_ms = 3_000, per_care_unit, ...filters } = body;
    const units = unitsOf(input);
    // What a page has shown of each care unit is told by place.
    const counted =
      per_care_unit === undefined ? null : [per_care_unit, ...units.map(({ ehr, careUnit }) => [ehr.id, careUnit.id])];
    const binding = { clientId: client.id, operationId: 'search_timeslots', filters: [filters, counted] };
    const former = cursor === undefined ? undefined : openCursor(cursors.open(cursor, binding, inBody('cursor')));
    const shownOf = (place: number) => former?.shown[place] ?? 0;
    const { found, unanswered } = await findFreeSlots(services.db, slots, {
      units: units.map((unit, place) => ({ ...unit, most: per_care_unit && per_care_unit - shownOf(place) })),
      maxAgeSeconds: max_age_seconds,
      waitMs: wait_ms,
      after: former?.after,
      limit,
      mayAsk: countedOnce(input),
    });
    for (const { unit, reason, cause } of unanswered) {
      if (reason === 'internal_error') log.error({ emr: unit.ehr.id, cause: describeError(cause) }, 'search failed');
    }
    const entries = found.slice(0, limit);
    const last = entries.at(-1);
    const isFull = found.length > limit && last !== undefined;
    const shown =
      counted &&
      units.map(({ ehr, careUnit }, place) => {
        const isOfIt = ({ unit }: FoundSlot) => unit.ehr === ehr && unit.careUnit === careUnit;
        return shownOf(place) + entries.filter(isOfIt).length;
      });
    const next_cursor = isFull ? cursors.seal([...positionOf(last), shown ?? []], binding) : null;
    return { body: { timeslots: entries.map(timeslot), unanswered: unanswered.map(missing), next_cursor } };
  },
});

/** Where a page begins. `shown`: how many slots of each care unit came before, if they are limited. */
function openCursor([start, emr, careUnit, resource, service, shown = []]: readonly unknown[]) {
  return { after: [start, emr, careUnit, resource, service] as SlotPosition, shown: shown as readonly number[] };
}

/** @throws Problem 404 for a care unit that is not granted, 400 for one that is named twice */
function unitsOf(input: SearchInput): readonly UnitSearch[] {
  const { client, services, body, sameServices } = input;
  const idsIn = body.service === undefined ? undefined : wantedService(sameServices(), body.service);
  if (body.service !== undefined && !idsIn) {
    const detail = 'No service has this code: `GET /api/services` lists what can be searched for.';
    throw problemAt(inBody('service'), 'healthcare_service_not_found', detail);
  }
  if (body.care_units) {
    return body.care_units.map(({ emr, care_unit_id, healthcare_service_ids }, index, all) => {
      const place = `care_units/${index}`;
      const isSame = (it: (typeof all)[number]) => it.emr === emr && it.care_unit_id === care_unit_id;
      // Its slots would be shown twice.
      if (all.findIndex(isSame) < index)
        throw problemAt(inBody(place), 'request_invalid', 'A care unit can be named once.');
      const { ehr, careUnit } = granted(client, services.ehrs, emr, care_unit_id, place);
      return unitSearch(input, ehr, careUnit, onlyThose(healthcare_service_ids) ?? idsIn?.({ ehr, careUnit }));
    });
  }
  const all = [...services.ehrs.values()].flatMap((ehr) =>
    [...ehr.careUnits.values()].flatMap((careUnit) =>
      client.grants.get(ehr.id)?.has(careUnit.id) ? [unitSearch(input, ehr, careUnit, idsIn?.({ ehr, careUnit }))] : [],
    ),
  );
  if (all.length <= mostCareUnits) return all;
  const detail = `The client is granted ${all.length} care units. Name at most ${mostCareUnits} of them.`;
  throw new Problem('request_invalid', {
    detail,
    faults: [{ place: inBody('care_units'), reason: 'request_invalid', detail }],
  });
}

/** Ids that the care unit does not have are left out: an EHR is not asked for them, and nothing is kept. */
function onlyThose(ids: readonly string[] | undefined): ServiceIds | undefined {
  return ids && { find: (services) => services.map(({ id }) => id).filter((id) => ids.includes(id)) };
}

function granted(client: Client, ehrs: EhrRegistry, emr: string, careUnitId: string, at: string) {
  const ehr = client.grants.has(emr) ? ehrs.get(emr) : undefined;
  if (!ehr)
    throw notGranted('emr_not_found', `${at}/emr`, 'The EHR does not exist, or the client has no grant for it.');
  const careUnit = client.grants.get(emr)?.has(careUnitId) ? ehr.careUnits.get(careUnitId) : undefined;
  const detail = 'The care unit does not exist, or the client has no grant for it.';
  if (!careUnit) throw notGranted('care_unit_not_found', `${at}/care_unit_id`, detail);
  return { ehr, careUnit };
}

/** 404 as if the path named it: the list takes the place of paths. */
function notGranted(reason: 'emr_not_found' | 'care_unit_not_found', at: string, detail: string): Problem {
  return new Problem(reason, { detail, faults: [{ place: inBody(at), reason, detail }] });
}

/** @throws Problem `time_range_invalid`, `local_time_nonexistent`, or what is wrong with a resource's identifier */
function unitSearch(
  { body, readHeader }: SearchInput,
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
  wantedServices: ServiceIds | undefined,
): UnitSearch {
  const places = { start: inBody('start'), end: inBody('end') };
  const range = readRange(body, places, careUnit.timeZone, longestRangeHours);
  const { wanted, failure } = wantedResources({ body, readHeader }, ehr);
  const isAtTime = timeFilter(body, careUnit.timeZone);
  return {
    ehr,
    careUnit,
    serviceIds: wantedServices?.ids,
    findServiceIds: wantedServices?.find,
    ...range,
    failure,
    needsResources: wanted !== undefined,
    accepts(slot, resources) {
      const [, , resourceId, , modality] = slot;
      if (body.modality !== undefined && modality !== body.modality) return false;
      return isAtTime(slot) && (wanted === undefined || isOneOf(wanted, resources.get(resourceId)));
    },
  };
}

/**
 * The resources that are wanted, of the types that this EHR has: it has none of another type. `failure`: its types are not known.
 *
 * @throws Problem what is wrong with an identifier
 */
function wantedResources(
  { body, readHeader }: Pick<SearchInput, 'body' | 'readHeader'>,
  ehr: EhrConnection,
): { readonly wanted?: Identifiers; readonly failure?: Problem } {
  const wanted: ResourceIdentifier[] = [];
  for (const [index, text] of body.resource_ids?.entries() ?? []) {
    try {
      wanted.push(resourceIdentifier(text, inBody(`resource_ids/${index}`), ehr, readHeader));
    } catch (error) {
      if (!(error instanceof Problem) || (error.origin === 'caller' && error.reason !== 'identifier_type_unsupported'))
        throw error;
      if (error.origin === 'caller') continue;
      return { failure: error };
    }
  }
  return body.resource_ids ? { wanted } : {};
}

type Identifiers = readonly ResourceIdentifier[];

function isOneOf(wanted: Identifiers, resource: Resource | undefined): boolean {
  const has = ({ type, value }: Identifiers[number]) =>
    type === 'emr_id'
      ? resource?.id === value
      : resource?.identifiers.some((it) => it.type === type && it.value === value);
  return wanted.some(has);
}

/** Whether a slot is on one of the weekdays and in the part of the day, both in the time zone. */
function timeFilter({ weekdays, time_of_day }: Body, timeZone: string): (slot: KeptSlot) => boolean {
  if (!weekdays && !time_of_day) return () => true;
  const format = instantFormatter(timeZone);
  const { start: from = '00:00', end: until = '24:00' } = time_of_day ?? {};
  return ([start, end]) => {
    const [day, time] = dayAndTime(format(new Date(start)));
    const [lastDay, lastTime] = dayAndTime(format(new Date(end)));
    const endsAt = lastDay === day ? lastTime : '24:00';
    const isSameDay = lastDay === day || lastTime === '00:00';
    const isInTime = time_of_day === undefined || (time >= from && endsAt <= until && isSameDay);
    return isInTime && (weekdays?.includes(weekdayOf(day)) ?? true);
  };
}

function dayAndTime(text: string): [day: string, time: string] {
  return [text.slice(0, 'YYYY-MM-DD'.length), text.slice('YYYY-MM-DDT'.length, 'YYYY-MM-DDThh:mm'.length)];
}

const weekdaysFromSunday: readonly Weekday[] = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
];

function weekdayOf(day: string): Weekday {
  return weekdaysFromSunday[new Date(day).getUTCDay()] as Weekday;
}

/** Counts each EHR that is asked against the client's limit, but for the first one: the request itself counts for it. */
export function countedOnce({
  client,
  countRequest,
}: Pick<SearchInput, 'client' | 'countRequest'>): (emr: string) => Promise<Problem | undefined> {
  const asked = new Map<string, Promise<Problem | undefined>>();
  const count = async (): Promise<Problem | undefined> => {
    const { isAllowed, reset } = await countRequest(client.id);
    return isAllowed ? undefined : new Problem('rate_limited', { headers: { 'retry-after': String(reset) } });
  };
  return (emr) => {
    const known = asked.get(emr);
    if (known) return known;
    const counting = asked.size === 0 ? Promise.resolve(undefined) : count();
    asked.set(emr, counting);
    return counting;
  };
}

function timeslot({ unit: { ehr, careUnit }, slot, askedAt, resource }: FoundSlot) {
  const [start, end, resourceId, healthcare_service_id, modality] = slot;
  const format = instantFormatter(careUnit.timeZone);
  return {
    emr: ehr.id,
    care_unit_id: careUnit.id,
    start: format(new Date(start)),
    end: format(new Date(end)),
    resource: { id: formatIdentifier({ type: 'emr_id', value: resourceId }), name: resource?.name ?? null },
    healthcare_service_id,
    modality,
    as_of: new Date(askedAt).toISOString(),
  };
}

function missing({ unit, reason, detail, retryAfterSeconds }: Unanswered) {
  const place = { emr: unit.ehr.id, care_unit_id: unit.careUnit.id };
  return { ...place, reason, detail, retry_after_seconds: retryAfterSeconds };
}
