import {
  ConnectorError,
  type Patient,
  type PatientCreation,
  type PatientIdentifier,
  type PatientOperations,
} from '@crossward/connector-kit';
import { afterWriting, isBroken, isConflict, unknownOutcome } from './booking/write/outcomes.ts';
import type { ServerFacts } from './capability-statement.ts';
import type { FhirConnection } from './connection.ts';
import type { FhirPatient } from './fhir.ts';
import { identifierToken, type NumberType, systemOf } from './identifiers.ts';
import { findPatient, patientOf } from './patients.ts';

/**
 * Absent unless the server says that it creates a Patient only if none has the identifier: whoever else creates patients there
 * may do so at the same time.
 */
export function patientCreation(
  ehr: FhirConnection,
  facts: ServerFacts,
): Pick<PatientOperations, 'createPatient'> | object {
  const isPossible = facts.can('Patient', 'create') && facts.createsPatientsOnce;
  return isPossible ? { createPatient: (creation: PatientCreation) => createPatient(ehr, creation) } : {};
}

/** A conditional create: https://hl7.org/fhir/R4/http.html#ccreate. The number is in a header, not in the URL. */
async function createPatient(
  ehr: FhirConnection,
  creation: PatientCreation,
): Promise<{ patient: Patient; isNew: boolean }> {
  const identifier = creation.identifier as NumberIdentifier;
  const ifNoneExist = `identifier=${encodeURIComponent(identifierToken(ehr.systems, identifier))}`;
  const response = await ehr.client.create(resourceOf(ehr, creation, identifier), { ifNoneExist });
  // Somebody else creates the patient now, or has done so.
  if (isConflict(response.status)) {
    const found = await afterWriting(() => findPatient(ehr, identifier));
    if (found) return { patient: found, isNew: false };
    throw new ConnectorError('unavailable', `The EHR responded with ${response.status}`);
  }
  if (isBroken(response.status)) throw unknownOutcome(response.rejection);
  if (!response.ok) throw response.rejection ?? new ConnectorError('rejected', 'The EHR created no patient');
  const isNew = response.status === 201;
  if (isNew && response.resource?.resourceType === 'Patient' && response.resource.id !== undefined) {
    return { patient: patientOf(ehr, response.resource as FhirPatient), isNew };
  }
  const patient = await afterWriting(() => findPatient(ehr, identifier));
  if (!patient) throw unknownOutcome();
  return { patient, isNew };
}

type NumberIdentifier = PatientIdentifier & {
  readonly type: Exclude<PatientIdentifier['type'], 'emr_id'> & NumberType;
};

function resourceOf(
  { systems }: FhirConnection,
  { givenName, familyName, birthDate, gender, phone, email, address }: PatientCreation,
  identifier: NumberIdentifier,
): FhirPatient {
  const telecom = [
    ...(phone === null ? [] : [{ system: 'phone' as const, use: 'mobile' as const, value: phone }]),
    ...(email === null ? [] : [{ system: 'email' as const, value: email }]),
  ];
  return {
    resourceType: 'Patient',
    active: true,
    identifier: [{ system: systemOf(systems, identifier), value: identifier.value }],
    name: [{ use: 'official', family: familyName, given: [givenName] }],
    birthDate,
    ...(gender === null ? {} : { gender }),
    ...(telecom.length > 0 ? { telecom } : {}),
    ...(address === null ? {} : { address: [addressOf(address)] }),
  };
}

function addressOf({ lines, postalCode, city, country }: NonNullable<PatientCreation['address']>) {
  return {
    use: 'home' as const,
    ...(lines.length > 0 ? { line: [...lines] } : {}),
    ...(postalCode === null ? {} : { postalCode }),
    ...(city === null ? {} : { city }),
    ...(country === null ? {} : { country }),
  };
}
