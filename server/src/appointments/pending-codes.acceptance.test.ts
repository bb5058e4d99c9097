/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { careUnitPath, withEhr } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  around,
  book,
  creationBody,
  freeSlot,
  idsIn,
  isFree,
  oslo,
  riverside,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  bookByCode,
  careUnitOf,
  codeFor,
  codeIn,
  confirmationOf,
  eventually,
  incorrectCodes,
  messages,
  messagesAbout,
  rowsOf,
  startCancellation,
} from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const gateway = await startGateway({
  configure: (demo) =>
    [
      { id: 'email-uk', like: 'sandbox-uk', policies: { cancellation_code_by_email: true } },
      { id: 'own-codes', like: 'sandbox-se', policies: { code: { length: 8, attempts: 2, lifetime_seconds: 3600 } } },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());

const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

describe('the time of a booking that awaits a code', () => {
  test('is not a free slot, and nobody else can book it or move there', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const other = await bookByCode(gateway, { resourceId: 'r-2', patientId: 'p-5' });
    const held = await book(gateway, { careUnit: sodermalm, slot });
    expect(await isFree(gateway, slot, sodermalm)).toBe(false);
    for (const patient_id of ['p-3', 'p-5']) {
      expectProblem(await sweden.create({ ...creationBody(slot), patient_id }), 400, 'time_slot_unavailable');
    }
    const { start, end, resource_id } = slot;
    expectProblem(await sweden.change(other.id, { start, end, resource_id }), 400, 'time_slot_unavailable');
    expect(await sweden.get(held.id)).toMatchObject({ status: 'awaiting_confirmation' });
  });

  test('is released without a code when the booking is cancelled', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const held = await book(gateway, { careUnit: sodermalm, slot, comment: 'old' });
    const code = await codeFor(gateway, held.id);
    const { status, body } = await sweden.cancel(held.id, { comment: 'new' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...held, status: 'cancelled', confirmation: null, comment: 'new' });
    expect(await sweden.get(held.id)).toEqual(body);
    expect(await isFree(gateway, slot, sodermalm)).toBe(true);
    expectProblem(await sweden.confirm(held.id, code), 409, 'confirmation_not_pending');
    expectProblem(await sweden.resend(held.id), 409, 'confirmation_not_pending');
    // A repeated cancellation changes nothing.
    expect(await sweden.cancel(held.id, { comment: 'newer' })).toMatchObject({ status: 200, body });
    expect((await sweden.create(creationBody(slot))).status).toBe(201);
  });

  test('cannot be updated', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { start, end } = await freeSlot(gateway, { careUnit: sodermalm });
    for (const body of [{ start, end }, { resource_id: 'r-2' }, { comment: 'x' }]) {
      expectProblem(await sweden.change(held.id, body), 409, 'appointment_awaiting_confirmation');
    }
    expect(await sweden.get(held.id)).toMatchObject({ start: held.start, comment: null });
  });
});

describe('the confirmation', () => {
  test('says how a code is sent, when it expires and how many attempts remain', async () => {
    const before = Date.now();
    const held = await book(gateway, { careUnit: sodermalm });
    const after = Date.now();
    expect(held.confirmation).toEqual({
      id: expect.stringMatching(/^\S+$/),
      kind: 'booking',
      channel: 'sms',
      delivery: 'queued',
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/),
      attempts_remaining: 5,
      page_url: null,
    });
    const expiry = Date.parse(confirmationOf(held).expires_at);
    expect(expiry).toBeGreaterThan(before + 595_000);
    expect(expiry).toBeLessThan(after + 605_000);
  });

  test('has the delivery status `sent` once the message is sent, in every response', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const sent = await eventually(async () => {
      const appointment = await sweden.get(held.id);
      expect(confirmationOf(appointment).delivery).toBe('sent');
      return appointment;
    });
    expect(sent).toEqual({ ...held, confirmation: { ...confirmationOf(held), delivery: 'sent' } });
    expect(await sweden.list(`patient_id=p-3&status=awaiting_confirmation`)).toContainEqual(sent);
  });

  test("has the length, lifetime and attempts that the EHR's policies set", async () => {
    const careUnit = careUnitPath('own-codes', 'sodermalm');
    const { confirm } = careUnitOf(gateway, careUnit);
    const held = await book(gateway, { careUnit });
    expect(confirmationOf(held).attempts_remaining).toBe(2);
    expect(Date.parse(confirmationOf(held).expires_at)).toBeGreaterThan(Date.now() + 3_500_000);
    const code = codeIn((await messagesAbout(gateway, held.id))[0], 8);
    const remaining = [];
    for (const wrong of incorrectCodes(code, 2))
      remaining.push((await confirm(held.id, wrong)).body.attempts_remaining);
    expect(remaining).toEqual([1, 0]);
    expectProblem(await confirm(held.id, code), 409, 'confirmation_locked');
  });

  test('uses e-mail for a patient without a phone, in the language of the care unit', async () => {
    const held = await book(gateway, { careUnit: sodermalm, patientId: 'p-19' });
    expect(confirmationOf(held).channel).toBe('email');
    const [message] = await messagesAbout(gateway, held.id);
    expect(message).toMatchObject({ channel: 'email', to: 'p-19@patients.example' });
    expect(message?.text).toContain('bekräfta');
    expect(await sweden.confirm(held.id, await codeFor(gateway, held.id))).toMatchObject({
      body: { status: 'booked' },
    });
  });
});

describe('a cancellation that awaits its code', () => {
  test('returns the same NEW id for a second cancellation, and sends nothing', async () => {
    const { original, view } = await startCancellation(gateway, riverside, { comment: 'first' });
    const first = await messagesAbout(gateway, view.id);
    await eventually(async () => expect(confirmationOf(await uk.get(view.id)).delivery).toBe('sent'));
    const sent = await messages(gateway);
    for (const id of [original.id, view.id]) {
      const { status, body } = await uk.cancel(id, { comment: 'second' });
      expect(status).toBe(200);
      expect(body).toEqual({ ...view, confirmation: { ...confirmationOf(view), delivery: 'sent' } });
    }
    expect(await messages(gateway)).toEqual(sent);
    expect(await messagesAbout(gateway, view.id)).toEqual(first);
    await uk.confirm(view.id, await codeFor(gateway, view.id));
    expect(await uk.get(original.id)).toMatchObject({ status: 'cancelled', comment: 'first' });
  });

  test('shows the original as booked, without a confirmation, in every response', async () => {
    const { original } = await startCancellation(gateway);
    expect(await uk.get(original.id)).toEqual(original);
    expect(await uk.list(around(original))).toContainEqual(original);
    expect(await uk.list('patient_id=p-3&status=booked')).toContainEqual(original);
    expect(idsIn(await uk.list('patient_id=p-3&status=awaiting_confirmation'))).toEqual([]);
  });

  test('has a NEW id that is a view of the original, and is in no list', async () => {
    const { original, view } = await startCancellation(gateway);
    const listed = async () => [
      ...idsIn(await uk.list(around(original))),
      ...idsIn(await uk.list('patient_id=p-3')),
      ...idsIn(await uk.list('resource_id=r-1')),
    ];
    expect(await listed()).not.toContain(view.id);
    expect(await uk.get(view.id)).toMatchObject({ ...view, confirmation: { id: confirmationOf(view).id } });
    await uk.confirm(view.id, await codeFor(gateway, view.id));
    expect(await listed()).not.toContain(view.id);
    expect(await uk.get(view.id)).toEqual({
      ...view,
      status: 'cancelled',
      confirmation: null,
      replaces_id: original.id,
    });
    expect(await uk.cancel(view.id)).toMatchObject({ status: 200, body: await uk.get(view.id) });
    expect(await uk.cancel(original.id)).toMatchObject({ status: 200, body: { id: original.id, status: 'cancelled' } });
    expectProblem(await uk.change(view.id, { comment: 'x' }), 409, 'appointment_cancelled');
  });

  test('allows updates of the original, and cancels it in its updated state', async () => {
    const { original, view } = await startCancellation(gateway);
    const to = await freeSlot(gateway, { careUnit: riverside, resourceId: 'r-2' });
    const { start, end, resource_id } = to;
    const { status, body: moved } = await uk.change(original.id, { start, end, resource_id, comment: 'moved' });
    expect(status).toBe(200);
    expect(moved).toEqual({ ...original, start, end, resource_id, comment: 'moved' });
    expect(await uk.get(view.id)).toMatchObject({ id: view.id, start, resource_id, status: 'awaiting_confirmation' });
    expect(await isFree(gateway, to, riverside)).toBe(false);
    expect(await uk.confirm(view.id, await codeFor(gateway, view.id))).toMatchObject({
      status: 200,
      body: { ...moved, id: view.id, status: 'cancelled', replaces_id: original.id },
    });
    expect(await isFree(gateway, to, riverside)).toBe(true);
  });

  test('has a NEW id that cannot be updated', async () => {
    const { original, view } = await startCancellation(gateway);
    const { start, end } = await freeSlot(gateway, { careUnit: riverside });
    for (const body of [{ start, end }, { resource_id: 'r-2' }, { comment: 'x' }]) {
      expectProblem(await uk.change(view.id, body), 409, 'appointment_awaiting_confirmation');
    }
    expect(await uk.get(original.id)).toEqual(original);
  });

  test('accepts its code at the NEW id only', async () => {
    const { original, view } = await startCancellation(gateway);
    const code = await codeFor(gateway, view.id);
    expectProblem(await uk.confirm(original.id, code), 409, 'confirmation_not_pending');
    expectProblem(await uk.resend(original.id), 409, 'confirmation_not_pending');
    expect(await uk.get(original.id)).toEqual(original);
    expect(confirmationOf(await uk.get(view.id)).attempts_remaining).toBe(5);
    expect((await uk.confirm(view.id, code)).status).toBe(200);
    expectProblem(await uk.confirm(original.id, code), 409, 'confirmation_not_pending');
  });

  test.each([
    ['why', 'why'],
    ['', null],
    [undefined, 'before'],
  ])('writes the comment %j once the code is confirmed, not before', async (comment, written) => {
    const { original, view } = await startCancellation(gateway, riverside, comment === undefined ? {} : { comment });
    expect(view.comment).toBe('before');
    expect(await uk.get(original.id)).toEqual(original);
    const { body } = await uk.confirm(view.id, await codeFor(gateway, view.id));
    expect(body.comment).toBe(written);
    expect(await uk.get(original.id)).toEqual({ ...original, status: 'cancelled', comment: written });
  });
});

describe('a patient without contact details', () => {
  test('cannot book by code, and nothing is held', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    expectProblem(await sweden.create({ ...creationBody(slot), patient_id: 'p-20' }), 409, 'no_contact_channel');
    expect(await isFree(gateway, slot, sodermalm)).toBe(true);
    expect(await sweden.list('patient_id=p-20')).toEqual([]);
  });

  test.each(['p-19', 'p-20'])('cannot cancel in two steps, and stays booked: %s', async (patientId) => {
    const booked = await book(gateway, { careUnit: riverside, patientId });
    expectProblem(await uk.cancel(booked.id), 409, 'no_contact_channel');
    expect(await uk.get(booked.id)).toEqual(booked);
    expect(await rowsOf(gateway, `SELECT FROM confirmation_items WHERE ehr_appointment_id = $1`, [booked.id])).toEqual(
      [],
    );
  });

  test("can cancel by e-mail if the EHR's policies allow it", async () => {
    const careUnit = careUnitPath('email-uk', 'riverside');
    const { cancel, confirm } = careUnitOf(gateway, careUnit);
    const booked = await book(gateway, { careUnit, patientId: 'p-19' });
    const { body } = await cancel(booked.id);
    expect(body).toMatchObject({ status: 'awaiting_confirmation', confirmation: { channel: 'email' } });
    const [message] = await messagesAbout(gateway, body.id);
    expect(message).toMatchObject({ channel: 'email', to: 'p-19@patients.example' });
    expect(await confirm(body.id, await codeFor(gateway, body.id))).toMatchObject({ body: { status: 'cancelled' } });
    const other = await book(gateway, { careUnit, patientId: 'p-20' });
    expectProblem(await cancel(other.id), 409, 'no_contact_channel');
    // A patient with a phone gets an SMS.
    const third = await book(gateway, { careUnit, patientId: 'p-3' });
    expect((await cancel(third.id)).body).toMatchObject({ confirmation: { channel: 'sms' } });
  });

  test('can book and cancel if no code is required', async () => {
    const booked = await book(gateway, { patientId: 'p-20' });
    expect(await careUnitOf(gateway, oslo).cancel(booked.id)).toMatchObject({ body: { status: 'cancelled' } });
  });
});
