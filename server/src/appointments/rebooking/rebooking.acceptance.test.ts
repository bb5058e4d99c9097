/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import type { Connector } from '@crossward/connector-kit';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { faultyEhrs } from '../../../../test/ehrs/faulty-ehr.ts';
import {
  movingToNewId,
  rebooking,
  withoutHolds,
  withoutOperationIds,
  withoutTransactions,
} from '../../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { calledWhileUnavailable, finalResponse, withQuickRecovery } from '../../../../test/gateway/recovery.ts';
import {
  type Appointment,
  at,
  bookEach,
  consecutiveSlots,
  creationBody,
  idsIn,
  isFree,
  type Slot,
} from '../../../../test/requests/bookings.ts';
import {
  type AppointmentResponse,
  type AppointmentsResponse,
  backdateWrites,
  bookByCode,
  careUnitOf,
  codeFor,
  eventually,
  runBackgroundJobs,
  unfinishedOperations,
} from '../../../../test/requests/codes.ts';
import { eventsAbout, expectEvents } from '../../../../test/requests/events.ts';
import { expectProblem } from '../../../../test/requests/problems.ts';

const ehrs = faultyEhrs();
beforeEach(ehrs.reset);

/**
 * How an EHR whose moves give new ids is limited besides. `no-operation-ids` is like GP Connect and GNU Health. The last three
 * move in one step.
 */
const kinds: Readonly<Record<string, (connector: Connector) => Connector>> = {
  'in-one-write': rebooking,
  'one-by-one': (connector) => withoutTransactions(rebooking(connector)),
  'no-operation-ids': (connector) => withoutTransactions(rebooking(withoutOperationIds(connector))),
  'moves-in-one-write': movingToNewId,
  'moves-one-by-one': (connector) => withoutTransactions(movingToNewId(connector)),
  'moves-no-operation-ids': (connector) => withoutTransactions(movingToNewId(withoutOperationIds(connector))),
};

const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      const limited = kinds[emr.replace(/^code-/, '')];
      const faulty = ehrs.faulty(connector, emr);
      if (emr === 'comments-stay') return withoutUpdates(rebooking(faulty));
      if (!limited) return connector;
      return emr.startsWith('code-') ? withoutHolds(limited(faulty)) : limited(faulty);
    }),
  ],
  configure: (demo) =>
    withQuickRecovery(
      [
        ...Object.keys(kinds).map((id) => ({ id, like: 'sandbox-no', policies: {} })),
        { id: 'comments-stay', like: 'sandbox-no', policies: {} },
        { id: 'code-no-operation-ids', like: 'sandbox-se', policies: { cancellation_confirmation: 'code' } as const },
      ].reduce(withEhr, demo),
    ),
});
afterAll(() => gateway.close());

function withoutUpdates(connector: Connector): Connector {
  const changes = connector.capabilities.changes.filter((kind) => kind !== 'update');
  return { ...connector, capabilities: { ...connector.capabilities, changes } };
}

interface Moving {
  readonly first: Appointment;
  readonly slots: readonly [Slot, Slot, Slot, Slot];
}

describe.each(Object.keys(kinds))('an EHR whose moves give new ids (%s)', (emr) => {
  const isOneStep = emr.startsWith('moves-');
  const path = careUnitPath(emr, 'oslo-sentrum');
  const careUnit = careUnitOf(gateway, path);
  const ehr = ehrs.of(emr);
  const staff = gateway.ehr(emr);

  /** An appointment in the first of four slots. */
  async function booked(): Promise<Moving> {
    const slots = (await consecutiveSlots(gateway, 4, { careUnit: path, resourceId: 'r-1' })) as [
      Slot,
      Slot,
      Slot,
      Slot,
    ];
    const [first] = (await bookEach(gateway, [slots[0]], { careUnit: path, comment: 'old' })) as [Appointment];
    return { first, slots };
  }
  const move = (id: string, to: object, key: string = randomUUID()): Promise<AppointmentResponse> =>
    gateway.request('PATCH', `${path}/appointments/${id}`, { body: to, headers: { 'idempotency-key': key } });
  /** What is booked in these slots, whoever booked it. */
  async function bookedIn(slots: readonly Slot[]): Promise<readonly Appointment[]> {
    const [first, last] = [slots[0], slots.at(-1)];
    const query = new URLSearchParams({ resource_id: 'r-1', start: first?.start ?? '', end: last?.end ?? '' });
    return (await careUnit.list(query.toString())).filter(({ status }) => status !== 'cancelled');
  }
  const settled = () => eventually(async () => expect(await unfinishedOperations(gateway, emr)).toEqual([]));

  test('books the new time and cancels the former appointment', async () => {
    const { first, slots } = await booked();
    const key = randomUUID();
    const response = await move(first.id, { ...at(slots[2]), comment: 'new' }, key);
    const next = response.body;
    expect(response).toMatchObject({
      status: 200,
      body: { ...first, ...at(slots[2]), comment: 'new', id: next.id, supersedes_id: first.id },
    });
    expect(next.id).not.toBe(first.id);
    expect(await careUnit.get(next.id)).toEqual(next);
    expect(await careUnit.get(first.id)).toEqual({ ...first, status: 'cancelled' });
    expect(await bookedIn(slots)).toEqual([next]);
    // A replay has the same response, and moves nothing.
    expect((await move(first.id, { ...at(slots[2]), comment: 'new' }, key)).text).toBe(response.text);
    expectProblem(await move(first.id, at(slots[3])), 409, 'appointment_cancelled');
  });

  test('shows the former id for good, whatever becomes of the appointment', async () => {
    const { first, slots } = await booked();
    const { body: second } = await move(first.id, at(slots[1]));
    const { body: commented } = await careUnit.change(second.id, { comment: 'only this' });
    expect(commented).toEqual({ ...second, comment: 'only this' });
    const { body: third } = await move(second.id, at(slots[2]));
    expect(third.supersedes_id).toBe(second.id);
    const { body: cancelled } = await careUnit.cancel(third.id);
    expect(cancelled).toEqual({ ...third, status: 'cancelled' });
    expect((await careUnit.getAll([first.id, second.id, third.id])).map(({ supersedes_id }) => supersedes_id)).toEqual([
      null,
      first.id,
      second.id,
    ]);
  });

  test('tells other systems that the former appointment has ended and the new one is booked', async () => {
    const { first, slots } = await booked();
    const { body: next } = await move(first.id, at(slots[1]));
    await expectEvents(gateway, first.id, ['booked', 'cancelled']);
    const [, cancelled] = await eventsAbout(gateway, first.id, 2);
    expect(cancelled?.data).toMatchObject({ status: 'cancelled', start: first.start, superseded_by_id: next.id });
    const [event, ...others] = await eventsAbout(gateway, next.id, 1);
    expect(event).toMatchObject({ type: 'appointment.booked', data: { start: next.start, supersedes_id: first.id } });
    expect(others).toEqual([]);
  });

  test('a dry run says that it would be moved, and that the new id does not exist yet', async () => {
    const { first, slots } = await booked();
    const { status, body } = await careUnit.change(first.id, at(slots[1]), '?dry_run=true');
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { ...first, ...at(slots[1]), id: null, supersedes_id: first.id, change: 'moved' },
    });
    expect(await bookedIn(slots)).toEqual([first]);
  });

  test('moves several, in their order', async () => {
    const { slots } = await booked();
    const mine = await bookEach(gateway, [slots[1], slots[2]], { careUnit: path, comment: 'old' });
    const ids = idsIn(mine).toReversed();
    const { status, body } = await careUnit.changeMany(ids, { resource_id: 'r-2' });
    expect(status).toBe(200);
    expect(body.appointments.map((it) => [it.supersedes_id, it.resource_id])).toEqual(
      ids.map((id) => [id, 'emr_id:r-2']),
    );
    expect(await careUnit.getAll(idsIn(body.appointments))).toEqual(body.appointments);
    expect((await careUnit.getAll(ids)).map((it) => it.status)).toEqual(['cancelled', 'cancelled']);
  });

  test('a continuous reschedule moves a row of appointments into times of each other', async () => {
    const { first, slots } = await booked();
    const [second] = (await bookEach(gateway, [slots[1]], { careUnit: path, comment: 'old' })) as [Appointment];
    // The slots of the range are the second and the third: the first appointment needs the time of the second one.
    const { status, body } = await careUnit.changeMany([first.id, second.id], {
      start: slots[1].start,
      end: slots[3].end,
      comment: 'all',
    });
    expect(status).toBe(200);
    const [kept, moved, created] = body.appointments;
    expect(kept).toEqual({ ...second, comment: 'all' });
    expect(moved).toMatchObject({ ...at(slots[2]), supersedes_id: first.id, comment: 'all' });
    expect(created).toMatchObject({ ...at(slots[3]), supersedes_id: null });
    expect(await bookedIn(slots)).toEqual([kept, moved, created]);
  });

  test('a continuous reschedule books an appointment anew within the time that it leaves', async () => {
    const [one, two, three, four] = (await booked()).slots;
    const [long, longer] = [creationBody(two, two), creationBody(three, four)];
    const { body: former } = await careUnit.create(long);
    const { body: latter } = await careUnit.create(longer);
    // The second one gets the first half of its own time, and a new one the other half.
    const { status, body, text } = await careUnit.changeMany([former.id, latter.id], {
      start: two.start,
      end: four.end,
    });
    expect(status, text).toBe(200);
    const [kept, moved, created] = body.appointments;
    expect(kept).toEqual(former);
    expect(moved).toMatchObject({ ...at(three), supersedes_id: latter.id });
    expect(created).toMatchObject({ ...at(four), supersedes_id: null });
    expect(await bookedIn([one, two, three, four])).toMatchObject([{}, kept, moved, created]);
    expect(await careUnit.get(latter.id)).toMatchObject({ status: 'cancelled' });
  });

  test('no request lets two appointments change places: a time that another of its ids keeps is not free', async () => {
    const { first, slots } = await booked();
    const there = { ...slots[0], resource_id: 'emr_id:r-2' };
    const { body: second } = await careUnit.create(creationBody(there));
    expect(second).toMatchObject({ resource_id: 'emr_id:r-2', start: first.start });
    for (const resource of ['r-1', 'r-2']) {
      const response = await careUnit.changeMany([first.id, second.id], { resource_id: resource });
      expectProblem(response, 400, 'time_slot_unavailable');
    }
    expect(await careUnit.getAll([first.id, second.id])).toEqual([first, second]);
  });

  test('moves an appointment into its own time', async () => {
    const { slots } = await booked();
    const { body: long } = await careUnit.create(creationBody(slots[1], slots[2]));
    const { status, body } = await move(long.id, { start: slots[2].start, end: slots[3].end });
    expect({ status, body }).toMatchObject({ status: 200, body: { start: slots[2].start, supersedes_id: long.id } });
    expect(await bookedIn(slots.slice(1))).toEqual([body]);
  });

  test('a time that is taken leaves everything as it was, also if it overlaps the appointment itself', async () => {
    const { first, slots } = await booked();
    const [other] = (await bookEach(gateway, [slots[1]], { careUnit: path, patientId: 'p-9' })) as [Appointment];
    for (const time of [at(slots[1]), { start: slots[0].start, end: slots[1].end }]) {
      expectProblem(await move(first.id, time), 400, 'time_slot_unavailable');
    }
    expect(await bookedIn(slots)).toEqual([first, other]);
    expect(await careUnit.get(first.id)).toEqual(first);
  });

  test.each([true, false])(
    'a new time whose booking got no response (done: %s) is not booked twice',
    async (isDone) => {
      const { first, slots } = await booked();
      const key = randomUUID();
      ehr.goDownDuring({ isDone, kind: 'create' });
      expectProblem(await move(first.id, at(slots[2]), key), 504, 'outcome_unknown');
      await calledWhileUnavailable(ehr);
      ehr.comeUp();
      if (!isDone && emr.endsWith('no-operation-ids')) {
        // Nothing can be seen of it, so it is never sent again.
        await eventually(async () => {
          await backdateWrites(gateway);
          await runBackgroundJobs(gateway);
          expect(await unfinishedOperations(gateway, emr)).toEqual([]);
        });
        const last = await move(first.id, at(slots[2]), key);
        expect(last.body).toMatchObject({ reason: 'outcome_unknown', retryable: false });
        expect(await bookedIn(slots)).toEqual([first]);
        return;
      }
      const response = await finalResponse(() => move(first.id, at(slots[2]), key));
      expect(response).toMatchObject({ status: 200, body: { ...at(slots[2]), supersedes_id: first.id } });
      await settled();
      expect(await bookedIn(slots)).toEqual([response.body]);
    },
  );

  if (!isOneStep && emr !== 'in-one-write') {
    test.each([true, false])(
      'a former appointment whose cancellation got no response (done: %s) is cancelled once',
      async (isDone) => {
        const { first, slots } = await booked();
        const key = randomUUID();
        ehr.goDownDuring({ isDone, kind: 'cancel' });
        expectProblem(await move(first.id, at(slots[2]), key), 504, 'outcome_unknown');
        await calledWhileUnavailable(ehr);
        ehr.comeUp();
        const response = await finalResponse(() => move(first.id, at(slots[2]), key));
        expect(response).toMatchObject({ status: 200, body: { ...at(slots[2]), supersedes_id: first.id } });
        await settled();
        expect(await bookedIn(slots)).toEqual([response.body]);
        await expectEvents(gateway, first.id, ['booked', 'cancelled']);
      },
    );

    test.each([
      ['cancelled', (id: string) => staff.cancel(id), 'appointment_cancelled'],
      ['commented', (id: string) => staff.comment(id, 'by staff'), 'appointment_changed'],
      ['moved', (id: string) => staff.moveBack(id, -40), 'appointment_changed'],
    ])(
      'a former appointment that staff have %s in between is left so, and the new one is cancelled',
      async (_, edit, reason) => {
        const { first, slots } = await booked();
        const gate = Promise.withResolvers<void>();
        ehr.afterWrite(() => ehr.hang('findAppointments', gate.promise), { kind: 'create' });
        const moving = move(first.id, at(slots[2]));
        await eventually(() => expect(ehr.hanging).toBe(1));
        await edit(first.id);
        gate.resolve();
        expectProblem(await moving, 409, reason);
        expect(await isFree(gateway, slots[2], path)).toBe(true);
        expect(await careUnit.get(first.id)).not.toEqual(first);
      },
    );

    test('a move that nobody asks about again is finished, too', async () => {
      const { first, slots } = await booked();
      ehr.loseResponse({ isDone: false, kind: 'cancel' });
      expectProblem(await careUnit.change(first.id, at(slots[2])), 504, 'outcome_unknown');
      await settled();
      const [next, ...others] = await bookedIn(slots);
      expect(next).toMatchObject({ ...at(slots[2]), supersedes_id: first.id });
      expect(others).toEqual([]);
    });

    test('a former appointment that cannot be cancelled stays, and the new one is cancelled', async () => {
      const { first, slots } = await booked();
      ehr.failNext('rejected', { kind: 'cancel' });
      expectProblem(await move(first.id, at(slots[2])), 502, 'ehr_rejected');
      expect(await bookedIn(slots)).toEqual([first]);
      await expectEvents(gateway, first.id, ['booked']);
    });

    test('if a later cancellation fails, the former ones get their times back, and the caller hears their ids', async () => {
      const { slots } = await booked();
      const mine = await bookEach(gateway, [slots[1], slots[2]], { careUnit: path, comment: 'old' });
      const [one, two] = mine as [Appointment, Appointment];
      ehr.failNext('rejected', { kind: 'cancel', after: 1 });
      const response = await careUnit.changeMany(idsIn(mine), { resource_id: 'r-2' });
      expectProblem(response, 502, 'partially_applied');
      const [again, untouched] = await bookedIn(slots.slice(1));
      expect(again).toMatchObject({ ...at(slots[1]), comment: 'old', supersedes_id: one.id });
      expect(untouched).toEqual(two);
      expect(response.body.errors.map(({ id, detail }) => [id, detail])).toEqual([
        [one.id, `Booked again at its former time, with the id ${again?.id}.`],
        [two.id, 'Unchanged.'],
      ]);
      await expectEvents(gateway, one.id, ['booked', 'cancelled']);
      await expectEvents(gateway, again?.id ?? '', ['booked']);
      const there = await careUnit.list(`patient_id=${one.patient_id}&resource_id=r-2&status=booked`);
      expect(there.filter(({ start }) => start === one.start || start === two.start)).toEqual([]);
    });
  }

  if (isOneStep) {
    test('a former appointment that staff cancel in between stays cancelled', async () => {
      const { first, slots } = await booked();
      ehr.failNext('appointment_cancelled', { kind: 'create', meanwhile: () => staff.cancel(first.id) });
      const response = await move(first.id, at(slots[2]));
      expect([response.status, response.body.reason]).toEqual([409, 'appointment_cancelled']);
      expect(await bookedIn(slots)).toEqual([]);
    });

    test('a move whose new appointment staff have changed since is still told', async () => {
      const { first, slots } = await booked();
      const key = randomUUID();
      ehr.goDownDuring({ isDone: true, kind: 'create' });
      expectProblem(await move(first.id, at(slots[2]), key), 504, 'outcome_unknown');
      await calledWhileUnavailable(ehr);
      ehr.comeUp();
      const [next] = await bookedIn(slots);
      await staff.comment(next?.id ?? '', 'by staff');
      const { status, body } = await finalResponse(() => move(first.id, at(slots[2]), key));
      expect({ status, body }).toMatchObject({ status: 200, body: { id: next?.id, supersedes_id: first.id } });
      await settled();
      await expectEvents(gateway, first.id, ['booked', 'cancelled']);
    });
  }

  if (isOneStep && emr !== 'moves-in-one-write') {
    test.each([false, true])(
      'if a later move fails, the former ones get their times back under new ids (the answer is lost: %s)',
      async (isLost) => {
        const { slots } = await booked();
        const mine = await bookEach(gateway, [slots[1], slots[2]], { careUnit: path, comment: 'old' });
        const [one, two] = mine as [Appointment, Appointment];
        ehr.failNext('rejected', { kind: 'create', after: 1 });
        // That of the compensation.
        if (isLost) ehr.goDownDuring({ isDone: true, kind: 'create' });
        const key = randomUUID();
        const send = (): Promise<AppointmentsResponse> =>
          gateway.request('PATCH', `${path}/appointments`, {
            body: { ids: idsIn(mine), resource_id: 'r-2' },
            headers: { 'idempotency-key': key },
          });
        if (isLost) {
          expectProblem(await send(), 504, 'outcome_unknown');
          await calledWhileUnavailable(ehr);
          ehr.comeUp();
        }
        const response = isLost ? await finalResponse(send) : await send();
        expectProblem(response, 502, 'partially_applied');
        const [again, untouched] = await bookedIn(slots.slice(1));
        expect(again).toMatchObject({ ...at(slots[1]), comment: 'old', supersedes_id: one.id });
        expect(again?.id).not.toBe(one.id);
        expect(untouched).toEqual(two);
        expect(response.body.errors.map(({ id, detail }) => [id, detail])).toEqual([
          [one.id, `Booked again at its former time, with the id ${again?.id}.`],
          [two.id, 'Unchanged.'],
        ]);
        await expectEvents(gateway, one.id, ['booked', 'cancelled']);
        await expectEvents(gateway, again?.id ?? '', ['booked']);
        const there = await careUnit.list(`patient_id=${one.patient_id}&resource_id=r-2&status=booked`);
        expect(there.filter(({ start }) => start === one.start || start === two.start)).toEqual([]);
      },
    );
  }

  test('of two moves at the same time one succeeds', async () => {
    const { first, slots } = await booked();
    const responses = await Promise.all([move(first.id, at(slots[1])), move(first.id, at(slots[2]))]);
    const [won, ...others] = responses.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    const lost = responses.find(({ status }) => status !== 200);
    expect([lost?.status, lost?.body.reason]).toEqual([409, 'appointment_cancelled']);
    await settled();
    expect(await bookedIn(slots)).toEqual([won?.body]);
  });
});

test('an EHR that can neither move an appointment nor change its comment takes a new time alone', async () => {
  const path = careUnitPath('comments-stay', 'oslo-sentrum');
  const careUnit = careUnitOf(gateway, path);
  const slots = await consecutiveSlots(gateway, 2, { careUnit: path, resourceId: 'r-1' });
  const [first] = (await bookEach(gateway, slots.slice(0, 1), { careUnit: path })) as [Appointment];
  expectProblem(await careUnit.change(first.id, { comment: 'only this' }), 501, 'operation_unsupported');
  const { body } = await gateway.request('GET', '/api/emrs/comments-stay');
  expect(JSON.stringify(body)).toContain('"update_appointment"');
  const response = await careUnit.change(first.id, { ...at(slots[1] as Slot), comment: 'with the time' });
  expect(response).toMatchObject({ status: 200, body: { supersedes_id: first.id, comment: 'with the time' } });
});

describe('with codes', () => {
  const path = careUnitPath('code-no-operation-ids', 'sodermalm');
  const careUnit = careUnitOf(gateway, path);

  test('a booking that was confirmed by code is moved under a new id', async () => {
    const first = await bookByCode(gateway, { careUnit: path });
    const [, to] = (await consecutiveSlots(gateway, 2, { careUnit: path })) as [Slot, Slot];
    const { status, body: next } = await careUnit.change(first.id, at(to));
    expect({ status, next }).toMatchObject({ status: 200, next: { ...at(to), supersedes_id: first.id } });
    expect(await careUnit.get(next.id)).toEqual(next);
    expect(await careUnit.get(first.id)).toMatchObject({ status: 'cancelled' });
  });

  test('a cancellation that awaits its code follows the appointment', async () => {
    const first = await bookByCode(gateway, { careUnit: path });
    const { body: pending } = await careUnit.cancel(first.id);
    expect(pending).toMatchObject({ status: 'awaiting_confirmation', replaces_id: first.id });
    const [, to] = (await consecutiveSlots(gateway, 2, { careUnit: path })) as [Slot, Slot];
    const { body: next } = await careUnit.change(first.id, at(to));
    expect(await careUnit.get(pending.id)).toMatchObject({
      status: 'awaiting_confirmation',
      replaces_id: next.id,
      ...at(to),
    });
    const code = await codeFor(gateway, pending.id);
    expect(await careUnit.confirm(pending.id, code)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(await careUnit.get(next.id)).toMatchObject({ status: 'cancelled', supersedes_id: first.id });
    expect(await isFree(gateway, to, path)).toBe(true);
  });
});
