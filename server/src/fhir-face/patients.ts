import type { Bundle, Patient } from '@medplum/fhirtypes';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { patientSchema } from '../patients/contract.ts';
import { Problem } from '../problems/problem.ts';
import { addRead, addSearch } from './add-interaction.ts';
import { type FaceDeps, shownInFhir, unknownResource } from './face.ts';
import { typeOfSystem } from './identifier-systems.ts';
import { notationOf } from './notation.ts';
import { searchSet } from './search/bundle.ts';
import { anyOf, assertNotInUrl, readSearch, readToken, requireSystem, searchFault } from './search/input.ts';
import { placeOf } from './search/place.ts';
import { toPatient } from './to-fhir/patient.ts';

type PatientBody = Static<typeof patientSchema>;

/** Patient: by id or by number. A number is sent in a body. */
export function addPatients(app: FastifyInstance, deps: FaceDeps): void {
  const declared = { scopes: ['patients:read'], audit: shownInFhir } as const;
  addRead(app, 'Patient', { name: 'fhir_read_patient', ...declared }, (request, id) => read(deps, request, id));
  addSearch(app, 'Patient', { name: 'fhir_search_patient', ...declared }, (request) => search(deps, request));
}

async function read(deps: FaceDeps, request: FastifyRequest, id: string): Promise<Patient> {
  const patient_id = notationOf(id);
  if (patient_id === undefined) throw unknownResource('patient_not_found');
  return readPatient(deps, request, patient_id);
}

/** @param notation a native Patient ID */
export async function readPatient(deps: FaceDeps, request: FastifyRequest, notation: string): Promise<Patient> {
  const params = { patient_id: notation };
  const patient = toPatient(await deps.nativesOf(request).read<PatientBody>('get_patient', { params }));
  if (!patient) throw unknownResource('patient_not_found');
  return patient;
}

async function search(deps: FaceDeps, request: FastifyRequest): Promise<Bundle> {
  const search = readSearch(request, ['_id', 'identifier']);
  const ids = anyOf(search, '_id');
  const identifiers = anyOf(search, 'identifier');
  if (!ids && !identifiers) throw searchFault('_id', 'A search for patients needs _id or identifier.', 'required');
  if (identifiers) assertNotInUrl(request, 'identifier');
  if (ids && identifiers) throw searchFault('identifier', 'Send either _id or identifier.', 'not-supported');
  const notations = ids?.map((it) => notationOf(it)) ?? identifiers?.map((it) => patientNotation(it)) ?? [];
  const found = await Promise.all(
    notations.slice(0, mostPatients).map((it) => it && readPatient(deps, request, it).catch(ifUnknown)),
  );
  const patients = new Map(found.flatMap((it) => (it ? [[it.id, it]] : [])));
  // The links have the ids that were found, and no number.
  const shown = { ...search, filters: new Map([['_id', [[...patients.keys()].join(',')]]]) };
  return searchSet(search, placeOf(deps, request, 'Patient', shown), {
    page: async () => ({ entries: [...patients.values()], next: null }),
    show: (patient) => patient,
  });
}

const mostPatients = 20;

/** A native Patient ID of a token of `identifier`. */
export function patientNotation(text: string, parameter = 'identifier'): string {
  const { system, value } = requireSystem(readToken(text), parameter);
  const type = typeOfSystem(system);
  if (type !== undefined) return `${type}:${value}`;
  throw searchFault(parameter, 'The system of the identifier is not known here.', 'not-supported');
}

function ifUnknown(error: unknown): undefined {
  if (error instanceof Problem && error.reason === 'patient_not_found') return undefined;
  throw error;
}
