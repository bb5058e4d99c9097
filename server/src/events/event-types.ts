/** The types of events. */
export const eventTypes = [
  'appointment.booked',
  'appointment.awaiting_confirmation',
  'appointment.updated',
  'appointment.cancelled',
  'appointment.confirmation_expired',
  'appointment.attendance_changed',
  'message.delayed',
  'message.failed',
  'message.delivered',
  'emr.unavailable',
  'emr.recovered',
  'emr.changed',
  'timeslot.found',
] as const;
export type EventType = (typeof eventTypes)[number];
