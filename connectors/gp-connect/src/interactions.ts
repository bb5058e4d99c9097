/** The scope that the token of each interaction requests. */
export const scopes = {
  'search:patient-1': 'patient/*.read',
  'read:patient-1': 'patient/*.read',
  'search:slot-1': 'organization/*.read',
  'create:appointment-1': 'patient/*.write',
  'read:appointment-1': 'patient/*.read',
  'search:patient_appointments-1': 'patient/*.read',
  'update:appointment-1': 'patient/*.write',
  'cancel:appointment-1': 'patient/*.write',
  'read:metadata-1': 'organization/*.read',
} as const;

/** What a request is for. It must match the request, or the practice refuses it. */
export type Interaction = keyof typeof scopes;

/** The value of the header Ssp-InteractionID. */
export function interactionId(interaction: Interaction): string {
  return `urn:nhs:names:services:gpconnect:fhir:rest:${interaction}`;
}
