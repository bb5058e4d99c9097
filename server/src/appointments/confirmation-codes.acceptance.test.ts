import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Appointment,
  book,
  creationBody,
  freeRun,
  freeSlot,
  freeSlots,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/bookings.ts';
import {
  age,
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  messages,
  messagesAbout,
  rowsOf,
  runOut,
  type Told,
  wrongCodes,
} from '../../../test/codes.ts';
import { startGateway } from '../../../test/gateway.ts';
import { careUnitPath, withEhr } from '../../../test/other-ehrs.ts';
import { Secret } from '../config/secret.ts';

const gateway = await startGateway({
  configure: (demo) =>
    [
      { id: 'short-se', like: 'sandbox-se', policies: { code: { lifetime_seconds: 1 } } },
      { id: 'short-uk', like: 'sandbox-uk', policies: { code: { lifetime_seconds: 1 } } },
      { id: 'email-uk', like: 'sandbox-uk', policies: { cancellation_code_by_email: true } },
      { id: 'few-pending', like: 'sandbox-se', policies: { limits_per_patient: { pending: 2, codes_per_hour: 100 } } },
      { id: 'few-codes', like: 'sandbox-se', policies: { limits_per_patient: { pending: 100, codes_per_hour: 3 } } },
      { id: 'few-uk', like: 'sandbox-uk', policies: { limits_per_patient: { pending: 1, codes_per_hour: 100 } } },
      { id: 'own-codes', like: 'sandbox-se', policies: { code: { length: 6, attempts: 2, lifetime_seconds: 3600 } } },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());

const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

const isFree = async ({ start, resource_id }: Slot, careUnit = sodermalm) => {
  const resourceId = resource_id.replace('emr_id:', '');
  const slots = await freeSlots(gateway, { careUnit, resourceId, from: new Date(start), days: 1 });
  return slots.some((it) => it.start === start);
};
const idsIn = (appointments: readonly Appointment[]) => appointments.map(({ id }) => id);
const around = ({ start, end }: Slot | Appointment) =>
  new URLSearchParams({ start: new Date(start).toISOString(), end: new Date(end).toISOString() }).toString();

function expectRefusal({ status, body }: Told, expected: number, reason: string): void {
  expect({ status, reason: body.reason }).toEqual({ status: expected, reason });
}

async function startCancellation(careUnit = riverside, more: object = {}) {
  const original = await book(gateway, { careUnit, comment: 'before' });
  const { status, body: view } = await careUnitOf(gateway, careUnit).cancel(original.id, more);
  expect([status, view.status]).toEqual([200, 'awaiting_confirmation']);
  return { original, view };
}

async function itemState(id: string): Promise<string | undefined> {
  const select = 'SELECT state FROM confirmation_items WHERE appointment_id = $1';
  const [item] = await rowsOf<{ state: string }>(gateway, select, [id]);
  return item?.state;
}

describe('a time that awaits a code', () => {
  test('is in no time slot, and nobody else can book it or move there', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const other = await bookByCode(gateway, { resourceId: 'r-2', patientId: 'p-5' });
    const held = await book(gateway, { careUnit: sodermalm, slot });
    expect(await isFree(slot)).toBe(false);
    for (const patient_id of ['p-3', 'p-5']) {
      expectRefusal(await sweden.create({ ...creationBody(slot), patient_id }), 400, 'time_slot_unavailable');
    }
    const { start, end, resource_id } = slot;
    expectRefusal(await sweden.change(other.id, { start, end, resource_id }), 400, 'time_slot_unavailable');
    expect(await sweden.get(held.id)).toMatchObject({ status: 'awaiting_confirmation' });
  });

  test('is given up without a code when the booking is cancelled', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const held = await book(gateway, { careUnit: sodermalm, slot, comment: 'old' });
    const code = await codeFor(gateway, held.id);
    const { status, body } = await sweden.cancel(held.id, { comment: 'new' });
    expect(status).toBe(200);
    expect(body).toEqual({ ...held, status: 'cancelled', confirmation: null, comment: 'new' });
    expect(await sweden.get(held.id)).toEqual(body);
    expect(await isFree(slot)).toBe(true);
    expectRefusal(await sweden.confirm(held.id, code), 409, 'confirmation_not_pending');
    expectRefusal(await sweden.resend(held.id), 409, 'confirmation_not_pending');
    // Cancelled once more it stays as it is.
    expect(await sweden.cancel(held.id, { comment: 'newer' })).toMatchObject({ status: 200, body });
    expect((await sweden.create(creationBody(slot))).status).toBe(201);
  });

  test('cannot be updated', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { start, end } = await freeSlot(gateway, { careUnit: sodermalm });
    for (const body of [{ start, end }, { resource_id: 'r-2' }, { comment: 'x' }]) {
      expectRefusal(await sweden.change(held.id, body), 409, 'appointment_awaiting_confirmation');
    }
    expect(await sweden.get(held.id)).toMatchObject({ start: held.start, comment: null });
  });
});

describe('the confirmation', () => {
  test('says how, until when and how often a code can be entered', async () => {
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

  test('says sent once the message is, and is told by every answer', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const sent = await eventually(async () => {
      const appointment = await sweden.get(held.id);
      expect(confirmationOf(appointment).delivery).toBe('sent');
      return appointment;
    });
    expect(sent).toEqual({ ...held, confirmation: { ...confirmationOf(held), delivery: 'sent' } });
    expect(await sweden.list(`patient_id=p-3&status=awaiting_confirmation`)).toContainEqual(sent);
  });

  test('follows the settings of the EHR', async () => {
    const careUnit = careUnitPath('own-codes', 'sodermalm');
    const { confirm } = careUnitOf(gateway, careUnit);
    const held = await book(gateway, { careUnit });
    expect(confirmationOf(held).attempts_remaining).toBe(2);
    expect(Date.parse(confirmationOf(held).expires_at)).toBeGreaterThan(Date.now() + 3_500_000);
    const code = await codeFor(gateway, held.id);
    const remaining = [];
    for (const wrong of wrongCodes(code, 2)) remaining.push((await confirm(held.id, wrong)).body.attempts_remaining);
    expect(remaining).toEqual([1, 0]);
    expectRefusal(await confirm(held.id, code), 409, 'confirmation_locked');
  });

  test('is by e-mail for who has no phone, in the language of the care unit', async () => {
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

describe('a wrong code', () => {
  test('is told with the attempts that remain; the fifth locks, for the right code too', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const held = await book(gateway, { careUnit: sodermalm, slot });
    const code = await codeFor(gateway, held.id);
    const [first, ...more] = wrongCodes(code, 5) as [string, ...string[]];
    const refused = await sweden.confirm(held.id, first);
    expect(refused).toMatchObject({
      status: 400,
      body: { reason: 'confirmation_code_incorrect', attempts_remaining: 4 },
    });
    expect(confirmationOf(await sweden.get(held.id)).attempts_remaining).toBe(4);
    const remaining = [];
    for (const wrong of more) remaining.push((await sweden.confirm(held.id, wrong)).body.attempts_remaining);
    expect(remaining).toEqual([3, 2, 1, 0]);
    for (const any of [code, first, code]) {
      const locked = await sweden.confirm(held.id, any);
      expectRefusal(locked, 409, 'confirmation_locked');
      expect(locked.body).not.toHaveProperty('attempts_remaining');
      expect(locked.text).not.toContain(any);
    }
    // The hold stays, until it runs out or is given up.
    const locked = await sweden.get(held.id);
    expect(locked).toMatchObject({ status: 'awaiting_confirmation', confirmation: { attempts_remaining: 0 } });
    expect(await isFree(slot)).toBe(false);
    expectRefusal(await sweden.resend(held.id), 409, 'confirmation_locked');
    await runOut(gateway, locked);
    expect(await sweden.get(held.id)).toMatchObject({ status: 'cancelled', confirmation: null });
    expect(await isFree(slot)).toBe(true);
    // Locked is locked for good, before and after the job has been by.
    const expectLocked = async () => {
      expectRefusal(await sweden.confirm(held.id, code), 409, 'confirmation_locked');
      expectRefusal(await sweden.resend(held.id), 409, 'confirmation_locked');
    };
    await expectLocked();
    await eventually(async () => expect(await itemState(held.id)).toBe('expired'));
    await expectLocked();
  });

  test.each(['x', '12345', '1234567', 'ååååå', '      ', '0', '-1', '1e5', '٠١٢٣٤٥'])(
    'may be anything: %s',
    async (code) => {
      const held = await book(gateway, { careUnit: sodermalm, resourceId: 'r-3' });
      expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 400, body: { attempts_remaining: 4 } });
    },
  );

  test('of which several come at once counts each time, and no more than five do', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    const answers = await Promise.all(wrongCodes(code, 10).map((wrong) => sweden.confirm(held.id, wrong)));
    const counted = answers.filter(({ status }) => status === 400).map(({ body }) => body.attempts_remaining);
    expect(counted.toSorted()).toEqual([0, 1, 2, 3, 4]);
    for (const answer of answers.filter(({ status }) => status !== 400)) {
      expectRefusal(answer, 409, 'confirmation_locked');
    }
  });

  test('before the right one does no harm', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    for (const wrong of wrongCodes(code, 4)) await sweden.confirm(held.id, wrong);
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
  });

  test('locks a cancellation too, which stays where it is', async () => {
    const { original, view } = await startCancellation();
    const code = await codeFor(gateway, view.id);
    for (const wrong of wrongCodes(code, 5)) await uk.confirm(view.id, wrong);
    expectRefusal(await uk.confirm(view.id, code), 409, 'confirmation_locked');
    expect(await uk.get(original.id)).toEqual(original);
    expect(await uk.cancel(original.id)).toMatchObject({
      status: 200,
      body: { id: view.id, status: 'awaiting_confirmation', confirmation: { attempts_remaining: 0 } },
    });
  });
});

describe('a code that has run out', () => {
  const short = careUnitPath('short-se', 'sodermalm');
  const shortUk = careUnitPath('short-uk', 'riverside');

  test('leaves the booking cancelled and its time free at once', async () => {
    const { get, list, confirm, resend, create, cancel } = careUnitOf(gateway, short);
    const slot = await freeSlot(gateway, { careUnit: short });
    const held = await book(gateway, { careUnit: short, slot });
    const gone = await eventually(async () => {
      const appointment = await get(held.id);
      expect(appointment.status).toBe('cancelled');
      return appointment;
    });
    expect(gone).toEqual({ ...held, status: 'cancelled', confirmation: null });
    expect(await isFree(slot, short)).toBe(true);
    expect(idsIn(await list('patient_id=p-3&status=cancelled'))).toContain(held.id);
    expect(idsIn(await list(`${around(held)}`))).toContain(held.id);
    for (const status of ['awaiting_confirmation', 'booked']) {
      expect(idsIn(await list(`patient_id=p-3&status=${status}`))).not.toContain(held.id);
    }
    expectRefusal(await confirm(held.id, '000000'), 409, 'confirmation_expired');
    expectRefusal(await resend(held.id), 409, 'confirmation_expired');
    expect(await cancel(held.id)).toMatchObject({ status: 200, body: gone });
    expect((await create({ ...creationBody(slot), patient_id: 'p-5' })).status).toBe(201);
    // What a job does later changes nothing.
    await eventually(async () => expect(await itemState(held.id)).toBe('expired'));
    expect(await get(held.id)).toEqual(gone);
    expectRefusal(await confirm(held.id, '000000'), 409, 'confirmation_expired');
    expectRefusal(await resend(held.id), 409, 'confirmation_expired');
  });

  test('is refused though it was the right one', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    await runOut(gateway, held);
    expectRefusal(await sweden.confirm(held.id, code), 409, 'confirmation_expired');
    expect(await sweden.get(held.id)).toMatchObject({ status: 'cancelled', confirmation: null });
  });

  test('leaves the appointment booked that it was to cancel', async () => {
    const { get, list, cancel, confirm, resend, change } = careUnitOf(gateway, shortUk);
    const { original, view } = await startCancellation(shortUk, { comment: 'never written' });
    await eventually(async () => expect((await get(view.id)).status).toBe('booked'));
    expect(await get(view.id)).toEqual({ ...original, id: view.id, replaces_id: original.id });
    expect(await get(original.id)).toEqual(original);
    expect(idsIn(await list('patient_id=p-3'))).not.toContain(view.id);
    expectRefusal(await confirm(view.id, '000000'), 409, 'confirmation_expired');
    expectRefusal(await resend(view.id), 409, 'confirmation_expired');
    expectRefusal(await change(view.id, { comment: 'x' }), 409, 'appointment_awaiting_confirmation');
    // To cancel it again, by either id, begins anew.
    const again = await cancel(view.id);
    expect(again).toMatchObject({
      status: 200,
      body: { status: 'awaiting_confirmation', replaces_id: original.id, confirmation: { kind: 'cancellation' } },
    });
    expect([view.id, original.id]).not.toContain(again.body.id);
  });

  test('makes room for another cancellation before any job has been by', async () => {
    const { original, view } = await startCancellation();
    await runOut(gateway, view);
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

describe('a cancellation that awaits its code', () => {
  test('answers a second cancel with the same NEW id, and sends nothing', async () => {
    const { original, view } = await startCancellation(riverside, { comment: 'first' });
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

  test('leaves the original booked, with no confirmation, in every answer', async () => {
    const { original } = await startCancellation();
    expect(await uk.get(original.id)).toEqual(original);
    expect(await uk.list(around(original))).toContainEqual(original);
    expect(await uk.list('patient_id=p-3&status=booked')).toContainEqual(original);
    expect(idsIn(await uk.list('patient_id=p-3&status=awaiting_confirmation'))).toEqual([]);
  });

  test('has a NEW id that is a view of the original, and is in no list', async () => {
    const { original, view } = await startCancellation();
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
    expectRefusal(await uk.change(view.id, { comment: 'x' }), 409, 'appointment_cancelled');
  });

  test('lets the original be updated, and cancels it as it is then', async () => {
    const { original, view } = await startCancellation();
    const to = await freeSlot(gateway, { careUnit: riverside, resourceId: 'r-2' });
    const { start, end, resource_id } = to;
    const { status, body: moved } = await uk.change(original.id, { start, end, resource_id, comment: 'moved' });
    expect(status).toBe(200);
    expect(moved).toEqual({ ...original, start, end, resource_id, comment: 'moved' });
    expect(await uk.get(view.id)).toMatchObject({ id: view.id, start, resource_id, status: 'awaiting_confirmation' });
    expect(await isFree(to, riverside)).toBe(false);
    expect(await uk.confirm(view.id, await codeFor(gateway, view.id))).toMatchObject({
      status: 200,
      body: { ...moved, id: view.id, status: 'cancelled', replaces_id: original.id },
    });
    expect(await isFree(to, riverside)).toBe(true);
  });

  test('has a NEW id that cannot be updated', async () => {
    const { original, view } = await startCancellation();
    const { start, end } = await freeSlot(gateway, { careUnit: riverside });
    for (const body of [{ start, end }, { resource_id: 'r-2' }, { comment: 'x' }]) {
      expectRefusal(await uk.change(view.id, body), 409, 'appointment_awaiting_confirmation');
    }
    expect(await uk.get(original.id)).toEqual(original);
  });

  test('takes its code at the NEW id alone', async () => {
    const { original, view } = await startCancellation();
    const code = await codeFor(gateway, view.id);
    expectRefusal(await uk.confirm(original.id, code), 409, 'confirmation_not_pending');
    expectRefusal(await uk.resend(original.id), 409, 'confirmation_not_pending');
    expect(await uk.get(original.id)).toEqual(original);
    expect(confirmationOf(await uk.get(view.id)).attempts_remaining).toBe(5);
    expect((await uk.confirm(view.id, code)).status).toBe(200);
    expectRefusal(await uk.confirm(original.id, code), 409, 'confirmation_not_pending');
  });

  test.each([
    ['why', 'why'],
    ['', null],
    [undefined, 'before'],
  ])('writes the comment %j when the code has come, and not before', async (comment, written) => {
    const { original, view } = await startCancellation(riverside, comment === undefined ? {} : { comment });
    expect(view.comment).toBe('before');
    expect(await uk.get(original.id)).toEqual(original);
    const { body } = await uk.confirm(view.id, await codeFor(gateway, view.id));
    expect(body.comment).toBe(written);
    expect(await uk.get(original.id)).toEqual({ ...original, status: 'cancelled', comment: written });
  });
});

describe('the right code again', () => {
  test('answers the appointment as it is; another code is refused', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    const { body: booked } = await sweden.confirm(held.id, code);
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: booked });
    const [wrong] = wrongCodes(code, 1) as [string];
    expectRefusal(await sweden.confirm(held.id, wrong), 409, 'confirmation_not_pending');

    const { body: commented } = await sweden.change(held.id, { comment: 'later' });
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: commented });
    const { body: cancelled } = await sweden.cancel(held.id);
    expect(cancelled.status).toBe('cancelled');
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: cancelled });
  });

  test('answers a cancellation as it is', async () => {
    const { view } = await startCancellation(riverside, { comment: 'why' });
    const code = await codeFor(gateway, view.id);
    const { body: cancelled } = await uk.confirm(view.id, code);
    expect(cancelled.status).toBe('cancelled');
    expect(await uk.confirm(view.id, code)).toMatchObject({ status: 200, body: cancelled });
    expectRefusal(await uk.confirm(view.id, wrongCodes(code, 1)[0] ?? ''), 409, 'confirmation_not_pending');
  });

  test('is refused after a day', async () => {
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
    expectRefusal(await sweden.confirm(held.id, code), 409, 'confirmation_not_pending');
    expect(await sweden.get(held.id)).toMatchObject({ status: 'booked' });
  });

  test('sent twice at once books once', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const code = await codeFor(gateway, held.id);
    const answers = await Promise.all([1, 2, 3].map(() => sweden.confirm(held.id, code)));
    for (const { status, body } of answers) expect([status, body.id, body.status]).toEqual([200, held.id, 'booked']);
  });
});

describe('a fresh code', () => {
  test('is sent, the old one dies, the lifetime starts anew, the attempts do not', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    const old = await codeFor(gateway, held.id);
    await sweden.confirm(held.id, wrongCodes(old, 1)[0] ?? '');
    await age(gateway, id, 30);
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
    // The EHR holds the time for as long.
    const inEhr = (await gateway.ehr(held.emr).appointments()).find(({ id }) => id === held.id);
    expect(Math.floor((inEhr?.heldUntil?.getTime() ?? 0) / 1000) * 1000).toBe(expiry);

    const fresh = await codeFor(gateway, held.id, 2);
    if (fresh !== old) {
      expect(await sweden.confirm(held.id, old)).toMatchObject({ status: 400, body: { attempts_remaining: 3 } });
    }
    expect(await sweden.confirm(held.id, fresh)).toMatchObject({ status: 200, body: { status: 'booked' } });
    expectRefusal(await sweden.resend(held.id), 409, 'confirmation_not_pending');
  });

  test('comes 30 seconds after the one before at the earliest', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    const code = await codeFor(gateway, held.id);
    const expectTooSoon = async (least: number, most: number) => {
      const answer = await sweden.resend(held.id);
      expectRefusal(answer, 429, 'rate_limited');
      const wait = Number(answer.headers['retry-after']);
      expect(wait).toBeGreaterThanOrEqual(least);
      expect(wait).toBeLessThanOrEqual(most);
    };
    await expectTooSoon(1, 30);
    await age(gateway, id, 15);
    await expectTooSoon(1, 15);
    await age(gateway, id, 15);
    expect((await sweden.resend(held.id)).status).toBe(202);
    await expectTooSoon(20, 30);
    expect(await messagesAbout(gateway, held.id, 2)).toHaveLength(2);
    expect(code).toMatch(/^\d{6}$/);
  });

  test('can be had twice: at most three in all', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    for (const count of [2, 3]) {
      await age(gateway, id, 31);
      expect((await sweden.resend(held.id)).status).toBe(202);
      await messagesAbout(gateway, held.id, count);
    }
    await age(gateway, id, 31);
    expectRefusal(await sweden.resend(held.id), 409, 'resend_limit_reached');
    expect(await sweden.confirm(held.id, await codeFor(gateway, held.id, 3))).toMatchObject({ status: 200 });
    expect(await messagesAbout(gateway, held.id, 3)).toHaveLength(3);
  });

  test('cancels too', async () => {
    const { original, view } = await startCancellation(riverside, { comment: 'why' });
    await messagesAbout(gateway, view.id);
    await age(gateway, confirmationOf(view).id, 31);
    expect(await uk.resend(view.id)).toMatchObject({
      status: 202,
      body: { id: view.id, status: 'awaiting_confirmation', replaces_id: original.id },
    });
    expect(await uk.confirm(view.id, await codeFor(gateway, view.id, 2))).toMatchObject({
      body: { id: view.id, status: 'cancelled', comment: 'why' },
    });
  });

  test('is not for what awaits none', async () => {
    const booked = await book(gateway);
    const norway = careUnitOf(gateway, oslo);
    expectRefusal(await norway.resend(booked.id), 409, 'confirmation_not_pending');
    expectRefusal(await norway.resend('nothing'), 404, 'appointment_not_found');
    await norway.cancel(booked.id);
    expectRefusal(await norway.resend(booked.id), 409, 'confirmation_not_pending');
  });

  test('is not for a code that has run out', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    await age(gateway, confirmationOf(held).id, 31);
    await runOut(gateway, held);
    expectRefusal(await sweden.resend(held.id), 409, 'confirmation_expired');
    const { view } = await startCancellation();
    await age(gateway, confirmationOf(view).id, 31);
    await runOut(gateway, view);
    expectRefusal(await uk.resend(view.id), 409, 'confirmation_expired');
  });

  test('is for everything that awaits the same one', async () => {
    const slots = await freeRun(gateway, 3, { careUnit: sodermalm, resourceId: 'r-4' });
    const [first, , last] = slots as [Slot, Slot, Slot];
    const mine = await bookByCode(gateway, { slot: first });
    const { body } = await sweden.changeMany([mine.id], { start: first.start, end: last.end });
    const [a, b] = idsIn(body.appointments.slice(1)) as [string, string];
    const { id } = confirmationOf(body.appointments[1] as Appointment);
    await messagesAbout(gateway, a);
    await age(gateway, id, 31);
    expect(await sweden.resend(b)).toMatchObject({ status: 202, body: { id: b } });
    const code = await codeFor(gateway, a, 2);
    const { status, body: confirmed } = await sweden.confirmMany([a, b], code);
    expect(status).toBe(200);
    expect(confirmed.appointments.map((it) => it.status)).toEqual(['booked', 'booked']);
  });
});

describe('a patient who cannot be reached', () => {
  test('cannot book by code, and nothing is held', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    expectRefusal(await sweden.create({ ...creationBody(slot), patient_id: 'p-20' }), 409, 'no_contact_channel');
    expect(await isFree(slot)).toBe(true);
    expect(await sweden.list('patient_id=p-20')).toEqual([]);
  });

  test.each(['p-19', 'p-20'])('cannot cancel in two steps, and stays booked: %s', async (patientId) => {
    const booked = await book(gateway, { careUnit: riverside, patientId });
    expectRefusal(await uk.cancel(booked.id), 409, 'no_contact_channel');
    expect(await uk.get(booked.id)).toEqual(booked);
    expect(await rowsOf(gateway, `SELECT FROM confirmation_items WHERE ehr_appointment_id = $1`, [booked.id])).toEqual(
      [],
    );
  });

  test('can cancel by e-mail where the EHR allows it', async () => {
    const careUnit = careUnitPath('email-uk', 'riverside');
    const { cancel, confirm } = careUnitOf(gateway, careUnit);
    const booked = await book(gateway, { careUnit, patientId: 'p-19' });
    const { body } = await cancel(booked.id);
    expect(body).toMatchObject({ status: 'awaiting_confirmation', confirmation: { channel: 'email' } });
    const [message] = await messagesAbout(gateway, body.id);
    expect(message).toMatchObject({ channel: 'email', to: 'p-19@patients.example' });
    expect(await confirm(body.id, await codeFor(gateway, body.id))).toMatchObject({ body: { status: 'cancelled' } });
    const other = await book(gateway, { careUnit, patientId: 'p-20' });
    expectRefusal(await cancel(other.id), 409, 'no_contact_channel');
    // Whoever has a phone is sent an SMS all the same.
    const third = await book(gateway, { careUnit, patientId: 'p-3' });
    expect((await cancel(third.id)).body).toMatchObject({ confirmation: { channel: 'sms' } });
  });

  test('can book and cancel where no code is needed', async () => {
    const booked = await book(gateway, { patientId: 'p-20' });
    expect(await careUnitOf(gateway, oslo).cancel(booked.id)).toMatchObject({ body: { status: 'cancelled' } });
  });
});

describe('limits for one patient', () => {
  const fewPending = careUnitPath('few-pending', 'sodermalm');
  const fewCodes = careUnitPath('few-codes', 'sodermalm');
  const held = async (emr: string, patientId: string) =>
    (await gateway.ehr(emr).appointments()).filter((it) => it.patientId === patientId && it.state === 'held');

  test('hold back what would be one unconfirmed booking too many', async () => {
    const { create, cancel, confirm } = careUnitOf(gateway, fewPending);
    const [a, b, c, d] = (await freeSlots(gateway, { careUnit: fewPending, limit: 4 })) as [Slot, Slot, Slot, Slot];
    const first = await book(gateway, { careUnit: fewPending, slot: a });
    const second = await book(gateway, { careUnit: fewPending, slot: b });
    const refused = await create(creationBody(c));
    expectRefusal(refused, 429, 'patient_limit_reached');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(await isFree(c, fewPending)).toBe(true);
    expect(await held('few-pending', 'p-3')).toHaveLength(2);
    // Another patient is another matter, as is the same patient in another EHR.
    await book(gateway, { careUnit: fewPending, slot: c, patientId: 'p-5' });
    await book(gateway, { careUnit: sodermalm });
    // Confirmed or given up, they make room.
    await confirm(first.id, await codeFor(gateway, first.id));
    await book(gateway, { careUnit: fewPending, slot: d });
    expectRefusal(
      await create(creationBody(await freeSlot(gateway, { careUnit: fewPending }))),
      429,
      'patient_limit_reached',
    );
    await cancel(second.id);
    await book(gateway, { careUnit: fewPending });
  });

  test('hold back what would be one code too many in an hour', async () => {
    const { create, cancel, resend } = careUnitOf(gateway, fewCodes);
    const bookAndCancel = async () => cancel((await book(gateway, { careUnit: fewCodes })).id);
    await bookAndCancel();
    await bookAndCancel();
    const third = await book(gateway, { careUnit: fewCodes });
    const slot = await freeSlot(gateway, { careUnit: fewCodes });
    expectRefusal(await create(creationBody(slot)), 429, 'patient_limit_reached');
    expect(await isFree(slot, fewCodes)).toBe(true);
    // A fresh code is one too.
    await age(gateway, confirmationOf(third).id, 31);
    const holds = async () => (await gateway.ehr('few-codes').appointments()).filter(({ id }) => id === third.id);
    const before = await holds();
    expectRefusal(await resend(third.id), 429, 'patient_limit_reached');
    expect(await holds()).toEqual(before);
    await rowsOf(
      gateway,
      `UPDATE messages SET created_at = created_at - interval '61 minutes' WHERE first_appointment_id <> $1 AND emr = 'few-codes'`,
      [third.id],
    );
    expect((await resend(third.id)).status).toBe(202);
  });

  test('hold when ten come at once', async () => {
    for (const [emr, careUnit, allowed] of [
      ['few-pending', fewPending, 2],
      ['few-codes', fewCodes, 3],
    ] as const) {
      const slots = await freeSlots(gateway, { careUnit, resourceId: 'r-2', limit: 10 });
      const { create } = careUnitOf(gateway, careUnit);
      const answers = await Promise.all(slots.map((slot) => create({ ...creationBody(slot), patient_id: 'p-8' })));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(allowed);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        expectRefusal(answer, 429, 'patient_limit_reached');
      }
      expect(await held(emr, 'p-8')).toHaveLength(allowed);
    }
  });

  test('hold for cancellations, which stay booked', async () => {
    const careUnit = careUnitPath('few-uk', 'riverside');
    const { cancel, get } = careUnitOf(gateway, careUnit);
    const first = await book(gateway, { careUnit });
    const second = await book(gateway, { careUnit });
    const { body: view } = await cancel(first.id);
    expectRefusal(await cancel(second.id), 429, 'patient_limit_reached');
    expect(await get(second.id)).toEqual(second);
    // The second cancel of the first one makes nothing new.
    expect(await cancel(first.id)).toMatchObject({ status: 200, body: { id: view.id } });
  });
});

describe('where the provider refuses for good', () => {
  test('delivery becomes failed, and a fresh code may still come', async () => {
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
      await age(other, confirmationOf(held).id, 31);
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
