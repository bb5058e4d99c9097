import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, book, riverside, sodermalm } from '../../../test/requests/bookings.ts';
import {
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  incorrectCodes,
  messagesAbout,
  rowsOf,
} from '../../../test/requests/codes.ts';
import { deleteOldMessages } from '../messages/retention.ts';
import { deleteOldWrites } from '../writes/stored-write.ts';
import { deleteOldConfirmations, deleteUsedCodes } from './retention.ts';

const days = 7;

/** `draft-se` has no holds, so the gateway stores drafts. */
const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) =>
      emr === 'draft-se'
        ? { ...connector, capabilities: { ...connector.capabilities, changes: ['create', 'update', 'cancel'] } }
        : connector,
    ),
  ],
  // Long, so that the tests purge and not the background job.
  configure: (demo) => ({
    ...withEhr(demo, { id: 'draft-se', like: 'sandbox-se', policies: {} }),
    retention: { ...demo.retention, confirmation_days: 3650 },
  }),
});
afterAll(() => gateway.close());

const draftUnit = careUnitPath('draft-se', 'sodermalm');
const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);
const drafts = careUnitOf(gateway, draftUnit);
const { db } = gateway.deps.services;
const everything = 1_000;

afterEach(async () => {
  await rowsOf(gateway, 'DELETE FROM messages');
  await rowsOf(gateway, 'DELETE FROM confirmation_items');
  await rowsOf(gateway, 'DELETE FROM confirmations');
});

interface ConfirmationRow {
  readonly code_hash: Buffer | null;
  readonly patient_hash: Buffer | null;
}
interface ItemRow {
  readonly state: string;
  readonly sealed_comment: Buffer | null;
  readonly sealed_draft: Buffer | null;
  readonly patient_hash: Buffer | null;
  readonly draft_start: Date | null;
}

const confirmations = (id: string) =>
  rowsOf<ConfirmationRow>(gateway, 'SELECT code_hash, patient_hash FROM confirmations WHERE id = $1', [id]);
const items = (id: string) =>
  rowsOf<ItemRow>(gateway, 'SELECT * FROM confirmation_items WHERE confirmation_id = $1', [id]);
const messagesOf = (id: string) =>
  rowsOf<{ state: string }>(gateway, 'SELECT state FROM messages WHERE confirmation_id = $1', [id]);
const confirmationIdOf = (appointment: Appointment) => confirmationOf(appointment).id;

/** Backdates everything of a confirmation. */
async function backdate(id: string, interval: string): Promise<void> {
  await rowsOf(
    gateway,
    `UPDATE confirmations SET expires_at = expires_at - $2::interval, confirmed_at = confirmed_at - $2::interval
     WHERE id = $1`,
    [id, interval],
  );
  await rowsOf(gateway, 'UPDATE messages SET expires_at = expires_at - $2::interval WHERE confirmation_id = $1', [
    id,
    interval,
  ]);
}

async function purge(): Promise<void> {
  await deleteUsedCodes(db, everything);
  await deleteOldMessages(db, days, everything);
  await deleteOldConfirmations(db, days, everything);
}

const isGone = async (id: string) => {
  expect(await confirmations(id)).toEqual([]);
  expect(await items(id)).toEqual([]);
  expect(await messagesOf(id)).toEqual([]);
};

async function cancelInTwo(comment: string) {
  const original = await book(gateway, { careUnit: riverside });
  const { body: view } = await uk.cancel(original.id, { comment });
  return { original, view, id: confirmationIdOf(view) };
}

describe('the hash of a code is deleted', () => {
  test('when its appointment is released, together with the stored comment', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    await purge();
    expect(await confirmations(id)).toMatchObject([{ code_hash: expect.any(Buffer) }]);
    await sweden.cancel(held.id);
    // The background job does this, without a request.
    await eventually(async () => expect(await confirmations(id)).toMatchObject([{ code_hash: null }]));

    const waiting = await cancelInTwo('why');
    expect(await items(waiting.id)).toMatchObject([{ sealed_comment: expect.any(Buffer) }]);
    await rowsOf(gateway, `UPDATE confirmation_items SET state = 'released' WHERE confirmation_id = $1`, [waiting.id]);
    await purge();
    expect(await items(waiting.id)).toMatchObject([{ sealed_comment: null }]);
  });

  test('when it has expired', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    await backdate(id, '11 minutes');
    await eventually(async () => {
      expect(await items(id)).toMatchObject([{ state: 'expired' }]);
      expect(await confirmations(id)).toMatchObject([{ code_hash: null }]);
    });
    const rejected = await sweden.confirm(held.id, '000000');
    expect(rejected).toMatchObject({ status: 409, body: { reason: 'confirmation_expired' } });
  });

  test('a day after its confirmation; until then a repeated request is recognised', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const { id } = confirmationOf(held);
    const code = await codeFor(gateway, held.id);
    await sweden.confirm(held.id, code);
    await backdate(id, '23 hours 59 minutes');
    await purge();
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
    await backdate(id, '2 minutes');
    await purge();
    expect(await confirmations(id)).toMatchObject([{ code_hash: null }]);
    const rejected = await sweden.confirm(held.id, code);
    expect(rejected).toMatchObject({ status: 409, body: { reason: 'confirmation_not_pending' } });
  });
});

describe('an ended confirmation is purged', () => {
  test('after the configured days, and the appointment does not change', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const id = confirmationIdOf(held);
    const code = await codeFor(gateway, held.id);
    const { body: booked } = await sweden.confirm(held.id, code);
    await backdate(id, '6 days 23 hours');
    await purge();
    expect(await items(id)).toHaveLength(1);
    await backdate(id, '2 hours');
    await purge();
    await isGone(id);
    expect(await sweden.get(held.id)).toEqual(booked);
    for (const rejected of [await sweden.confirm(held.id, code), await sweden.resend(held.id)]) {
      expect(rejected).toMatchObject({ status: 409, body: { reason: 'confirmation_not_pending' } });
    }
  });

  test('also when its code has expired', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const id = confirmationIdOf(held);
    await backdate(id, '8 days');
    await eventually(async () => expect(await items(id)).toMatchObject([{ state: 'expired' }]));
    await purge();
    await isGone(id);
    expect(await sweden.get(held.id)).toEqual({ ...held, status: 'cancelled', confirmation: null });
  });

  test('but not while any of its ids is pending or being confirmed', async () => {
    const held = await book(gateway, { careUnit: sodermalm });
    const id = confirmationIdOf(held);
    const code = await codeFor(gateway, held.id);
    await eventually(async () => expect(confirmationOf(await sweden.get(held.id)).delivery).toBe('sent'));
    await rowsOf(gateway, `UPDATE confirmation_items SET state = 'confirming' WHERE confirmation_id = $1`, [id]);
    await backdate(id, '100 days');
    await purge();
    expect(await confirmations(id)).toMatchObject([{ code_hash: expect.any(Buffer) }]);
    expect(await items(id)).toHaveLength(1);
    expect(await messagesOf(id)).toEqual([{ state: 'sent' }]);
    // In this order, so that no background job finds an expired code that is pending.
    await backdate(id, '-101 days');
    await rowsOf(gateway, `UPDATE confirmation_items SET state = 'pending' WHERE confirmation_id = $1`, [id]);
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
    // Its correct code was just entered.
    await purge();
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
  });

  test('in batches', async () => {
    const ids = [];
    for (const patientId of ['p-3', 'p-5', 'p-6']) {
      const held = await book(gateway, { careUnit: sodermalm, patientId });
      await sweden.cancel(held.id);
      ids.push(confirmationIdOf(held));
    }
    for (const id of ids) await backdate(id, '8 days');
    const left = async () => (await rowsOf(gateway, 'SELECT FROM confirmations')).length;
    await deleteOldConfirmations(db, days, 2);
    expect(await left()).toBe(1);
    await deleteOldConfirmations(db, days, 2);
    expect(await left()).toBe(0);
    const count = async () => (await rowsOf(gateway, 'SELECT FROM messages')).length;
    await deleteOldMessages(db, days, 2);
    expect(await count()).toBe(1);
  });
});

describe('a gateway id stays valid for an appointment of the EHR', () => {
  test('of a two-step cancellation, confirmed or expired', async () => {
    const done = await cancelInTwo('why');
    await uk.confirm(done.view.id, await codeFor(gateway, done.view.id));
    const late = await cancelInTwo('never');
    for (const { id } of [done, late]) await backdate(id, '8 days');
    await eventually(async () => expect(await items(late.id)).toMatchObject([{ state: 'expired' }]));
    const before = await uk.getAll([done.view.id, late.view.id]);
    await purge();
    expect(await uk.getAll([done.view.id, late.view.id])).toEqual(before);
    expect(before).toMatchObject([
      { status: 'cancelled', replaces_id: done.original.id },
      { status: 'booked', replaces_id: late.original.id },
    ]);
    for (const { id } of [done, late]) {
      expect(await confirmations(id)).toEqual([{ code_hash: null, patient_hash: null }]);
      expect(await messagesOf(id)).toEqual([]);
    }
    // The EHR is not called again.
    await deleteOldConfirmations(db, days, 1);
    expect(await rowsOf(gateway, 'SELECT FROM confirmations WHERE purged_at IS NULL')).toEqual([]);
    expect((await uk.cancel(late.view.id)).body).toMatchObject({ status: 'awaiting_confirmation' });
  });

  test('of a draft that was booked, and is the id in lists', async () => {
    const held = await book(gateway, { careUnit: draftUnit });
    const id = confirmationIdOf(held);
    await drafts.confirm(held.id, await codeFor(gateway, held.id));
    const booked = await drafts.get(held.id);
    expect(booked.status).toBe('booked');
    await backdate(id, '8 days');
    await purge();
    expect(await drafts.get(held.id)).toEqual(booked);
    expect(await drafts.list('patient_id=p-3')).toContainEqual(booked);
    expect(await confirmations(id)).toEqual([{ code_hash: null, patient_hash: null }]);
    expect(await items(id)).toMatchObject([{ patient_hash: null, draft_start: null, sealed_draft: null }]);
  });
});

test('a draft that was never booked stays cancelled permanently', async () => {
  const held = await book(gateway, { careUnit: draftUnit, patientId: 'p-7', comment: 'mine' });
  const id = confirmationIdOf(held);
  for (const time of ['6 days 23 hours', '2 hours']) {
    await backdate(id, time);
    await eventually(async () => expect(await items(id)).toMatchObject([{ state: 'expired' }]));
    await purge();
    expect(await drafts.get(held.id)).toEqual({ ...held, status: 'cancelled', confirmation: null });
    expect(await drafts.list('patient_id=p-7')).toHaveLength(1);
  }
  expect(await confirmations(id)).toEqual([{ code_hash: null, patient_hash: null }]);
  expect(await messagesOf(id)).toEqual([]);
});

test('a locked confirmation ends like any other', async () => {
  const held = await book(gateway, { careUnit: sodermalm });
  const id = confirmationIdOf(held);
  for (const wrong of incorrectCodes(await codeFor(gateway, held.id), 5)) await sweden.confirm(held.id, wrong);
  await backdate(id, '8 days');
  await eventually(async () => expect(await items(id)).toMatchObject([{ state: 'expired' }]));
  await purge();
  await isGone(id);
});

test('idempotency keys are deleted after a day, in batches', async () => {
  const insert = (age: string) =>
    rowsOf(
      gateway,
      `INSERT INTO operations (id, client_id, idempotency_key_hash, request_hash, emr, care_unit_id, created_at)
       VALUES (gen_random_uuid(), 'old keys', $1, '', 'e', 'c', clock_timestamp() - $2::interval)`,
      [randomBytes(32), age],
    );
  const left = async () => (await rowsOf(gateway, `SELECT FROM operations WHERE client_id = 'old keys'`)).length;
  await insert('23 hours 59 minutes');
  for (const _ of [1, 2, 3]) await insert('25 hours');
  await deleteOldWrites(db, 2);
  expect(await left()).toBeLessThanOrEqual(2);
  await deleteOldWrites(db, 2);
  expect(await left()).toBe(1);
});

test('the background job purges after the configured number of days', async () => {
  const other = await startGateway({
    configure: (demo) => ({ ...demo, retention: { ...demo.retention, confirmation_days: 1 } }),
  });
  try {
    const booked = await bookByCode(other, { careUnit: sodermalm });
    await messagesAbout(other, booked.id);
    const tables = ['confirmations', 'confirmation_items', 'messages'];
    const left = () => Promise.all(tables.map(async (table) => (await rowsOf(other, `SELECT FROM ${table}`)).length));
    expect(await left()).toEqual([1, 1, 1]);
    const past = `clock_timestamp() - interval '25 hours'`;
    await rowsOf(other, `UPDATE confirmations SET expires_at = ${past}, confirmed_at = ${past}`);
    await rowsOf(other, `UPDATE messages SET expires_at = ${past}`);
    await eventually(async () => expect(await left()).toEqual([0, 0, 0]));
    expect(await careUnitOf(other, sodermalm).get(booked.id)).toEqual(booked);
  } finally {
    await other.close();
  }
});
