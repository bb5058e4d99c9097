/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { roomId } from '../../../test/ehrs/under-test.ts';
import {
  type Appointment,
  book,
  consecutiveSlots,
  freeSlots,
  idsIn,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import { bookByCode, careUnitOf } from '../../../test/requests/codes.ts';
import { dryRunsOf, futureConfirmation, type Previews, startForDryRuns } from './test-dry-runs.ts';

const gateway = await startForDryRuns();
afterAll(() => gateway.close());
const { look, expectSameProblem, bookRun } = dryRunsOf(gateway);

describe('a dry run of a bulk request', () => {
  test('shows a bulk update', async () => {
    const free = (await freeSlots(gateway, { resourceId: 'r-4' })).map(({ start }) => start);
    const slots = (await freeSlots(gateway, { resourceId: 'r-3' })).filter(({ start }) => free.includes(start));
    const booked = await bookRun(slots.slice(0, 2));
    const there = await book(gateway, { resourceId: 'r-4', from: new Date(Date.now() + 20 * 86_400_000) });
    const ids = idsIn([...booked, there]);
    expect(await look<Previews>(oslo, 'PATCH', '', { ids, resource_id: 'r-4', comment: 'x' })).toEqual({
      appointments: [
        ...booked.map((it) => ({ ...it, resource_id: 'emr_id:r-4', comment: 'x', change: 'moved' })),
        { ...there, comment: 'x', change: 'updated' },
      ],
    });
    expect(await look<Previews>(oslo, 'PATCH', '', { ids, resource_id: 'r-4' })).toMatchObject({
      appointments: [{ change: 'moved' }, { change: 'moved' }, { ...there, change: 'kept' }],
    });
  });

  test('shows a bulk cancellation', async () => {
    const booked = await bookRun(await freeSlots(gateway, { limit: 2 }));
    expect(await look<Previews>(oslo, 'PATCH', '', { ids: idsIn(booked), status: 'cancelled' })).toEqual({
      appointments: booked.map((it) => ({ ...it, status: 'cancelled', change: 'cancelled' })),
    });
    const inUk = await bookRun(await freeSlots(gateway, { careUnit: riverside, limit: 2 }), riverside);
    expect(await look<Previews>(riverside, 'PATCH', '', { ids: idsIn(inUk), status: 'cancelled' })).toEqual({
      appointments: inUk.map((it) => ({
        ...it,
        id: null,
        status: 'awaiting_confirmation',
        confirmation: futureConfirmation('cancellation'),
        replaces_id: it.id,
        change: 'cancelled',
      })),
    });
  });

  test('is rejected like the request, with every id at fault', async () => {
    const [a, b] = (await bookRun(await freeSlots(gateway, { limit: 2 }))) as [Appointment, Appointment];
    await careUnitOf(gateway, oslo).cancel(b.id);
    const bulk = (ids: readonly string[], body: object, status: number, reason: string) =>
      expectSameProblem(oslo, 'PATCH', '', { ids, ...body }, { status, reason });
    await bulk([a.id, b.id, 'nothing'], { comment: 'x' }, 409, 'appointment_cancelled');
    await bulk(['nothing', a.id, b.id], { comment: 'x' }, 400, 'appointment_not_found');
    await bulk([b.id, a.id], { resource_id: roomId('r-5') }, 400, 'time_slot_unavailable');
    await bulk([a.id, a.id], { comment: 'x' }, 400, 'request_invalid');
  });
});

describe('a dry run of a continuous reschedule', () => {
  test('shows which appointments would be kept, moved and created', async () => {
    const slots = await consecutiveSlots(gateway, 4, { resourceId: 'r-1' });
    const [first, second, third, fourth] = slots as [Slot, Slot, Slot, Slot];
    const [a, b] = (await bookRun([first, third])) as [Appointment, Appointment];
    const range = { start: second.start, end: fourth.end };
    expect(await look<Previews>(oslo, 'PATCH', '', { ids: [a.id, b.id], ...range })).toEqual({
      appointments: [
        { ...a, start: second.start, end: second.end, change: 'moved' },
        { ...b, change: 'kept' },
        { ...a, id: null, start: fourth.start, end: fourth.end, change: 'created' },
      ],
    });
    expect(
      await look<Previews>(oslo, 'PATCH', '', { ids: [b.id], start: third.start, end: third.end, comment: 'x' }),
    ).toEqual({ appointments: [{ ...b, comment: 'x', change: 'updated' }] });
  });

  test('shows which appointments would be cancelled', async () => {
    const slots = await consecutiveSlots(gateway, 3, { resourceId: 'r-2' });
    const [a, b, c] = (await bookRun(slots)) as [Appointment, Appointment, Appointment];
    expect(await look<Previews>(oslo, 'PATCH', '', { ids: [a.id, b.id, c.id], start: a.start, end: a.end })).toEqual({
      appointments: [
        { ...a, change: 'kept' },
        ...[b, c].map((it) => ({ ...it, status: 'cancelled', change: 'cancelled' })),
      ],
    });
  });

  test('shows which of them would await a code', async () => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: sodermalm, resourceId: 'r-2' });
    const [first, second, third] = slots as [Slot, Slot, Slot];
    const mine = await bookByCode(gateway, { slot: first });
    const created = (slot: Slot) => ({
      ...mine,
      id: null,
      start: slot.start,
      end: slot.end,
      status: 'awaiting_confirmation',
      confirmation: futureConfirmation('booking'),
      change: 'created',
    });
    const range = { start: first.start, end: third.end };
    expect(await look<Previews>(sodermalm, 'PATCH', '', { ids: [mine.id], ...range })).toEqual({
      appointments: [{ ...mine, change: 'kept' }, created(second), created(third)],
    });

    const inUk = await consecutiveSlots(gateway, 3, { careUnit: riverside, resourceId: 'r-2' });
    const [a, b, c] = (await bookRun(inUk, riverside)) as [Appointment, Appointment, Appointment];
    expect(
      await look<Previews>(riverside, 'PATCH', '', { ids: [c.id, a.id, b.id], start: a.start, end: b.end }),
    ).toEqual({
      appointments: [
        { ...a, change: 'kept' },
        { ...b, change: 'kept' },
        {
          ...c,
          id: null,
          status: 'awaiting_confirmation',
          confirmation: futureConfirmation('cancellation'),
          replaces_id: c.id,
          change: 'cancelled',
        },
      ],
    });
  });

  test('is rejected like the request', async () => {
    const slots = await consecutiveSlots(gateway, 3, { resourceId: 'r-3' });
    const [first, second, third] = slots as [Slot, Slot, Slot];
    const mine = await book(gateway, { slot: first });
    const other = await book(gateway, { slot: third, patientId: 'p-5' });
    const reschedule = (ids: readonly string[], body: object, status: number, reason: string, careUnit = oslo) =>
      expectSameProblem(careUnit, 'PATCH', '', { ids, ...body }, { status, reason });
    const range = { start: second.start, end: third.end };
    await reschedule([mine.id], range, 400, 'time_slot_unavailable');
    await reschedule([mine.id, other.id], range, 400, 'appointments_not_alike');
    await reschedule(['nothing'], range, 400, 'appointment_not_found');
    await reschedule([mine.id], { start: range.end, end: range.start }, 400, 'time_range_invalid');
    const inUk = await consecutiveSlots(gateway, 3, { careUnit: riverside, resourceId: 'r-3' });
    const [a, b] = (await bookRun(inUk.slice(0, 2), riverside)) as [Appointment, Appointment];
    const one = await careUnitOf(gateway, riverside).change(b.id, { start: b.start, end: (inUk[2] as Slot).end });
    expect(one.status).toBe(200);
    // The hour that would be freed awaits a code, so it is still taken.
    await reschedule([a.id, b.id], { start: b.start, end: b.end }, 400, 'time_slot_unavailable', riverside);
  });
});
