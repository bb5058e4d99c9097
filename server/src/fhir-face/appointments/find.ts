import type { Appointment, Bundle, Slot } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { endpoint } from '../../api/endpoint.ts';
import { formatInstant } from '../../time/date-times.ts';
import { agendasById, type Directory, readDirectory } from '../directory.ts';
import { accessOf, baseOf, facePath, faceRepresentation } from '../face.ts';
import { invalid } from '../from-fhir/faults.ts';
import { parametersSchema, type SentParameter } from '../from-fhir/schemas.ts';
import { isNationalNumber } from '../identifier-systems.ts';
import { readReference } from '../ids.ts';
import { common, jsonMediaTypes, okResponse } from '../interaction.ts';
import { checked, shows } from '../native.ts';
import { searchSet } from '../search/bundle.ts';
import { readStarts } from '../search/dates.ts';
import { anyOf, readSearch, requireSystem, type Search, searchFault, tokensOf } from '../search/input.ts';
import { escaped } from '../search/parameters.ts';
import { placeOf } from '../search/place.ts';
import { assertFewResources, freeTimes, nothing, practitionerIdentifier, rangeOf, wantedAgendas } from '../slots.ts';
import { toSchedule } from '../to-fhir/schedule-and-slot.ts';

/** The parameters of `$find`, and the search for Slots that each is. */
const asOfSlots: ReadonlyMap<string, string> = new Map([
  ['visit-type', 'service-type'],
  ['practitioner', 'schedule.actor'],
  ['practitioner:identifier', practitionerIdentifier],
  ['location-reference', 'Schedule.actor'],
]);
const names = ['start', 'end', ...asOfSlots.keys(), 'patient-reference'];

const declared = {
  ...common,
  operationId: 'fhir_find_appointments',
  path: `${facePath}/Appointment/$find`,
  scopes: ['appointments:read', 'resources:read'],
  audit: 'if_patient',
  response: okResponse,
  handle: async (_input: object, request: FastifyRequest) => ({ body: await find(request) }),
} as const;

/** https://profiles.ihe.net/ITI/Scheduling/OperationDefinition-appointment-find.html, with the parameters in a URL or a body. */
export const appointmentFind = [
  endpoint({ ...declared, method: 'GET', representation: faceRepresentation() }),
  endpoint({
    ...declared,
    method: 'POST',
    body: Type.Unknown(),
    representation: { ...faceRepresentation('Parameters'), consumes: jsonMediaTypes },
  }),
];

async function find(request: FastifyRequest): Promise<Bundle> {
  const { headers, query } = request;
  const body =
    request.method === 'GET' ? {} : valuesIn(checked(request, parametersSchema, request.body).parameter ?? []);
  // Its profile of the response requires the total.
  const search: Search = { ...readSearch({ headers, query, body }, names), isCounted: true };
  const { careUnit } = accessOf(request);
  const range = rangeOf(readStarts(boundsOf(search), 'start', careUnit.timeZone));
  const directory = await readDirectory(request);
  const slots = ofSlots(search);
  const wanted = wantedAgendas(request, slots, directory);
  assertFewResources(wanted);
  const format = (it: Date) => formatInstant(it, careUnit.timeZone);
  const place = placeOf(
    request,
    'Appointment/$find',
    search,
    range && { start: [format(range.from)], end: [format(range.until)] },
  );
  const proposal = proposalsOf(request, directory, patientOf(request, search));
  return searchSet(search, place, {
    async page(limit, cursor) {
      if (!range) return nothing;
      const page = await freeTimes(request, { search: slots, wanted, starts: range, format }, limit, cursor);
      return { ...page, entries: page.entries.filter(({ end }) => Date.parse(end) <= range.until.getTime()) };
    },
    show: proposal,
  });
}

/** The parameters as a search has them. An identifier in place of a reference has a name of its own. */
function valuesIn(parameters: readonly SentParameter[]): Readonly<Record<string, readonly string[]>> {
  const values: Record<string, string[]> = {};
  for (const [index, parameter] of parameters.entries()) {
    const { name, valueReference, ...simple } = parameter;
    const [value] = Object.entries(simple).flatMap(([key, it]) => (key.startsWith('value') ? [it] : []));
    const { system = '', value: number = '' } = valueReference?.identifier ?? {};
    const isIdentifier = valueReference !== undefined && valueReference.reference === undefined;
    const text = isIdentifier ? `${escaped(system)}|${escaped(number)}` : (valueReference?.reference ?? value);
    if (typeof text !== 'string' && typeof text !== 'number')
      throw invalid(`/parameter/${index}`, 'This parameter has no value that $find takes.', 'not-supported');
    const key = isIdentifier ? `${name}:identifier` : name;
    values[key] = [...(values[key] ?? []), String(text)];
  }
  return values;
}

/** A day as the end is a whole day. */
function boundsOf({ filters }: Search): string[] {
  const one = (name: string) => {
    const [value, ...others] = filters.get(name) ?? [];
    if (others.length > 0) throw searchFault(name, `The parameter ${name} can be sent once.`, 'not-supported');
    return value;
  };
  const [start, end] = [one('start'), one('end')];
  const before = end?.includes('T') ? 'lt' : 'le';
  return [...(start === undefined ? [] : [`ge${start}`]), ...(end === undefined ? [] : [`${before}${end}`])];
}

/** Values of a parameter that is repeated are alternatives. Parameters together must all match. */
function ofSlots(search: Search): Search {
  const filters = [...search.filters].flatMap(([name, values]): [string, string[]][] => {
    const known = asOfSlots.get(name);
    return known === undefined ? [] : [[known, [values.join(',')]]];
  });
  if (search.filters.has('practitioner') && search.filters.has('practitioner:identifier'))
    throw searchFault('practitioner', 'Name practitioners by references or by identifiers.', 'not-supported');
  const slots = { ...search, filters: new Map(filters) };
  const identifiers = tokensOf(slots, practitionerIdentifier)?.map((it) => requireSystem(it, 'practitioner'));
  if (identifiers?.some(({ system }) => isNationalNumber(system)))
    throw searchFault('practitioner', 'A practitioner is not named by the number of a person here.', 'not-supported');
  return slots;
}

function patientOf(request: FastifyRequest, search: Search): string | undefined {
  const [text, ...others] = anyOf(search, 'patient-reference') ?? [];
  if (text === undefined) return undefined;
  const { type, id } = readReference(text, baseOf(request)) ?? {};
  if (type === 'Patient' && others.length === 0) return id;
  throw searchFault('patient-reference', 'The parameter patient-reference must be a reference to one Patient.');
}

/** A time as an Appointment, which has the id of the Slot: `$book` finds it by that. The patient is repeated, and not looked up. */
function proposalsOf(request: FastifyRequest, directory: Directory, patient: string | undefined) {
  const byId = agendasById(directory);
  const { careUnit } = accessOf(request);
  const sent =
    patient === undefined ? [] : [{ actor: { reference: `Patient/${patient}` }, status: 'needs-action' as const }];
  return ({ id, extension, serviceType, schedule, start, end }: Slot): Appointment | undefined => {
    const agenda = byId.get((schedule.reference ?? '').slice('Schedule/'.length));
    const actors = agenda && toSchedule(agenda, careUnit, (type) => shows(request, type))?.actor;
    if (!id || !actors) return undefined;
    return {
      resourceType: 'Appointment',
      id,
      ...(extension && { extension }),
      status: 'proposed',
      ...(serviceType && { serviceType }),
      start,
      end,
      slot: [{ reference: `Slot/${id}` }],
      participant: [...sent, ...actors.map((actor) => ({ actor, status: 'accepted' as const }))],
      requestedPeriod: [{ start, end }],
    };
  };
}
