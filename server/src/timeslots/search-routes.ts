import type { Static } from 'typebox';
import { endpoint, type Input } from '../api/endpoint.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import { reference } from '../api/schemas.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { describeError } from '../log/describe-error.ts';
import { inBody } from '../problems/places.ts';
import { Problem } from '../problems/problem.ts';
import { positionOf, type SlotPosition } from '../slot-search/progress.ts';
import { type FoundSlot, findFreeSlots, type Unanswered } from '../slot-search/search.ts';
import { instantFormatter } from '../time/date-times.ts';
import { type timeslotSearchBody, timeslotSearchSchema } from './search-contract.ts';
import { unitsOf } from './search-units.ts';

type Body = Static<typeof timeslotSearchBody>;

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
    const units = unitsOf({ ...input, ehrs: services.ehrs, inSearch: inBody });
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

/** Counts each EHR that is asked against the client's limit, but for the first one: the request itself counts for it. */
export function countedOnce({
  client,
  countRequest,
}: Pick<Input<'client'>, 'client' | 'countRequest'>): (emr: string) => Promise<Problem | undefined> {
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
