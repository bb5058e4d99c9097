import { ConnectorError } from '@crossward/connector-kit';
import type { FhirResource } from '../fhir.ts';

/** Without a version a write could not be kept from overwriting another. */
export function versionOf(resource: FhirResource): string {
  const version = resource.meta?.versionId;
  if (version) return version;
  throw new ConnectorError('rejected', `The EHR gives its ${resource.resourceType}s no version`);
}
