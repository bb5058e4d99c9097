import fc from 'fast-check';
import { expect } from 'vitest';
import type { Appointment } from '../../requests/bookings.ts';
import { listed, owned } from '../compare.ts';
import { long, patient, resource, time } from '../inputs.ts';
import { dayEnd, original, overlap, statusOf } from '../model.ts';
import { steps } from '../step.ts';

const statuses = ['awaiting_confirmation', 'booked', 'cancelled'] as const;
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });

const input = fc.record({
  patient: optional(patient),
  resource: optional(resource),
  range: optional(time(long)),
  statuses: fc.subarray([...statuses]),
  limit: fc.integer({ min: 1, max: 4 }),
});

/** A list by any filter, page by page. */
export const lists = steps('list', input, async (filter, model, real) => {
  const everything = filter.patient === undefined && filter.resource === undefined && filter.range === undefined;
  const range = everything ? { from: 0, to: dayEnd } : filter.range;
  const query = new URLSearchParams({ limit: String(filter.limit) });
  if (filter.patient) query.set('patient_id', filter.patient);
  if (filter.resource) query.set('resource_id', real.place.resources[filter.resource]);
  if (range) for (const [name, value] of Object.entries(real.range(range))) query.set(name, value);
  for (const status of filter.statuses) query.append('status', status);

  const found: Appointment[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    if (cursor) query.set('cursor', cursor);
    const { body } = await real.request<{ appointments: Appointment[]; next_cursor: string | null }>(
      'GET',
      `/appointments?${query}`,
    );
    expect(body.appointments.length).toBeLessThanOrEqual(filter.limit);
    found.push(...body.appointments);
    cursor = body.next_cursor;
  }
  const expected = listed(model, real, (entry) => {
    const booking = original(entry);
    return (
      (!filter.patient || booking.patient === filter.patient) &&
      (!filter.resource || booking.resource === filter.resource) &&
      (!range || overlap(booking, range)) &&
      (filter.statuses.length === 0 || filter.statuses.includes(statusOf(entry)))
    );
  });
  expect(owned(real, found), 'the list, page by page').toEqual(expected);
  return `list ${JSON.stringify(filter)}`;
});
