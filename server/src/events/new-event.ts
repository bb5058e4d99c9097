import type { Attendance } from '@crossward/connector-kit';
import type { EventType } from './event-types.ts';

/** An event to store with the change that it reports. Contains ids, times and statuses only, never personal data. */
export interface NewEvent {
  readonly type: EventType;
  readonly emr: string;
  /** `null`: concerns the whole EHR. */
  readonly careUnitId: string | null;
  /** For this client only. Default: for every client that is granted the care unit. */
  readonly clientId?: string;
  /** Events of one subject are delivered in order. `null`: no order. */
  readonly subject: string | null;
  readonly data: EventData;
  /** The patient's id and the comment, encrypted, to answer with once the EHR has the appointment no more. */
  readonly sealedAppointment?: Buffer | undefined;
  /** Seen in the EHR, where somebody made the change directly. Default: no. */
  readonly isObserved?: boolean;
}

export type MessageEventType = Extract<EventType, `message.${string}`>;

type EventData = AppointmentEventData | MessageEventData | EmrEventData | TimeslotEventData;

/** Fields of an appointment that an event can report as changed. */
export const changedFields = ['start', 'end', 'resource_id', 'comment'] as const;

export interface AppointmentEventData {
  readonly appointment_id: string;
  /** The id that awaits or awaited the code of a two-step cancellation. */
  readonly cancellation_id: string | null;
  readonly status: 'booked' | 'awaiting_confirmation' | 'cancelled';
  /** Times with UTC offset. `null`: not known to the gateway. */
  readonly start: string | null;
  readonly end: string | null;
  readonly resource_id: string | null;
  readonly healthcare_service_id: string | null;
  /** The former id, of an appointment that was booked anew because the EHR cannot move one. */
  readonly supersedes_id?: string;
  /** `appointment.cancelled` of the former one: the new id. */
  readonly superseded_by_id?: string;
  /** `appointment.updated` only. */
  readonly changed?: readonly (typeof changedFields)[number][];
  readonly previous?: Pick<AppointmentEventData, 'end' | 'resource_id'> & { readonly start: string };
  /** `appointment.attendance_changed` only. */
  readonly attendance?: Attendance | null;
  /** `appointment.attendance_changed` only. Absent: the gateway has no earlier event of the appointment. */
  readonly previous_attendance?: Attendance | null;
}

export interface MessageEventData {
  readonly message_id: string;
  readonly confirmation_id: string;
  readonly appointment_id: string;
  readonly channel: 'sms' | 'email';
  /** `null`: no attempt has failed, or the message has arrived. */
  readonly reason: string | null;
}

export interface TimeslotEventData {
  readonly watch_id: string;
  /** Of the first slot that was found. Times with UTC offset. */
  readonly start: string;
  readonly end: string;
  readonly resource_id: string;
  readonly healthcare_service_id: string;
  /** How many slots were found. */
  readonly count: number;
}

/** `paused`: by the operators of the gateway. */
export const outageCauses = ['failing', 'paused'] as const;

export interface EmrEventData {
  readonly status: 'available' | 'unavailable';
  /** `emr.unavailable` only. */
  readonly reason?: (typeof outageCauses)[number];
  /** `emr.changed` only. */
  readonly changed?: readonly string[];
}
