import { expect } from 'vitest';
import type { Gateway, RequestOptions } from '../gateway/gateway.ts';
import { eventually } from './codes.ts';

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly emr: string;
  readonly care_unit_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventPage {
  readonly events: readonly Event[];
  readonly next_after: string;
  readonly has_more: boolean;
}

/** Reads events from a position to the last one. */
export async function readEvents(
  gateway: Gateway,
  after?: string,
  client: RequestOptions['client'] = 'everything',
): Promise<{ readonly events: readonly Event[]; readonly after: string }> {
  const events: Event[] = [];
  for (let next = after; ; ) {
    const query = next === undefined ? '' : `?after=${encodeURIComponent(next)}`;
    const { body } = await gateway.request<EventPage>('GET', `/api/events${query}`, { client });
    events.push(...body.events);
    next = body.next_after;
    if (!body.has_more) return { events, after: next };
  }
}

/** Waits for `count` events about an appointment, in order. */
export function eventsAbout(gateway: Gateway, appointmentId: string, count: number): Promise<readonly Event[]> {
  return eventually(async () => {
    const { events } = await readEvents(gateway);
    const found = events.filter(({ data }) => data.appointment_id === appointmentId);
    if (found.length < count) throw new Error(`${found.length} of ${count} events have appeared`);
    return found;
  });
}

/** Waits for as many events about an appointment as there are types, and expects exactly these. Without `appointment.`. */
export async function expectEvents(gateway: Gateway, appointmentId: string, types: readonly string[]): Promise<void> {
  const events = await eventsAbout(gateway, appointmentId, types.length);
  expect(events.map(({ type }) => type)).toEqual(types.map((type) => `appointment.${type}`));
}
