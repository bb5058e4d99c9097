import type { EhrConnection } from '../ehr/connection.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { fromFhirId, toFhirId } from './ids.ts';

const prefix = 'emr_id:';

/** The value of an `emr_id`, as responses of native endpoints have it. */
export function emrIdOf(notation: string): string {
  return notation.slice(prefix.length);
}

/** The FHIR id of an `emr_id`. `undefined`: it is too long to be named. */
export function fhirIdOf(notation: string): string | undefined {
  return toFhirId(emrIdOf(notation));
}

/** Names patients in FHIR. */
export interface PatientNames {
  /** The FHIR id of a native Patient ID. `undefined`: it is too long to be named. */
  fhirIdOf(notation: string): string | undefined;
  /** The native Patient ID of a FHIR id. `undefined`: no patient can have it. */
  notationOf(fhirId: string): string | undefined;
}

/** Where identifiers pass through, native ids are longer than ids in FHIR may be, and shorter tokens stand for the patients. */
export function patientNames({ capabilities, patientTokens }: EhrConnection): PatientNames {
  if (!capabilities.passesThrough) return { fhirIdOf, notationOf };
  return {
    fhirIdOf(notation) {
      const id = patientTokens.open(emrIdOf(notation));
      return id === undefined ? undefined : patientTokens.sealShort(id);
    },
    notationOf(fhirId) {
      const id = patientTokens.open(fhirId);
      return id === undefined ? undefined : formatIdentifier({ type: 'emr_id', value: patientTokens.seal(id) });
    },
  };
}

/** The `emr_id` of a FHIR id, as native endpoints take it. `undefined`: no record can have it. */
export function notationOf(fhirId: string): string | undefined {
  const value = fromFhirId(fhirId);
  return value === undefined ? undefined : formatIdentifier({ type: 'emr_id', value });
}
