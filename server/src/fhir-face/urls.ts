/** Systems, extensions and operations of the gateway: it has no registered web address, so they are URNs. */
export const urls = {
  reasons: 'urn:crossward:reason',
  services: 'urn:crossward:healthcare-service',
  resources: 'urn:crossward:resource',
  /** What means the same in all care units, as the configuration says. */
  sameService: 'urn:crossward:service',
  careUnit: 'urn:crossward:care-unit',
  confirmation: 'urn:crossward:confirmation',
  durationMinutes: 'urn:crossward:duration-minutes',
  attemptsRemaining: 'urn:crossward:attempts-remaining',
  /** gematik ISiK Terminplanung. */
  bookAsIsik: 'https://gematik.de/fhir/isik/OperationDefinition/AppointmentBook',
  /** IHE ITI Scheduling. */
  find: 'https://profiles.ihe.net/ITI/Scheduling/OperationDefinition/appointment-find',
  bookAsIhe: 'https://profiles.ihe.net/ITI/Scheduling/OperationDefinition/appointment-book',
  validate: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
  /** Backported from R5, as ISiK uses it. */
  replaces: 'http://hl7.org/fhir/5.0/StructureDefinition/extension-Appointment.replaces',
  /** Backported from R5, as the German base profiles and ISiK have it. */
  scheduleName: 'http://hl7.org/fhir/5.0/StructureDefinition/extension-Schedule.name',
} as const;
