import type { Modality } from '@crossward/connector-kit';
import type { CodeableConcept, Device, Extension, HealthcareService, Location, Practitioner } from '@medplum/fhirtypes';
import type { Static } from 'typebox';
import type { CareUnitConnection } from '../../ehr/connection.ts';
import type { healthcareServiceSchema } from '../../healthcare-services/contract.ts';
import type { resourceSchema } from '../../resources/contract.ts';
import { fhirIdentifiers } from '../identifier-systems.ts';
import { careUnitLocationId, fhirIdOf, toFhirId, versionOf } from '../ids.ts';
import { urls } from '../urls.ts';

export type ResourceBody = Static<typeof resourceSchema>;

/** The FHIR types of what can be booked, by native kind. */
export const typeOfKind = { practitioner: 'Practitioner', room: 'Location', device: 'Device' } as const;
export type BookableType = (typeof typeOfKind)[ResourceBody['kind']];

/** A reference with the name of what it refers to. Some records have none, and R4 has no empty texts. */
export function namedReference(
  reference: string,
  name = '',
): { readonly reference: string; readonly display?: string } {
  return { reference, ...(isText(name) && { display: name }) };
}

export function isText(text: string): boolean {
  return text.trim() !== '';
}

export function isBookableType(type: string): type is BookableType {
  return Object.values(typeOfKind).some((it) => it === type);
}

/** `undefined`: the id is too long to be named. */
export function toBookable(
  body: ResourceBody,
  careUnit: CareUnitConnection,
): Practitioner | Location | Device | undefined {
  const id = fhirIdOf(body.id);
  if (id === undefined) return undefined;
  const identifier = fhirIdentifiers(body.identifiers);
  const common = {
    id,
    meta: { versionId: versionOf(body) },
    ...(identifier.length > 0 ? { identifier } : {}),
  };
  switch (body.kind) {
    case 'practitioner': {
      // The EHR has the name as one text. It is not split.
      const name = isText(body.name) ? { name: [{ text: body.name }] } : {};
      return { resourceType: 'Practitioner', ...common, active: true, ...name };
    }
    case 'room': {
      const name = isText(body.name) ? { name: body.name } : {};
      return { resourceType: 'Location', ...common, status: 'active', ...name, partOf: careUnitReference(careUnit) };
    }
    case 'device': {
      const deviceName = [{ name: body.name, type: 'user-friendly-name' as const }];
      return { resourceType: 'Device', ...common, status: 'active', ...(isText(body.name) && { deviceName }) };
    }
  }
}

export function careUnitReference({ id, name }: CareUnitConnection) {
  return namedReference(`Location/${careUnitLocationId(id)}`, name);
}

/** The care unit itself. */
export function toCareUnitLocation({ id, name }: CareUnitConnection): Location {
  return {
    resourceType: 'Location',
    id: careUnitLocationId(id),
    meta: { versionId: versionOf(id, name) },
    status: 'active',
    name,
  };
}

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
    type: serviceTypesOf(body),
    location: [careUnitReference(careUnit)],
    ...(isText(body.name) && { name: body.name }),
  };
}

/** The service by its id, and what it means in other codes. */
export function serviceTypesOf(body: ServiceBody): CodeableConcept[] {
  return [toServiceType(body.id, body.name), ...codings(body)];
}

/** What the service means in the codes of the EHR. */
function codings({ codes }: ServiceBody): CodeableConcept[] {
  return codes.map(({ system, code, display }) => ({
    coding: [{ ...(system !== null && { system }), code, ...(display !== null && { display }) }],
  }));
}

/** @param name absent: the caller may not know it */
export function toServiceType(id: string, name = ''): CodeableConcept {
  return {
    coding: [{ system: urls.services, code: id, ...(isText(name) && { display: name }) }],
    text: isText(name) ? name : id,
  };
}

/** https://simplifier.net/hl7fhirukcorer4/extension-ukcore-deliverychannel: R4 itself has no element for it. */
const channelUrl = 'https://fhir.hl7.org.uk/StructureDefinition/Extension-UKCore-DeliveryChannel';
const channelSystem = 'https://fhir.hl7.org.uk/CodeSystem/UKCore-DeliveryChannel';
const channels = { in_person: 'In-person', phone: 'Telephone', video: 'Video' } as const satisfies Record<
  Modality,
  string
>;

/** How patient and resource meet, as an extension of Appointment or Slot. None if the EHR does not say. */
export function deliveryChannel(modality: Modality | null | undefined): { readonly extension?: Extension[] } {
  if (!modality) return {};
  const code = channels[modality];
  return {
    extension: [
      { url: channelUrl, valueCodeableConcept: { coding: [{ system: channelSystem, code, display: code }] } },
    ],
  };
}
