/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { roomId } from '../../../test/ehrs/under-test.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  bergen,
  book,
  bookEach,
  bookSome,
  freeSlot,
  freeSlots,
  idsIn,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import { bookByCode, careUnitOf } from '../../../test/requests/codes.ts';
import { expectFaults } from '../../../test/requests/problems.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = careUnitOf(gateway, oslo);
const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

const on = (resourceId: string, slot: Slot): Slot => ({ ...slot, resource_id: `emr_id:${resourceId}` });

/** Times at which all of these resources are free. */
async function commonSlots(count: number, resourceIds: readonly string[]): Promise<Slot[]> {
  const [first = [], ...others] = await Promise.all(
    resourceIds.map((resourceId) => freeSlots(gateway, { resourceId })),
  );
  return first.filter((it) => others.every((slots) => slots.some(({ start }) => start === it.start))).slice(0, count);
}

describe('ids', () => {
  const bodies: readonly object[] = [
    { comment: 'x' },
    { status: 'cancelled' },
    { confirmation: { code: '123456' } },
    { start: '2027-03-19T10:00:00+01:00', end: '2027-03-19T10:30:00+01:00' },
  ];

  test.each([
    ['none', []],
    ['more than 100', Array.from({ length: 101 }, (_, index) => `a-${index}`)],
    ['an id twice', ['a-1', 'a-2', 'a-1']],
    ['an empty id', ['']],
    ['a number', [1]],
    ['null', [null]],
    ['a list', [['a-1']]],
    ['a string', 'a-1'],
    ['an object', { 0: 'a-1' }],
    ['a very long id', ['a'.repeat(201)]],
    ['nothing', undefined],
  ])('are a list of 1 to 100 different ids: %s', async (_, ids) => {
    for (const body of bodies) {
      const response = await norway.changeMany(ids as string[], body);
      expect(response).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
      expect(response.body.errors[0]?.pointer).toMatch(ids === undefined ? /^(\/ids)?$/ : /^\/ids/);
    }
  });

  test('are returned in their order, up to 100 of them', async () => {
    const booked = await bookSome(gateway, 100, { resourceId: 'r-4' });
    const shuffled = booked.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const moved = await norway.changeMany(idsIn(shuffled), { resource_id: 'r-3' });
    expect(moved.status).toBe(200);
    expect(moved.body.appointments).toEqual(shuffled.map((it) => ({ ...it, resource_id: 'emr_id:r-3' })));
    const reversed = idsIn(shuffled).toReversed();
    const cancelled = await norway.changeMany(reversed, { status: 'cancelled' });
    expect(cancelled.status).toBe(200);
    expect(idsIn(cancelled.body.appointments)).toEqual(reversed);
    expect(new Set(cancelled.body.appointments.map(({ status }) => status))).toEqual(new Set(['cancelled']));
  });

  test('can be a single id', async () => {
    const [mine] = (await bookSome(gateway, 1)) as [Appointment];
    const { body } = await norway.changeMany([mine.id], { comment: 'x' });
    expect(body.appointments).toEqual([{ ...mine, comment: 'x' }]);
  });

  test('that are unknown are rejected, each with its index', async () => {
    const [mine] = (await bookSome(gateway, 1)) as [Appointment];
    const [elsewhere] = (await bookSome(gateway, 1, { careUnit: bergen, resourceId: 'r-6' })) as [Appointment];
    const ids = ['nothing', mine.id, elsewhere.id, 'cw-00000000-0000-0000-0000-000000000000'];
    for (const body of [
      { comment: 'x' },
      { resource_id: 'r-2' },
      { status: 'cancelled' },
      { start: mine.start, end: mine.end },
    ]) {
      expectFaults(await norway.changeMany(ids, body), {
        status: 400,
        reason: 'appointment_not_found',
        errors: [0, 2, 3].map((index) => [index, undefined, 'appointment_not_found'] as const),
      });
    }
    expect(await norway.get(mine.id)).toEqual(mine);
  });

  test('that are unknown are not echoed: one may be a personal number', async () => {
    const [mine] = (await bookSome(gateway, 1)) as [Appointment];
    const number = '15859000026';
    for (const body of [
      { comment: 'x' },
      { resource_id: 'r-2' },
      { status: 'cancelled' },
      { confirmation: { code: '123456' } },
      { start: mine.start, end: mine.end },
    ]) {
      const { status, text } = await norway.changeMany([mine.id, number, `no_personal_number:${number}`], body);
      expect(status).toBeOneOf([400, 409]);
      expect(text).not.toContain(number);
    }
  });

  test('are counted before they are validated', async () => {
    const { status, body } = await norway.changeMany(Array(101).fill(0), { comment: 'x' });
    expect([status, body.errors.map(({ pointer }) => pointer)]).toEqual([400, ['/ids']]);
  });
});

describe('a body', () => {
  test.each([
    ['no field but ids', {}],
    ['status and a resource', { status: 'cancelled', resource_id: 'r-2' }],
    ['status and a time', { status: 'cancelled', start: '2027-03-19T10:00:00Z', end: '2027-03-19T10:30:00Z' }],
    ['status and a code', { status: 'cancelled', confirmation: { code: '123456' } }],
    ['a code and a comment', { confirmation: { code: '123456' }, comment: 'x' }],
    ['a code and a resource', { confirmation: { code: '123456' }, resource_id: 'r-2' }],
    ['a status other than cancelled', { status: 'booked' }],
    ['start without end', { start: '2027-03-19T10:00:00Z' }],
    ['end without start', { end: '2027-03-19T10:00:00Z', resource_id: 'r-2' }],
    ['an unknown field', { comment: 'x', reason: 'y' }],
    ['an invalid code', { confirmation: {} }],
    ['a confirmation with more fields than code', { confirmation: { code: '123456', id: 'x' } }],
  ])('is one of update, cancel and confirm: %s', async (_, body) => {
    const [mine] = (await bookSome(gateway, 1)) as [Appointment];
    expect(await norway.changeMany([mine.id], body)).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid' },
    });
    expect(await norway.get(mine.id)).toEqual(mine);
  });

  test('can name the resource in a header', async () => {
    const [mine] = (await bookSome(gateway, 1, { resourceId: 'r-1' })) as [Appointment];
    const response = await gateway.request('PATCH', `${oslo}/appointments`, {
      body: { ids: [mine.id], resource_id: 'header:x-doctor' },
      headers: { 'x-doctor': 'emr_id:r-2' },
    });
    expect(response).toMatchObject({
      status: 200,
      body: { appointments: [{ id: mine.id, resource_id: 'emr_id:r-2' }] },
    });
  });

  test.each(['r-9', 'r-6', 'nobody'])('cannot name a resource that does not exist: %s', async (resource_id) => {
    const [mine] = (await bookSome(gateway, 1)) as [Appointment];
    expect(await norway.changeMany([mine.id], { resource_id })).toMatchObject({
      status: 400,
      body: { reason: 'resource_not_found', errors: [{ pointer: '/resource_id' }] },
    });
  });
});

describe('a pure bulk update', () => {
  test('changes resource and comment of all ids', async () => {
    const before = await bookEach(gateway, await commonSlots(3, ['r-1', 'r-2']));
    const { body } = await norway.changeMany(idsIn(before), { resource_id: 'r-2', comment: 'moved' });
    expect(body.appointments).toEqual(before.map((it) => ({ ...it, resource_id: 'emr_id:r-2', comment: 'moved' })));
    const cleared = await norway.changeMany(idsIn(before), { comment: '' });
    expect(cleared.body.appointments.map(({ comment }) => comment)).toEqual([null, null, null]);
  });

  test('accepts appointments of several resources, patients and services, some of which do not move', async () => {
    const [a, b, c] = (await commonSlots(3, ['r-1', 'r-2', 'r-3'])) as [Slot, Slot, Slot];
    const before = [
      await book(gateway, { slot: on('r-1', a) }),
      await book(gateway, { slot: on('r-2', b), patientId: 'p-5' }),
      await book(gateway, { slot: { ...on('r-3', c), healthcare_service_id: 'vaccination' } }),
    ];
    const { status, body } = await norway.changeMany(idsIn(before), { resource_id: 'r-2' });
    expect(status).toBe(200);
    expect(body.appointments).toEqual(before.map((it) => ({ ...it, resource_id: 'emr_id:r-2' })));
  });

  test('is all or nothing, and lists every id that has no free slot', async () => {
    const slots = await commonSlots(5, ['r-1', 'r-2']);
    const before = await bookEach(
      gateway,
      slots.map((it) => on('r-1', it)),
    );
    for (const index of [1, 3]) await book(gateway, { slot: on('r-2', slots[index] as Slot) });
    const ids = idsIn(before);
    const rejected = await norway.changeMany(ids, { resource_id: 'r-2', comment: 'never' });
    expectFaults(rejected, {
      status: 400,
      reason: 'time_slot_unavailable',
      errors: [1, 3].map((index) => [index, ids[index] ?? '', 'time_slot_unavailable'] as const),
    });
    expect(rejected.body.errors[0]?.detail).toContain(before[1]?.start);
    expect(await norway.getAll(ids)).toEqual(before);
  });

  test('is rejected for a resource that does not offer the service', async () => {
    const [slot] = (await commonSlots(1, ['r-1'])) as [Slot];
    const consultation = await book(gateway, { slot });
    const vaccination = await book(gateway, {
      slot: await freeSlot(gateway, { healthcareServiceId: 'vaccination' }),
    });
    expectFaults(await norway.changeMany([vaccination.id, consultation.id], { resource_id: roomId('r-5') }), {
      status: 400,
      reason: 'time_slot_unavailable',
      errors: [[1, consultation.id, 'time_slot_unavailable']],
    });
    expect((await norway.changeMany([vaccination.id], { resource_id: roomId('r-5') })).status).toBe(200);
  });

  test('plans all ids together: of two ids for the same time, the later one is at fault', async () => {
    const [slot] = (await commonSlots(1, ['r-1', 'r-2', 'r-3'])) as [Slot];
    const a = await book(gateway, { slot: on('r-1', slot) });
    const b = await book(gateway, { slot: on('r-2', slot), patientId: 'p-5' });
    for (const [first, later] of [
      [a, b],
      [b, a],
    ] as const) {
      for (const resource_id of ['r-3', 'r-2']) {
        expectFaults(await norway.changeMany([first.id, later.id], { resource_id }), {
          status: 400,
          reason: 'time_slot_unavailable',
          errors: [[1, later.id, 'time_slot_unavailable']],
        });
      }
    }
    expect(await norway.getAll([a.id, b.id])).toEqual([a, b]);
  });

  test('never needs a code', async () => {
    const inSweden = await bookByCode(gateway, { resourceId: 'r-1' });
    expect(await sweden.changeMany([inSweden.id], { comment: 'x' })).toMatchObject({
      status: 200,
      body: { appointments: [{ ...inSweden, comment: 'x' }] },
    });
    const inUk = await book(gateway, { careUnit: riverside });
    const { body: view } = await uk.cancel(inUk.id);
    // The original can be updated in the meantime, its view cannot.
    expect(await uk.changeMany([inUk.id], { comment: 'x' })).toMatchObject({ status: 200 });
    expectFaults(await uk.changeMany([inUk.id, view.id], { comment: 'y' }), {
      status: 409,
      reason: 'appointment_awaiting_confirmation',
      errors: [[1, view.id, 'appointment_awaiting_confirmation']],
    });
    expect(await uk.get(inUk.id)).toMatchObject({ comment: 'x' });
  });
});

describe('the reported reason', () => {
  const cancelledOne = async () => {
    const [it] = (await bookSome(gateway, 1)) as [Appointment];
    return (await norway.cancel(it.id)).body;
  };
  /** Requests a time at which `r-2` is taken. */
  const blockedOne = async () => {
    const [slot] = (await commonSlots(1, ['r-1', 'r-2'])) as [Slot];
    await book(gateway, { slot: on('r-2', slot) });
    return book(gateway, { slot: on('r-1', slot) });
  };

  test('is the missing slot, whatever its index', async () => {
    const cancelled = await cancelledOne();
    const blocked = await blockedOne();
    const ids = ['nothing', cancelled.id, blocked.id];
    expectFaults(await norway.changeMany(ids, { resource_id: 'r-2' }), {
      status: 400,
      reason: 'time_slot_unavailable',
      errors: [
        [0, undefined, 'appointment_not_found'],
        [1, cancelled.id, 'appointment_cancelled'],
        [2, blocked.id, 'time_slot_unavailable'],
      ],
    });
    expect(await norway.get(blocked.id)).toEqual(blocked);
  });

  test('is otherwise the reason of the first id at fault', async () => {
    const cancelled = await cancelledOne();
    const [fine] = (await bookEach(gateway, await commonSlots(1, ['r-1', 'r-2']))) as [Appointment];
    expectFaults(await norway.changeMany([fine.id, cancelled.id, 'nothing'], { resource_id: 'r-2' }), {
      status: 409,
      reason: 'appointment_cancelled',
      errors: [
        [1, cancelled.id, 'appointment_cancelled'],
        [2, undefined, 'appointment_not_found'],
      ],
    });
    expectFaults(await norway.changeMany(['nothing', fine.id, cancelled.id], { comment: 'x' }), {
      status: 400,
      reason: 'appointment_not_found',
      errors: [
        [0, undefined, 'appointment_not_found'],
        [2, cancelled.id, 'appointment_cancelled'],
      ],
    });
    expect(await norway.get(fine.id)).toEqual(fine);
  });

  test('follows the same rule for appointments that await a code', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const given = await book(gateway, { careUnit: sodermalm });
    await sweden.cancel(given.id);
    for (const [first, second] of [
      [held.id, given.id],
      [given.id, held.id],
    ] as const) {
      const reasonOf = (id: string) => (id === held.id ? 'appointment_awaiting_confirmation' : 'appointment_cancelled');
      expectFaults(await sweden.changeMany([first, second], { comment: 'x' }), {
        status: 409,
        reason: reasonOf(first),
        errors: [
          [0, first, reasonOf(first)],
          [1, second, reasonOf(second)],
        ],
      });
    }
  });
});
