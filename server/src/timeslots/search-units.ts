import type { Resource, ResourceIdentifier } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { resourceIdentifier } from '../api/identifiers.ts';
import { readRange } from '../api/request-times.ts';
import type { Client } from '../clients/client-registry.ts';
import type { ConfiguredService } from '../config/schema/services.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import type { EhrRegistry } from '../ehr/registry.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { type Place, Problem, problemAt } from '../problems/problem.ts';
import type { KeptSlot } from '../slot-search/kept.ts';
import type { UnitSearch } from '../slot-search/progress.ts';
import { type ServiceIds, wantedService } from '../slot-search/services.ts';
import { instantFormatter } from '../time/date-times.ts';
import { longestRangeHours } from './contract.ts';
import { mostCareUnits, type timeslotSearchBody, type Weekday } from './search-contract.ts';

type Body = Pick<
  Static<typeof timeslotSearchBody>,
  'care_units' | 'service' | 'start' | 'end' | 'resource_ids' | 'modality' | 'weekdays' | 'time_of_day'
>;

/** A search, and who makes it. */
export interface UnitsWanted {
  readonly client: Client;
  readonly ehrs: EhrRegistry;
  readonly body: Body;
  readonly readHeader: ReadHeader;
  sameServices(): readonly ConfiguredService[];
  /** A part of the search, as a place of the request. */
  inSearch(part: string): Place;
}

/** @throws Problem 404 for a care unit that is not granted, 400 for one that is named twice */
export function unitsOf(input: UnitsWanted): readonly UnitSearch[] {
  const { client, ehrs, body, sameServices, inSearch } = input;
  const idsIn = body.service === undefined ? undefined : wantedService(sameServices(), body.service);
  if (body.service !== undefined && !idsIn) {
    const detail = 'No service has this code: `GET /api/services` lists what can be searched for.';
    throw problemAt(inSearch('service'), 'healthcare_service_not_found', detail);
  }
  if (body.care_units) {
    return body.care_units.map(({ emr, care_unit_id, healthcare_service_ids }, index, all) => {
      const place = `care_units/${index}`;
      const isSame = (it: (typeof all)[number]) => it.emr === emr && it.care_unit_id === care_unit_id;
      // Its slots would be shown twice.
      if (all.findIndex(isSame) < index)
        throw problemAt(inSearch(place), 'request_invalid', 'A care unit can be named once.');
      const { ehr, careUnit } = granted(input, emr, care_unit_id, place);
      return unitSearch(input, ehr, careUnit, onlyThose(healthcare_service_ids) ?? idsIn?.({ ehr, careUnit }));
    });
  }
  const all = [...ehrs.values()].flatMap((ehr) =>
    [...ehr.careUnits.values()].flatMap((careUnit) =>
      client.grants.get(ehr.id)?.has(careUnit.id) ? [unitSearch(input, ehr, careUnit, idsIn?.({ ehr, careUnit }))] : [],
    ),
  );
  if (all.length <= mostCareUnits) return all;
  const detail = `The client is granted ${all.length} care units. Name at most ${mostCareUnits} of them.`;
  throw new Problem('request_invalid', {
    detail,
    faults: [{ place: inSearch('care_units'), reason: 'request_invalid', detail }],
  });
}

/** Ids that the care unit does not have are left out: an EHR is not asked for them, and nothing is kept. */
function onlyThose(ids: readonly string[] | undefined): ServiceIds | undefined {
  return ids && { find: (services) => services.map(({ id }) => id).filter((id) => ids.includes(id)) };
}

function granted({ client, ehrs, inSearch }: UnitsWanted, emr: string, careUnitId: string, at: string) {
  /** 404 as if the path named it: the list takes the place of paths. */
  const notGranted = (reason: 'emr_not_found' | 'care_unit_not_found', part: string, detail: string) =>
    new Problem(reason, { detail, faults: [{ place: inSearch(part), reason, detail }] });
  const ehr = client.grants.has(emr) ? ehrs.get(emr) : undefined;
  if (!ehr)
    throw notGranted('emr_not_found', `${at}/emr`, 'The EHR does not exist, or the client has no grant for it.');
  const careUnit = client.grants.get(emr)?.has(careUnitId) ? ehr.careUnits.get(careUnitId) : undefined;
  const detail = 'The care unit does not exist, or the client has no grant for it.';
  if (!careUnit) throw notGranted('care_unit_not_found', `${at}/care_unit_id`, detail);
  return { ehr, careUnit };
}

/** @throws Problem `time_range_invalid`, `local_time_nonexistent`, or what is wrong with a resource's identifier */
function unitSearch(
  { body, readHeader, inSearch }: UnitsWanted,
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
  wantedServices: ServiceIds | undefined,
): UnitSearch {
  const places = { start: inSearch('start'), end: inSearch('end') };
  const range = readRange(body, places, careUnit.timeZone, longestRangeHours);
  const { wanted, failure } = wantedResources({ body, readHeader, inSearch }, ehr);
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
  { body, readHeader, inSearch }: Pick<UnitsWanted, 'body' | 'readHeader' | 'inSearch'>,
  ehr: EhrConnection,
): { readonly wanted?: Identifiers; readonly failure?: Problem } {
  const wanted: ResourceIdentifier[] = [];
  for (const [index, text] of body.resource_ids?.entries() ?? []) {
    try {
      wanted.push(resourceIdentifier(text, inSearch(`resource_ids/${index}`), ehr, readHeader));
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
