import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { failableWrites } from '../../../test/ehrs/failing-writes.ts';
import { withoutHolds, withoutTransactions } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { settledResponse } from '../../../test/gateway/recovery.ts';
import {
  type Appointment,
  bookEach,
  consecutiveSlots,
  freeSlots,
  idsIn,
  nextMonth,
  type Slot,
} from '../../../test/requests/bookings.ts';
import {
  type AppointmentsResponse,
  abandonWrites,
  bookByCode,
  careUnitOf,
  codeFor,
  eventually,
  unfinishedOperations,
} from '../../../test/requests/codes.ts';
import { expectEvents } from '../../../test/requests/events.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const writes = failableWrites();
const { fail, stopFailing } = writes;
beforeEach(writes.reset);

const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      let other = writes.failable(connector);
      if (emr.startsWith('no-hold')) other = withoutHolds(other);
      if (emr.endsWith('no-transactions')) other = withoutTransactions(other);
      return other;
    }),
  ],
  configure: (demo) =>
    [
      { id: 'no-transactions', like: 'sandbox-no', policies: {} },
      { id: 'no-hold-no-transactions', like: 'sandbox-se', policies: {} },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());

describe('an EHR without transactions', () => {
  const path = careUnitPath('no-transactions', 'oslo-sentrum');
  const careUnit = careUnitOf(gateway, path);

  test.each([
    ['is rejected, which compensates the earlier ones', 'rejected', false, 502],
    ['gets no response and is not made', 'outcome_unknown', false, 504],
    ['is made but gets no response', 'outcome_unknown', true, 504],
  ] as const)('performs everything on a retry with the key if a later change %s', async (_, kind, after, status) => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: path, resourceId: 'r-2', from: nextMonth() });
    const ids = idsIn(await bookEach(gateway, slots, { careUnit: path }));
    const headers = { 'idempotency-key': randomUUID() };
    const ask = () =>
      gateway.request<AppointmentsResponse['body'] & { readonly reason?: string }>('PATCH', `${path}/appointments`, {
        body: { ids, resource_id: 'r-1' },
        headers,
      });
    writes.calls = 0;
    fail(2, kind, { after });
    expect(await ask()).toMatchObject({ status });
    stopFailing();
    // Background recovery may be finishing it.
    const { body } = await settledResponse(ask);
    expect(body.appointments.map(({ id, resource_id }) => [id, resource_id])).toEqual(
      ids.map((id) => [id, 'emr_id:r-1']),
    );
    for (const id of ids) expect(await careUnit.get(id)).toMatchObject({ resource_id: 'emr_id:r-1', status: 'booked' });
    expect(await careUnit.changeMany(ids, { status: 'cancelled' })).toMatchObject({ status: 200 });
  });

  test('reports the outcome of every id if compensation fails', async () => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: path, resourceId: 'r-3' });
    const booked = await bookEach(gateway, slots, { careUnit: path });
    const ids = idsIn(booked);
    fail(3, 'rejected');
    // Changes are compensated in reverse order.
    fail(5, 'rejected');
    const response = await careUnit.changeMany(ids, { resource_id: 'r-4' });
    expectProblem(response, 502, 'partially_applied');
    expect(response.body.errors.map(({ id, pointer, reason }) => [id, pointer, reason])).toEqual(
      ids.map((id, index) => [id, `/ids/${index}`, 'partially_applied']),
    );
    const [changed, ...others] = response.body.errors.map(({ detail }) => detail);
    expect(others).not.toContain(changed);
    expect((await careUnit.getAll(ids)).map(({ resource_id }) => resource_id)).toEqual([
      'emr_id:r-4',
      'emr_id:r-3',
      'emr_id:r-3',
    ]);
    const [left = '', ...compensated] = ids;
    await expectEvents(gateway, left, ['booked', 'updated']);
    for (const id of compensated) await expectEvents(gateway, id, ['booked']);
  });

  test('reports each id at its index in the request, in whatever order the writes were made', async () => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: path, resourceId: 'r-1', from: nextMonth() });
    const [first, second, third] = slots as [Slot, Slot, Slot];
    const [a, b] = (await bookEach(gateway, [first, second], { careUnit: path })) as [Appointment, Appointment];
    fail(2, 'rejected');
    fail(3, 'rejected');
    const response = await careUnit.changeMany([a.id, b.id], { start: second.start, end: third.end, comment: 'new' });
    expectProblem(response, 502, 'partially_applied');
    expect(response.body.errors.map(({ id, pointer }) => [id, pointer])).toEqual([
      [b.id, '/ids/1'],
      [a.id, '/ids/0'],
    ]);
  });

  describe('and a gateway that is killed', () => {
    const underKey = (key: string, body: object) =>
      gateway.request<AppointmentsResponse['body']>('PATCH', `${path}/appointments`, {
        body,
        headers: { 'idempotency-key': key },
      });
    const withoutWrites = () =>
      eventually(async () => expect(await unfinishedOperations(gateway, 'no-transactions')).toEqual([]));

    test.each([
      ['before it compensates a change', 4],
      ['after it has compensated a change', 5],
    ])('%s: all changes are compensated, and a retry performs them', async (_, lastCall) => {
      const slots = await consecutiveSlots(gateway, 3, { careUnit: path, resourceId: 'r-1', from: nextMonth() });
      const booked = await bookEach(gateway, slots, { careUnit: path, comment: 'old' });
      const body = { ids: idsIn(booked), resource_id: 'r-2', comment: 'new' };
      const key = randomUUID();
      const { promise: respondAfter, resolve } = Promise.withResolvers<void>();
      fail(3, 'rejected');
      fail(lastCall, 'unavailable', { respondAfter });
      const response = underKey(key, body);
      await eventually(() => expect(writes.calls).toBe(lastCall));
      stopFailing();
      await abandonWrites(gateway, 'no-transactions');
      await withoutWrites();
      expect(await careUnit.getAll(body.ids)).toEqual(booked);
      resolve();
      await response;
      const again = await underKey(key, body);
      expect(again.status).toBe(200);
      expect(again.body.appointments).toEqual(
        booked.map((it) => ({ ...it, resource_id: 'emr_id:r-2', comment: 'new' })),
      );
      expect(await careUnit.getAll(body.ids)).toEqual(again.body.appointments);
      expect(await careUnit.changeMany(body.ids, { status: 'cancelled' })).toMatchObject({ status: 200 });
    });

    test('between two changes, the second of which fails later: both appointments are unchanged', async () => {
      const slots = await consecutiveSlots(gateway, 2, { careUnit: path, resourceId: 'r-3', from: nextMonth() });
      const booked = await bookEach(gateway, slots, { careUnit: path, comment: 'old' });
      const { promise: respondAfter, resolve } = Promise.withResolvers<void>();
      fail(2, 'unavailable', { respondAfter });
      const response = careUnit.changeMany(idsIn(booked), { resource_id: 'r-4', comment: 'new' });
      await eventually(() => expect(writes.calls).toBe(2));
      stopFailing();
      fail(2, 'rejected');
      await abandonWrites(gateway, 'no-transactions');
      await withoutWrites();
      expect(writes.calls).toBe(3);
      expect(await careUnit.getAll(idsIn(booked))).toEqual(booked);
      resolve();
      await response;
    });
  });

  describe('and drafts of one code', () => {
    const there = careUnitPath('no-hold-no-transactions', 'sodermalm');
    const { changeMany, confirm, confirmMany, getAll } = careUnitOf(gateway, there);

    async function drafts(resourceId: string): Promise<{ readonly ids: string[]; readonly code: string }> {
      const slots = await consecutiveSlots(gateway, 3, { careUnit: there, resourceId, from: nextMonth() });
      const [first, , last] = slots as [Slot, Slot, Slot];
      const mine = await bookByCode(gateway, { careUnit: there, slot: first });
      const { body } = await changeMany([mine.id], { start: first.start, end: last.end });
      const ids = idsIn(body.appointments.slice(1));
      return { ids, code: await codeFor(gateway, ids[0] ?? '') };
    }

    test('books both after a confirmation that was compensated', async () => {
      const { ids, code } = await drafts('r-1');
      fail(2, 'rejected');
      expectProblem(await confirmMany(ids, code), 502, 'ehr_rejected');
      stopFailing();
      const { status, body } = await confirmMany(ids, code);
      expect(status).toBe(200);
      expect(body.appointments.map((it) => it.status)).toEqual(['booked', 'booked']);
      expect(await getAll(ids)).toEqual(body.appointments);
    });

    test('rejects a confirmation of one draft while it is unknown whether both are booked', async () => {
      const { ids, code } = await drafts('r-2');
      const [one = ''] = ids;
      const { promise: respondAfter, resolve } = Promise.withResolvers<void>();
      fail(2, 'outcome_unknown', { after: true, respondAfter });
      const both = confirmMany(ids, code);
      await eventually(() => expect(writes.calls).toBe(2));
      stopFailing();
      expectProblem(await confirm(one, code), 409, 'idempotency_in_progress');
      resolve();
      expectProblem(await both, 504, 'outcome_unknown');
      await eventually(async () =>
        expect((await getAll(ids)).map((it) => [it.status, it.confirmation])).toEqual(ids.map(() => ['booked', null])),
      );
      expect(await confirm(one, code)).toMatchObject({ status: 200, body: { id: one, status: 'booked' } });
    });
  });

  test('cannot compensate a cancellation', async () => {
    const booked = await bookEach(gateway, await freeSlots(gateway, { careUnit: path, limit: 2 }), { careUnit: path });
    const [a, b] = booked as [Appointment, Appointment];
    fail(1, 'unavailable');
    expectProblem(await careUnit.changeMany([a.id, b.id], { status: 'cancelled' }), 503, 'ehr_unavailable');
    expect(await careUnit.getAll([a.id, b.id])).toEqual([a, b]);
    stopFailing();
    fail(2, 'rejected');
    const response = await careUnit.changeMany([a.id, b.id], { status: 'cancelled' });
    expectProblem(response, 502, 'partially_applied');
    expect(response.body.errors.map(({ id }) => id)).toEqual([a.id, b.id]);
    expect((await careUnit.getAll([a.id, b.id])).map(({ status }) => status)).toEqual(['cancelled', 'booked']);
  });

  test('reports the ids that the caller knows', async () => {
    const there = careUnitPath('no-hold-no-transactions', 'sodermalm');
    const { changeMany, getAll } = careUnitOf(gateway, there);
    const a = await bookByCode(gateway, { careUnit: there, resourceId: 'r-1' });
    const b = await bookByCode(gateway, { careUnit: there, resourceId: 'r-1' });
    fail(2, 'rejected');
    fail(3, 'rejected');
    const response = await changeMany([a.id, b.id], { resource_id: 'r-2' });
    expectProblem(response, 502, 'partially_applied');
    expect(response.body.errors.map(({ id }) => id)).toEqual([a.id, b.id]);
    expect((await getAll([a.id, b.id])).map(({ resource_id }) => resource_id)).toEqual(['emr_id:r-2', 'emr_id:r-1']);
  });
});
