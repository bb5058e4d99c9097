/** @module-tag any-database */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  book,
  consecutiveSlots,
  idsIn,
  oslo,
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
  eventually,
  expireCode,
  incorrectCodes,
  messagesAbout,
  rowsOf,
  startCancellation,
} from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';
import { Secret } from '../config/environment/secret.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

describe('a resent code', () => {
  test('replaces the previous code and restarts its lifetime, but not its attempts', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    const old = await codeFor(gateway, held.id);
    await sweden.confirm(held.id, incorrectCodes(old, 1)[0] ?? '');
    await backdateCode(gateway, id, 30);
    await rowsOf(gateway, `UPDATE confirmations SET expires_at = expires_at - interval '5 minutes' WHERE id = $1`, [
      id,
    ]);
    const shorter = await sweden.get(held.id);
    const { status, body } = await sweden.resend(held.id);
    expect(status).toBe(202);
    expect(body).toEqual({
      ...held,
      confirmation: {
        ...confirmationOf(held),
        delivery: expect.stringMatching(/^(queued|sent)$/),
        attempts_remaining: 4,
        expires_at: expect.any(String),
      },
    });
    const expiry = Date.parse(confirmationOf(body).expires_at);
    expect(expiry - Date.parse(confirmationOf(shorter).expires_at)).toBeGreaterThan(290_000);
    // The EHR holds the time until the code expires.
    const inEhr = (await gateway.ehr(held.emr).appointments()).find(({ id }) => id === held.id);
    expect(Math.floor((inEhr?.heldUntil?.getTime() ?? 0) / 1000) * 1000).toBe(expiry);

    const fresh = await codeFor(gateway, held.id, 2);
    if (fresh !== old) {
      expect(await sweden.confirm(held.id, old)).toMatchObject({ status: 400, body: { attempts_remaining: 3 } });
    }
    expect(await sweden.confirm(held.id, fresh)).toMatchObject({ status: 200, body: { status: 'booked' } });
    expectProblem(await sweden.resend(held.id), 409, 'confirmation_not_pending');
  });

  test('is sent 30 seconds after the previous one at the earliest', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    const code = await codeFor(gateway, held.id);
    const expectTooSoon = async (least: number, most: number) => {
      const resent = await sweden.resend(held.id);
      expectProblem(resent, 429, 'rate_limited');
      const wait = Number(resent.headers['retry-after']);
      expect(wait).toBeGreaterThanOrEqual(least);
      expect(wait).toBeLessThanOrEqual(most);
    };
    await expectTooSoon(1, 30);
    await backdateCode(gateway, id, 15);
    await expectTooSoon(1, 15);
    await backdateCode(gateway, id, 15);
    expect((await sweden.resend(held.id)).status).toBe(202);
    await expectTooSoon(20, 30);
    expect(await messagesAbout(gateway, held.id, 2)).toHaveLength(2);
    expect(code).toMatch(/^\d{6}$/);
  });

  test('can be requested twice, so a patient gets at most three codes', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    for (const count of [1, 2]) {
      // A new code supersedes a message that has not left yet.
      await messagesAbout(gateway, held.id, count);
      await backdateCode(gateway, id, 31);
      expect((await sweden.resend(held.id)).status).toBe(202);
    }
    await messagesAbout(gateway, held.id, 3);
    await backdateCode(gateway, id, 31);
    expectProblem(await sweden.resend(held.id), 409, 'resend_limit_reached');
    expect(await sweden.confirm(held.id, await codeFor(gateway, held.id, 3))).toMatchObject({ status: 200 });
    expect(await messagesAbout(gateway, held.id, 3)).toHaveLength(3);
  });

  test('confirms a cancellation too', async () => {
    const { original, view } = await startCancellation(gateway, riverside, { comment: 'why' });
    await messagesAbout(gateway, view.id);
    await backdateCode(gateway, confirmationOf(view).id, 31);
    expect(await uk.resend(view.id)).toMatchObject({
      status: 202,
      body: { id: view.id, status: 'awaiting_confirmation', replaces_id: original.id },
    });
    expect(await uk.confirm(view.id, await codeFor(gateway, view.id, 2))).toMatchObject({
      body: { id: view.id, status: 'cancelled', comment: 'why' },
    });
  });

  test('is rejected for an appointment that awaits no code', async () => {
    const booked = await book(gateway);
    const norway = careUnitOf(gateway, oslo);
    expectProblem(await norway.resend(booked.id), 409, 'confirmation_not_pending');
    expectProblem(await norway.resend('nothing'), 404, 'appointment_not_found');
    await norway.cancel(booked.id);
    expectProblem(await norway.resend(booked.id), 409, 'confirmation_not_pending');
  });

  test('accepts no fields', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const path = `${sodermalm}/appointments/${held.id}/confirmation`;
    const rejected = await gateway.request<Problem>('POST', path, { body: { channel: 'email' } });
    expect(rejected).toMatchObject({ status: 400, body: { errors: [{ pointer: '/channel' }] } });
    for (const body of ['[]', 'null', '"x"']) {
      expect(await gateway.request('POST', path, { body })).toMatchObject({ status: 400 });
    }
    await backdateCode(gateway, confirmationOf(held).id, 60);
    expect(await gateway.request('POST', path, { body: {} })).toMatchObject({ status: 202 });
  });

  test('is rejected after the code has expired', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    await backdateCode(gateway, confirmationOf(held).id, 31);
    await expireCode(gateway, held);
    expectProblem(await sweden.resend(held.id), 409, 'confirmation_expired');
    const { view } = await startCancellation(gateway);
    await backdateCode(gateway, confirmationOf(view).id, 31);
    await expireCode(gateway, view);
    expectProblem(await uk.resend(view.id), 409, 'confirmation_expired');
  });

  test('confirms all appointments that awaited the previous code', async () => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: sodermalm, resourceId: 'r-4' });
    const [first, , last] = slots as [Slot, Slot, Slot];
    const mine = await bookByCode(gateway, { slot: first });
    const { body } = await sweden.changeMany([mine.id], { start: first.start, end: last.end });
    const [a, b] = idsIn(body.appointments.slice(1)) as [string, string];
    const { id } = confirmationOf(body.appointments[1] as Appointment);
    await messagesAbout(gateway, a);
    await backdateCode(gateway, id, 31);
    expect(await sweden.resend(b)).toMatchObject({ status: 202, body: { id: b } });
    const code = await codeFor(gateway, a, 2);
    const { status, body: confirmed } = await sweden.confirmMany([a, b], code);
    expect(status).toBe(200);
    expect(confirmed.appointments.map((it) => it.status)).toEqual(['booked', 'booked']);
  });
});

describe('when the provider rejects a message permanently', () => {
  test('delivery becomes failed, and the code can still be resent', async () => {
    const provider = createServer((_, response) => void response.writeHead(400).end());
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const { port } = provider.address() as AddressInfo;
    const other = await startGateway({
      configure: (demo) => ({
        ...demo,
        messages: {
          ...demo.messages,
          sms: {
            provider: 'webhook',
            url: `http://127.0.0.1:${port}/sms`,
            secret: new Secret('a secret of the tests'),
          },
        },
      }),
    });
    try {
      const { get, resend } = careUnitOf(other, sodermalm);
      const held = await book(other, { careUnit: sodermalm });
      await eventually(async () => expect(confirmationOf(await get(held.id)).delivery).toBe('failed'));
      expect(await get(held.id)).toMatchObject({ status: 'awaiting_confirmation' });
      await backdateCode(other, confirmationOf(held).id, 31);
      expect((await resend(held.id)).status).toBe(202);
      await eventually(async () => expect(confirmationOf(await get(held.id)).delivery).toBe('failed'));
      const byEmail = await book(other, { careUnit: sodermalm, patientId: 'p-19' });
      await eventually(async () => expect(confirmationOf(await get(byEmail.id)).delivery).toBe('sent'));
    } finally {
      await other.close();
      provider.close();
    }
  });
});
