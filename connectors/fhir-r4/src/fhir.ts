/**
 * The parts of FHIR R4 that are used here, and no more: https://hl7.org/fhir/R4/. What a server adds travels along
 * untouched in a resource that is read, changed and written back; what it leaves out is `undefined`.
 */
export interface Coding {
  readonly system?: string;
  readonly code?: string;
  readonly display?: string;
}
export interface CodeableConcept {
  readonly coding?: readonly Coding[];
  readonly text?: string;
  readonly extension?: readonly Extension[];
}
export interface Reference {
  readonly reference?: string;
  readonly display?: string;
}
export interface Period {
  readonly start?: string;
  readonly end?: string;
}
export interface FhirIdentifier {
  readonly use?: string;
  readonly system?: string;
  readonly value?: string;
  readonly period?: Period;
}
export interface Extension {
  readonly url: string;
  readonly valueString?: string;
  readonly valueInstant?: string;
  readonly valueReference?: Reference;
  readonly extension?: readonly Extension[];
}
export interface HumanName {
  readonly use?: string;
  readonly text?: string;
  readonly family?: string;
  readonly given?: readonly string[];
  readonly period?: Period;
}
export interface ContactPoint {
  readonly system?: string;
  readonly value?: string;
  readonly use?: string;
  readonly rank?: number;
  readonly period?: Period;
}
export interface FhirAddress {
  readonly use?: string;
  readonly text?: string;
  readonly line?: readonly string[];
  readonly postalCode?: string;
  readonly city?: string;
  readonly country?: string;
  readonly period?: Period;
}

export interface FhirResource {
  readonly resourceType: string;
  readonly id?: string;
  readonly meta?: { readonly versionId?: string; readonly lastUpdated?: string };
}

/** https://hl7.org/fhir/R4/patient.html */
export interface FhirPatient extends FhirResource {
  readonly resourceType: 'Patient';
  readonly active?: boolean;
  readonly identifier?: readonly FhirIdentifier[];
  readonly name?: readonly HumanName[];
  readonly birthDate?: string;
  readonly gender?: string;
  readonly telecom?: readonly ContactPoint[];
  readonly address?: readonly FhirAddress[];
  readonly link?: readonly { readonly type?: string }[];
}

/** https://hl7.org/fhir/R4/practitioner.html */
export interface FhirPractitioner extends FhirResource {
  readonly resourceType: 'Practitioner';
  readonly active?: boolean;
  readonly identifier?: readonly FhirIdentifier[];
  readonly name?: readonly HumanName[];
}

/** https://hl7.org/fhir/R4/practitionerrole.html */
export interface FhirPractitionerRole extends FhirResource {
  readonly resourceType: 'PractitionerRole';
  readonly active?: boolean;
  readonly practitioner?: Reference;
  readonly organization?: Reference;
  readonly location?: readonly Reference[];
}

/** https://hl7.org/fhir/R4/location.html */
export interface FhirLocation extends FhirResource {
  readonly resourceType: 'Location';
  readonly status?: string;
  readonly name?: string;
  readonly identifier?: readonly FhirIdentifier[];
  readonly partOf?: Reference;
  readonly managingOrganization?: Reference;
}

/** https://hl7.org/fhir/R4/device.html */
export interface FhirDevice extends FhirResource {
  readonly resourceType: 'Device';
  readonly status?: string;
  readonly identifier?: readonly FhirIdentifier[];
  readonly deviceName?: readonly { readonly name?: string; readonly type?: string }[];
  readonly type?: CodeableConcept;
  readonly location?: Reference;
  readonly owner?: Reference;
}

/** https://hl7.org/fhir/R4/healthcareservice.html */
export interface FhirHealthcareService extends FhirResource {
  readonly resourceType: 'HealthcareService';
  readonly active?: boolean;
  readonly name?: string;
  readonly type?: readonly CodeableConcept[];
  readonly location?: readonly Reference[];
  readonly providedBy?: Reference;
}

/** https://hl7.org/fhir/R4/schedule.html */
export interface FhirSchedule extends FhirResource {
  readonly resourceType: 'Schedule';
  readonly active?: boolean;
  readonly actor?: readonly Reference[];
  readonly serviceType?: readonly CodeableConcept[];
}

/** https://hl7.org/fhir/R4/slot.html */
export interface FhirSlot extends FhirResource {
  readonly resourceType: 'Slot';
  readonly schedule?: Reference;
  readonly status?: string;
  readonly serviceType?: readonly CodeableConcept[];
  readonly start?: string;
  readonly end?: string;
  readonly extension?: readonly Extension[];
}

export interface Participant {
  readonly actor?: Reference;
  readonly status?: string;
  readonly type?: readonly CodeableConcept[];
}

/** https://hl7.org/fhir/R4/appointment.html */
export interface FhirAppointment extends FhirResource {
  readonly resourceType: 'Appointment';
  readonly contained?: readonly FhirResource[];
  readonly status?: string;
  readonly identifier?: readonly FhirIdentifier[];
  readonly cancelationReason?: CodeableConcept;
  readonly serviceType?: readonly CodeableConcept[];
  readonly start?: string;
  readonly end?: string;
  readonly minutesDuration?: number;
  readonly slot?: readonly Reference[];
  readonly comment?: string;
  readonly description?: string;
  readonly patientInstruction?: string;
  readonly participant?: readonly Participant[];
  readonly extension?: readonly Extension[];
}

/** https://hl7.org/fhir/R4/operationoutcome.html */
export interface OperationOutcome extends FhirResource {
  readonly resourceType: 'OperationOutcome';
  readonly issue?: readonly { readonly severity?: string; readonly code?: string }[];
}

export interface BundleEntry {
  readonly fullUrl?: string;
  readonly resource?: FhirResource;
  readonly search?: { readonly mode?: string };
  readonly request?: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
    readonly url: string;
    readonly ifMatch?: string;
    readonly ifNoneExist?: string;
  };
  readonly response?: { readonly status?: string; readonly location?: string; readonly etag?: string };
}

/** https://hl7.org/fhir/R4/bundle.html */
export interface Bundle extends FhirResource {
  readonly resourceType: 'Bundle';
  readonly type?: string;
  readonly link?: readonly { readonly relation?: string; readonly url?: string }[];
  readonly entry?: readonly BundleEntry[];
}

/** https://hl7.org/fhir/R4/parameters.html */
export interface Parameters extends FhirResource {
  readonly resourceType: 'Parameters';
  readonly parameter: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[];
}

/** `Practitioner/1` of a relative reference, an absolute one, or one of a certain version. */
export function localReference(reference: Reference | undefined): string | undefined {
  return /([A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64})(?:\/_history\/[^/]+)?$/.exec(reference?.reference ?? '')?.[1];
}

export function referenceTo(resource: FhirResource): string {
  return `${resource.resourceType}/${resource.id}`;
}

export function typeOf(reference: string): string {
  return reference.slice(0, reference.indexOf('/'));
}

/** Whether a period holds at a moment. What has no bounds always does. */
export function isCurrent(period: Period | undefined, now: Date): boolean {
  if (period?.start !== undefined && new Date(period.start) > now) return false;
  // A bare date as an end includes the whole day: https://hl7.org/fhir/R4/datatypes.html#Period
  if (period?.end === undefined) return true;
  const end = period.end.length <= 10 ? new Date(`${period.end}T23:59:59Z`) : new Date(period.end);
  return !(end < now);
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
