import { randomUUID } from 'node:crypto';
import type { Appointment, Bundle, BundleEntry, Parameters, ParametersParameter } from '@medplum/fhirtypes';
import type { StoredEvent } from '../../events/stored-event.ts';
import type { Subscription, SubscriptionStatus } from '../../webhooks/endpoint.ts';
import { urlOfUnit } from '../face.ts';
import { toFhirId } from '../ids.ts';

/** What notifications have of an endpoint. */
export interface Notified {
  readonly id: string;
  readonly subscription: Pick<Subscription, 'details' | 'emr' | 'careUnitId'>;
  readonly status: SubscriptionStatus;
  /** Of the gateway, as clients reach it. */
  readonly publicUrl: string;
}

/** An event of a Subscription. */
export interface NumberedEvent {
  readonly number: number;
  readonly event: Pick<StoredEvent, 'type' | 'occurred_at' | 'data'>;
  /** As it is now, if the receiver gets it. */
  readonly appointment?: Appointment | undefined;
}

/** https://hl7.org/fhir/R5/valueset-subscription-notification-type.html */
type Kind = 'handshake' | 'heartbeat' | 'event-notification' | 'query-status' | 'query-event';

/**
 * The status of a Subscription, as R4 has it: https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/StructureDefinition-backport-subscription-status-r4.html
 *
 * @param total how many events it has had, up to the last one that is told
 */
export function statusParameters(
  notified: Notified,
  kind: Kind,
  total: number,
  events: readonly NumberedEvent[] = [],
): Parameters {
  const { content, criteria } = notified.subscription.details;
  const isTopic = !criteria.startsWith('Appointment');
  return {
    resourceType: 'Parameters',
    id: randomUUID(),
    parameter: [
      { name: 'subscription', valueReference: { reference: `${baseOf(notified)}/Subscription/${notified.id}` } },
      ...(isTopic && content !== 'empty' ? [{ name: 'topic', valueCanonical: criteria }] : []),
      { name: 'status', valueCode: notified.status },
      { name: 'type', valueCode: kind },
      { name: 'events-since-subscription-start', valueString: String(total) },
      ...events.map((it) => ({ name: 'notification-event', part: eventParts(notified, it) })),
    ],
  };
}

function eventParts(notified: Notified, { number, event }: NumberedEvent): ParametersParameter[] {
  const focus = focusOf(notified, event);
  return [
    { name: 'event-number', valueString: String(number) },
    { name: 'timestamp', valueInstant: event.occurred_at.toISOString() },
    ...(focus === undefined ? [] : [{ name: 'focus', valueReference: { reference: focus } }]),
  ];
}

/** The URL of the Appointment. `undefined`: the receiver wants none, or FHIR cannot name it. */
function focusOf(notified: Notified, { data }: NumberedEvent['event']): string | undefined {
  if (notified.subscription.details.content === 'empty') return undefined;
  const id = toFhirId(String(data.appointment_id));
  return id === undefined ? undefined : `${baseOf(notified)}/Appointment/${id}`;
}

/** https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/notifications.html */
export function notificationBundle(
  notified: Notified,
  kind: Kind,
  total: number,
  events: readonly NumberedEvent[] = [],
): Bundle {
  const status = statusParameters(notified, kind, total, events);
  return {
    resourceType: 'Bundle',
    id: randomUUID(),
    type: 'history',
    timestamp: new Date().toISOString(),
    entry: [
      {
        fullUrl: `urn:uuid:${status.id}`,
        resource: status,
        request: { method: 'GET', url: `${baseOf(notified)}/Subscription/${notified.id}/$status` },
        response: { status: '200' },
      },
      ...focusEntries(notified, events),
    ],
  };
}

/** Each Appointment once, as its last event left it: two entries may not have the same `fullUrl`. */
function focusEntries(notified: Notified, events: readonly NumberedEvent[]): BundleEntry[] {
  const entries = events.flatMap(({ event, appointment }): [string, BundleEntry][] => {
    const fullUrl = focusOf(notified, event);
    if (fullUrl === undefined) return [];
    const isNew = event.type === 'appointment.booked';
    const url = `Appointment/${fullUrl.split('/').at(-1)}`;
    const request = isNew ? { method: 'POST' as const, url: 'Appointment' } : { method: 'PUT' as const, url };
    const response = { status: isNew ? '201' : '200' };
    return [[fullUrl, { fullUrl, ...(appointment && { resource: appointment }), request, response }]];
  });
  return [...new Map(entries).values()];
}

function baseOf({ publicUrl, subscription }: Notified): string {
  return urlOfUnit(publicUrl, subscription.emr, subscription.careUnitId);
}

/** What an endpoint is sent, by the type of the event. A test event is a heartbeat. */
export function notificationKind(type: string): Kind {
  if (type === 'subscription.handshake') return 'handshake';
  return type.startsWith('appointment.') ? 'event-notification' : 'heartbeat';
}
