import {
  ConnectorError,
  completeSpellingsOf,
  type Patient,
  type PatientCreation,
  type PatientIdentifier,
  type PatientOperations,
  spellingsOf,
  systemOf,
} from '@crossward/connector-kit';
import { isBroken, isConflict, unknownOutcome } from '../booking/write/outcomes.ts';
import type { FhirPatient } from '../fhir.ts';
import { escapeToken, identifierTokens } from '../mappers/identifiers.ts';
import type { ServerFacts } from '../server/capability-statement.ts';
import type { WriteResponse } from '../server/client.ts';
import type { FhirConnection } from '../server/connection.ts';
import { isRejection } from '../server/outcome.ts';
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

/**
 * A conditional create: https://hl7.org/fhir/R4/http.html#ccreate. The number is in a header, not in the URL. The condition names
 * all usual spellings of the number. Somebody else can have one without the century: then the patient is created unless another
 * record has one that is this number only. The same if the server rejects such a long condition.
 */
async function createPatient(
  ehr: FhirConnection,
  creation: PatientCreation,
): Promise<{ patient: Patient; isNew: boolean }> {
  const identifier = creation.identifier;
  const resource = resourceOf(ehr, creation, identifier);
  const known = ehr.settings.identifier_lists === false ? await findPatient(ehr, identifier) : null;
  if (known) return { patient: known, isNew: false };
  let failure: ConnectorError | undefined;
  for (const ifNoneExist of conditionsOf(ehr, identifier)) {
    const response = await ehr.client.create(resource, { ifNoneExist });
    if (isBroken(response.status)) throw unknownOutcome(response.rejection);
    const isNew = response.status === 201;
    if (isNew && response.resource?.resourceType === 'Patient' && response.resource.id !== undefined) {
      return { patient: patientOf(ehr, response.resource as FhirPatient), isNew };
    }
    const patient = await findAfterwards(ehr, identifier);
    if (patient) return { patient, isNew };
    if (isNew) throw unknownOutcome();
    failure = failureOf(response);
    if (!isRejection(failure) && response.status !== 412) break;
  }
  throw failure ?? new ConnectorError('rejected', 'The EHR created no patient');
}

/** The conditions of a create, the widest first. */
function conditionsOf({ systems, settings }: FhirConnection, number: PatientIdentifier): readonly string[] {
  if (settings.identifier_lists === false) {
    return [
      `identifier=${encodeURIComponent(`${escapeToken(systemOf(number, systems(number.type)) ?? '')}|${number.value}`)}`,
    ];
  }
  const spellings = [spellingsOf(number), completeSpellingsOf(number), [number.value]];
  const lists = spellings.map((it) => identifierTokens(systems, number.type, it).flat().join());
  return [...new Set(lists)].map((it) => `identifier=${encodeURIComponent(it)}`);
}

async function findAfterwards(ehr: FhirConnection, identifier: PatientIdentifier): Promise<Patient | null> {
  try {
    return await findPatient(ehr, identifier);
  } catch (error) {
    const isKnown = !(error instanceof ConnectorError) || error.kind === 'patient_ambiguous';
    throw isKnown ? error : unknownOutcome(error);
  }
}

/** Why a create has made no patient, although nobody is found who has the number. */
function failureOf({ status, ok, rejection }: WriteResponse): ConnectorError {
  // Somebody else creates the patient now, or several records match.
  if (isConflict(status)) return new ConnectorError('unavailable', `The EHR responded with ${status}`);
  if (!ok && rejection) return rejection;
  return new ConnectorError(
    'rejected',
    'The EHR created no patient, because another one has a number that looks alike',
  );
}

function resourceOf(
  { systems }: FhirConnection,
  { givenName, familyName, birthDate, gender, phone, email, address }: PatientCreation,
  identifier: PatientIdentifier,
): FhirPatient {
  const telecom = [
    ...(phone === null ? [] : [{ system: 'phone' as const, use: 'mobile' as const, value: phone }]),
    ...(email === null ? [] : [{ system: 'email' as const, value: email }]),
  ];
  return {
    resourceType: 'Patient',
    active: true,
    identifier: [{ system: systemOf(identifier, systems(identifier.type)) ?? '', value: identifier.value }],
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
