import { randomUUID } from 'node:crypto';
import { type Connector, ConnectorError, type ConnectorErrorKind } from '@crossward/connector-kit';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { settledResponse } from '../../../test/gateway/recovery.ts';
import {
  type Appointment,
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  type Slot,
} from '../../../test/requests/bookings.ts';
import {
  type AppointmentResponse,
  type AppointmentsResponse,
  abandonWrites,
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  expireCode,
  rowsOf,
  runBackgroundJobs,
  unfinishedOperations,
} from '../../../test/requests/codes.ts';

type Steps = Readonly<Record<number, () => Promise<void>>>;
/** Steps that run before a call of `changeAppointments` reaches the EHR, by the number of the call, from 1. */
let before: Steps = {};
/** Steps that run after the EHR has performed the call. */
let after: Steps = {};
let calls = 0;
/** The ids that the EHR was asked to release. */
let released: string[] = [];
/** Runs before the next call of `findAppointments`. */
let beforeFinding: (() => Promise<void>) | undefined;

beforeEach(() => at({}));

function at(stepsBefore: Steps, stepsAfter: Steps = {}): void {
  calls = 0;
  before = stepsBefore;
  after = stepsAfter;
}

function failing(kind: ConnectorErrorKind, until?: Promise<void>) {
  return async () => {
    await until;
    throw new ConnectorError(kind, 'Simulated failure');
  };
}

function otherwise(connector: Connector, emr: string): Connector {
  const { changeAppointments, findAppointments, capabilities } = connector;
  if (!changeAppointments || !findAppointments) throw new Error('The EHR takes no changes');
  return {
    ...connector,
    capabilities: {
      ...capabilities,
      transactions: emr === 'no-hold',
      changes: emr === 'holds' ? capabilities.changes : ['create', 'update', 'cancel'],
    },
    async changeAppointments(write) {
      calls += 1;
      const call = calls;
      for (const change of write.changes) if (change.kind === 'release') released.push(change.appointmentId);
      await before[call]?.();
      const done = await changeAppointments(write);
      await after[call]?.();
      return done;
    },
    async findAppointments(...input) {
      const step = beforeFinding;
      beforeFinding = undefined;
      await step?.();
      return findAppointments(...input);
    },
  };
}

const gateway = await startGateway({
  connectors: [wrapConnector(otherwise)],
  configure: (demo) =>
    [
      { id: 'no-hold', like: 'sandbox-se', policies: {} },
      { id: 'no-transactions', like: 'sandbox-se', policies: {} },
      { id: 'holds', like: 'sandbox-se', policies: {} },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());

function expectProblem(
  { status, body }: AppointmentResponse | AppointmentsResponse,
  expected: number,
  reason: string,
): void {
  expect({ status, reason: body.reason }).toEqual({ status: expected, reason });
}

const withoutWrites = (emr: string) =>
  eventually(async () => expect(await unfinishedOperations(gateway, emr)).toEqual([]));

describe('drafts of one code, booked without a transaction', () => {
  const path = careUnitPath('no-transactions', 'sodermalm');
  const { changeMany, confirm, confirmMany, getAll } = careUnitOf(gateway, path);

  async function drafts(resourceId: string, count = 2) {
    const from = new Date(Date.now() + 20 * 86_400_000);
    const slots = await consecutiveSlots(gateway, count + 1, { careUnit: path, resourceId, from });
    const [first, last] = [slots[0], slots.at(-1)] as [Slot, Slot];
    const { id } = await bookByCode(gateway, { careUnit: path, slot: first });
    const { body } = await changeMany([id], { start: first.start, end: last.end });
    const added = body.appointments.slice(1);
    const ids = added.map((draft) => draft.id);
    const inEhr = async () => {
      const starts = added.map((draft) => Date.parse(draft.start));
      return (await gateway.ehr('no-transactions').appointments())
        .filter((it) => it.resourceId === resourceId && starts.includes(it.start.getTime()) && it.state === 'booked')
        .map((it) => it.id);
    };
    return { ids, code: await codeFor(gateway, ids[0] ?? ''), inEhr };
  }

  async function expectBookedOnce({ ids, code, inEhr }: Awaited<ReturnType<typeof drafts>>): Promise<void> {
    const { status, body } = await confirmMany(ids, code);
    expect(status).toBe(200);
    expect(body.appointments.map((it) => it.status)).toEqual(ids.map(() => 'booked'));
    expect(await getAll(ids)).toEqual(body.appointments);
    expect(await inEhr()).toHaveLength(ids.length);
  }

  test('are not booked by a second request while the first one may have to compensate them', async () => {
    const wanted = await drafts('r-1');
    const { promise, resolve } = Promise.withResolvers<void>();
    at({ 2: failing('unavailable', promise) });
    const first = confirmMany(wanted.ids, wanted.code);
    await eventually(() => expect(calls).toBe(2));
    expectProblem(await confirmMany(wanted.ids, wanted.code), 409, 'idempotency_in_progress');
    resolve();
    expectProblem(await first, 503, 'ehr_unavailable');
    expect(await wanted.inEhr()).toEqual([]);
    await expectBookedOnce(wanted);
  });

  test('are not booked while the compensation of a killed gateway continues', async () => {
    const wanted = await drafts('r-2');
    const { promise, resolve } = Promise.withResolvers<void>();
    at({ 2: failing('rejected'), 3: failing('unavailable', promise) });
    const first = confirmMany(wanted.ids, wanted.code);
    await eventually(() => expect(calls).toBe(3));
    at({ 1: () => promise });
    await abandonWrites(gateway, 'no-transactions');
    expectProblem(await confirmMany(wanted.ids, wanted.code), 409, 'idempotency_in_progress');
    await eventually(() => expect(calls).toBe(1));
    resolve();
    await first;
    await withoutWrites('no-transactions');
    expect(await wanted.inEhr()).toEqual([]);
    await expectBookedOnce(wanted);
  });

  test('are compensated completely despite an outage of the EHR, and can be booked afterwards', async () => {
    const wanted = await drafts('r-4');
    at({ 2: failing('unavailable'), 3: failing('unavailable') });
    expectProblem(await confirmMany(wanted.ids, wanted.code), 504, 'outcome_unknown');
    await withoutWrites('no-transactions');
    expect(await wanted.inEhr()).toEqual([]);
    await expectBookedOnce(wanted);
  });

  test('are booked if the EHR has booked one and rejects the compensation', async () => {
    const wanted = await drafts('r-2');
    at({ 2: failing('rejected'), 3: failing('rejected') });
    expectProblem(await confirmMany(wanted.ids, wanted.code), 502, 'partially_applied');
    const [booked, ...others] = (await getAll(wanted.ids)).toSorted((a, b) => (a.status > b.status ? -1 : 1));
    expect([booked?.status, ...others.map(({ status }) => status)]).toEqual(['booked', 'awaiting_confirmation']);
    at({});
    expect(await confirm(booked?.id ?? '', wanted.code)).toMatchObject({ status: 200, body: booked });
    expect(calls).toBe(0);
    await expectBookedOnce(wanted);
  });

  test('are not booked again by a retry that lost its lease during compensation', async () => {
    const wanted = await drafts('r-1');
    const headers = { 'idempotency-key': randomUUID() };
    const body = { ids: wanted.ids, confirmation: { code: wanted.code } };
    const underKey = () =>
      gateway.request<AppointmentsResponse['body']>('PATCH', `${path}/appointments`, { body, headers });
    const { promise, resolve } = Promise.withResolvers<void>();
    at({ 2: failing('rejected'), 3: failing('unavailable', promise) });
    const first = underKey();
    await eventually(() => expect(calls).toBe(3));
    at({ 1: () => promise });
    await abandonWrites(gateway, 'no-transactions');
    const retry = underKey();
    await eventually(() => expect(calls).toBe(1));
    await abandonWrites(gateway, 'no-transactions');
    await withoutWrites('no-transactions');
    resolve();
    await first;
    // The background job may already have run.
    expect((await retry).body.reason).toBeOneOf(['outcome_unknown', 'idempotency_in_progress']);
    expect(await wanted.inEhr()).toEqual([]);
    const again = await settledResponse(underKey);
    expect(again.status).toBe(200);
    at({});
    expect(await underKey()).toMatchObject({ status: 200, body: again.body });
    expect(calls).toBe(0);
    await expectBookedOnce(wanted);
  });

  test('are booked by a request that was planned before their compensation', async () => {
    const wanted = await drafts('r-3', 3);
    const [one = '', ...others] = wanted.ids;
    expect(await confirm(one, wanted.code)).toMatchObject({ status: 200 });
    const undo = Promise.withResolvers<void>();
    const find = Promise.withResolvers<void>();
    at({ 2: failing('rejected', undo.promise) });
    const first = confirmMany(others, wanted.code);
    await eventually(() => expect(calls).toBe(2));
    beforeFinding = () => find.promise;
    const second = confirmMany(wanted.ids, wanted.code);
    await eventually(() => expect(beforeFinding).toBeUndefined());
    undo.resolve();
    expectProblem(await first, 502, 'ehr_rejected');
    find.resolve();
    expect(await second).toMatchObject({ status: 200 });
    await expectBookedOnce(wanted);
  });
});

describe('a draft that the EHR is about to book', () => {
  const path = careUnitPath('no-hold', 'sodermalm');
  const { cancel, changeMany, confirm, get } = careUnitOf(gateway, path);

  async function awaited(): Promise<{ readonly draft: Appointment; readonly code: string }> {
    const draft = await book(gateway, { careUnit: path });
    return { draft, code: await codeFor(gateway, draft.id) };
  }

  async function expectBooked({ draft }: { readonly draft: Appointment }): Promise<void> {
    expect(await get(draft.id)).toEqual({ ...draft, status: 'booked', confirmation: null });
    const inEhr = (await gateway.ehr('no-hold').appointments()).filter(
      ({ start, resourceId, state }) =>
        start.getTime() === Date.parse(draft.start) &&
        draft.resource_id === `emr_id:${resourceId}` &&
        state === 'booked',
    );
    expect(inEhr).toHaveLength(1);
  }

  test('is booked by one request with its code at a time, however slow the EHR is', async () => {
    const wanted = await awaited();
    const { promise, resolve } = Promise.withResolvers<void>();
    at({ 1: () => promise });
    const first = confirm(wanted.draft.id, wanted.code);
    await eventually(() => expect(calls).toBe(1));
    expectProblem(await confirm(wanted.draft.id, wanted.code), 409, 'idempotency_in_progress');
    expect(calls).toBe(1);
    await expireCode(gateway, wanted.draft);
    await runBackgroundJobs(gateway);
    expect(await get(wanted.draft.id)).toMatchObject({ status: 'awaiting_confirmation' });
    expectProblem(await cancel(wanted.draft.id), 409, 'idempotency_in_progress');
    resolve();
    expect(await first).toMatchObject({ status: 200, body: { id: wanted.draft.id, status: 'booked' } });
    await expectBooked(wanted);
  });

  test('is pending again when every request with its code was rejected', async () => {
    const wanted = await awaited();
    const { promise, resolve } = Promise.withResolvers<void>();
    at({ 1: failing('unavailable', promise), 2: failing('unavailable', promise) });
    const responses = [1, 2].map(() => confirm(wanted.draft.id, wanted.code));
    await eventually(() => expect(calls).toBe(1));
    resolve();
    for (const response of await Promise.all(responses)) expectProblem(response, 503, 'ehr_unavailable');
    expect(await confirm(wanted.draft.id, wanted.code)).toMatchObject({ status: 200, body: { status: 'booked' } });
    await expectBooked(wanted);
  });

  test('is booked if the EHR booked it, whatever the state of its code', async () => {
    const wanted = await awaited();
    const { promise, resolve } = Promise.withResolvers<void>();
    at({ 1: () => promise });
    const first = confirm(wanted.draft.id, wanted.code);
    await eventually(() => expect(calls).toBe(1));
    await rowsOf(gateway, `UPDATE confirmation_items SET state = 'expired' WHERE appointment_id = $1`, [
      wanted.draft.id,
    ]);
    resolve();
    expect(await first).toMatchObject({ status: 200, body: { id: wanted.draft.id, status: 'booked' } });
    await expectBooked(wanted);
  });

  test('is not cancelled', async () => {
    const wanted = await awaited();
    const { promise, resolve } = Promise.withResolvers<void>();
    at({ 1: () => promise });
    const first = confirm(wanted.draft.id, wanted.code);
    await eventually(() => expect(calls).toBe(1));
    expectProblem(await cancel(wanted.draft.id), 409, 'idempotency_in_progress');
    resolve();
    expect(await first).toMatchObject({ status: 200, body: { id: wanted.draft.id, status: 'booked' } });
    await expectBooked(wanted);
    expect(await cancel(wanted.draft.id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  });

  test('is not cancelled by a request that was planned before it was booked', async () => {
    const other = await bookByCode(gateway, { careUnit: path });
    const wanted = await awaited();
    const { promise, resolve } = Promise.withResolvers<void>();
    beforeFinding = () => promise;
    const both = changeMany([wanted.draft.id, other.id], { status: 'cancelled' });
    await eventually(() => expect(beforeFinding).toBeUndefined());
    expect(await confirm(wanted.draft.id, wanted.code)).toMatchObject({ status: 200 });
    resolve();
    expectProblem(await both, 409, 'idempotency_in_progress');
    await expectBooked(wanted);
    expect(await get(other.id)).toEqual(other);
  });
});

describe('an expired hold', () => {
  const path = careUnitPath('holds', 'sodermalm');
  const { changeMany, create } = careUnitOf(gateway, path);
  const stateInEhr = async (id: string) =>
    (await gateway.ehr('holds').appointments()).find((it) => it.id === id)?.state;
  const expectExpired = (id: string) =>
    eventually(async () => {
      const rows = await rowsOf(gateway, 'SELECT state FROM confirmation_items WHERE appointment_id = $1', [id]);
      expect(rows).toEqual([{ state: 'expired' }]);
    });

  /** The EHR holds it for longer. */
  async function endTimeOf(hold: Appointment | undefined): Promise<void> {
    if (!hold) throw new Error('Nothing is held');
    const { id } = confirmationOf(hold);
    await rowsOf(gateway, 'UPDATE confirmations SET expires_at = clock_timestamp() WHERE id = $1', [id]);
  }

  async function bookByStaff(appointmentId: string): Promise<void> {
    const ehr = gateway.deps.ehrs.get('holds');
    const careUnit = ehr?.careUnits.get('sodermalm');
    if (!ehr || !careUnit) throw new Error('No such care unit');
    const changes = [{ kind: 'confirm', appointmentId } as const];
    await ehr.call('changeAppointments', { operationId: randomUUID(), careUnit, changes });
  }

  test('is released after an outage of the EHR that followed the release of another hold', async () => {
    const slots = await consecutiveSlots(gateway, 4, { careUnit: path });
    const [first, last] = [slots[0], slots.at(-1)] as [Slot, Slot];
    const { id } = await bookByCode(gateway, { careUnit: path, slot: first });
    const { body } = await changeMany([id], { start: first.start, end: last.end });
    const holds = body.appointments.slice(1);
    expect(holds).toHaveLength(3);
    at({ 2: failing('unavailable') });
    await endTimeOf(holds[0]);
    for (const hold of holds) {
      await expectExpired(hold.id);
      expect(await stateInEhr(hold.id)).toBe('cancelled');
    }
  });

  test('is released even if it has expired in the EHR, which may have to clean up', async () => {
    const hold = await book(gateway, { careUnit: path });
    released = [];
    await expireCode(gateway, hold);
    await expectExpired(hold.id);
    expect(released).toEqual([hold.id]);
  });

  test('stays booked if it was booked directly in the EHR during the release', async () => {
    const hold = await book(gateway, { careUnit: path });
    at({ 1: () => bookByStaff(hold.id) });
    await endTimeOf(hold);
    await expectExpired(hold.id);
    expect(await stateInEhr(hold.id)).toBe('booked');
  });

  test.each([
    ['staff book directly in the EHR', bookByStaff, {}],
    ['the EHR does not release', async () => undefined, { 1: failing('rejected') }],
  ] as const)(
    'that %s ends its operation, although the gateway that made it was killed',
    async (_, meanwhile, steps) => {
      const slot = await freeSlot(gateway, { careUnit: path });
      const { promise, resolve } = Promise.withResolvers<void>();
      at({}, { 1: () => promise });
      const before = new Set((await gateway.ehr('holds').appointments()).map(({ id }) => id));
      const response = create(creationBody(slot));
      const made = await eventually(async () => {
        const [found] = (await gateway.ehr('holds').appointments()).filter(({ id }) => !before.has(id));
        if (!found) throw new Error('Nothing is held');
        return found;
      });
      await meanwhile(made.id);
      at(steps);
      await abandonWrites(gateway, 'holds');
      await withoutWrites('holds');
      resolve();
      expectProblem(await response, 504, 'outcome_unknown');
      expect(await stateInEhr(made.id)).toBe(meanwhile === bookByStaff ? 'booked' : 'held');
    },
  );
});
