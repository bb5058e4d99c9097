import type { EventType } from '../../events/event-types.ts';

/** What a Subscription can be told of: https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/components.html */
export interface Topic {
  /** In URLs. */
  readonly id: string;
  /** The canonical URL, which `Subscription.criteria` names. */
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly types: readonly EventType[];
  /** Native statuses of the appointments. Absent: any. */
  readonly statuses?: readonly string[];
}

const own = (id: string, topic: Omit<Topic, 'id' | 'url'>): Topic => ({
  id,
  url: `urn:crossward:subscription-topic:${id}`,
  ...topic,
});
const live = ['booked', 'awaiting_confirmation'];

export const topics: readonly Topic[] = [
  own('appointment-booked', {
    title: 'Appointment booked',
    description: 'An Appointment was booked, or its code was entered.',
    types: ['appointment.booked'],
  }),
  own('appointment-changed', {
    title: 'Appointment changed',
    description:
      'Time, practitioner, room, device or comment of an Appointment changed, it awaits a code, or the code of its cancellation expired.',
    types: ['appointment.updated', 'appointment.awaiting_confirmation', 'appointment.confirmation_expired'],
    statuses: live,
  }),
  own('appointment-cancelled', {
    title: 'Appointment cancelled',
    description: 'An Appointment was cancelled, or the code of its booking expired.',
    types: ['appointment.cancelled', 'appointment.confirmation_expired'],
    statuses: ['cancelled'],
  }),
  own('appointment-attendance', {
    title: 'Attendance noted',
    description: 'Staff have noted that the patient has come or not come, or that the visit is over.',
    types: ['appointment.attendance_changed'],
  }),
  // gematik ISiK Terminplanung 6.
  {
    id: 'isik-appointment-update',
    url: 'https://gematik.de/fhir/isik/SubscriptionTopic/appointment-update',
    title: 'ISiK: Appointment created or changed',
    description: 'An Appointment was booked or changed, attendance was noted, or it awaits a code.',
    types: [
      'appointment.booked',
      'appointment.awaiting_confirmation',
      'appointment.updated',
      'appointment.confirmation_expired',
      'appointment.attendance_changed',
    ],
    statuses: live,
  },
  {
    id: 'isik-appointment-cancel',
    url: 'https://gematik.de/fhir/isik/SubscriptionTopic/appointment-cancel',
    title: 'ISiK: Appointment cancelled',
    description: 'An Appointment was cancelled, or the code of its booking expired.',
    types: ['appointment.cancelled', 'appointment.confirmation_expired'],
    statuses: ['cancelled'],
  },
];
