import type { Resource, Slot } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import { listAppointments } from '../appointments/routes.ts';
import { Problem } from '../problems/problem.ts';
import { formatInstant } from '../time/date-times.ts';
import { listTimeslots } from '../timeslots/routes.ts';
import { agendasById, type Directory, readDirectory } from './directory.ts';
import { accessOf, baseOf, unknownResource } from './face.ts';
import { fhirIdentifiers, isNationalNumber } from './identifier-systems.ts';
import { readReference, readSlotId } from './ids.ts';
import { fhirRead, fhirSearch } from './interaction.ts';
import { readNative, shows } from './native.ts';
import { actorsOf, hasActor } from './schedules.ts';
import { type RecordPage, searchSet } from './search/bundle.ts';
import { nativeRange, readStarts, type Starts, startsWithin } from './search/dates.ts';
import {
  anyOf,
  assertNotInUrl,
  codesOf,
  findEach,
  groupsOf,
  readSearch,
  requireSystem,
  type Search,
  tokensOf,
} from './search/input.ts';
import { pagesInOrder } from './search/pages.ts';
import { placeOf } from './search/place.ts';
import { isOfType } from './services.ts';
import { type Agenda, agendaId, toSchedule, toSlot } from './to-fhir/schedule-and-slot.ts';

const dayMs = 86_400_000;
/** The longest range of a native search. ISiK: three months must not be rejected. */
export const longestMs = 92 * dayMs;

/** Slot: a free time of a Schedule. */
const declared = { scopes: ['appointments:read', 'resources:read'], audit: 'if_patient' } as const;
export const slotInteractions = [
  fhirRead('Slot', { name: 'fhir_read_slot', ...declared }, read),
  ...fhirSearch('Slot', { name: 'fhir_search_slot', ...declared }, search),
];

async function read(request: FastifyRequest, id: string): Promise<Slot> {
  const slot = await slotOf(request, agendasById(await readDirectory(request)), id);
  if (!slot) throw unknownResource('schedule_not_found');
  return slot;
}

/** The EHR is asked: a Slot that is not free, or was never offered, is busy. `undefined`: its Schedule is not known. */
async function slotOf(
  request: FastifyRequest,
  agendas: ReadonlyMap<string, Agenda>,
  id: string,
): Promise<Slot | undefined> {
  const name = readSlotId(id);
  const agenda = name && agendas.get(name.scheduleId);
  if (!name || !agenda) return undefined;
  const { timeZone } = accessOf(request).careUnit;
  const time = { start: formatInstant(name.start, timeZone), end: formatInstant(name.end, timeZone) };
  const { timeslots } = await readNative(request, listTimeslots, { query: { ...time, ...ofAgendas([agenda]) } });
  const free = timeslots.find(({ start, end }) => start === time.start && end === time.end);
  return free ? toSlot(agenda, free, 'free') : toSlot(agenda, time, 'busy');
}

function ofAgendas(agendas: readonly Agenda[]) {
  return {
    resource_id: [...new Set(agendas.map(({ resource }) => resource.id))],
    healthcare_service_id: [...new Set(agendas.map(({ service }) => service.id))],
  };
}

/** https://hl7.org/fhir/R4/search.html: names are case sensitive. BaRS writes the chain with a capital letter. */
export const practitionerIdentifier = 'schedule.actor:Practitioner.identifier';
const actorChains = ['schedule.actor', 'Schedule.actor'];

export const slotParameters = ['_id', 'schedule', 'status', 'start', 'service-type', ...actorChains];
export const slotIncludes = ['Slot:schedule', 'Schedule:actor'];
/** The order of free times. */
export const slotSorts = ['start'];

async function search(request: FastifyRequest) {
  const search = readSearch(request, [...slotParameters, practitionerIdentifier], slotIncludes, slotSorts);
  const { careUnit } = accessOf(request);
  const starts = readStarts(search.filters.get('start') ?? [], 'start', careUnit.timeZone);
  const within = rangeOf(starts);
  const { from, until } = within ?? { from: new Date(), until: new Date() };
  const format = (it: Date) => formatInstant(it, careUnit.timeZone);
  const ids = anyOf(search, '_id');
  const directory = await readDirectory(request);
  const wanted = wantedAgendas(request, search, directory);
  assertFewResources(wanted);
  const place = placeOf(request, 'Slot', search, {
    ...(ids || !within ? {} : { start: [`ge${format(from)}`, `lt${format(until)}`] }),
    // The links repeat no number of a person.
    ...(search.filters.has(practitionerIdentifier)
      ? { [practitionerIdentifier]: [], schedule: [[...wanted.keys()].join(',')] }
      : {}),
  });
  const byId = pagesInOrder(request, place, () => named(request, { search, wanted, starts }, ids ?? []));
  return searchSet(search, place, {
    async page(limit, cursor) {
      if (ids) return byId(limit, cursor);
      if (!within) return nothing;
      const times = isOfTaken(request, search) ? takenTimes : freeTimes;
      return times(request, { search, wanted, starts: { from, until }, format }, limit, cursor);
    },
    show: (slot: Slot) => slot,
    include: async (found) => included(found, search, directory, request),
  });
}

/** The range of a search, without bounds from now on for the longest range. `undefined`: no slot is in it. */
export function rangeOf(starts: Starts): Wanted['starts'] | undefined {
  const within = nativeRange(starts);
  const from = within?.from ?? new Date();
  return within && { from, until: within.until ?? new Date(from.getTime() + longestMs) };
}

export function slotStatuses(search: Search): readonly string[] | undefined {
  return codesOf(search, 'status', 'http://hl7.org/fhir/slotstatus');
}

/** Slots by id, which need not be free. */
export async function named(
  request: FastifyRequest,
  { search, wanted, starts }: Pick<Wanted, 'search' | 'wanted'> & { readonly starts: Starts },
  ids: readonly string[],
): Promise<Slot[]> {
  const statuses = slotStatuses(search);
  const found = await findEach('_id', ids, (id) => slotOf(request, wanted, id));
  const isWanted = (slot: Slot) => startsWithin(starts, slot.start) && (!statuses || statuses.includes(slot.status));
  const wantedSlots = found.filter(isWanted);
  return search.sort === 'start'
    ? wantedSlots.toSorted((a, b) => Date.parse(a.start) - Date.parse(b.start))
    : wantedSlots;
}

interface Wanted {
  readonly search: Search;
  /** `undefined`: all. */
  readonly wanted: ReadonlyMap<string, Agenda>;
  readonly starts: Required<{ readonly [Name in keyof Starts]: Date }>;
  format(instant: Date): string;
}

export const nothing = { entries: [], next: null };

export async function freeTimes(
  request: FastifyRequest,
  { search, wanted, starts, format }: Wanted,
  limit: number,
  cursor: string | undefined,
): Promise<RecordPage<Slot>> {
  const statuses = slotStatuses(search);
  if (wanted.size === 0 || (statuses && !statuses.includes('free')) || starts.from >= starts.until) return nothing;
  const { timeslots, next_cursor } = await readNative(request, listTimeslots, {
    query: {
      start: format(starts.from),
      end: format(nativeEndOf(starts)),
      ...ofAgendas([...wanted.values()]),
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    },
  });
  const byPair = new Map([...wanted.values()].map((it) => [pairOf(it.resource.id, it.service.id), it]));
  const entries = timeslots.flatMap((slot) => {
    const agenda = byPair.get(pairOf(slot.resource_id, slot.healthcare_service_id));
    return agenda && startsWithin(starts, slot.start) ? [toSlot(agenda, slot, 'free')] : [];
  });
  return { entries, next: next_cursor };
}

/** Who may read Appointments may know when they are. */
function isOfTaken(request: FastifyRequest, search: Search): boolean {
  const [status, ...others] = slotStatuses(search) ?? [];
  return status === 'busy' && others.length === 0 && shows(request, 'Appointment');
}

/** Those of appointments whose resource and service the EHR names. */
async function takenTimes(
  request: FastifyRequest,
  { wanted, starts, format }: Wanted,
  limit: number,
  cursor: string | undefined,
): Promise<RecordPage<Slot>> {
  const [agenda, ...others] = wanted.values();
  if (!agenda || starts.from >= starts.until) return nothing;
  const isOfOne = others.every(({ resource }) => resource.id === agenda.resource.id);
  const { appointments, next_cursor } = await readNative(request, listAppointments, {
    query: {
      start: format(starts.from),
      end: format(starts.until),
      status: ['booked', 'awaiting_confirmation'],
      ...(isOfOne ? { resource_id: agenda.resource.id } : {}),
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    },
  });
  const byPair = new Map([...wanted.values()].map((it) => [pairOf(it.resource.id, it.service.id), it]));
  const entries = appointments.flatMap(({ resource_id: resource, healthcare_service_id: service, start, end }) => {
    const found = resource === null || service === null ? undefined : byPair.get(pairOf(resource, service));
    return found && end !== null && startsWithin(starts, start) ? [toSlot(found, { start, end }, 'busy')] : [];
  });
  // A two-step cancellation is at the time of its appointment.
  return { entries: [...new Map(entries.map((it) => [it.id, it])).values()], next: next_cursor };
}

/** Native slots end within the range. Here only their start has to. */
export function nativeEndOf({ from, until }: Wanted['starts']): Date {
  const widened = Math.min(until.getTime() + dayMs, from.getTime() + longestMs);
  return new Date(Math.max(until.getTime(), widened));
}

export function pairOf(resourceId: string, serviceId: string): string {
  return JSON.stringify([resourceId, serviceId]);
}

/** The Schedules whose Slots are wanted. */
export function wantedAgendas(
  request: FastifyRequest,
  search: Search,
  directory: Directory,
): ReadonlyMap<string, Agenda> {
  const { careUnit } = accessOf(request);
  const base = baseOf(request);
  const schedules = anyOf(search, 'schedule')?.map((it) => readReference(it, base)?.id ?? it);
  const types = tokensOf(search, 'service-type');
  const chains = actorChains.flatMap((name) => groupsOf(search, name));
  const identifiers = tokensOf(search, practitionerIdentifier)?.map((it) => requireSystem(it, practitionerIdentifier));
  if (identifiers?.some(({ system }) => isNationalNumber(system))) assertNotInUrl(request, practitionerIdentifier);
  const found = directory.agendas.filter(
    (agenda) =>
      (!schedules || schedules.includes(agendaId(agenda))) &&
      (!types || types.some((it) => isOfType(it, agenda.service))) &&
      chains.every((actors) => hasActor(actors, agenda, careUnit, base)) &&
      (!identifiers ||
        identifiers.some(({ system, value }) =>
          fhirIdentifiers(agenda.resource.identifiers).some((it) => it.system === system && it.value === value),
        )),
  );
  return new Map(found.map((it) => [agendaId(it), it]));
}

/** So many resources can a native search name. */
const mostResources = 100;

/** @throws Problem `search_too_costly` */
export function assertFewResources(wanted: ReadonlyMap<string, Agenda>): void {
  if (new Set([...wanted.values()].map(({ resource }) => resource.id)).size <= mostResources) return;
  const detail = `Name at most ${mostResources} practitioners, rooms and devices.`;
  throw new Problem('search_too_costly', { detail });
}

export function included(
  found: readonly Slot[],
  { includes }: Search,
  directory: Directory,
  request: FastifyRequest,
): readonly Resource[] {
  if (!includes.includes('Slot:schedule') || !shows(request, 'Schedule')) return [];
  const { careUnit } = accessOf(request);
  const byId = agendasById(directory);
  const ids = new Set(found.map(({ schedule }) => (schedule.reference ?? '').slice('Schedule/'.length)));
  const agendas = [...ids].flatMap((id) => byId.get(id) ?? []);
  const schedules = agendas.flatMap((it) => toSchedule(it, careUnit, (type) => shows(request, type)) ?? []);
  return [...schedules, ...actorsOf(request, agendas, includes)];
}
