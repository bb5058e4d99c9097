import type { components, operations } from './schema.ts';

export type Schemas = components['schemas'];

export type Emr = Schemas['Emr'];
export type CareUnit = Schemas['CareUnit'];
export type Patient = Schemas['Patient'];
/** Whom to search for. */
export type PatientSearch = Schemas['PatientSearch'];
/** A patient to find or create. */
export type PatientCreation = Schemas['PatientCreation'];
/** An access to a patient's record. */
export type PatientAccess = Schemas['Access'];
export type Resource = Schemas['Resource'];
export type HealthcareService = Schemas['HealthcareService'];
/** What can be searched for in many care units. */
export type SearchableServices = operations['list_services']['responses'][200]['content']['application/json'];
export type TimeSlot = Schemas['Timeslot'];
export type TimeSlotSearch = Schemas['TimeslotSearch'];
export type FoundTimeSlot = Schemas['FoundTimeslot'];
/** A care unit of which slots may be missing. */
export type UnansweredCareUnit = Schemas['UnansweredCareUnit'];
/** A search that the gateway repeats. */
export type TimeSlotWatch = Schemas['TimeslotWatch'];
export type TimeSlotWatchCreation = Schemas['TimeslotWatchCreation'];
export type Appointment = Schemas['Appointment'];
export type AppointmentPreview = Schemas['AppointmentPreview'];
export type AppointmentCreation = Schemas['AppointmentCreation'];
/** For an EHR that cannot look the patient up. */
export type PatientDetails = Schemas['PatientDetails'];
export type AppointmentUpdate = Schemas['AppointmentUpdate'];

export type MedicalNote = Schemas['MedicalNote'];
export type MedicalNoteCreation = Schemas['MedicalNoteCreation'];
export type PatientDocument = Schemas['Document'];
export type DocumentCreation = Schemas['DocumentCreation'];
export type Schedule = Schemas['Schedule'];
export type ScheduleCreation = Schemas['ScheduleCreation'];
export type ScheduleEnd = Schemas['ScheduleEnd'];
export type ScheduleException = Schemas['ScheduleException'];
/** Options of a cancellation, such as its comment. */
export type Cancellation = Omit<Schemas['AppointmentCancellation'], 'status'>;

export type Event = Schemas['Event'];
/** A page of events, with the position after it. */
export type EventPage = operations['list_events']['responses'][200]['content']['application/json'];

export type WebhookEndpoint = Schemas['WebhookEndpoint'];
export type NewWebhookEndpoint = Schemas['NewWebhookEndpoint'];
export type WebhookEndpointCreation = Schemas['WebhookEndpointCreation'];
export type WebhookEndpointChange = Schemas['WebhookEndpointChange'];
export type WebhookSecretRotation = Schemas['WebhookSecretRotation'];
export type WebhookDelivery = Schemas['WebhookDelivery'];

/** The operations of the gateway. `receive_event` is what it sends to webhook endpoints. */
export type OperationId = Exclude<keyof operations, 'receive_event' | 'create_access_token'>;

/** The query parameters of an operation. */
export type QueryOf<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;

/** Options of each call. */
export interface CallOptions {
  /** Cancels the call, with all its retries. */
  readonly signal?: AbortSignal;
  /** Time limit of the call, with all its retries, in milliseconds. Default: `timeoutMs` of the client. */
  readonly timeoutMs?: number;
}

/** Options of each call that changes something. */
export interface WriteOptions extends CallOptions {
  /**
   * Default: a new random key. Pass a key of your own, stored before the call, to repeat a write after your program was
   * stopped: the same key and the same request never write twice (within 24 hours).
   */
  readonly idempotencyKey?: string;
  /**
   * Called if the result is the stored response of an earlier request with the key. What was written may have changed since:
   * read it to know.
   */
  readonly onReplay?: () => void;
}
