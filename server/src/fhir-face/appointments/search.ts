import type { Appointment, Bundle, Resource } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { AppointmentBody, AppointmentStatus } from '../../appointments/contract.ts';
import { listAppointments } from '../../appointments/routes.ts';
import { inQuery } from '../../problems/places.ts';
import { type Fault, Problem, problemAt } from '../../problems/problem.ts';
import { formatInstant } from '../../time/date-times.ts';
import { appointmentNames, type Directory, readDirectory } from '../directory.ts';
import { accessOf, baseOf, shownInFhir } from '../face.ts';
import { statuses } from '../from-fhir/schemas.ts';
import { careUnitLocationId, notationOf, readReference, readSlotId } from '../ids.ts';
import { fhirSearch } from '../interaction.ts';
import { readNative, shows } from '../native.ts';
import { readPatient, tokenNotation } from '../patients.ts';
import { type RecordPage, searchSet } from '../search/bundle.ts';
import { nativeRange, readStarts, type Starts, startsWithin } from '../search/dates.ts';
import {
  anyOf,
  assertNotInUrl,
  codesOf,
  findEach,
  groupsOf,
  readSearch,
  type Search,
  searchFault,
  tokensOf,
} from '../search/input.ts';
import { pagesInOrder } from '../search/pages.ts';
import { escaped, type Token } from '../search/parameters.ts';
import { placeOf } from '../search/place.ts';
import { isOfType } from '../services.ts';
import { type AppointmentNames, nativeStatuses, statusOf, toAppointment } from '../to-fhir/appointment.ts';
import { isBookableType, toBookable, toCareUnitLocation, toHealthcareService } from '../to-fhir/resource.ts';
import { agendaId, toSlot } from '../to-fhir/schedule-and-slot.ts';
import { dataOf, foundByIdentifier, readIdentifiers } from './identifiers.ts';
import { ifUnknown, nativeAppointment } from './read.ts';

const numberNames = ['patient.identifier', 'patient:identifier'];
/** What `_include` can name. */
export const appointmentIncludes = ['patient', 'actor', 'practitioner', 'location', 'slot'].map(
  (it) => `Appointment:${it}`,
);
const actorNames = ['actor', 'practitioner', 'location'];

const declared = { name: 'fhir_search_appointment', scopes: ['appointments:read'], audit: shownInFhir } as const;
export const appointmentSearch = [
  ...fhirSearch('Appointment', declared, search),
  ...fhirSearch('Appointment', declared, search, 'Patient'),
];

/** More than all milliseconds of the years that appointments can have. */
const longAgo = 1e14;
const digits = (milliseconds: number) => String(longAgo + milliseconds).padStart(16, '0');
/** What `_sort` takes. The native list is in the order of `date`. */
const keyOf: Readonly<Record<string, (body: AppointmentBody) => string>> = {
  date: ({ start, id }) => `${digits(Date.parse(start))} ${id}`,
  '-date': ({ start, id }) => `${digits(-Date.parse(start))} ${id}`,
};
/** More are not put into another order. */
const mostSorted = 10_000;
const longestPage = 500;

export const appointmentSorts = Object.keys(keyOf);

async function search(request: FastifyRequest): Promise<Bundle> {
  const names = [
    '_id',
    'identifier',
    'patient',
    ...numberNames,
    ...actorNames,
    'date',
    'status',
    'service-type',
    'slot',
  ];
  const search = withCompartment(request, readSearch(request, names, appointmentIncludes, appointmentSorts));
  const { careUnit } = accessOf(request);
  const starts = readStarts(search.filters.get('date') ?? [], 'date', careUnit.timeZone);
  const wanted = withIdentified(readWanted(request, search), await foundByIdentifier(request, search));
  assertSelective(search, wanted, starts);
  const patient = await patientOf(request, wanted);
  const directory = await readDirectory(request);
  const named = appointmentNames(accessOf(request), directory);
  const matches = readFilter(search, { ...wanted, patient }, starts, baseOf(request), named);
  // The links have the id that was found, and no number.
  const changed = {
    ...Object.fromEntries(numberNames.map((it) => [it, []])),
    patient: [named.patients.fhirIdOf(patient ?? '') ?? ''],
  };
  const place = placeOf(request, 'Appointment', search, wanted.number === undefined ? {} : changed);
  const query = nativeQuery(patient, wanted, starts, careUnit.timeZone);
  const find = (id: string) => nativeAppointment(request, id).catch(ifUnknown);
  const listed = async (limit: number, cursor: string | undefined): Promise<RecordPage<AppointmentBody>> => {
    const sized = { limit, ...(cursor === undefined ? {} : { cursor }) };
    const body = await readNative(request, listAppointments, { query: { ...query, ...sized } });
    return { entries: body.appointments.filter(matches), next: body.next_cursor };
  };
  let loaded: Promise<readonly AppointmentBody[]> | undefined;
  const load = async () =>
    wanted.ids ? (await findEach('_id', wanted.ids, find)).filter(matches) : await allPages(listed);
  const inOrder = pagesInOrder(request, place, () => (loaded ??= load()), keyOf[search.sort ?? '']);
  return searchSet(search, place, {
    async page(limit, cursor): Promise<RecordPage<AppointmentBody>> {
      if (wanted.isNothing || !query) return { entries: [], next: null };
      const isOrdered = wanted.ids || search.sort === '-date';
      const page = isOrdered ? await inOrder(limit, cursor) : await listed(limit, cursor);
      await readIdentifiers(dataOf(request), named, page.entries);
      return page;
    },
    show: (body) => toAppointment(body, named),
    include: (found) => included(request, search, directory, found),
  });
}

/** `GET Patient/{id}/Appointment` is a search with `patient`, as which its links show it. */
function withCompartment({ params }: FastifyRequest, search: Search): Search {
  const { id } = params as { readonly id?: string };
  if (id === undefined) return search;
  const patients = [...(search.filters.get('patient') ?? []), `Patient/${escaped(id)}`];
  return { ...search, filters: new Map([...search.filters, ['patient', patients]]) };
}

/** @throws Problem `search_too_costly` */
async function allPages<Entry>(
  page: (limit: number, cursor: string | undefined) => Promise<RecordPage<Entry>>,
): Promise<Entry[]> {
  const all: Entry[] = [];
  let cursor: string | undefined;
  do {
    const { entries, next } = await page(longestPage, cursor);
    all.push(...entries);
    cursor = next ?? undefined;
    if (all.length <= mostSorted) continue;
    throw problemAt(
      inQuery('_sort'),
      'search_too_costly',
      `At most ${mostSorted} appointments are put into another order.`,
    );
  } while (cursor !== undefined);
  return all;
}

/** What a search names. */
interface Wanted {
  readonly ids: readonly string[] | undefined;
  /** Native Patient ID. */
  readonly patient: string | undefined;
  /** Native Patient ID of a number. */
  readonly number: string | undefined;
  /** References to practitioners, rooms, devices and services. One of each group must take part. */
  readonly actors: readonly (readonly string[])[];
  readonly statuses: readonly AppointmentStatus[] | undefined;
  /** The statuses in FHIR. */
  readonly shownAs: readonly string[] | undefined;
  /** It names what cannot exist here. */
  readonly isNothing: boolean;
}

/** @throws Problem `request_invalid` */
function readWanted(request: FastifyRequest, search: Search): Wanted {
  const ownLocation = `Location/${careUnitLocationId(accessOf(request).careUnit.id)}`;
  const named = readActors(request, search);
  const isOfPatients = (group: readonly string[]) => group.every((it) => it.startsWith('Patient/'));
  const [patient, ...otherPatients] = new Set(named.filter(isOfPatients).flat());
  // Every Appointment has the care unit itself as an actor.
  const actors = named.filter((group) => !isOfPatients(group) && !group.includes(ownLocation));
  const numbers = numberNames.flatMap((name) => {
    if (search.filters.has(name)) assertNotInUrl(request, name);
    return (tokensOf(search, name) ?? []).map((it) => tokenNotation(it, name));
  });
  const shownAs = codesOf(search, 'status', 'http://hl7.org/fhir/appointmentstatus');
  const unknown = shownAs?.some((it) => !statuses.some((status) => status === it));
  if (unknown) throw searchFault('status', `The statuses are ${statuses.join(', ')}.`);
  const native = shownAs && nativeStatuses(shownAs);
  const notation = patient && notationOf(patient.slice('Patient/'.length));
  return {
    ids: anyOf(search, '_id'),
    patient: notation,
    number: numbers[0],
    actors,
    statuses: native,
    shownAs,
    isNothing:
      otherPatients.length > 0 || numbers.length > 1 || native?.length === 0 || (patient !== undefined && !notation),
  };
}

/** @param ids of those that have an identifier, if one is searched for */
function withIdentified(wanted: Wanted, ids: readonly string[] | undefined): Wanted {
  if (!ids) return wanted;
  return { ...wanted, ids: wanted.ids?.filter((it) => ids.includes(it)) ?? ids };
}

/** The references that each parameter names. One of each must take part. */
function readActors(request: FastifyRequest, search: Search): string[][] {
  const base = baseOf(request);
  const types = { patient: 'Patient', practitioner: 'Practitioner', location: 'Location', actor: undefined } as const;
  const sent = Object.entries(types).flatMap(([name, type]) =>
    groupsOf(search, name).map((texts) => ({ name, type, texts })),
  );
  return sent.map(({ name, type, texts }) => {
    const references = texts.map((text) => {
      const reference = readReference(text, base) ?? (type && { type, id: text });
      if (!reference) throw searchFault(name, `The query parameter ${name} must be a reference with a type.`);
      return `${reference.type}/${reference.id}`;
    });
    if (references.length > 1 && references.some((it) => it.startsWith('Patient/'))) {
      throw searchFault(name, `The query parameter ${name} names one patient.`, 'not-supported');
    }
    return references;
  });
}

/** As natively: no search lists everything. */
function assertSelective({ filters }: Search, wanted: Wanted, { from, until }: Starts): void {
  if (wanted.isNothing || wanted.ids || wanted.patient || wanted.number || onlyResource(wanted)) return;
  if (from && until) return;
  const names = ['_id', 'identifier', 'patient', 'actor', 'date'];
  const detail = 'A search for appointments needs _id, identifier, patient, one actor, or a date with both ends.';
  const fault = (name: string): Fault => {
    return { place: inQuery(name), reason: 'request_invalid', detail, flaw: 'required' };
  };
  throw new Problem('request_invalid', { detail, faults: (filters.has('date') ? ['date'] : names).map(fault) });
}

/** The native Patient ID. A number is looked up, so that the links need not repeat it. */
async function patientOf(request: FastifyRequest, { patient, number }: Wanted) {
  if (number === undefined) return patient;
  const found = await readPatient(request, number);
  return notationOf(found.id ?? '');
}

/** The native Resource ID, if one is named. Of several, a range is searched. */
function onlyResource({ actors }: Wanted): string | undefined {
  const [reference, ...others] =
    actors.find((it) => it.length === 1 && isBookableType(it[0]?.split('/')[0] ?? '')) ?? [];
  return reference !== undefined && others.length === 0 ? notationOf(reference.split('/')[1] ?? '') : undefined;
}

const firstDay = '1900-01-01T00:00:00Z';
const lastDay = '2200-01-01T00:00:00Z';

/** `undefined`: no native appointment is in the range. */
function nativeQuery(patient: string | undefined, wanted: Wanted, starts: Starts, timeZone: string) {
  const within = nativeRange(starts);
  if (!within) return undefined;
  const { from, until } = within;
  const resource = onlyResource(wanted);
  const range = {
    start: from ? formatInstant(from, timeZone) : firstDay,
    end: until ? formatInstant(until, timeZone) : lastDay,
  };
  return {
    ...(patient === undefined ? {} : { patient_id: patient }),
    ...(resource === undefined ? {} : { resource_id: resource }),
    ...(wanted.statuses ? { status: [...wanted.statuses] } : {}),
    ...(starts.from || starts.until ? range : {}),
  };
}

/** What the native search does not filter: it lists what overlaps a range. */
function readFilter(
  search: Search,
  { ids, patient, actors, shownAs }: Wanted,
  starts: Starts,
  base: string,
  named: AppointmentNames,
): (body: AppointmentBody) => boolean {
  const types = tokensOf(search, 'service-type');
  const slots = anyOf(search, 'slot')?.map((it) => readSlotId(readReference(it, base)?.id ?? it));
  const isOfPatient = (body: AppointmentBody) => patient === undefined || body.patient_id === patient;
  const takePart = (body: AppointmentBody) => {
    const references = actors.length === 0 ? [] : takingPart(body, named);
    return actors.every((group) => references.some((it) => group.includes(it)));
  };
  return (body) =>
    startsWithin(starts, body.start) &&
    (!ids || isOfPatient(body)) &&
    (!shownAs || shownAs.includes(statusOf(body) ?? '')) &&
    takePart(body) &&
    (!types || isOneOfTypes(types, body.healthcare_service_id)) &&
    (!slots || slots.some((it) => it && it.start.getTime() === Date.parse(body.start)));
}

function isOneOfTypes(types: readonly Token[], id: string | null): boolean {
  return id !== null && types.some((it) => isOfType(it, { id }));
}

function takingPart(body: AppointmentBody, named: AppointmentNames): string[] {
  return (toAppointment(body, named)?.participant ?? []).flatMap(({ actor }) => actor?.reference ?? []);
}

/** What the client may not read, and what is not found, is left out: https://hl7.org/fhir/R4/search.html#include */
async function included(
  request: FastifyRequest,
  { includes }: Search,
  directory: Directory,
  found: readonly Appointment[],
): Promise<Resource[]> {
  const { careUnit } = accessOf(request);
  const references = new Set(
    found.flatMap(({ participant }) => participant.flatMap(({ actor }) => actor?.reference ?? [])),
  );
  const wants = (type: string, name?: string) =>
    ['Appointment:actor', `Appointment:actor:${type}`, ...(name === undefined ? [] : [`Appointment:${name}`])].some(
      (it) => includes.includes(it),
    );
  const resources = directory.resources.flatMap((it) => toBookable(it, careUnit) ?? []);
  const candidates: Resource[] = [
    ...resources,
    toCareUnitLocation(careUnit),
    ...directory.services.flatMap((it) => toHealthcareService(it, careUnit) ?? []),
  ];
  const names: Readonly<Record<string, string>> = { Practitioner: 'practitioner', Location: 'location' };
  const isWanted = ({ resourceType }: Resource) =>
    shows(request, resourceType) && wants(resourceType, names[resourceType]);
  return [
    ...(wants('Patient', 'patient') && shows(request, 'Patient') ? await patientsOf(request, references) : []),
    ...candidates.filter((it) => isWanted(it) && references.has(`${it.resourceType}/${it.id}`)),
    ...(includes.includes('Appointment:slot') && shows(request, 'Slot') ? slotsOf(directory, found) : []),
  ];
}

async function patientsOf(request: FastifyRequest, references: ReadonlySet<string>): Promise<Resource[]> {
  const ids = [...references].flatMap((it) => (it.startsWith('Patient/') ? it.slice('Patient/'.length) : []));
  const found = await Promise.all(ids.map((id) => readPatient(request, notationOf(id) ?? '').catch(ifNoPatient)));
  return found.filter((it) => it !== undefined);
}

function ifNoPatient(error: unknown): undefined {
  if (error instanceof Problem && ['patient_not_found', 'operation_unsupported'].includes(error.reason))
    return undefined;
  throw error;
}

/** The time of an Appointment that is not cancelled is busy. */
function slotsOf({ agendas }: Directory, found: readonly Appointment[]): Resource[] {
  const byId = new Map(agendas.map((it) => [agendaId(it), it]));
  const slots = found.flatMap(({ status, slot, start = '', end = '' }) => {
    const name = readSlotId((slot?.[0]?.reference ?? '').slice('Slot/'.length));
    const agenda = name && byId.get(name.scheduleId);
    return agenda && status !== 'cancelled' && status !== 'noshow' ? [toSlot(agenda, { start, end }, 'busy')] : [];
  });
  return [...new Map(slots.map((it) => [it.id, it])).values()];
}
