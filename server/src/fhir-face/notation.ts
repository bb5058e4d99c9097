import { formatIdentifier } from '../identifiers/index.ts';
import { fromFhirId, toFhirId } from './ids.ts';

const prefix = 'emr_id:';

/** The value of an `emr_id`, as responses of native operations have it. */
export function emrIdOf(notation: string): string {
  return notation.slice(prefix.length);
}

/** The FHIR id of an `emr_id`. `undefined`: it is too long to be named. */
export function fhirIdOf(notation: string): string | undefined {
  return toFhirId(emrIdOf(notation));
}

/** The `emr_id` of a FHIR id, as native operations take it. `undefined`: no record can have it. */
export function notationOf(fhirId: string): string | undefined {
  const value = fromFhirId(fhirId);
  return value === undefined ? undefined : formatIdentifier({ type: 'emr_id', value });
}
