import type { CodeableConcept, HealthcareService } from '@medplum/fhirtypes';
import type { Static } from 'typebox';
import type { CareUnitConnection } from '../../ehr/connection.ts';
import type { healthcareServiceSchema } from '../../healthcare-services/contract.ts';
import { careUnitLocationId, toFhirId, versionOf } from '../ids.ts';
import { urls } from '../urls.ts';

export type ServiceBody = Static<typeof healthcareServiceSchema>;

/** `undefined`: the id is too long to be named. */
export function toHealthcareService(body: ServiceBody, careUnit: CareUnitConnection): HealthcareService | undefined {
  const id = toFhirId(body.id);
  if (id === undefined) return undefined;
  const { duration_minutes: minutes } = body;
  return {
    resourceType: 'HealthcareService',
    id,
    meta: { versionId: versionOf(body) },
    ...(minutes === null ? {} : { extension: [{ url: urls.durationMinutes, valueInteger: minutes }] }),
    active: true,
    type: [toServiceType(body.id, body.name)],
    location: [{ reference: `Location/${careUnitLocationId(careUnit.id)}` }],
    name: body.name,
  };
}

/** @param name absent: the caller may not know it */
export function toServiceType(id: string, name?: string): CodeableConcept {
  return {
    coding: [{ system: urls.services, code: id, ...(name === undefined ? {} : { display: name }) }],
    text: name ?? id,
  };
}
