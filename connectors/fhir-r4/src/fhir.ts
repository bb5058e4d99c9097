import type * as r4 from '@medplum/fhirtypes';

/**
 * An R4 type as a server may send it. The package says which elements there are and how they are nested. A server may
 * leave out any of them, and may send codes that are not in the value set, so every element is optional and every code
 * is text. Elements that this connector does not know stay in a resource that is read, changed and written back.
 */
export type Received<T> = T extends readonly (infer Item)[]
  ? readonly Received<Item>[]
  : T extends string
    ? string
    : T extends object
      ? { readonly [Name in keyof T]?: Received<Exclude<T[Name], undefined>> }
      : T;

export interface Coding extends Received<r4.Coding> {}
export interface CodeableConcept extends Received<r4.CodeableConcept> {}
export interface Reference extends Received<r4.Reference> {}
export interface FhirIdentifier extends Received<r4.Identifier> {}
export interface Extension extends Received<r4.Extension> {}
export interface Attachment extends Received<r4.Attachment> {}
export interface Participant extends Received<r4.AppointmentParticipant> {}

/** What every resource has: https://hl7.org/fhir/R4/resource.html */
export interface FhirResource {
  readonly resourceType: string;
  readonly id?: string;
  readonly meta?: Received<r4.Meta>;
}

export interface FhirPatient extends Received<r4.Patient> {
  readonly resourceType: 'Patient';
}
export interface FhirPractitioner extends Received<r4.Practitioner> {
  readonly resourceType: 'Practitioner';
}
export interface FhirPractitionerRole extends Received<r4.PractitionerRole> {
  readonly resourceType: 'PractitionerRole';
}
export interface FhirLocation extends Received<r4.Location> {
  readonly resourceType: 'Location';
}
export interface FhirDevice extends Received<r4.Device> {
  readonly resourceType: 'Device';
}
export interface FhirHealthcareService extends Received<r4.HealthcareService> {
  readonly resourceType: 'HealthcareService';
}
export interface FhirSchedule extends Received<r4.Schedule> {
  readonly resourceType: 'Schedule';
}
export interface FhirSlot extends Received<r4.Slot> {
  readonly resourceType: 'Slot';
  /** No element of FHIR: the ids of the services that it was searched for. Absent: the Slot and its Schedule name theirs. */
  readonly foundFor?: readonly string[];
}
export interface FhirAppointment extends Received<r4.Appointment> {
  readonly resourceType: 'Appointment';
}
export interface FhirDocumentReference extends Received<r4.DocumentReference> {
  readonly resourceType: 'DocumentReference';
}
export interface FhirBinary extends Received<r4.Binary> {
  readonly resourceType: 'Binary';
}
export interface FhirEncounter extends Received<r4.Encounter> {
  readonly resourceType: 'Encounter';
}
export interface CapabilityStatement extends Received<r4.CapabilityStatement> {
  readonly resourceType: 'CapabilityStatement';
}
export interface OperationOutcome extends Received<r4.OperationOutcome> {
  readonly resourceType: 'OperationOutcome';
}

export interface BundleEntry extends Omit<Received<r4.BundleEntry>, 'resource' | 'request'> {
  readonly resource?: FhirResource;
  readonly request?: Pick<r4.BundleEntryRequest, 'method' | 'url' | 'ifMatch' | 'ifNoneExist'>;
}
export interface Bundle extends Omit<Received<r4.Bundle>, 'entry'> {
  readonly resourceType: 'Bundle';
  readonly entry?: readonly BundleEntry[];
  /** How many entries were left out when it was received, because they cannot be read. Absent: none. */
  readonly unreadable?: number;
}

export function isBundle(body: unknown): body is Bundle {
  return typeof body === 'object' && body !== null && 'resourceType' in body && body.resourceType === 'Bundle';
}

/** A parameter of an operation: https://hl7.org/fhir/R4/parameters.html */
export interface Parameter extends Omit<Received<r4.ParametersParameter>, 'name' | 'resource' | 'part'> {
  readonly name: string;
  readonly resource?: FhirResource;
}
export interface Parameters extends FhirResource {
  readonly resourceType: 'Parameters';
  readonly parameter: readonly Parameter[];
}

const relativeReference = /^([A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64})(?:\/_history\/[^/]+)?$/;

/**
 * `Practitioner/1` of a relative reference, or one of a certain version. References to the server itself are relative as soon
 * as they are received. `undefined` for a record of another server, which may have the same path.
 */
export function localReference(reference: Reference | undefined): string | undefined {
  return relativeReference.exec(reference?.reference ?? '')?.[1];
}

/** `Appointment/1` at the end of a URL by which the server says what a write has stored, whatever address it has itself. */
export function storedReference(location: string | undefined): string | undefined {
  return localReference({
    reference:
      location
        ?.split('/')
        .slice(location.includes('/_history/') ? -4 : -2)
        .join('/') ?? '',
  });
}

export function referenceTo(resource: FhirResource): string {
  return `${resource.resourceType}/${resource.id}`;
}

export function typeOf(reference: string): string {
  return reference.slice(0, reference.indexOf('/'));
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
