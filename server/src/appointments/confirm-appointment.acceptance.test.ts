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
  riverside,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  expireCode,
  incorrectCodes,
  rowsOf,
  startCancellation,
} from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const gateway = await startGateway({
  configure: (demo) =>
    [
      { id: 'short-se', like: 'sandbox-se', policies: { code: { lifetime_seconds: 1 } } },
      { id: 'short-uk', like: 'sandbox-uk', policies: { code: { lifetime_seconds: 1 } } },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());

const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

async function itemState(id: string): Promise<string | undefined> {
  const select = 'SELECT state FROM confirmation_items WHERE appointment_id = $1';
  const [item] = await rowsOf<{ state: string }>(gateway, select, [id]);
  return item?.state;
}

describe('an incorrect code', () => {
  test('reports the remaining attempts; the fifth one locks the confirmation, also for the correct code', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const held = await book(gateway, { careUnit: sodermalm, slot });
    const code = await codeFor(gateway, held.id);
    const [first, ...more] = incorrectCodes(code, 5) as [string, ...string[]];
    const rejected = await sweden.confirm(held.id, first);
    expect(rejected).toMatchObject({
      status: 400,
      body: { reason: 'confirmation_code_incorrect', attempts_remaining: 4 },
    });
    expect(confirmationOf(await sweden.get(held.id)).attempts_remaining).toBe(4);
    const remaining = [];
    for (const wrong of more) remaining.push((await sweden.confirm(held.id, wrong)).body.attempts_remaining);
    expect(remaining).toEqual([3, 2, 1, 0]);
    for (const any of [code, first, code]) {
      const locked = await sweden.confirm(held.id, any);
      expectProblem(locked, 409, 'confirmation_locked');
      expect(locked.body).not.toHaveProperty('attempts_remaining');
      expect(locked.text).not.toContain(any);
    }
    // The hold stays until it expires or is released.
    const locked = await sweden.get(held.id);
    expect(locked).toMatchObject({ status: 'awaiting_confirmation', confirmation: { attempts_remaining: 0 } });
    expect(await isFree(gateway, slot, sodermalm)).toBe(false);
    expectProblem(await sweden.resend(held.id), 409, 'confirmation_locked');
    await expireCode(gateway, locked);
    expect(await sweden.get(held.id)).toMatchObject({ status: 'cancelled', confirmation: null });
    expect(await isFree(gateway, slot, sodermalm)).toBe(true);
    // It stays locked, before and after the background job has run.
    const expectLocked = async () => {
      expectProblem(await sweden.confirm(held.id, code), 409, 'confirmation_locked');
      expectProblem(await sweden.resend(held.id), 409, 'confirmation_locked');
    };
    await expectLocked();
    await eventually(async () => expect(await itemState(held.id)).toBe('expired'));
    await expectLocked();
  });

  test.each(['x', '12345', '1234567', 'ååååå', '      ', '0', '-1', '1e5', '٠١٢٣٤٥'])(
    'may be any text: %s',
    async (code) => {
      const held = await book(gateway, { careUnit: sodermalm, resourceId: 'r-3' });
      expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 400, body: { attempts_remaining: 4 } });
    },
  );

  test('counts each time when several are sent at once, up to five times', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    const responses = await Promise.all(incorrectCodes(code, 10).map((wrong) => sweden.confirm(held.id, wrong)));
    const counted = responses.filter(({ status }) => status === 400).map(({ body }) => body.attempts_remaining);
    expect(counted.toSorted()).toEqual([0, 1, 2, 3, 4]);
    for (const response of responses.filter(({ status }) => status !== 400)) {
      expectProblem(response, 409, 'confirmation_locked');
    }
  });

  test('does not prevent a correct one after it', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    for (const wrong of incorrectCodes(code, 4)) await sweden.confirm(held.id, wrong);
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
  });

  test('locks a cancellation too, and the appointment stays booked', async () => {
    const { original, view } = await startCancellation(gateway);
    const code = await codeFor(gateway, view.id);
    for (const wrong of incorrectCodes(code, 5)) await uk.confirm(view.id, wrong);
    expectProblem(await uk.confirm(view.id, code), 409, 'confirmation_locked');
    expect(await uk.get(original.id)).toEqual(original);
    expect(await uk.cancel(original.id)).toMatchObject({
      status: 200,
      body: { id: view.id, status: 'awaiting_confirmation', confirmation: { attempts_remaining: 0 } },
    });
  });
});

describe('an expired code', () => {
  const short = careUnitPath('short-se', 'sodermalm');
  const shortUk = careUnitPath('short-uk', 'riverside');

  test('leaves the booking cancelled and its time free at once', { tags: 'every-ehr' }, async () => {
    const { get, list, confirm, resend, create, cancel } = careUnitOf(gateway, short);
    const slot = await freeSlot(gateway, { careUnit: short });
    const held = await book(gateway, { careUnit: short, slot });
    const gone = await eventually(async () => {
      const appointment = await get(held.id);
      expect(appointment.status).toBe('cancelled');
      return appointment;
    });
    expect(gone).toEqual({ ...held, status: 'cancelled', confirmation: null });
    expect(await isFree(gateway, slot, short)).toBe(true);
    expect(idsIn(await list('patient_id=p-3&status=cancelled'))).toContain(held.id);
    expect(idsIn(await list(`${around(held)}`))).toContain(held.id);
    for (const status of ['awaiting_confirmation', 'booked']) {
      expect(idsIn(await list(`patient_id=p-3&status=${status}`))).not.toContain(held.id);
    }
    expectProblem(await confirm(held.id, '000000'), 409, 'confirmation_expired');
    expectProblem(await resend(held.id), 409, 'confirmation_expired');
    expect(await cancel(held.id)).toMatchObject({ status: 200, body: gone });
    expect((await create({ ...creationBody(slot), patient_id: 'p-5' })).status).toBe(201);
    // The background job changes nothing later.
    await eventually(async () => expect(await itemState(held.id)).toBe('expired'));
    expect(await get(held.id)).toEqual(gone);
    expectProblem(await confirm(held.id, '000000'), 409, 'confirmation_expired');
    expectProblem(await resend(held.id), 409, 'confirmation_expired');
  });

  test('is rejected even if it is correct', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    await expireCode(gateway, held);
    expectProblem(await sweden.confirm(held.id, code), 409, 'confirmation_expired');
    expect(await sweden.get(held.id)).toMatchObject({ status: 'cancelled', confirmation: null });
  });

  test('leaves the appointment of a cancellation booked', async () => {
    const { get, list, cancel, confirm, resend, change } = careUnitOf(gateway, shortUk);
    const { original, view } = await startCancellation(gateway, shortUk, { comment: 'never written' });
    await eventually(async () => expect((await get(view.id)).status).toBe('booked'));
    expect(await get(view.id)).toEqual({ ...original, id: view.id, replaces_id: original.id });
    expect(await get(original.id)).toEqual(original);
    expect(idsIn(await list('patient_id=p-3'))).not.toContain(view.id);
    expectProblem(await confirm(view.id, '000000'), 409, 'confirmation_expired');
    expectProblem(await resend(view.id), 409, 'confirmation_expired');
    expectProblem(await change(view.id, { comment: 'x' }), 409, 'appointment_awaiting_confirmation');
    // Cancelling it again, by either id, starts a new confirmation.
    const again = await cancel(view.id);
    expect(again).toMatchObject({
      status: 200,
      body: { status: 'awaiting_confirmation', replaces_id: original.id, confirmation: { kind: 'cancellation' } },
    });
    expect([view.id, original.id]).not.toContain(again.body.id);
  });

  test('makes room for another cancellation before the background job has run', async () => {
    const { original, view } = await startCancellation(gateway);
    await expireCode(gateway, view);
    const { status, body } = await uk.cancel(original.id);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'awaiting_confirmation', replaces_id: original.id });
    expect(body.id).not.toBe(view.id);
    expect(await uk.get(view.id)).toMatchObject({ id: view.id, status: 'booked', replaces_id: original.id });
    expect(await uk.confirm(body.id, await codeFor(gateway, body.id))).toMatchObject({ body: { status: 'cancelled' } });
    // Both are views of the same original.
    expect(await uk.get(view.id)).toMatchObject({ id: view.id, status: 'cancelled', replaces_id: original.id });
  });
});

describe('a repeated correct code', () => {
  test('returns the appointment in its current state; another code is rejected', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    const { body: booked } = await sweden.confirm(held.id, code);
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: booked });
    const [wrong] = incorrectCodes(code, 1) as [string];
    expectProblem(await sweden.confirm(held.id, wrong), 409, 'confirmation_not_pending');

    const { body: commented } = await sweden.change(held.id, { comment: 'later' });
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: commented });
    const { body: cancelled } = await sweden.cancel(held.id);
    expect(cancelled.status).toBe('cancelled');
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: cancelled });
  });

  test('returns a cancellation in its current state', async () => {
    const { view } = await startCancellation(gateway, riverside, { comment: 'why' });
    const code = await codeFor(gateway, view.id);
    const { body: cancelled } = await uk.confirm(view.id, code);
    expect(cancelled.status).toBe('cancelled');
    expect(await uk.confirm(view.id, code)).toMatchObject({ status: 200, body: cancelled });
    expectProblem(await uk.confirm(view.id, incorrectCodes(code, 1)[0] ?? ''), 409, 'confirmation_not_pending');
  });

  test('is rejected after a day', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    await sweden.confirm(held.id, code);
    const confirmedBefore = (interval: string) =>
      rowsOf(gateway, `UPDATE confirmations SET confirmed_at = clock_timestamp() - $2::interval WHERE id = $1`, [
        confirmationOf(held).id,
        interval,
      ]);
    await confirmedBefore('23 hours 59 minutes');
    expect((await sweden.confirm(held.id, code)).status).toBe(200);
    await confirmedBefore('24 hours 1 minute');
    expectProblem(await sweden.confirm(held.id, code), 409, 'confirmation_not_pending');
    expect(await sweden.get(held.id)).toMatchObject({ status: 'booked' });
  });

  test('sent twice at once books once', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    const responses = await Promise.all([1, 2, 3].map(() => sweden.confirm(held.id, code)));
    for (const { status, body } of responses) expect([status, body.id, body.status]).toEqual([200, held.id, 'booked']);
  });
});
