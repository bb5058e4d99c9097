/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  book,
  bookSome,
  consecutiveSlots,
  freeSlot,
  freeSlots,
  idsIn,
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
  expireCode,
  incorrectCodes,
  messages,
  messagesAbout,
  rowsOf,
} from '../../../test/requests/codes.ts';
import { expectFaults, expectProblem } from '../../../test/requests/problems.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const norway = careUnitOf(gateway, oslo);
const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

/** Appointments that a reschedule created and that await one code. `booked` is the rescheduled appointment. */
async function bookWithOneCode(count: number, resourceId: string) {
  const slots = await consecutiveSlots(gateway, count + 1, { careUnit: sodermalm, resourceId });
  const booked = await bookByCode(gateway, { slot: slots[0] as Slot });
  const range = { start: booked.start, end: slots.at(-1)?.end };
  const { status, body } = await sweden.changeMany([booked.id], range);
  expect(status).toBe(200);
  const waiting = body.appointments.slice(1);
  const [first] = waiting as [Appointment];
  return { booked, waiting, ids: idsIn(waiting), code: await codeFor(gateway, first.id) };
}

describe('cancel many', () => {
  test('in sandbox-no cancels directly; appointments that were already cancelled do not change', async () => {
    const [a, b, c] = (await bookSome(gateway, 3, { comment: 'old' })) as [Appointment, Appointment, Appointment];
    const { body: before } = await norway.cancel(b.id, { comment: 'first' });
    const { status, body } = await norway.changeMany(idsIn([c, b, a]), { status: 'cancelled', comment: 'all' });
    expect(status).toBe(200);
    const cancelled = (it: Appointment) => ({ ...it, status: 'cancelled', comment: 'all' });
    expect(body.appointments).toEqual([cancelled(c), before, cancelled(a)]);
    expect(await norway.getAll(idsIn([c, b, a]))).toEqual(body.appointments);
  });

  test('in sandbox-se cancels booked appointments and releases holds, without a code', async () => {
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

  test('in sandbox-uk awaits one code for each patient, and gives each appointment a NEW id', async () => {
    const mine = await bookSome(gateway, 2, { careUnit: riverside, patientId: 'p-6', comment: 'old' });
    const others = await bookSome(gateway, 2, { careUnit: riverside, patientId: 'p-7', comment: 'old' });
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
    // One message for each patient, about the first appointment in the response.
    const [toB] = await messagesAbout(gateway, forB.id);
    const [toC] = await messagesAbout(gateway, forC.id);
    expect(toB?.text).toContain('cancel 2 appointments');
    expect(toB?.to).not.toBe(toC?.to);
    expect(await messages(gateway)).toHaveLength(sent + 2);
    expect(await uk.getAll(idsIn(originals))).toEqual(originals);

    const response = await uk.confirmMany([forA.id, forB.id], await codeFor(gateway, forB.id));
    expect(response.status).toBe(200);
    expect(response.body.appointments).toEqual(
      [forA, forB].map((it) => ({ ...it, status: 'cancelled', comment: 'closed', confirmation: null })),
    );
    expect((await uk.getAll(idsIn(originals))).map((it) => [it.status, it.comment])).toEqual([
      ['cancelled', 'closed'],
      ['booked', 'old'],
      ['cancelled', 'closed'],
      ['booked', 'old'],
    ]);
  });

  test('does not change cancellations that already await a code', async () => {
    const [a, b] = (await bookSome(gateway, 2, { careUnit: riverside })) as [Appointment, Appointment];
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

  test('treats an original and its view as one cancellation', async () => {
    const original = await book(gateway, { careUnit: riverside });
    const { body: view } = await uk.cancel(original.id);
    const { status, body } = await uk.changeMany([view.id, original.id], { status: 'cancelled' });
    expect(status).toBe(200);
    expect(idsIn(body.appointments)).toEqual([view.id, view.id]);
    // Also after its code has expired and a new code was created.
    await expireCode(gateway, view);
    const again = await uk.changeMany([original.id, view.id], { status: 'cancelled' });
    expect(again.status).toBe(200);
    const [first, second] = again.body.appointments as [Appointment, Appointment];
    expect(first).toEqual(second);
    expect(first).toMatchObject({ status: 'awaiting_confirmation', replaces_id: original.id });
    expect([original.id, view.id]).not.toContain(first.id);
  });

  test('changes nothing if one of the patients has no contact details', async () => {
    const fine = await book(gateway, { careUnit: riverside });
    const withoutContact = await book(gateway, { careUnit: riverside, patientId: 'p-20' });
    const byEmail = await book(gateway, { careUnit: riverside, patientId: 'p-19' });
    expectFaults(await uk.changeMany(idsIn([fine, withoutContact, byEmail]), { status: 'cancelled' }), {
      status: 409,
      reason: 'no_contact_channel',
      errors: [
        [1, withoutContact.id, 'no_contact_channel'],
        [2, byEmail.id, 'no_contact_channel'],
      ],
    });
    expect(await uk.getAll(idsIn([fine, withoutContact, byEmail]))).toEqual([fine, withoutContact, byEmail]);
    expect(await rowsOf(gateway, 'SELECT FROM confirmation_items WHERE ehr_appointment_id = $1', [fine.id])).toEqual(
      [],
    );
  });
});

describe('confirm many', () => {
  test('books all that await the same code, in the order of ids', async () => {
    const { waiting, ids, code } = await bookWithOneCode(3, 'r-2');
    expect(new Set(waiting.map((it) => confirmationOf(it).id)).size).toBe(1);
    const { status, body } = await sweden.confirmMany(ids.toReversed(), code);
    expect(status).toBe(200);
    expect(body.appointments).toEqual(
      waiting.toReversed().map((it) => ({ ...it, status: 'booked', confirmation: null })),
    );
    // A repeated request changes nothing.
    expect(await sweden.confirmMany(ids, code)).toMatchObject({
      status: 200,
      body: { appointments: body.appointments.toReversed() },
    });
  });

  test('confirms exactly the requested ids, each once', async () => {
    const { ids, code } = await bookWithOneCode(3, 'r-3');
    const [a, b, c] = ids as [string, string, string];
    expect(await sweden.confirm(b, code)).toMatchObject({ status: 200, body: { id: b, status: 'booked' } });
    expect((await sweden.getAll(ids)).map(({ status }) => status)).toEqual([
      'awaiting_confirmation',
      'booked',
      'awaiting_confirmation',
    ]);
    // The remaining ids have the same code and share the counter of attempts.
    expect(await sweden.confirm(a, incorrectCodes(code, 1)[0] ?? '')).toMatchObject({
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

  test('returns appointments that have been cancelled since unchanged', async () => {
    const { ids, code } = await bookWithOneCode(2, 'r-3');
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

  test('counts an incorrect code once', async () => {
    const { ids, code } = await bookWithOneCode(3, 'r-4');
    const remaining = [];
    for (const wrong of incorrectCodes(code, 5)) {
      remaining.push((await sweden.confirmMany(ids, wrong)).body as unknown as { attempts_remaining: number });
    }
    expect(remaining.map((it) => it.attempts_remaining)).toEqual([4, 3, 2, 1, 0]);
    for (const id of ids) {
      expect(await sweden.confirm(id, code)).toMatchObject({ status: 409, body: { reason: 'confirmation_locked' } });
    }
  });

  test('counts an incorrect code for a confirmed id, and does not check codes once locked', async () => {
    const { ids, code } = await bookWithOneCode(2, 'r-4');
    const [done, waiting] = ids as [string, string];
    const { body: booked } = await sweden.confirm(done, code);
    const remaining = async () => confirmationOf(await sweden.get(waiting)).attempts_remaining;
    // A repeated correct code returns the appointment and counts no attempt.
    expect(await sweden.confirm(done, code)).toMatchObject({ status: 200, body: booked });
    expect(await remaining()).toBe(5);
    for (const [index, wrong] of incorrectCodes(code, 5).entries()) {
      expect(await sweden.confirm(done, wrong)).toMatchObject({
        status: 400,
        body: { reason: 'confirmation_code_incorrect', attempts_remaining: 4 - index },
      });
      expect(await remaining()).toBe(4 - index);
    }
    for (const any of [code, ...incorrectCodes(code, 1)]) {
      for (const id of ids) expectProblem(await sweden.confirm(id, any), 409, 'confirmation_locked');
      expectFaults(await sweden.confirmMany(ids, any), {
        status: 409,
        reason: 'confirmation_locked',
        errors: [
          [0, done, 'confirmation_locked'],
          [1, waiting, 'confirmation_locked'],
        ],
      });
    }
    // With no pending id left, the correct code is a repeated request again.
    await sweden.cancel(waiting);
    expect(await sweden.confirm(done, code)).toMatchObject({ status: 200, body: booked });
    expectProblem(await sweden.confirm(done, incorrectCodes(code, 1)[0] ?? ''), 409, 'confirmation_not_pending');
  });

  test('counts an incorrect code for a released id', async () => {
    const { ids, code } = await bookWithOneCode(2, 'r-4');
    const [gone, waiting] = ids as [string, string];
    await sweden.cancel(gone);
    expect(await sweden.confirm(gone, incorrectCodes(code, 1)[0] ?? '')).toMatchObject({
      status: 400,
      body: { reason: 'confirmation_code_incorrect', attempts_remaining: 4 },
    });
    expectProblem(await sweden.confirm(gone, code), 409, 'confirmation_not_pending');
    expect(confirmationOf(await sweden.get(waiting)).attempts_remaining).toBe(4);
  });

  test('skips released appointments', async () => {
    const { ids, code } = await bookWithOneCode(2, 'r-4');
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

  test('does not book appointments that were not confirmed in time', async () => {
    const { waiting, ids, code } = await bookWithOneCode(2, 'r-4');
    const [a, b] = ids as [string, string];
    await sweden.confirm(a, code);
    await expireCode(gateway, waiting[1] as Appointment);
    expect((await sweden.getAll(ids)).map(({ status }) => status)).toEqual(['booked', 'cancelled']);
    expect(await sweden.confirm(b, code)).toMatchObject({ status: 409, body: { reason: 'confirmation_expired' } });
    expect(await sweden.confirm(a, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
  });

  test('rejects ids of more than one confirmation', async () => {
    const { ids, code } = await bookWithOneCode(2, 'r-1');
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

  test('rejects unknown ids and ids that never awaited a code', async () => {
    const { booked: _, ids, code } = await bookWithOneCode(1, 'r-1');
    const [waiting] = ids as [string];
    const [a, b] = (await bookSome(gateway, 2)) as [Appointment, Appointment];
    expectFaults(await norway.confirmMany([a.id, 'nothing', b.id], code), {
      status: 409,
      reason: 'confirmation_not_pending',
      errors: [
        [0, a.id, 'confirmation_not_pending'],
        [1, undefined, 'appointment_not_found'],
        [2, b.id, 'confirmation_not_pending'],
      ],
    });
    expectFaults(await sweden.confirmMany([waiting, 'nothing'], code), {
      status: 400,
      reason: 'appointment_not_found',
      errors: [[1, undefined, 'appointment_not_found']],
    });
    expect(await sweden.get(waiting)).toMatchObject({ confirmation: { attempts_remaining: 5 } });
  });
});
