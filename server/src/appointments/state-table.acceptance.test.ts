/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  freeSlots,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  messages,
  messagesAbout,
} from '../../../test/requests/codes.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = careUnitOf(gateway, oslo);
const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

const starts = (slots: readonly Slot[]) => slots.map(({ start }) => start);

describe('states and transitions', { tags: 'every-ehr' }, () => {
  test('(none), Create Appointment, the EHR allows direct booking → booked', async () => {
    const { status, body } = await norway.create(creationBody(await freeSlot(gateway)));
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'booked', confirmation: null });
    expect(await norway.get(body.id)).toEqual(body);
    // No confirmation is needed, and none is possible.
    expect(await norway.confirm(body.id, '123456')).toMatchObject({
      status: 409,
      body: { reason: 'confirmation_not_pending' },
    });
    expect(await norway.get(body.id)).toEqual(body);
  });

  test('(none), Create Appointment, the EHR requires end-user confirmation → awaiting_confirmation', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const { status, body } = await sweden.create(creationBody(slot));
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'awaiting_confirmation', confirmation: { kind: 'booking' } });
    expect(await sweden.get(body.id)).toMatchObject({ id: body.id, status: 'awaiting_confirmation' });
    // The gateway sends the patient a message with the code.
    const [message] = await messagesAbout(gateway, body.id);
    expect(message).toMatchObject({ channel: 'sms', appointment_id: body.id });
    expect(message?.text).toMatch(/(?<!\d)\d{6}(?!\d)/);
  });

  test('awaiting_confirmation (booking), PATCH with confirmation.code, code is correct → booked', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const awaiting = await book(gateway, { careUnit: sodermalm, slot });
    const { status, body } = await sweden.confirm(awaiting.id, await codeFor(gateway, awaiting.id));
    expect(status).toBe(200);
    expect(body).toEqual({ ...awaiting, status: 'booked', confirmation: null });
    // The appointment is booked in the EHR.
    expect(await sweden.get(awaiting.id)).toEqual(body);
    expect(await sweden.list('patient_id=p-3&status=booked')).toContainEqual(body);
    expect(starts(await freeSlots(gateway, { careUnit: sodermalm }))).not.toContain(slot.start);
  });

  test('booked, PATCH with status = cancelled, no two-step cancellation → cancelled', async () => {
    for (const [{ get, cancel }, booked] of [
      [norway, await book(gateway, { comment: 'before' })],
      [sweden, await bookByCode(gateway, { comment: 'before' })],
    ] as const) {
      const { status, body } = await cancel(booked.id, { comment: 'The patient is unavailable' });
      expect(status).toBe(200);
      // The optional comment is written to the appointment in the EHR.
      expect(body).toEqual({ ...booked, status: 'cancelled', comment: 'The patient is unavailable' });
      expect(await get(booked.id)).toEqual(body);
    }
  });

  test('booked, PATCH with status = cancelled, two-step cancellation → awaiting_confirmation under a NEW id', async () => {
    const booked = await book(gateway, { careUnit: riverside });
    const { status, body } = await uk.cancel(booked.id);
    expect(status).toBe(200);
    expect(body.id).not.toBe(booked.id);
    expect(body).toEqual({
      ...booked,
      id: body.id,
      status: 'awaiting_confirmation',
      replaces_id: booked.id,
      confirmation: expect.objectContaining({ kind: 'cancellation', channel: 'sms', attempts_remaining: 5 }),
    });
    expect(await uk.get(booked.id)).toEqual(booked);
    // The gateway sends the patient an SMS with a cancellation code.
    const [message] = await messagesAbout(gateway, body.id);
    expect(message).toMatchObject({ channel: 'sms' });
    expect(message?.text).toMatch(/cancel/);
  });

  test('awaiting_confirmation (cancellation), PATCH of the NEW id with confirmation.code → cancelled', async () => {
    const slot = await freeSlot(gateway, { careUnit: riverside });
    const booked = await book(gateway, { careUnit: riverside, slot });
    const { body: awaiting } = await uk.cancel(booked.id);
    const { status, body } = await uk.confirm(awaiting.id, await codeFor(gateway, awaiting.id));
    expect(status).toBe(200);
    expect(body).toEqual({ ...booked, id: awaiting.id, status: 'cancelled', replaces_id: booked.id });
    // The appointment is cancelled in the EHR.
    expect(await uk.get(booked.id)).toEqual({ ...booked, status: 'cancelled' });
    expect(starts(await freeSlots(gateway, { careUnit: riverside }))).toContain(slot.start);
  });
});

describe('Update', { tags: 'every-ehr' }, () => {
  test('1: only the fields to change are sent', async () => {
    const before = await book(gateway, { comment: 'old' });
    const to = await freeSlot(gateway, { resourceId: 'r-1' });
    const steps: readonly [object, Partial<Appointment>][] = [
      [{ comment: 'new' }, { comment: 'new' }],
      [
        { start: to.start, end: to.end },
        { start: to.start, end: to.end },
      ],
      [{ resource_id: 'r-2' }, { resource_id: 'emr_id:r-2' }],
    ];
    let expected = before;
    for (const [body, changed] of steps) {
      expected = { ...expected, ...changed };
      expect(await norway.change(before.id, body)).toMatchObject({ status: 200, body: expected });
      expect(await norway.get(before.id)).toEqual(expected);
    }
  });

  test('2: start and end must be sent together', async () => {
    const before = await book(gateway);
    const { start, end } = await freeSlot(gateway);
    for (const body of [{ start }, { end }, { start, comment: 'x' }, { end, resource_id: 'r-2' }]) {
      expect(await norway.change(before.id, body)).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
      expect(await norway.changeMany([before.id], body)).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid' },
      });
    }
    expect(await norway.get(before.id)).toEqual(before);
  });

  test('3: status must not be sent in an update', async () => {
    const before = await book(gateway);
    const { start, end } = await freeSlot(gateway);
    for (const status of ['booked', 'awaiting_confirmation', 'cancelled', 'x', null]) {
      for (const body of [{ start, end }, { resource_id: 'r-2' }, { start, end, resource_id: 'r-2', comment: 'x' }]) {
        const both = { status, ...body };
        expect(await norway.change(before.id, both)).toMatchObject({
          status: 400,
          body: { reason: 'request_invalid' },
        });
        expect(await norway.changeMany([before.id], both)).toMatchObject({
          status: 400,
          body: { reason: 'request_invalid' },
        });
      }
      if (status === 'cancelled') continue;
      for (const body of [{ status }, { status, comment: 'x' }]) {
        expect(await norway.change(before.id, body)).toMatchObject({ status: 400 });
        expect(await norway.changeMany([before.id], body)).toMatchObject({ status: 400 });
      }
    }
    expect(await norway.get(before.id)).toEqual(before);
  });

  test('4: with resource_id that resource must be free, at the new time or at the current one', async () => {
    const [first, second] = (await consecutiveSlots(gateway, 2, { resourceId: 'r-3' })) as [Slot, Slot];
    await book(gateway, { slot: first });
    const mine = await book(gateway, { slot: { ...first, resource_id: 'emr_id:r-4' } });
    expect(await norway.change(mine.id, { resource_id: 'r-3' })).toMatchObject({
      status: 400,
      body: { reason: 'time_slot_unavailable' },
    });
    const taken = { resource_id: 'r-3', start: first.start, end: first.end };
    expect(await norway.change(mine.id, taken)).toMatchObject({ status: 400 });
    expect(await norway.get(mine.id)).toEqual(mine);

    const free = { resource_id: 'r-3', start: second.start, end: second.end };
    expect(await norway.change(mine.id, free)).toMatchObject({
      status: 200,
      body: { ...mine, resource_id: 'emr_id:r-3', start: second.start, end: second.end },
    });
    // Back to its current time.
    expect(await norway.change(mine.id, { resource_id: 'r-4' })).toMatchObject({
      status: 200,
      body: { resource_id: 'emr_id:r-4', start: second.start, end: second.end },
    });
  });

  test('5: without resource_id the current resource must be free in the new range', async () => {
    const [first, second, third] = (await consecutiveSlots(gateway, 3, { resourceId: 'r-3' })) as [Slot, Slot, Slot];
    const mine = await book(gateway, { slot: first });
    await book(gateway, { slot: second });
    expect(await norway.change(mine.id, { start: second.start, end: second.end })).toMatchObject({
      status: 400,
      body: { reason: 'time_slot_unavailable' },
    });
    expect(await norway.get(mine.id)).toEqual(mine);
    expect(await norway.change(mine.id, { start: third.start, end: third.end })).toMatchObject({
      status: 200,
      body: { ...mine, start: third.start, end: third.end },
    });
  });
});

describe('Cancel', { tags: 'every-ehr' }, () => {
  test('1: status = cancelled with an optional comment; other fields need not be sent', async () => {
    for (const comment of [undefined, 'why']) {
      const before = await book(gateway, { comment: 'old' });
      expect(await norway.cancel(before.id, { comment })).toMatchObject({
        status: 200,
        body: { ...before, status: 'cancelled', comment: comment ?? 'old' },
      });
    }
  });

  test('2: a response with status cancelled: the appointment is cancelled directly', async () => {
    const before = await book(gateway);
    const { body } = await norway.cancel(before.id);
    expect(body).toEqual({ ...before, status: 'cancelled' });
    expect(await norway.list('patient_id=p-3&status=cancelled')).toContainEqual(body);
  });

  test('3: a response with status awaiting_confirmation: an SMS is on its way, and the id is NEW', async () => {
    const before = await book(gateway, { careUnit: riverside, patientId: 'p-7' });
    const sent = (await messages(gateway)).length;
    const { body } = await uk.cancel(before.id);
    expect(body.status).toBe('awaiting_confirmation');
    expect(body.id).not.toBe(before.id);
    const [message, ...more] = await messagesAbout(gateway, body.id);
    expect(message?.channel).toBe('sms');
    expect(more).toEqual([]);
    expect(await messages(gateway)).toHaveLength(sent + 1);
  });

  test('4: PATCH the NEW id with the code, and the response carries status cancelled', async () => {
    const before = await book(gateway, { careUnit: riverside });
    const { body: awaiting } = await uk.cancel(before.id);
    const code = await codeFor(gateway, awaiting.id);
    // The original does not accept the code.
    expect(await uk.confirm(before.id, code)).toMatchObject({
      status: 409,
      body: { reason: 'confirmation_not_pending' },
    });
    expect(await uk.confirm(awaiting.id, code)).toMatchObject({
      status: 200,
      body: { id: awaiting.id, status: 'cancelled', confirmation: null },
    });
  });
});

test('Confirm booking: confirmation.code for the id from Create Appointment returns status booked', {
  tags: 'every-ehr',
}, async () => {
  const { id } = await book(gateway, { careUnit: sodermalm });
  expect(await sweden.confirm(id, await codeFor(gateway, id))).toMatchObject({
    status: 200,
    body: { id, status: 'booked', confirmation: null },
  });
});

describe('PATCH bulk', { tags: 'every-ehr' }, () => {
  const idsOf = (appointments: readonly Appointment[]) => appointments.map(({ id }) => id);

  async function bookEach(slots: readonly Slot[], careUnit = oslo): Promise<Appointment[]> {
    const booked: Appointment[] = [];
    for (const slot of slots) booked.push(await book(gateway, { careUnit, slot }));
    return booked;
  }

  test('Pure bulk update: every id moves to the resource, at its current time', async () => {
    const before = await bookEach(await consecutiveSlots(gateway, 3, { resourceId: 'r-1' }));
    const { status, body } = await norway.changeMany(idsOf(before), { resource_id: 'r-2' });
    expect(status).toBe(200);
    expect(body.appointments).toEqual(before.map((it) => ({ ...it, resource_id: 'emr_id:r-2' })));
    expect(await norway.getAll(idsOf(before))).toEqual(body.appointments);
  });

  test('Pure bulk update: if one cannot be moved because no time slot is free, BAD_REQUEST', async () => {
    const slots = await consecutiveSlots(gateway, 3, { resourceId: 'r-3' });
    const before = await bookEach(slots);
    await book(gateway, { slot: { ...(slots[1] as Slot), resource_id: 'emr_id:r-4' } });
    expect(await norway.changeMany(idsOf(before), { resource_id: 'r-4' })).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', reason: 'time_slot_unavailable' },
    });
    expect(await norway.getAll(idsOf(before))).toEqual(before);
  });

  test('Pure bulk update without a resource: changes the comment of every id', async () => {
    const before = await bookEach(await freeSlots(gateway, { limit: 2 }));
    const { body } = await norway.changeMany(idsOf(before), { comment: 'Bring the letter' });
    expect(body.appointments).toEqual(before.map((it) => ({ ...it, comment: 'Bring the letter' })));
  });

  test('Cancel many', async () => {
    const before = await bookEach(await freeSlots(gateway, { limit: 3 }));
    const { status, body } = await norway.changeMany(idsOf(before), { status: 'cancelled', comment: 'Closed' });
    expect(status).toBe(200);
    expect(body.appointments).toEqual(before.map((it) => ({ ...it, status: 'cancelled', comment: 'Closed' })));
    expect(await norway.getAll(idsOf(before))).toEqual(body.appointments);
  });

  test('Continuous reschedule: the ids must share patient, resource and healthcare service', async () => {
    const [first, second, third] = (await consecutiveSlots(gateway, 3, { resourceId: 'r-2' })) as [Slot, Slot, Slot];
    const mine = await book(gateway, { slot: first });
    const others = [
      await book(gateway, { slot: second, patientId: 'p-5' }),
      await book(gateway, { resourceId: 'r-3' }),
      await book(gateway, { slot: { ...third, healthcare_service_id: 'vaccination' } }),
    ];
    for (const other of others) {
      const range = { start: first.start, end: second.end };
      expect(await norway.changeMany([mine.id, other.id], range)).toMatchObject({
        status: 400,
        body: { reason: 'appointments_not_alike' },
      });
      expect(await norway.getAll([mine.id, other.id])).toEqual([mine, other]);
    }
  });

  test('Continuous reschedule: the ids are assigned to the free slots of the range', async () => {
    const slots = await consecutiveSlots(gateway, 5, { resourceId: 'r-1' });
    const before = await bookEach(slots.slice(0, 2));
    const [, , , fourth, fifth] = slots as [Slot, Slot, Slot, Slot, Slot];
    const { status, body } = await norway.changeMany(idsOf(before), { start: fourth.start, end: fifth.end });
    expect(status).toBe(200);
    expect(body.appointments).toEqual([
      { ...before[0], start: fourth.start, end: fourth.end },
      { ...before[1], start: fifth.start, end: fifth.end },
    ]);
    expect(await norway.getAll(idsOf(before))).toEqual(body.appointments);
  });

  test('Continuous reschedule: a range that is not free is rejected', async () => {
    const slots = await consecutiveSlots(gateway, 3, { resourceId: 'r-3' });
    const [first, second, third] = slots as [Slot, Slot, Slot];
    const mine = await book(gateway, { slot: first });
    await book(gateway, { slot: third });
    expect(await norway.changeMany([mine.id], { start: second.start, end: third.end })).toMatchObject({
      status: 400,
      body: { reason: 'time_slot_unavailable' },
    });
    expect(await norway.get(mine.id)).toEqual(mine);
  });

  test('Continuous reschedule: a longer range creates similar appointments', async () => {
    const slots = await consecutiveSlots(gateway, 3, { resourceId: 'r-4' });
    const [first, second, third] = slots as [Slot, Slot, Slot];
    const mine = await book(gateway, { slot: first });
    const { body } = await norway.changeMany([mine.id], { start: first.start, end: third.end });
    const alike = (it: Slot) => ({ ...mine, id: expect.any(String), start: it.start, end: it.end });
    expect(body.appointments).toEqual([mine, alike(second), alike(third)]);
    expect(new Set(idsOf(body.appointments)).size).toBe(3);
    expect(await norway.getAll(idsOf(body.appointments))).toEqual(body.appointments);
  });

  test('Continuous reschedule: a shorter range cancels the extra appointments', async () => {
    const slots = await consecutiveSlots(gateway, 3, { resourceId: 'r-4' });
    const before = await bookEach(slots);
    const [first] = slots as [Slot];
    const { body } = await norway.changeMany(idsOf(before), { start: first.start, end: first.end });
    expect(body.appointments.map(({ id, status }) => [id, status])).toEqual([
      [before[0]?.id, 'booked'],
      [before[1]?.id, 'cancelled'],
      [before[2]?.id, 'cancelled'],
    ]);
    expect(await norway.getAll(idsOf(before))).toEqual(body.appointments);
  });

  test('Continuous reschedule in an EHR with codes: created appointments await a code', async () => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: sodermalm, resourceId: 'r-2' });
    const [first, , third] = slots as [Slot, Slot, Slot];
    const mine = await bookByCode(gateway, { slot: first });
    const { body } = await sweden.changeMany([mine.id], { start: first.start, end: third.end });
    const [kept, ...created] = body.appointments;
    expect(kept).toEqual(mine);
    expect(created.map(({ status }) => status)).toEqual(['awaiting_confirmation', 'awaiting_confirmation']);
    expect(new Set(created.map((it) => confirmationOf(it).id)).size).toBe(1);
  });
});
