import type {
  HealthcareService,
  IntendedBooking,
  Patient,
  PatientIdentifier,
  Resource,
  ResourceIdentifier,
} from '@crossward/connector-kit';
import { reachedPatient } from '../context/work-context.ts';
import { type Place, Problem, problemAt } from '../problems/problem.ts';
import type { CareUnitConnection, EhrConnection } from './connection.ts';

/** Where a request names a patient, and the booking that the patient is looked up for. */
interface LookUpOptions {
  readonly place?: Place | undefined;
  readonly intended?: IntendedBooking | undefined;
}

/**
 * The patient with this identifier. Of one whose identifier passes through, nothing but the token is known.
 *
 * @param identifier as `patientIdentifier` has read it
 * @throws Problem `patient_ambiguous` if the EHR has several records with it
 */
export async function findPatient(
  ehr: EhrConnection,
  identifier: PatientIdentifier,
  { place, intended }: LookUpOptions = {},
): Promise<Patient | null> {
  if (!ehr.capabilities.passesThrough) {
    return ehr.call('findPatient', identifier, intended).catch((error: unknown) => {
      throw place && error instanceof Problem ? atPlace(error, place) : error;
    });
  }
  const nothing = { givenName: null, familyName: null, birthDate: null, gender: null };
  return { id: identifier.value, identifiers: [identifier], ...nothing, phone: null, email: null, address: null };
}

/** The problem, with the place of the identifier that several records have. */
function atPlace(problem: Problem, place: Place): Problem {
  if (problem.reason !== 'patient_ambiguous') return problem;
  const { reason, detail, cause } = problem;
  return new Problem(reason, { detail, faults: [{ place, reason, detail }], cause });
}

/**
 * @param intended the booking that the patient is looked up for
 * @throws Problem `patient_not_found` at the place where the identifier was named
 */
export async function requirePatient(
  ehr: EhrConnection,
  identifier: PatientIdentifier,
  place: Place,
  intended?: IntendedBooking,
): Promise<Patient> {
  const patient = await findPatient(ehr, identifier, { place, intended });
  if (!patient) throw problemAt(place, 'patient_not_found', 'The EHR has no patient with this identifier.');
  reachedPatient({ type: 'emr_id', value: patient.id }, ...patient.identifiers);
  return patient;
}

/** @throws Problem `resource_not_found` at the place where the identifier was named */
export async function requireResource(
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
  identifier: ResourceIdentifier,
  place: Place,
): Promise<Resource> {
  const resource = await ehr.call('findResource', careUnit, identifier);
  if (!resource) throw problemAt(place, 'resource_not_found', 'The care unit has no resource with this identifier.');
  return resource;
}

/** @throws Problem `healthcare_service_not_found` at the place where the service was named */
export async function requireHealthcareService(
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
  id: string,
  place: Place,
  patientId?: string,
): Promise<HealthcareService> {
  const [service] = await requireHealthcareServices(ehr, careUnit, [id], place, patientId);
  return service as HealthcareService;
}

/**
 * @param patientId who wants them, if it is known: some may be offered to this patient only
 * @throws Problem `healthcare_service_not_found` at the place where the services were named
 */
export async function requireHealthcareServices(
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
  ids: readonly string[],
  place: Place,
  patientId?: string,
): Promise<readonly HealthcareService[]> {
  const services = await ehr.call('listHealthcareServices', careUnit, ids, patientId);
  return ids.map((id) => {
    const service = services.find((it) => it.id === id);
    if (!service)
      throw problemAt(place, 'healthcare_service_not_found', 'The care unit has no healthcare service with this id.');
    return service;
  });
}

/** A patient by the EHR's own id. */
export type FindPatient = (id: string) => Promise<Patient | null>;

/** Looks up patients by id and caches them for the duration of one request. */
export function eachPatientOnce(ehr: EhrConnection): FindPatient {
  const found = new Map<string, Promise<Patient | null>>();
  return (id) => {
    const patient = found.get(id) ?? findPatient(ehr, { type: 'emr_id', value: id });
    found.set(id, patient);
    return patient;
  };
}
