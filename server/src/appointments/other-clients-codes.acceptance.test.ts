/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { newCredentials, withClient } from '../../../test/gateway/other-clients.ts';
import {
  type Appointment,
  book,
  consecutiveSlots,
  idsIn,
  isFree,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  backdateCode,
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  incorrectCodes,
  messages,
  startCancellation,
} from '../../../test/requests/codes.ts';
import { expectFaults, expectProblem } from '../../../test/requests/problems.ts';

const other = newCredentials('other');
const gateway = await startGateway({ configure: (demo) => withClient(demo, other) });
afterAll(() => gateway.close());

const mine = careUnitOf(gateway, sodermalm);
const theirs = careUnitOf(gateway, sodermalm, other);
const mineUk = careUnitOf(gateway, riverside);
const theirsUk = careUnitOf(gateway, riverside, other);

/** Two bookings of one client that await one code, created by a reschedule. */
async function bookWithOneCode() {
  const slots = await consecutiveSlots(gateway, 3, { careUnit: sodermalm, resourceId: 'r-2' });
  const booked = await bookByCode(gateway, { slot: slots[0] as Slot, patientId: 'p-5' });
  const { body } = await mine.changeMany([booked.id], { start: booked.start, end: slots.at(-1)?.end });
  const waiting = body.appointments.slice(1);
  const [first] = waiting as [Appointment];
  return { ids: idsIn(waiting), code: await codeFor(gateway, first.id) };
}

describe('a code that another client requested', () => {
  test('is neither accepted nor counted as an attempt', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    for (const any of [...incorrectCodes(code, 6), code]) {
      const rejected = await theirs.confirm(held.id, any);
      expectProblem(rejected, 409, 'confirmation_not_pending');
      expect(rejected.body).not.toHaveProperty('attempts_remaining');
    }
    const seen = await theirs.get(held.id);
    expect(seen).toMatchObject({ status: 'awaiting_confirmation', confirmation: { attempts_remaining: 5 } });
    expect(await mine.confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
    // Nor is a repeated code recognised.
    expectProblem(await theirs.confirm(held.id, code), 409, 'confirmation_not_pending');
    expect(await mine.confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
  });

  test('is not resent', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    await backdateCode(gateway, confirmationOf(held).id, 31);
    const before = await messages(gateway);
    expectProblem(await theirs.resend(held.id), 409, 'confirmation_not_pending');
    expect(await messages(gateway)).toEqual(before);
    expect(await mine.get(held.id)).toMatchObject({ confirmation: { expires_at: confirmationOf(held).expires_at } });
    expect(await mine.confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
  });

  test("cannot confirm ids together with the client's own", async () => {
    const { ids, code } = await bookWithOneCode();
    const [a, b] = ids as [string, string];
    const own = await book(gateway, { careUnit: sodermalm, patientId: 'p-8', client: other });
    const ownCode = await codeFor(gateway, own.id);
    for (const any of [code, ...incorrectCodes(code, 1)]) {
      expectFaults(await theirs.confirmMany(ids, any), {
        status: 409,
        reason: 'confirmation_not_pending',
        errors: [
          [0, a, 'confirmation_not_pending'],
          [1, b, 'confirmation_not_pending'],
        ],
      });
    }
    expectFaults(await theirs.confirmMany([a, own.id], ownCode), {
      status: 409,
      reason: 'confirmation_not_pending',
      errors: [[0, a, 'confirmation_not_pending']],
    });
    for (const { confirmation } of await theirs.getAll([a, b, own.id])) {
      expect(confirmation).toMatchObject({ attempts_remaining: 5 });
    }
    expect((await theirs.confirmMany([own.id], ownCode)).status).toBe(200);
    expect((await mine.confirmMany(ids, code)).status).toBe(200);
  });
});

describe("an appointment that awaits another client's code", () => {
  test('can be released by any client', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    const { start, resource_id, healthcare_service_id, end } = held;
    expect(await theirs.cancel(held.id)).toMatchObject({
      status: 200,
      body: { id: held.id, status: 'cancelled', confirmation: null },
    });
    expect(await isFree(gateway, { start, end, resource_id, healthcare_service_id }, sodermalm)).toBe(true);
    expectProblem(await mine.confirm(held.id, code), 409, 'confirmation_not_pending');
  });

  test('has the same NEW id for a second cancellation, which sends no message', async () => {
    const { original, view } = await startCancellation(gateway);
    const code = await codeFor(gateway, view.id);
    const before = await messages(gateway);
    for (const id of [original.id, view.id]) {
      expect(await theirsUk.cancel(id)).toMatchObject({
        status: 200,
        body: { id: view.id, status: 'awaiting_confirmation', confirmation: { id: confirmationOf(view).id } },
      });
    }
    await backdateCode(gateway, confirmationOf(view).id, 31);
    for (const any of [...incorrectCodes(code, 6), code]) {
      expectProblem(await theirsUk.confirm(view.id, any), 409, 'confirmation_not_pending');
    }
    expectProblem(await theirsUk.resend(view.id), 409, 'confirmation_not_pending');
    expect(await messages(gateway)).toEqual(before);
    expect(await theirsUk.get(original.id)).toEqual(original);
    expect(await theirsUk.change(original.id, { comment: 'theirs' })).toMatchObject({ status: 200 });
    expect(await mineUk.confirm(view.id, code)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  });

  test('is cancelled for every client once the code is confirmed', async () => {
    const { original, view } = await startCancellation(gateway);
    await mineUk.confirm(view.id, await codeFor(gateway, view.id));
    for (const id of [original.id, view.id]) {
      expect(await theirsUk.cancel(id)).toMatchObject({ status: 200, body: { id, status: 'cancelled' } });
    }
  });
});
