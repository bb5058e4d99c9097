/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { type Connector, ConnectorError, type Appointment as EhrAppointment } from '@crossward/connector-kit';
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest';
import { withoutHolds } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { withQuickRecovery } from '../../../test/gateway/recovery.ts';
import {
  type Appointment,
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  freeSlots,
  type Slot,
} from '../../../test/requests/bookings.ts';
import {
  type AppointmentResponse,
  type AppointmentsResponse,
  abandonWrites,
  backdateWrites,
  careUnitOf,
  codeFor,
  eventually,
  runBackgroundJobs,
  unfinishedOperations,
} from '../../../test/requests/codes.ts';
import { expectEvents } from '../../../test/requests/events.ts';

/** Whether the EHR performs the next write before it fails. */
interface Fault {
  readonly isDone: boolean;
  /** The EHR does not respond until this resolves. */
  readonly silentUntil?: Promise<void>;
}
const faults: Fault[] = [];
/** The kinds of the changes that the EHR received. */
const received: string[] = [];
let isShownTwice = false;
afterEach(() => {
  expect(faults.splice(0)).toEqual([]);
  received.splice(0);
  isShownTwice = false;
});

/** An EHR without `findOperation` that performs a repeated write again. */
function withoutLookUp({ findOperation: _, ...connector }: Connector): Connector {
  const { changeAppointments, listAppointments } = connector;
  if (!changeAppointments || !listAppointments) throw new Error('The sandbox supports changes');
  return {
    ...connector,
    async changeAppointments(write) {
      received.push(...write.changes.map(({ kind }) => kind));
      const fault = faults.shift();
      const change = () => changeAppointments({ ...write, operationId: randomUUID() });
      if (!fault) return change();
      if (fault.isDone) await change();
      await fault.silentUntil;
      throw new ConnectorError('outcome_unknown', 'Simulated failure');
    },
    async listAppointments(query) {
      const found = await listAppointments(query);
      return isShownTwice ? found.flatMap((it): EhrAppointment[] => [it, { ...it, id: `${it.id}-2` }]) : found;
    },
  };
}

const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      if (!emr.startsWith('no-look-up')) return connector;
      return withoutLookUp(emr.endsWith('no-hold') ? withoutHolds(connector) : connector);
    }),
  ],
  configure: (demo) =>
    [
      { id: 'no-look-up', like: 'sandbox-no', policies: {} },
      { id: 'no-look-up-by-code', like: 'sandbox-se', policies: {} },
      { id: 'no-look-up-no-hold', like: 'sandbox-se', policies: {} },
      // Long, so that the tests decide when a missing write counts as not made.
    ].reduce(withEhr, withQuickRecovery(demo, { settling_seconds: 60 })),
});
afterAll(() => gateway.close());

const direct = careUnitPath('no-look-up', 'oslo-sentrum');
const byCode = careUnitPath('no-look-up-by-code', 'sodermalm');
const noHold = careUnitPath('no-look-up-no-hold', 'sodermalm');
const atOnce = careUnitOf(gateway, direct);

const done: Fault = { isDone: true };
const notDone: Fault = { isDone: false };

function underKey(key: string, method: string, path: string, body: object): Promise<AppointmentResponse> {
  return gateway.request(method, path, { body, headers: { 'idempotency-key': key } });
}
const createUnder = (key: string, slot: Slot, careUnit = direct) =>
  underKey(key, 'POST', `${careUnit}/appointments`, creationBody(slot));
const changeUnder = (key: string, id: string, body: object) =>
  underKey(key, 'PATCH', `${direct}/appointments/${id}`, body);

const writes = () => unfinishedOperations(gateway);
const at = async (slot: Slot, careUnit = direct) => {
  const query = new URLSearchParams({ resource_id: slot.resource_id, start: slot.start, end: slot.end });
  const found = await careUnitOf(gateway, careUnit).list(query.toString());
  return found.filter(({ status }) => status !== 'cancelled');
};
const recover = () => runBackgroundJobs(gateway);

function expectUnknown({ status, body }: AppointmentResponse | AppointmentsResponse, retryable = true): void {
  expect({ status, ...body }).toMatchObject({ status: 504, reason: 'outcome_unknown', retryable });
}

/** Ends every open write, as if the gateway had looked for its effects long enough. */
async function endAllOperations(): Promise<void> {
  await eventually(async () => {
    await backdateWrites(gateway);
    await recover();
    expect(await writes()).toEqual([]);
  });
}

async function lost(emr: string): Promise<number> {
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  return Number(new RegExp(`crossward_operations_outcome_lost_total\\{emr="${emr}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
}

describe('an EHR without findOperation, after outcome_unknown', () => {
  test('a retry gets a booking that was made, and does not repeat it', { tags: 'every-ehr' }, async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    const key = randomUUID();
    faults.push(done);
    expectUnknown(await createUnder(key, slot));
    const response = await eventually(() => notInProgress(() => createUnder(key, slot)));
    expect(response).toMatchObject({
      status: 201,
      body: { status: 'booked', start: slot.start, patient_id: 'emr_id:p-3' },
    });
    expect(response.headers.location).toBe(`${direct}/appointments/${response.body.id}`);
    expect(await at(slot)).toEqual([response.body]);
    expect((await createUnder(key, slot)).text).toBe(response.text);
    expect(received).toEqual(['create']);
    expect(await writes()).toEqual([]);
  });

  test('a booking without a key is recorded', async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    faults.push(done);
    expectUnknown(await atOnce.create(creationBody(slot)));
    await eventually(async () => expect(await writes()).toEqual([]));
    expect(received).toEqual(['create']);
    const [found, ...others] = await at(slot);
    expect(others).toEqual([]);
    await expectEvents(gateway, found?.id ?? '', ['booked']);
  });

  test('a booking without effect is not repeated, and finally ends with outcome_unknown', {
    tags: 'every-ehr',
  }, async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    const key = randomUUID();
    const before = await lost('no-look-up');
    faults.push(notDone);
    expectUnknown(await createUnder(key, slot));
    expectUnknown(await eventually(() => notInProgress(() => createUnder(key, slot))));
    const [open] = await writes();
    await endAllOperations();
    const last = await createUnder(key, slot);
    expectUnknown(last, false);
    expect(last.headers['idempotency-replayed']).toBe('true');
    expect(last.body.detail).toMatch(/not be made again/);
    expectUnknown(await createUnder(key, slot), false);
    expect(received).toEqual(['create']);
    expect(await at(slot)).toEqual([]);
    expect(await lost('no-look-up')).toBe(before + 1);
    const lines = gateway.logLines.map((line) => JSON.parse(line)).filter((it) => /outcome unknown/.test(it.msg));
    expect(lines.at(-1)).toMatchObject({ emr: 'no-look-up', operation_id: open?.id });
    // Another key makes another booking.
    expect(await createUnder(randomUUID(), slot)).toMatchObject({ status: 201 });
  });

  test('a retry after the look-up period gets the final outcome_unknown', async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    const key = randomUUID();
    faults.push(notDone);
    expectUnknown(await createUnder(key, slot));
    await backdateWrites(gateway);
    const last = await notInProgress(() => createUnder(key, slot));
    expectUnknown(last, false);
    expectUnknown(await createUnder(key, slot), false);
    expect(await writes()).toEqual([]);
    expect(received).toEqual(['create']);
  });

  test('two matching bookings are not adopted', async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    const key = randomUUID();
    isShownTwice = true;
    faults.push(done);
    expectUnknown(await createUnder(key, slot));
    expectUnknown(await notInProgress(() => createUnder(key, slot)));
    await endAllOperations();
    isShownTwice = false;
    expectUnknown(await createUnder(key, slot), false);
    expect(received).toEqual(['create']);
  });

  test('a booking that two operations may have made is adopted by one of them, after the other has given up', async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    const keys = [randomUUID(), randomUUID()];
    const gate = Promise.withResolvers<void>();
    faults.push({ ...done, silentUntil: gate.promise }, { ...notDone, silentUntil: gate.promise });
    const both = keys.map((key) => createUnder(key, slot));
    await eventually(() => expect(faults).toEqual([]));
    gate.resolve();
    for (const response of await Promise.all(both)) expectUnknown(response);
    for (const key of keys) expectUnknown(await notInProgress(() => createUnder(key, slot)));
    await endAllOperations();
    const last = await Promise.all(keys.map((key) => createUnder(key, slot)));
    const [booking] = await at(slot);
    expect(last.filter(({ status }) => status === 201).map(({ body }) => body)).toEqual([booking]);
    for (const response of last) if (response.status !== 201) expectUnknown(response, false);
    expect(await at(slot)).toHaveLength(1);
    expect(received).toEqual(['create', 'create']);
  });

  test.each([
    ['a move', (to: Slot) => ({ start: to.start, end: to.end })],
    ['a comment', () => ({ comment: 'new' })],
    ['a cancellation', () => ({ status: 'cancelled', comment: 'why' })],
  ])('%s counts as done if the appointment matches the request', async (_, bodyFor) => {
    const { id } = await book(gateway, { careUnit: direct });
    const body = bodyFor(await freeSlot(gateway, { careUnit: direct }));
    const key = randomUUID();
    faults.push(done);
    received.splice(0);
    expectUnknown(await changeUnder(key, id, body));
    expect(await notInProgress(() => changeUnder(key, id, body))).toMatchObject({ status: 200, body });
    expect(received).toHaveLength(1);

    const another = await book(gateway, { careUnit: direct });
    const again = randomUUID();
    faults.push(notDone);
    received.splice(0);
    const wanted = bodyFor(await freeSlot(gateway, { careUnit: direct }));
    expectUnknown(await changeUnder(again, another.id, wanted));
    expectUnknown(await notInProgress(() => changeUnder(again, another.id, wanted)));
    await endAllOperations();
    expectUnknown(await changeUnder(again, another.id, wanted), false);
    expect(await atOnce.get(another.id)).toEqual(another);
    expect(received).toHaveLength(1);
  });

  // Medplum's router has no transactions, so it gets one change at a time.
  if (inject('ehrKind') !== 'medplum')
    test('a bulk change counts as performed only if every appointment matches', async () => {
      const slots = await consecutiveSlots(gateway, 2, { careUnit: direct, resourceId: 'r-3' });
      const ids: string[] = [];
      for (const slot of slots) ids.push((await book(gateway, { careUnit: direct, slot })).id);
      const body = { ids, resource_id: 'r-4' };
      const key = randomUUID();
      const move = () =>
        gateway.request<AppointmentsResponse['body']>('PATCH', `${direct}/appointments`, {
          body,
          headers: { 'idempotency-key': key },
        });
      faults.push(done);
      received.splice(0);
      expectUnknown((await move()) as AppointmentsResponse);
      const response = await notInProgress(move);
      expect(response.status).toBe(200);
      expect(response.body.appointments).toMatchObject(ids.map((id) => ({ id, resource_id: 'emr_id:r-4' })));
      expect(received).toEqual(['update', 'update']);
    });
});

describe('a gateway that was killed during a call to such an EHR', () => {
  /** Sends a write to which the EHR never responds, and kills the process. */
  async function killDuring(write: () => Promise<unknown>, fault: Fault, emr: string): Promise<() => Promise<void>> {
    const gate = Promise.withResolvers<void>();
    faults.push({ ...fault, silentUntil: gate.promise });
    const response = write();
    await eventually(() => expect(faults).toEqual([]));
    await eventually(async () => expect(await writes()).toHaveLength(1));
    await abandonWrites(gateway, emr);
    return async () => {
      gate.resolve();
      await response;
    };
  }

  test('finds the booking and returns it to a retry', async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    const key = randomUUID();
    const end = await killDuring(() => createUnder(key, slot), done, 'no-look-up');
    await eventually(async () => expect(await writes()).toEqual([]));
    expect(await createUnder(key, slot)).toMatchObject({ status: 201, body: { start: slot.start } });
    expect(await at(slot)).toHaveLength(1);
    expect(received).toEqual(['create']);
    await end();
  });

  test('does not repeat a booking without effect, although no response was sent', async () => {
    const slot = await freeSlot(gateway, { careUnit: direct });
    const key = randomUUID();
    const end = await killDuring(() => createUnder(key, slot), notDone, 'no-look-up');
    await recover();
    expectUnknown(await notInProgress(() => createUnder(key, slot)));
    await endAllOperations();
    expectUnknown(await createUnder(key, slot), false);
    expect(received).toEqual(['create']);
    expect((await freeSlots(gateway, { careUnit: direct })).map(({ start }) => start)).toContain(slot.start);
    await end();
  });

  test('releases a hold whose code was never sent', async () => {
    const slot = await freeSlot(gateway, { careUnit: byCode });
    const key = randomUUID();
    const end = await killDuring(() => createUnder(key, slot, byCode), done, 'no-look-up-by-code');
    await eventually(async () => expect(await writes()).toEqual([]));
    expect(received).toEqual(['create', 'release']);
    const response = await notInProgress(() => createUnder(key, slot, byCode));
    expect(response).toMatchObject({ status: 201, body: { status: 'awaiting_confirmation', start: slot.start } });
    expect(await at(slot, byCode)).toHaveLength(1);
    await end();
  });
});

describe('a code for such an EHR', () => {
  test('books a hold once', async () => {
    const { get, confirm } = careUnitOf(gateway, byCode);
    const held = await book(gateway, { careUnit: byCode });
    const code = await codeFor(gateway, held.id);
    faults.push(done);
    expectUnknown(await confirm(held.id, code));
    await eventually(async () => expect(await get(held.id)).toMatchObject({ status: 'booked', confirmation: null }));
    await eventually(async () => expect(await writes()).toEqual([]));
    expect(await confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
    expect(received).toEqual(['create', 'confirm']);
  });

  test('is pending again once the look-up ends without effect; until then no other request can confirm', async () => {
    const { get, confirm } = careUnitOf(gateway, byCode);
    const held = await book(gateway, { careUnit: byCode });
    const code = await codeFor(gateway, held.id);
    faults.push(notDone);
    expectUnknown(await confirm(held.id, code));
    expect(await confirm(held.id, code)).toMatchObject({ status: 409, body: { reason: 'idempotency_in_progress' } });
    expect(received).toEqual(['create', 'confirm']);
    await endAllOperations();
    expect(await get(held.id)).toMatchObject({ status: 'awaiting_confirmation' });
    expect(await confirm(held.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
  });

  test('books a draft once, however many requests send it', async () => {
    const { get, confirm, list } = careUnitOf(gateway, noHold);
    for (let round = 0; round < 4; round++) {
      const patientId = `p-${8 + round}`;
      const draft = await book(gateway, { careUnit: noHold, patientId });
      const code = await codeFor(gateway, draft.id);
      const responses = await Promise.all(Array.from({ length: 6 }, () => confirm(draft.id, code)));
      for (const { status, body } of responses) {
        expect([200, 409]).toContain(status);
        expect(status === 200 ? body.status : body.reason).toBe(status === 200 ? 'booked' : 'idempotency_in_progress');
      }
      expect(await confirm(draft.id, code)).toMatchObject({ status: 200, body: { status: 'booked' } });
      expect(await get(draft.id)).toMatchObject({ status: 'booked' });
      expect(await list(`patient_id=${patientId}`)).toHaveLength(1);
    }
    expect(received).toEqual(['create', 'create', 'create', 'create']);
  });

  test('confirms a draft that the EHR booked without responding', async () => {
    const { get, confirm } = careUnitOf(gateway, noHold);
    const draft: Appointment = await book(gateway, { careUnit: noHold, patientId: 'p-12' });
    const code = await codeFor(gateway, draft.id);
    faults.push(done);
    expectUnknown(await confirm(draft.id, code));
    await eventually(async () => expect(await writes()).toEqual([]));
    expect(await get(draft.id)).toEqual({ ...draft, status: 'booked', confirmation: null });
    expect(received).toEqual(['create']);
  });

  test('does not confuse the bookings of two drafts', async () => {
    const { get, confirm } = careUnitOf(gateway, noHold);
    const slot = await freeSlot(gateway, { careUnit: noHold, resourceId: 'r-2' });
    const [first, second] = [
      await book(gateway, { careUnit: noHold, slot, patientId: 'p-13' }),
      await book(gateway, { careUnit: noHold, slot, patientId: 'p-13' }),
    ];
    expect(await confirm(first.id, await codeFor(gateway, first.id))).toMatchObject({ status: 200 });
    const code = await codeFor(gateway, second.id);
    faults.push(notDone);
    expectUnknown(await confirm(second.id, code));
    await endAllOperations();
    expect(await get(second.id)).toMatchObject({ status: 'awaiting_confirmation' });
    expect(await confirm(second.id, code)).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
    expect(await get(second.id)).toMatchObject({ status: 'cancelled' });
    expect(await get(first.id)).toMatchObject({ status: 'booked' });
  });
});

/** Repeats the request while background recovery holds the lease. */
async function notInProgress<Result extends { readonly body: { readonly reason: string } }>(
  send: () => Promise<Result>,
): Promise<Result> {
  return eventually(async () => {
    const response = await send();
    if (response.body.reason === 'idempotency_in_progress') throw new Error('Somebody else is at it');
    return response;
  });
}
