import { afterAll, describe, expect, test } from 'vitest';
import {
  type Appointment,
  bergen,
  book,
  freeRun,
  freeSlot,
  freeSlots,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/bookings.ts';
import {
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  messages,
  messagesAbout,
  rowsOf,
  runOut,
  type ToldMany,
  wrongCodes,
} from '../../../test/codes.ts';
import { roomId } from '../../../test/ehrs/under-test.ts';
import { startGateway } from '../../../test/gateway.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = careUnitOf(gateway, oslo);
const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

const idsIn = (appointments: readonly Appointment[]) => appointments.map(({ id }) => id);
const on = (resourceId: string, slot: Slot): Slot => ({ ...slot, resource_id: `emr_id:${resourceId}` });

async function bookEach(slots: readonly Slot[], more: Parameters<typeof book>[1] = {}): Promise<Appointment[]> {
  const booked: Appointment[] = [];
  for (const slot of slots) booked.push(await book(gateway, { ...more, slot }));
  return booked;
}

async function bookSome(count: number, more: Parameters<typeof book>[1] = {}): Promise<Appointment[]> {
  return bookEach(await freeSlots(gateway, { ...more, limit: count }), more);
}

/** Times that are free with every one of these resources. */
async function commonSlots(count: number, resourceIds: readonly string[]): Promise<Slot[]> {
  const [first = [], ...others] = await Promise.all(
    resourceIds.map((resourceId) => freeSlots(gateway, { resourceId })),
  );
  return first.filter((it) => others.every((slots) => slots.some(({ start }) => start === it.start))).slice(0, count);
}

/** Awaiting one code together: made by a reschedule. The first one is booked. */
async function waitingTogether(count: number, resourceId: string) {
  const slots = await freeRun(gateway, count + 1, { careUnit: sodermalm, resourceId });
  const booked = await bookByCode(gateway, { slot: slots[0] as Slot });
  const range = { start: booked.start, end: slots.at(-1)?.end };
  const { status, body } = await sweden.changeMany([booked.id], range);
  expect(status).toBe(200);
  const waiting = body.appointments.slice(1);
  const [first] = waiting as [Appointment];
  return { booked, waiting, ids: idsIn(waiting), code: await codeFor(gateway, first.id) };
}

function expectFaults(
  { status, body }: ToldMany,
  expected: { status: number; reason: string; errors: readonly (readonly [number, string, string])[] },
): void {
  expect({ status, reason: body.reason }).toEqual({ status: expected.status, reason: expected.reason });
  expect(body.errors.map(({ pointer, id, reason }) => [pointer, id, reason])).toEqual(
    expected.errors.map(([index, id, reason]) => [`/ids/${index}`, id, reason]),
  );
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
    ['more than a hundred', Array.from({ length: 101 }, (_, index) => `a-${index}`)],
    ['one twice', ['a-1', 'a-2', 'a-1']],
    ['an empty one', ['']],
    ['a number', [1]],
    ['null', [null]],
    ['a list', [['a-1']]],
    ['a text', 'a-1'],
    ['an object', { 0: 'a-1' }],
    ['a very long one', ['a'.repeat(201)]],
    ['nothing', undefined],
  ])('are a list of 1 to 100 different ids: %s', async (_, ids) => {
    for (const body of bodies) {
      const answer = await norway.changeMany(ids as string[], body);
      expect(answer).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
      expect(answer.body.errors[0]?.pointer).toMatch(ids === undefined ? /^(\/ids)?$/ : /^\/ids/);
    }
  });

  test('are answered in their order, up to a hundred of them', async () => {
    const booked = await bookSome(100, { resourceId: 'r-4' });
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

  test('may be one alone', async () => {
    const [mine] = (await bookSome(1)) as [Appointment];
    const { body } = await norway.changeMany([mine.id], { comment: 'x' });
    expect(body.appointments).toEqual([{ ...mine, comment: 'x' }]);
  });

  test('that are not known are refused, each with its place', async () => {
    const [mine] = (await bookSome(1)) as [Appointment];
    const [elsewhere] = (await bookSome(1, { careUnit: bergen, resourceId: 'r-6' })) as [Appointment];
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
        errors: [0, 2, 3].map((index) => [index, ids[index] ?? '', 'appointment_not_found'] as const),
      });
    }
    expect(await norway.get(mine.id)).toEqual(mine);
  });
});

describe('a body', () => {
  test.each([
    ['nothing else', {}],
    ['status and a resource', { status: 'cancelled', resource_id: 'r-2' }],
    ['status and a time', { status: 'cancelled', start: '2027-03-19T10:00:00Z', end: '2027-03-19T10:30:00Z' }],
    ['status and a code', { status: 'cancelled', confirmation: { code: '123456' } }],
    ['a code and a comment', { confirmation: { code: '123456' }, comment: 'x' }],
    ['a code and a resource', { confirmation: { code: '123456' }, resource_id: 'r-2' }],
    ['a status that is not reserved for it', { status: 'booked' }],
    ['start alone', { start: '2027-03-19T10:00:00Z' }],
    ['end alone', { end: '2027-03-19T10:00:00Z', resource_id: 'r-2' }],
    ['an unknown field', { comment: 'x', reason: 'y' }],
    ['a code that is none', { confirmation: {} }],
    ['a code and more in it', { confirmation: { code: '123456', id: 'x' } }],
  ])('is one of update, cancel and confirm: %s', async (_, body) => {
    const [mine] = (await bookSome(1)) as [Appointment];
    expect(await norway.changeMany([mine.id], body)).toMatchObject({
      status: 400,
      body: { reason: 'request_invalid' },
    });
    expect(await norway.get(mine.id)).toEqual(mine);
  });

  test('may name the resource in a header', async () => {
    const [mine] = (await bookSome(1, { resourceId: 'r-1' })) as [Appointment];
    const answer = await gateway.request('PATCH', `${oslo}/appointments`, {
      body: { ids: [mine.id], resource_id: 'header:x-doctor' },
      headers: { 'x-doctor': 'emr_id:r-2' },
    });
    expect(answer).toMatchObject({ status: 200, body: { appointments: [{ id: mine.id, resource_id: 'emr_id:r-2' }] } });
  });

  test.each(['r-9', 'r-6', 'nobody'])('may not name a resource that is not there: %s', async (resource_id) => {
    const [mine] = (await bookSome(1)) as [Appointment];
    expect(await norway.changeMany([mine.id], { resource_id })).toMatchObject({
      status: 400,
      body: { reason: 'resource_not_found', errors: [{ pointer: '/resource_id' }] },
    });
  });
});

describe('a pure bulk update', () => {
  test('changes resource and comment of all', async () => {
    const before = await bookEach(await commonSlots(3, ['r-1', 'r-2']));
    const { body } = await norway.changeMany(idsIn(before), { resource_id: 'r-2', comment: 'moved' });
    expect(body.appointments).toEqual(before.map((it) => ({ ...it, resource_id: 'emr_id:r-2', comment: 'moved' })));
    const cleared = await norway.changeMany(idsIn(before), { comment: '' });
    expect(cleared.body.appointments.map(({ comment }) => comment)).toEqual([null, null, null]);
  });

  test('takes appointments of several resources, patients and services, some where they are to be', async () => {
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

  test('is all or nothing, and names every id that has no free slot', async () => {
    const slots = await commonSlots(5, ['r-1', 'r-2']);
    const before = await bookEach(slots.map((it) => on('r-1', it)));
    for (const index of [1, 3]) await book(gateway, { slot: on('r-2', slots[index] as Slot) });
    const ids = idsIn(before);
    const refused = await norway.changeMany(ids, { resource_id: 'r-2', comment: 'never' });
    expectFaults(refused, {
      status: 400,
      reason: 'time_slot_unavailable',
      errors: [1, 3].map((index) => [index, ids[index] ?? '', 'time_slot_unavailable'] as const),
    });
    expect(refused.body.errors[0]?.detail).toContain(before[1]?.start);
    expect(await norway.getAll(ids)).toEqual(before);
  });

  test('is refused for a resource that does not offer the service', async () => {
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

  test('plans jointly: of two that want the same time the later one is at fault', async () => {
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
    // The original may be updated meanwhile, the view of it may not.
    expect(await uk.changeMany([inUk.id], { comment: 'x' })).toMatchObject({ status: 200 });
    expectFaults(await uk.changeMany([inUk.id, view.id], { comment: 'y' }), {
      status: 409,
      reason: 'appointment_awaiting_confirmation',
      errors: [[1, view.id, 'appointment_awaiting_confirmation']],
    });
    expect(await uk.get(inUk.id)).toMatchObject({ comment: 'x' });
  });
});

describe('the fault that decides', () => {
  const cancelledOne = async () => {
    const [it] = (await bookSome(1)) as [Appointment];
    return (await norway.cancel(it.id)).body;
  };
  /** Wants a time with `r-2` that is taken. */
  const blockedOne = async () => {
    const [slot] = (await commonSlots(1, ['r-1', 'r-2'])) as [Slot];
    await book(gateway, { slot: on('r-2', slot) });
    return book(gateway, { slot: on('r-1', slot) });
  };

  test('is the missing slot, wherever it is', async () => {
    const cancelled = await cancelledOne();
    const blocked = await blockedOne();
    const ids = ['nothing', cancelled.id, blocked.id];
    expectFaults(await norway.changeMany(ids, { resource_id: 'r-2' }), {
      status: 400,
      reason: 'time_slot_unavailable',
      errors: [
        [0, 'nothing', 'appointment_not_found'],
        [1, cancelled.id, 'appointment_cancelled'],
        [2, blocked.id, 'time_slot_unavailable'],
      ],
    });
    expect(await norway.get(blocked.id)).toEqual(blocked);
  });

  test('is otherwise that of the first faulty id', async () => {
    const cancelled = await cancelledOne();
    const [fine] = (await bookEach(await commonSlots(1, ['r-1', 'r-2']))) as [Appointment];
    expectFaults(await norway.changeMany([fine.id, cancelled.id, 'nothing'], { resource_id: 'r-2' }), {
      status: 409,
      reason: 'appointment_cancelled',
      errors: [
        [1, cancelled.id, 'appointment_cancelled'],
        [2, 'nothing', 'appointment_not_found'],
      ],
    });
    expectFaults(await norway.changeMany(['nothing', fine.id, cancelled.id], { comment: 'x' }), {
      status: 400,
      reason: 'appointment_not_found',
      errors: [
        [0, 'nothing', 'appointment_not_found'],
        [2, cancelled.id, 'appointment_cancelled'],
      ],
    });
    expect(await norway.get(fine.id)).toEqual(fine);
  });

  test('is so for what awaits a code, too', async () => {
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

describe('cancel many', () => {
  test('in sandbox-no cancels directly; what is cancelled already stays as it is', async () => {
    const [a, b, c] = (await bookSome(3, { comment: 'old' })) as [Appointment, Appointment, Appointment];
    const { body: before } = await norway.cancel(b.id, { comment: 'first' });
    const { status, body } = await norway.changeMany(idsIn([c, b, a]), { status: 'cancelled', comment: 'all' });
    expect(status).toBe(200);
    const cancelled = (it: Appointment) => ({ ...it, status: 'cancelled', comment: 'all' });
    expect(body.appointments).toEqual([cancelled(c), before, cancelled(a)]);
    expect(await norway.getAll(idsIn([c, b, a]))).toEqual(body.appointments);
  });

  test('in sandbox-se cancels what is booked and gives up what is held, without a code', async () => {
    const booked = await bookByCode(gateway, { comment: 'old' });
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const held = await book(gateway, { careUnit: sodermalm, slot, comment: 'old' });
    const code = await codeFor(gateway, held.id);
    const { status, body } = await sweden.changeMany([held.id, booked.id], { status: 'cancelled' });
    expect(status).toBe(200);
    expect(body.appointments).toEqual([
      { ...held, status: 'cancelled', confirmation: null },
      { ...booked, status: 'cancelled' },
    ]);
    expect((await freeSlots(gateway, { careUnit: sodermalm })).map(({ start }) => start)).toContain(slot.start);
    expect(await sweden.confirm(held.id, code)).toMatchObject({
      status: 409,
      body: { reason: 'confirmation_not_pending' },
    });
  });

  test('in sandbox-uk awaits one code for each patient, each with NEW ids', async () => {
    const mine = await bookSome(2, { careUnit: riverside, patientId: 'p-6', comment: 'old' });
    const others = await bookSome(2, { careUnit: riverside, patientId: 'p-7', comment: 'old' });
    const [a, b] = mine as [Appointment, Appointment];
    const [c, d] = others as [Appointment, Appointment];
    const originals = [b, c, a, d];
    const sent = (await messages(gateway)).length;
    const { status, body } = await uk.changeMany(idsIn(originals), { status: 'cancelled', comment: 'closed' });
    expect(status).toBe(200);
    const views = body.appointments;
    expect(views).toEqual(
      originals.map((it, index) => ({
        ...it,
        id: views[index]?.id,
        status: 'awaiting_confirmation',
        replaces_id: it.id,
        confirmation: expect.objectContaining({ kind: 'cancellation', attempts_remaining: 5 }),
      })),
    );
    expect(new Set([...idsIn(views), ...idsIn(originals)]).size).toBe(8);
    const [forB, forC, forA, forD] = views as [Appointment, Appointment, Appointment, Appointment];
    expect(confirmationOf(forA)).toEqual(confirmationOf(forB));
    expect(confirmationOf(forC)).toEqual(confirmationOf(forD));
    expect(confirmationOf(forA).id).not.toBe(confirmationOf(forC).id);
    // One message each, about the first that the answer shows.
    const [toB] = await messagesAbout(gateway, forB.id);
    const [toC] = await messagesAbout(gateway, forC.id);
    expect(toB?.text).toContain('cancel 2 appointments');
    expect(toB?.to).not.toBe(toC?.to);
    expect(await messages(gateway)).toHaveLength(sent + 2);
    expect(await uk.getAll(idsIn(originals))).toEqual(originals);

    const answer = await uk.confirmMany([forA.id, forB.id], await codeFor(gateway, forB.id));
    expect(answer.status).toBe(200);
    expect(answer.body.appointments).toEqual(
      [forA, forB].map((it) => ({ ...it, status: 'cancelled', comment: 'closed', confirmation: null })),
    );
    expect((await uk.getAll(idsIn(originals))).map((it) => [it.status, it.comment])).toEqual([
      ['cancelled', 'closed'],
      ['booked', 'old'],
      ['cancelled', 'closed'],
      ['booked', 'old'],
    ]);
  });

  test('leaves what awaits a code already with its own', async () => {
    const [a, b] = (await bookSome(2, { careUnit: riverside })) as [Appointment, Appointment];
    const { body: view } = await uk.cancel(a.id);
    const code = await codeFor(gateway, view.id);
    const { body } = await uk.changeMany([a.id, b.id], { status: 'cancelled' });
    const [forA, forB] = body.appointments as [Appointment, Appointment];
    expect(forA.id).toBe(view.id);
    expect(confirmationOf(forA).id).toBe(confirmationOf(view).id);
    expect(confirmationOf(forB).id).not.toBe(confirmationOf(view).id);
    expect(await uk.confirm(forA.id, code)).toMatchObject({ body: { status: 'cancelled' } });
    expect(await uk.confirm(forB.id, await codeFor(gateway, forB.id))).toMatchObject({
      body: { status: 'cancelled' },
    });
  });

  test('takes an original and its view for one cancellation', async () => {
    const original = await book(gateway, { careUnit: riverside });
    const { body: view } = await uk.cancel(original.id);
    const { status, body } = await uk.changeMany([view.id, original.id], { status: 'cancelled' });
    expect(status).toBe(200);
    expect(idsIn(body.appointments)).toEqual([view.id, view.id]);
    // Also when its code has run out and a new one is made.
    await runOut(gateway, view);
    const again = await uk.changeMany([original.id, view.id], { status: 'cancelled' });
    expect(again.status).toBe(200);
    const [first, second] = again.body.appointments as [Appointment, Appointment];
    expect(first).toEqual(second);
    expect(first).toMatchObject({ status: 'awaiting_confirmation', replaces_id: original.id });
    expect([original.id, view.id]).not.toContain(first.id);
  });

  test('starts nothing when one of the patients cannot be reached', async () => {
    const fine = await book(gateway, { careUnit: riverside });
    const mute = await book(gateway, { careUnit: riverside, patientId: 'p-20' });
    const byEmail = await book(gateway, { careUnit: riverside, patientId: 'p-19' });
    expectFaults(await uk.changeMany(idsIn([fine, mute, byEmail]), { status: 'cancelled' }), {
      status: 409,
      reason: 'no_contact_channel',
      errors: [
        [1, mute.id, 'no_contact_channel'],
        [2, byEmail.id, 'no_contact_channel'],
      ],
    });
    expect(await uk.getAll(idsIn([fine, mute, byEmail]))).toEqual([fine, mute, byEmail]);
    expect(await rowsOf(gateway, 'SELECT FROM confirmation_items WHERE ehr_appointment_id = $1', [fine.id])).toEqual(
      [],
    );
  });
});

describe('confirm many', () => {
  test('books all that await the same code, in the order of ids', async () => {
    const { waiting, ids, code } = await waitingTogether(3, 'r-2');
    expect(new Set(waiting.map((it) => confirmationOf(it).id)).size).toBe(1);
    const { status, body } = await sweden.confirmMany(ids.toReversed(), code);
    expect(status).toBe(200);
    expect(body.appointments).toEqual(
      waiting.toReversed().map((it) => ({ ...it, status: 'booked', confirmation: null })),
    );
    // Once more they are as they are.
    expect(await sweden.confirmMany(ids, code)).toMatchObject({
      status: 200,
      body: { appointments: body.appointments.toReversed() },
    });
  });

  test('confirms exactly the ids that are named, each once', async () => {
    const { ids, code } = await waitingTogether(3, 'r-3');
    const [a, b, c] = ids as [string, string, string];
    expect(await sweden.confirm(b, code)).toMatchObject({ status: 200, body: { id: b, status: 'booked' } });
    expect((await sweden.getAll(ids)).map(({ status }) => status)).toEqual([
      'awaiting_confirmation',
      'booked',
      'awaiting_confirmation',
    ]);
    // The same code, one counter of attempts for the rest.
    expect(await sweden.confirm(a, wrongCodes(code, 1)[0] ?? '')).toMatchObject({
      status: 400,
      body: { attempts_remaining: 4 },
    });
    expect(confirmationOf(await sweden.get(c)).attempts_remaining).toBe(4);
    expect(await sweden.confirm(b, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
    expect(await sweden.confirmMany([b, a], code)).toMatchObject({
      status: 200,
      body: {
        appointments: [
          { id: b, status: 'booked' },
          { id: a, status: 'booked' },
        ],
      },
    });
    expect(await sweden.confirm(c, code)).toMatchObject({ status: 200, body: { id: c, status: 'booked' } });
  });

  test('answers what has been cancelled since as it is', async () => {
    const { ids, code } = await waitingTogether(2, 'r-3');
    const [a] = ids as [string, string];
    await sweden.confirmMany(ids, code);
    const { body: cancelled } = await sweden.cancel(a);
    expect(cancelled.status).toBe('cancelled');
    expect(await sweden.confirmMany(ids, code)).toMatchObject({
      status: 200,
      body: { appointments: [cancelled, { status: 'booked' }] },
    });
    expect(await sweden.confirm(a, code)).toMatchObject({ status: 200, body: cancelled });
  });

  test('counts a wrong code once', async () => {
    const { ids, code } = await waitingTogether(3, 'r-4');
    const remaining = [];
    for (const wrong of wrongCodes(code, 5)) {
      remaining.push((await sweden.confirmMany(ids, wrong)).body as unknown as { attempts_remaining: number });
    }
    expect(remaining.map((it) => it.attempts_remaining)).toEqual([4, 3, 2, 1, 0]);
    for (const id of ids) {
      expect(await sweden.confirm(id, code)).toMatchObject({ status: 409, body: { reason: 'confirmation_locked' } });
    }
  });

  test('leaves out what has been given up', async () => {
    const { ids, code } = await waitingTogether(2, 'r-4');
    const [a, b] = ids as [string, string];
    await sweden.cancel(a);
    expect(await sweden.confirmMany([a, b], code)).toMatchObject({
      status: 409,
      body: { reason: 'confirmation_not_pending' },
    });
    expect(await sweden.get(b)).toMatchObject({ status: 'awaiting_confirmation' });
    expect(await sweden.confirmMany([b], code)).toMatchObject({
      status: 200,
      body: { appointments: [{ id: b, status: 'booked' }] },
    });
  });

  test('leaves what was not confirmed in time', async () => {
    const { waiting, ids, code } = await waitingTogether(2, 'r-4');
    const [a, b] = ids as [string, string];
    await sweden.confirm(a, code);
    await runOut(gateway, waiting[1] as Appointment);
    expect((await sweden.getAll(ids)).map(({ status }) => status)).toEqual(['booked', 'cancelled']);
    expect(await sweden.confirm(b, code)).toMatchObject({ status: 409, body: { reason: 'confirmation_expired' } });
    expect(await sweden.confirm(a, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
  });

  test('refuses ids of more than one confirmation', async () => {
    const { ids, code } = await waitingTogether(2, 'r-1');
    const other = await book(gateway, { careUnit: sodermalm });
    const [a, b] = ids as [string, string];
    expectFaults(await sweden.confirmMany([a, other.id, b], code), {
      status: 400,
      reason: 'confirmations_differ',
      errors: [[1, other.id, 'confirmations_differ']],
    });
    expect((await sweden.getAll([a, other.id, b])).map(({ confirmation }) => confirmation)).toMatchObject([
      { attempts_remaining: 5 },
      { attempts_remaining: 5 },
      { attempts_remaining: 5 },
    ]);
  });

  test('refuses ids that never awaited a code, or are not known', async () => {
    const { booked: _, ids, code } = await waitingTogether(1, 'r-1');
    const [waiting] = ids as [string];
    const [a, b] = (await bookSome(2)) as [Appointment, Appointment];
    expectFaults(await norway.confirmMany([a.id, 'nothing', b.id], code), {
      status: 409,
      reason: 'confirmation_not_pending',
      errors: [
        [0, a.id, 'confirmation_not_pending'],
        [1, 'nothing', 'appointment_not_found'],
        [2, b.id, 'confirmation_not_pending'],
      ],
    });
    expectFaults(await sweden.confirmMany([waiting, 'nothing'], code), {
      status: 400,
      reason: 'appointment_not_found',
      errors: [[1, 'nothing', 'appointment_not_found']],
    });
    expect(await sweden.get(waiting)).toMatchObject({ confirmation: { attempts_remaining: 5 } });
  });
});
