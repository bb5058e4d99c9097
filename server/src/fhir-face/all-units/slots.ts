import type { Resource, Slot } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import { inQuery } from '../../problems/places.ts';
import { problemAt } from '../../problems/problem.ts';
import { positionOf, type SlotPosition, type UnitSearch } from '../../slot-search/progress.ts';
import { findFreeSlots } from '../../slot-search/search.ts';
import { formatInstant } from '../../time/date-times.ts';
import { mostCareUnits } from '../../timeslots/search-contract.ts';
import { countedOnce } from '../../timeslots/search-routes.ts';
import type { Directory } from '../directory.ts';
import { emrIdOf } from '../ids.ts';
import { fhirSearch } from '../interaction.ts';
import { type RecordPage, type SearchPlace, searchSet } from '../search/bundle.ts';
import { readStarts, type Starts, startsWithin } from '../search/dates.ts';
import { anyOf, assertFew, readSearch, type Search } from '../search/input.ts';
import { pagesInOrder } from '../search/pages.ts';
import { placeOf } from '../search/place.ts';
import {
  included,
  longestMs,
  named,
  nativeEndOf,
  pairOf,
  rangeOf,
  slotIncludes,
  slotParameters,
  slotSorts,
  slotStatuses,
  wantedAgendas,
} from '../slots.ts';
import { type Agenda, toSlot } from '../to-fhir/schedule-and-slot.ts';
import { clientOf, inAllUnits } from './unit-names.ts';
import { type MissingUnit, missingUnit, outcomesOf, readDirectories, type UnitRequest, unitRequests } from './units.ts';

/** Free times of all care units: what `POST /api/timeslots/search` finds. */
const declared = { scopes: ['appointments:read', 'resources:read'], audit: 'none' } as const;
export const slotSearches = fhirSearch('Slot', { name: 'fhir_search_slot', ...declared }, search);

/** Milliseconds that a search waits for EHRs. */
const slotWait = 3_000;

/** Where a search looks. */
interface Place extends UnitRequest {
  readonly directory: Directory;
  readonly starts: Starts;
  readonly wanted: ReadonlyMap<string, Agenda>;
}

/** A Slot with the ids of its care unit. */
interface Found {
  readonly place: Place;
  readonly slot: Slot;
}

async function search(request: FastifyRequest) {
  const search = readSearch(request, slotParameters, slotIncludes, slotSorts);
  const place = placeOf(request, 'Slot', search);
  // Before each care unit takes its own.
  assertFew('_id', anyOf(search, '_id'));
  const units = unitRequests(request, search);
  if (units.length > mostCareUnits) {
    const detail = `The client is granted ${units.length} care units. Name at most ${mostCareUnits} by schedule.actor.`;
    throw problemAt(inQuery('schedule.actor'), 'search_too_costly', detail);
  }
  const starts = units.map((unit) => startsIn(unit));
  const { answered, missing } = await readDirectories(units, ['resources', 'services'], request.server.endpointDeps);
  const places = answered.map((unit) => ({
    ...unit,
    starts: starts[units.findIndex(({ careUnit }) => careUnit === unit.careUnit)] as Starts,
    wanted: wantedAgendas(unit.request, unit.search, unit.directory),
  }));
  const shown = new Map<Slot, Found>();
  return searchSet(search, place, {
    page: pages({ request, search, place, places, missing }),
    show(found: Found) {
      const slot = inAllUnits(found.slot, found.place, request);
      shown.set(slot, found);
      return slot;
    },
    async include(slots) {
      return places.flatMap((it) => {
        const own = slots.flatMap((slot) => shown.get(slot) ?? []).filter((found) => found.place === it);
        const more = included(
          own.map(({ slot }) => slot),
          it.search,
          it.directory,
          it.request,
        );
        return more.map((resource): Resource => inAllUnits(resource, it, request));
      });
    },
  });
}

/** @throws Problem `request_invalid`, `time_range_invalid` */
function startsIn({ search, careUnit }: UnitRequest): Starts {
  const starts = readStarts(search.filters.get('start') ?? [], 'start', careUnit.timeZone);
  const range = rangeOf(starts);
  if (!range || anyOf(search, '_id') || range.until.getTime() - range.from.getTime() <= longestMs) return starts;
  throw problemAt(inQuery('start'), 'time_range_invalid', 'The range must not be longer than 92 days.');
}

interface Searched {
  readonly request: FastifyRequest;
  readonly search: Search;
  readonly place: SearchPlace;
  readonly places: readonly Place[];
  readonly missing: readonly MissingUnit[];
}

type Page = (limit: number, cursor: string | undefined) => Promise<RecordPage<Found>>;

function pages(searched: Searched): Page {
  const { request, search, place, places, missing } = searched;
  const mayAsk = countedOnce({ client: clientOf(request), countRequest: request.server.endpointDeps.countRequest });
  if (!anyOf(search, '_id')) return (limit, cursor) => freeTimes(searched, mayAsk, limit, cursor);
  let silent: MissingUnit[] = [];
  const page = pagesInOrder(request, place, async () => {
    silent = [...missing];
    const found = places.map(async (it) => {
      try {
        const refusal = await mayAsk(it.ehr.id);
        if (refusal) throw refusal;
        const slots = await named(it.request, it, anyOf(it.search, '_id') ?? []);
        return slots.map((slot) => ({ place: it, slot }));
      } catch (error) {
        silent.push(missingUnit(it, error));
        return [];
      }
    });
    const slots = (await Promise.all(found)).flat();
    return search.sort === 'start' ? slots.toSorted((a, b) => startOf(a) - startOf(b)) : slots;
  });
  return async (limit, cursor) => ({ ...(await page(limit, cursor)), outcomes: outcomesOf(silent, request) });
}

const startOf = ({ slot }: Found) => Date.parse(slot.start);

async function freeTimes(
  { request, search, place, places, missing }: Searched,
  mayAsk: ReturnType<typeof countedOnce>,
  limit: number,
  cursor: string | undefined,
): Promise<RecordPage<Found>> {
  const { services, slots, cursors } = request.server.endpointDeps;
  const statuses = slotStatuses(search);
  const isFreeWanted = !statuses || statuses.includes('free');
  const binding = { clientId: clientOf(request).id, operationId: 'fhir_search_slot', filters: [place.url, place.self] };
  const after = cursor === undefined ? undefined : cursors.open(cursor, binding, inQuery('_page'));
  const { found, unanswered } = await findFreeSlots(services.db, slots, {
    units: isFreeWanted ? places.flatMap((it) => unitSearch(it) ?? []) : [],
    maxAgeSeconds: longestAgeOf(request),
    waitMs: slotWait,
    after: after as unknown as SlotPosition | undefined,
    limit,
    mayAsk,
  });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    entries: page.flatMap(({ unit, slot, askedAt }) => {
      const own = places.find(({ careUnit }) => careUnit === unit.careUnit);
      const agenda = own && agendaOf(own, slot[2], slot[3]);
      const [start = '', end = ''] = [slot[0], slot[1]].map((it) =>
        formatInstant(new Date(it), unit.careUnit.timeZone),
      );
      return agenda
        ? [{ place: own, slot: asOf(toSlot(agenda, { start, end, modality: slot[4] }, 'free'), askedAt) }]
        : [];
    }),
    next: found.length > limit && last ? cursors.seal(positionOf(last), binding) : null,
    outcomes: outcomesOf([...missing, ...unanswered], request),
  };
}

/** `undefined`: nothing can be found there. */
function unitSearch({ ehr, careUnit, starts, wanted, directory }: Place): UnitSearch | undefined {
  const range = rangeOf(starts);
  if (!range || wanted.size === 0) return undefined;
  const serviceIds = [...new Set([...wanted.values()].map(({ service }) => service.id))];
  const pairs = new Set([...wanted.values()].map(({ resource, service }) => pairOf(emrIdOf(resource.id), service.id)));
  return {
    ehr,
    careUnit,
    // What is kept of all services serves every search.
    serviceIds: serviceIds.length < directory.services.length ? serviceIds : undefined,
    start: range.from,
    end: nativeEndOf(range),
    needsResources: false,
    accepts: ([start, , resource, service]) =>
      pairs.has(pairOf(resource, service)) && startsWithin(starts, new Date(start).toISOString()),
  };
}

function agendaOf({ wanted }: Place, resourceId: string, serviceId: string): Agenda | undefined {
  return [...wanted.values()].find((it) => emrIdOf(it.resource.id) === resourceId && it.service.id === serviceId);
}

/** When the EHR was asked: as SMART Scheduling Links has it. */
export function asOf(slot: Slot, askedAt: number): Slot {
  const extension = [
    { url: 'http://hl7.org/fhir/StructureDefinition/lastSourceSync', valueDateTime: new Date(askedAt).toISOString() },
  ];
  return { ...slot, meta: { extension, ...slot.meta } };
}

const defaultAge = 60;
const mostAge = 3600;

/** How old what is shown may be, in seconds: `Cache-Control` of the request. RFC 9111, section 5.2.1 */
function longestAgeOf({ headers }: FastifyRequest): number {
  const wanted = headers['cache-control'] ?? '';
  if (/\bno-(cache|store)\b/i.test(wanted)) return 0;
  const [, seconds] = /\bmax-age=(\d{1,9})\b/i.exec(wanted) ?? [];
  return seconds === undefined ? defaultAge : Math.min(Number(seconds), mostAge);
}
