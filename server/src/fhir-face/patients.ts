import { numberIn } from '@crossward/connector-kit';
import type { Bundle, Patient } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { patientSearchSchema } from '../patients/contract.ts';
import { type PatientBody, shownPatient } from '../patients/representation.ts';
import { createPatient, getPatient, searchPatients } from '../patients/routes.ts';
import { Problem } from '../problems/problem.ts';
import { startsWith } from './bookables.ts';
import { assertUnconditional, conditionFault, conditionOf, keyOfOther, noteLost } from './conditions.ts';
import { baseOf, shownInFhir, unknownResource } from './face.ts';
import { lostFromPatient, patientCreation } from './from-fhir/read-patient.ts';
import { fhirPatientSchema } from './from-fhir/schemas.ts';
import { typeOfSystem } from './identifier-systems.ts';
import { notationOf } from './ids.ts';
import { fhirRead, fhirSearch, fhirWrite, jsonMediaTypes } from './interaction.ts';
import { checked, planNative, readNative } from './native.ts';
import { allFine } from './operation-outcome.ts';
import { etagOf, preferenceOf } from './preferences.ts';
import { searchSet } from './search/bundle.ts';
import { isFarDay } from './search/dates.ts';
import {
  anyOf,
  assertNotInUrl,
  findEach,
  readSearch,
  requireSystem,
  type Search,
  searchFault,
  tokensOf,
} from './search/input.ts';
import { pagesInOrder } from './search/pages.ts';
import type { Token } from './search/parameters.ts';
import { placeOf } from './search/place.ts';
import { toPatient } from './to-fhir/patient.ts';

/** Patient: by id, by number, or by name and birth date or phone. What identifies a person is sent in a body. */
const declared = { scopes: ['patients:read'], audit: shownInFhir } as const;
export const patientInteractions = [
  fhirRead('Patient', { name: 'fhir_read_patient', ...declared }, read),
  ...fhirSearch('Patient', { name: 'fhir_search_patient', ...declared }, search),
  fhirWrite({
    name: 'fhir_create_patient',
    scopes: ['patients:write'],
    audit: shownPatient,
    method: 'POST',
    type: 'Patient',
    path: '',
    status: 201,
    representation: {
      consumes: jsonMediaTypes,
      keyOf: (request) => keyOfOther(request, true),
      show: async ({ body, status = 200, headers = {} }, request) => {
        const { location: _, ...others } = headers;
        const patient = toPatient(body as PatientBody);
        // It has an id that FHIR cannot name: it is written all the same.
        if (!patient) return { status, headers: others };
        const versionId = patient.meta?.versionId;
        const location = `${baseOf(request)}/Patient/${patient.id}/_history/${versionId}`;
        return { status, headers: { ...others, etag: etagOf(versionId), location }, ...preferred(request, patient) };
      },
    },
    plan: planCreation,
  }),
];

/** https://hl7.org/fhir/R4/http.html#ccreate, by a national number. */
async function planCreation(request: FastifyRequest, body: unknown) {
  assertUnconditional(request);
  const patient = checked(request, fhirPatientSchema, body);
  const identifier = conditionOf(request, 'Patient');
  if (identifier === undefined) {
    const detail = 'A Patient is created unless the EHR has one: send If-None-Exist: identifier=system|value.';
    throw conditionFault(detail, 'required');
  }
  noteLost(request, lostFromPatient(patient, identifier));
  return planNative(request, createPatient, { body: patientCreation(patient, identifier) });
}

/** https://hl7.org/fhir/R4/http.html#ops */
function preferred(request: FastifyRequest, patient: Patient): { readonly body?: object } {
  switch (preferenceOf(request, 'return')) {
    case 'minimal':
      return {};
    case 'OperationOutcome':
      return { body: allFine('The Patient exists.', request.lost) };
    default:
      return { body: patient };
  }
}

async function read(request: FastifyRequest, id: string): Promise<Patient> {
  const patient_id = notationOf(id);
  if (patient_id === undefined) throw unknownResource('patient_not_found');
  return readPatient(request, patient_id);
}

/** @param notation a native Patient ID */
export async function readPatient(request: FastifyRequest, notation: string): Promise<Patient> {
  const params = { patient_id: notation };
  const patient = toPatient(await readNative(request, getPatient, { params }));
  if (!patient) throw unknownResource('patient_not_found');
  return patient;
}

async function search(request: FastifyRequest): Promise<Bundle> {
  const search = readSearch(request, ['_id', ...personal]);
  for (const name of personal) if (search.filters.has(name)) assertNotInUrl(request, name);
  const found = namesNobody(request, search) ? [] : await findPatients(request, search);
  const patients = new Map(found.map((it) => [it.id, it]));
  // The links have the ids that were found, and nothing personal.
  const shown = { ...search, filters: new Map([['_id', [[...patients.keys()].join(',')]]]) };
  const place = placeOf(request, 'Patient', shown);
  return searchSet(search, place, {
    page: pagesInOrder<Patient>(request, place, async () => [...patients.values()]),
    show: (patient) => patient,
  });
}

/** `_id=` alone: the link `self` of a search that found nobody. */
function namesNobody({ query }: FastifyRequest, { filters }: Search): boolean {
  return filters.size === 0 && (query as Readonly<Record<string, unknown>>)._id === '';
}

/** @throws Problem `request_invalid` unless the parameters select in one way */
async function findPatients(request: FastifyRequest, search: Search): Promise<readonly Patient[]> {
  const names = [...search.filters.keys()].toSorted().join();
  if (names === '_id' || names === 'identifier') {
    const notations =
      anyOf(search, '_id')?.flatMap((it) => notationOf(it) ?? []) ??
      tokensOf(search, 'identifier')?.map((it) => tokenNotation(it)) ??
      [];
    return findEach(names, notations, (it) => readPatient(request, it).catch(ifUnknown));
  }
  if (['birthdate,family', 'birthdate,family,given', 'birthdate,name', 'phone'].includes(names)) {
    const sent = sentOf(search);
    if (isFarDay(sent.birthdate ?? '')) return [];
    const { birthdate = '', phone, ...name } = checked(request, namedSchema, sent, 'querystring');
    const native = async (body: Static<typeof patientSearchSchema>) =>
      (await readNative(request, searchPatients, { body })).patients;
    const found =
      phone === undefined
        ? namesMeant(name).map(async ({ family, given }) =>
            (await native({ family_name: family, birth_date: birthdate })).filter((it) =>
              startsWith(it.given_name ?? '', given),
            ),
          )
        : [native({ phone })];
    const byId = new Map((await Promise.all(found)).flat().map((it) => [it.id, it]));
    return [...byId.values()].flatMap((it) => toPatient(it) ?? []);
  }
  const detail =
    'A search for patients needs _id, or identifier, or family or name with birthdate, or phone. given needs family.';
  if (search.filters.size > 1) throw searchFault(names.split(',')[0] ?? '', detail, 'not-supported');
  const missing = { family: 'birthdate', name: 'birthdate', birthdate: 'name', given: 'family' }[names] ?? '_id';
  throw searchFault(missing, detail, 'required');
}

const personal = ['identifier', 'family', 'given', 'name', 'birthdate', 'phone'];

const { family_name, birth_date, phone } = patientSearchSchema.properties;
const namedSchema = Type.Object({
  family: family_name,
  given: family_name,
  name: family_name,
  birthdate: birth_date,
  phone,
});

interface NameParts {
  readonly family: string;
  readonly given: string;
}

/** Each is one more search in the EHR. */
const mostNamesMeant = 5;

/** What `name` can mean: EHRs are searched by a whole family name, which may have several words, behind given names or alone. */
function namesMeant({
  family,
  given = '',
  name = '',
}: Partial<NameParts & { readonly name: string }>): readonly NameParts[] {
  if (family !== undefined) return [{ family, given }];
  const words = name.split(/\s+/).filter((it) => it !== '');
  const splits = words.slice(0, mostNamesMeant).map((_, index) => words.length - 1 - index);
  return splits.map((at) => ({ family: words.slice(at).join(' '), given: words.slice(0, at).join(' ') }));
}

/** The values of parameters that have one. */
function sentOf(search: Search): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...search.filters.keys()].map((name) => {
      const [value = '', ...others] = anyOf(search, name) ?? [];
      if (others.length > 0) throw searchFault(name, `The query parameter ${name} has one value.`, 'not-supported');
      if (name === 'birthdate') return [name, value.replace(/^eq/, '')];
      // An unencoded `+` in a form arrives as a space.
      return [name, name === 'phone' ? value.replace(/^ /, '+') : value];
    }),
  );
}

/** A native Patient ID of a token of `identifier`. */
export function tokenNotation(token: Token, parameter = 'identifier'): string {
  const { system, value } = requireSystem(token, parameter);
  const type = typeOfSystem(system);
  // As other FHIR servers find it: in any usual spelling.
  if (type !== undefined) return `${type.id}:${numberIn(type.id, value) ?? value}`;
  throw searchFault(parameter, 'The system of the identifier is not known here.', 'not-supported');
}

function ifUnknown(error: unknown): undefined {
  if (error instanceof Problem && error.reason === 'patient_not_found') return undefined;
  throw error;
}
