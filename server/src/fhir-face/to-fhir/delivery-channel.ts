import type { Modality } from '@crossward/connector-kit';
import type { Extension } from '@medplum/fhirtypes';

/** https://simplifier.net/hl7fhirukcorer4/extension-ukcore-deliverychannel: R4 itself has no element for it. */
const url = 'https://fhir.hl7.org.uk/StructureDefinition/Extension-UKCore-DeliveryChannel';
const system = 'https://fhir.hl7.org.uk/CodeSystem/UKCore-DeliveryChannel';
const codes = { in_person: 'In-person', phone: 'Telephone', video: 'Video' } as const satisfies Record<
  Modality,
  string
>;

/** How patient and resource meet, as an extension of Appointment or Slot. None if the EHR does not say. */
export function deliveryChannel(modality: Modality | null | undefined): { readonly extension?: Extension[] } {
  if (!modality) return {};
  const code = codes[modality];
  return { extension: [{ url, valueCodeableConcept: { coding: [{ system, code, display: code }] } }] };
}
