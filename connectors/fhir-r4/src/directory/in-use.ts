import { isCurrent } from '@crossward/connector-kit';
import type { FhirPractitionerRole, FhirResource } from '../fhir.ts';

/** Location: `active`, `suspended`, `inactive`. Device: also `entered-in-error`. */
const statusesOutOfUse = ['suspended', 'inactive', 'entered-in-error'];

/**
 * Whether a practitioner, role, schedule, location, device or service can still be booked. A resource without this
 * information is in use.
 */
export function isInUse(resource: FhirResource, now: Date): boolean {
  const { active, status, period } = resource as {
    readonly active?: boolean;
    readonly status?: string;
    readonly period?: FhirPractitionerRole['period'];
  };
  return active !== false && !statusesOutOfUse.includes(status ?? '') && isCurrent(period, now);
}
