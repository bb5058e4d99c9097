import { ConnectorError } from '@crossward/connector-kit';
import type { FhirResource } from '../../fhir.ts';

/** @throws ConnectorError for a resource without a version: a write could overwrite another one */
export function versionOf(resource: FhirResource): string {
  const version = resource.meta?.versionId;
  if (version) return version;
  throw new ConnectorError('rejected', `The EHR sends ${resource.resourceType}s without a version`);
}
