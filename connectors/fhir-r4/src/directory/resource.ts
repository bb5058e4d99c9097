import type { Resource } from '@crossward/connector-kit';
import type { FhirDevice, FhirLocation, FhirPractitioner, FhirResource } from '../fhir.ts';
import { deviceResource } from '../mappers/device.ts';
import { locationResource } from '../mappers/location.ts';
import { practitionerResource } from '../mappers/practitioner.ts';
import type { DirectoryOptions } from './options.ts';

export function toResource(
  resource: FhirResource,
  serviceIds: readonly string[],
  { systems, resourceIdentifierTypes }: DirectoryOptions,
): Resource {
  switch (resource.resourceType) {
    case 'Location':
      return locationResource(resource as FhirLocation, serviceIds);
    case 'Device':
      return deviceResource(resource as FhirDevice, serviceIds);
    default:
      return practitionerResource(
        resource as FhirPractitioner,
        serviceIds,
        systems,
        resourceIdentifierTypes,
        new Date(),
      );
  }
}
