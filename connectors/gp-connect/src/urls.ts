/** Names of GP Connect: https://developer.nhs.uk/apis/gpconnect-1-2-7/ */
const definitions = 'https://fhir.nhs.uk/STU3/StructureDefinition';

export const profiles = {
  appointment: `${definitions}/GPConnect-Appointment-1`,
  organization: `${definitions}/CareConnect-GPC-Organization-1`,
} as const;

export const extensions = {
  bookingOrganisation: `${definitions}/Extension-GPConnect-BookingOrganisation-1`,
  cancellationReason: `${definitions}/Extension-GPConnect-AppointmentCancellationReason-1`,
  deliveryChannel: `${definitions}/Extension-GPConnect-DeliveryChannel-2`,
} as const;

export const identifierSystems = {
  nhsNumber: 'https://fhir.nhs.uk/Id/nhs-number',
  odsCode: 'https://fhir.nhs.uk/Id/ods-organization-code',
  sdsUserId: 'https://fhir.nhs.uk/Id/sds-user-id',
  sdsRoleProfileId: 'https://fhir.nhs.uk/Id/sds-role-profile-id',
} as const;

export const organisationTypes = 'https://fhir.nhs.uk/STU3/CodeSystem/GPConnect-OrganisationType-1';
