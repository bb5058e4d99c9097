import { withAccessToken } from './access-tokens.ts';
import { type Appointments, appointmentMethods } from './appointments.ts';
import { type CallerOptions, createCaller } from './caller.ts';
import { checkOptions } from './check-options.ts';
import { type Documents, documentMethods } from './documents.ts';
import { type CareUnits, careUnitMethods, type Emrs, emrMethods } from './emrs.ts';
import { type Events, eventMethods } from './events.ts';
import {
  type HealthcareServices,
  healthcareServiceMethods,
  type Services,
  serviceMethods,
} from './healthcare-services.ts';
import { type MedicalNotes, medicalNoteMethods } from './medical-notes.ts';
import { type Patients, patientMethods } from './patients.ts';
import { createRawClient, type RawClient, type RawOptions } from './raw.ts';
import { type Resources, resourceMethods } from './resources.ts';
import { type Schedules, scheduleMethods } from './schedules.ts';
import {
  type TimeSlots,
  type TimeSlotsAnywhere,
  type TimeSlotWatches,
  timeSlotMethods,
  timeSlotSearchMethods,
  timeSlotWatchMethods,
} from './time-slots.ts';
import { type WebhookEndpoints, webhookEndpointMethods } from './webhook-endpoints.ts';

/** Options of `createCrosswardClient`. */
export interface CrosswardClientOptions extends RawOptions, CallerOptions {}

/** The operations of one care unit. */
export interface CareUnitClient {
  readonly patients: Patients;
  readonly resources: Resources;
  readonly healthcareServices: HealthcareServices;
  readonly timeSlots: TimeSlots;
  readonly appointments: Appointments;
  readonly medicalNotes: MedicalNotes;
  readonly documents: Documents;
  readonly schedules: Schedules;
}

/** A client of one gateway. Each method throws a `CrosswardError` if its call fails. */
export interface CrosswardClient {
  readonly emrs: Emrs;
  /** Events of the care units that the client may use. */
  readonly events: Events;
  readonly webhookEndpoints: WebhookEndpoints;
  /** What can be searched for in all care units that the client may use. */
  readonly services: Services;
  /** Free time slots of all care units that the client may use. */
  readonly timeSlots: TimeSlotsAnywhere;
  readonly timeSlotWatches: TimeSlotWatches;
  /** The care units of an EHR. */
  careUnits(emr: string): CareUnits;
  /** The operations of one care unit. Sends nothing. */
  careUnit(emr: string, careUnitId: string): CareUnitClient;
  /** Every path of the OpenAPI description, typed, with credentials, without retries and idempotency keys. */
  readonly raw: RawClient;
}

/** With a private key, each request gets an access token on its way. */
function withCredentials(options: CrosswardClientOptions): CrosswardClientOptions {
  checkOptions(options);
  const { baseUrl, clientId, privateKey, fetch = globalThis.fetch } = options;
  if (!privateKey) return options;
  const { tokenUrl = `${baseUrl.replace(/\/+$/, '')}/api/oauth/token` } = options;
  return { ...options, fetch: withAccessToken({ clientId, privateKey, tokenUrl, fetch }) };
}

/**
 * Creates a client for one gateway. Every request sends the credentials.
 *
 * @throws {TypeError} if `baseUrl` or the credentials cannot be right
 */
export function createCrosswardClient(options: CrosswardClientOptions): CrosswardClient {
  const authorized = withCredentials(options);
  const raw = createRawClient(authorized);
  const connection = { raw, caller: createCaller(authorized) };
  return {
    raw,
    emrs: emrMethods(connection),
    events: eventMethods(connection),
    webhookEndpoints: webhookEndpointMethods(connection),
    services: serviceMethods(connection),
    timeSlots: timeSlotSearchMethods(connection),
    timeSlotWatches: timeSlotWatchMethods(connection),
    careUnits: (emr) => careUnitMethods(connection, emr),
    careUnit(emr, care_unit_id) {
      const place = { emr, care_unit_id };
      return {
        patients: patientMethods(connection, place),
        resources: resourceMethods(connection, place),
        healthcareServices: healthcareServiceMethods(connection, place),
        timeSlots: timeSlotMethods(connection, place),
        appointments: appointmentMethods(connection, place),
        medicalNotes: medicalNoteMethods(connection, place),
        documents: documentMethods(connection, place),
        schedules: scheduleMethods(connection, place),
      };
    },
  };
}
