import { oslo, type Slot } from '../requests/bookings.ts';
import type { ChildGateway, ChildRequest, ChildResponse } from './child-gateway.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** Problems after which a client sends the request again with its key. */
const temporary = [
  'outcome_unknown',
  'idempotency_in_progress',
  'overloaded',
  'ehr_unavailable',
  'ehr_timeout',
  'database_unavailable',
];

/**
 * A client of a gateway that tests kill and start again.
 *
 * @param current returns the gateway that runs now
 */
export function childClient(current: () => ChildGateway) {
  /** Throws if the request does not succeed. One that an overloaded gateway did not begin is sent again. */
  async function send<Body>(request: ChildRequest): Promise<ChildResponse<Body>> {
    for (;;) {
      const response = await current().send<Body>(request);
      if (response && response.status < 300) return response;
      if (!response?.text.includes('"reason":"overloaded"')) throw new Error(`Failed: ${response?.text}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  return {
    send,
    /** Sends a write until it gets a response. */
    async write(request: ChildRequest): Promise<{ readonly id: string }> {
      for (;;) {
        const response = await current()
          .send<{ id: string; reason?: string }>(request)
          .catch(() => undefined);
        if (response && response.status < 300) return response.body;
        if (response && !temporary.includes(response.body.reason ?? '')) throw new Error(response.text);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    /** Free slots of a resource in Oslo, from a week from now. */
    async freeSlots(limit: number): Promise<readonly Slot[]> {
      const from = new Date(Date.now() + 7 * dayMilliseconds);
      const query = new URLSearchParams({
        start: from.toISOString(),
        end: new Date(from.getTime() + 28 * dayMilliseconds).toISOString(),
        resource_id: 'r-1',
        healthcare_service_id: 'consultation',
        limit: String(limit),
      });
      const path = `${oslo}/timeslots?${query}`;
      return (await send<{ timeslots: Slot[] }>({ method: 'GET', path })).body.timeslots;
    },
  };
}

/** A booking in Oslo. */
export function bookingOf(slot: Slot, key: string): ChildRequest {
  return {
    method: 'POST',
    path: `${oslo}/appointments`,
    headers: { 'idempotency-key': key },
    body: {
      patient_id: 'p-3',
      resource_id: slot.resource_id,
      healthcare_service_id: slot.healthcare_service_id,
      start_time: slot.start,
      end_time: slot.end,
    },
  };
}

/** A change or a cancellation of an appointment in Oslo. */
export function changeOf(id: string, key: string, body: object): ChildRequest {
  return { method: 'PATCH', path: `${oslo}/appointments/${id}`, headers: { 'idempotency-key': key }, body };
}
