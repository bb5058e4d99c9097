import type { PatientIdentifier, ResourceIdentifier } from '@crossward/connector-kit';
import type { EhrConnection } from '../ehr/connection.ts';
import { reachedPatient } from '../ehr/reached.ts';
import {
  IdentifierError,
  type ReadHeader,
  readPatientIdentifier,
  readResourceIdentifier,
} from '../identifiers/index.ts';
import { type Place, problemAt } from '../problems/problem.ts';

/** Reads the patient identifier at this place of the request, by the rules of the EHR. */
export function patientIdentifier(
  text: string,
  place: Place,
  ehr: EhrConnection,
  readHeader: ReadHeader,
): PatientIdentifier {
  const policy = { types: ehr.capabilities.patientIdentifierTypes, synthetic: ehr.syntheticIdentifiers };
  const identifier = atPlace(place, () => readPatientIdentifier(text, policy, readHeader));
  reachedPatient(identifier);
  return identifier;
}

/** Reads the resource identifier at this place of the request, by the rules of the EHR. */
export function resourceIdentifier(
  text: string,
  place: Place,
  ehr: EhrConnection,
  readHeader: ReadHeader,
): ResourceIdentifier {
  const policy = { types: ehr.capabilities.resourceIdentifierTypes, synthetic: ehr.syntheticIdentifiers };
  return atPlace(place, () => readResourceIdentifier(text, policy, readHeader));
}

function atPlace<Result>(place: Place, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof IdentifierError)) throw error;
    const at: Place = error.header === undefined ? place : { in: 'header', header: error.header };
    throw problemAt(at, error.reason, error.detail);
  }
}
