import { randomUUID } from 'node:crypto';
import {
  type AppointmentWrite,
  type Connector,
  ConnectorError,
  type ConnectorErrorKind,
} from '@crossward/connector-kit';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import {
  type Appointment,
  book,
  creationBody,
  freeRun,
  freeSlot,
  freeSlots,
  pagesOf,
  type Slot,
} from '../../../test/bookings.ts';
import {
  abandonWrites,
  age,
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  rowsOf,
  runOut,
  type Told,
  type ToldMany,
  wrongCodes,
} from '../../../test/codes.ts';
import { startGateway } from '../../../test/gateway.ts';
import { anotherConnector, careUnitPath, withEhr } from '../../../test/other-ehrs.ts';

/** Which of the next calls of `changeAppointments` fail, counted from 1: before anything is done, or after. */
let failing: ReadonlyMap<number, Trouble> = new Map();
let calls = 0;

interface Trouble {
  readonly error: ConnectorError;
  readonly after: boolean;
  /** Until then there is no answer. */
  readonly silentUntil?: Promise<void> | undefined;
}

interface FailureOptions {
  readonly after?: boolean;
  readonly retryAfterSeconds?: number;
  readonly silentUntil?: Promise<void>;
}

function fail(call: number, kind: ConnectorErrorKind, more: FailureOptions = {}) {
  const { after = false, silentUntil, ...options } = more;
  calls = 0;
  const error = new ConnectorError(kind, 'As the test wants it', options);
  failing = new Map([...failing, [call, { error, after, silentUntil }]]);
}

beforeEach(() => {
  failing = new Map();
  calls = 0;
});

/** Its writes fail when the test wants it. */
function failable(connector: Connector): Connector {
  const { changeAppointments } = connector;
  if (!changeAppointments) throw new Error('The EHR takes no changes');
  return {
    ...connector,
    async changeAppointments(write) {
      calls += 1;
      const trouble = failing.get(calls);
      if (!trouble) return changeAppointments(write);
      if (trouble.after) await changeAppointments(write);
      await trouble.silentUntil;
      throw trouble.error;
    },
  };
}

/** As the port says: an EHR is asked for nothing that it does not do. */
function checking(connector: Connector, check: (write: AppointmentWrite) => void): Connector {
  const { changeAppointments } = connector;
  if (!changeAppointments) throw new Error('The EHR takes no changes');
  return {
    ...connector,
    async changeAppointments(write) {
      check(write);
      return changeAppointments(write);
    },
  };
}

function unableToHold(connector: Connector): Connector {
  const changes = ['create', 'update', 'cancel'] as const;
  return checking({ ...connector, capabilities: { ...connector.capabilities, changes } }, (write) => {
    for (const change of write.changes) {
      const holds = change.kind === 'create' && change.holdUntil !== null;
      if (holds || !changes.some((kind) => kind === change.kind)) {
        throw new ConnectorError('unsupported', 'This EHR cannot hold a time');
      }
    }
  });
}

function withoutTransactions(connector: Connector): Connector {
  return checking({ ...connector, capabilities: { ...connector.capabilities, transactions: false } }, (write) => {
    if (write.changes.length !== 1) throw new Error('This EHR takes one change at a time');
  });
}

function withThreeAtOnce(connector: Connector): Connector {
  const capabilities = { ...connector.capabilities, changesPerTransaction: 3 };
  return checking({ ...connector, capabilities }, (write) => {
    if (write.changes.length > 3) throw new Error('This EHR takes three changes at a time');
  });
}

interface EhrCode {
  readonly kind: 'confirm' | 'cancel';
  readonly appointmentId: string;
  readonly comment?: string | null | undefined;
  code: number;
  attemptsRemaining: number;
  isOver: boolean;
}

/** By the ids of their appointments: what the EHR that sends codes itself has sent. */
const ehrCodes = new Map<string, EhrCode>();

function sendingCodes(connector: Connector): Connector {
  const { changeAppointments, findAppointments } = connector;
  if (!changeAppointments || !findAppointments) throw new Error('The EHR takes no changes');
  const expiresAt = () => new Date(Date.now() + 900_000);
  const known = (reference: string) => {
    const found = ehrCodes.get(reference);
    if (!found) throw new ConnectorError('appointment_not_found', 'No such confirmation');
    return found;
  };
  const only = ([appointment]: Awaited<ReturnType<typeof findAppointments>>) => {
    if (!appointment) throw new ConnectorError('appointment_not_found', 'No such appointment');
    return appointment;
  };
  return {
    ...connector,
    capabilities: { ...connector.capabilities, sendsCodes: true },
    async requestBooking({ operationId, careUnit, creation }) {
      const holdUntil = expiresAt();
      const appointment = only(
        await changeAppointments({ operationId, careUnit, changes: [{ ...creation, holdUntil }] }),
      );
      const attemptsRemaining = 3;
      const { id: reference } = appointment;
      ehrCodes.set(reference, {
        kind: 'confirm',
        appointmentId: reference,
        code: 111_111,
        attemptsRemaining,
        isOver: false,
      });
      return { reference, appointment, channel: 'sms', expiresAt: holdUntil, attemptsRemaining };
    },
    async requestCancellation({ careUnit, cancellation: { appointmentId, comment } }) {
      const appointment = only(await findAppointments(careUnit, [appointmentId]));
      const attemptsRemaining = 3;
      ehrCodes.set(appointmentId, {
        kind: 'cancel',
        appointmentId,
        comment,
        code: 111_111,
        attemptsRemaining,
        isOver: false,
      });
      return { reference: appointmentId, appointment, channel: 'email', expiresAt: expiresAt(), attemptsRemaining };
    },
    async resendCode({ careUnit, reference }) {
      const sent = known(reference);
      sent.code += 111_111;
      const appointment = only(await findAppointments(careUnit, [sent.appointmentId]));
      const { attemptsRemaining } = sent;
      return { reference, appointment, channel: 'email', expiresAt: expiresAt(), attemptsRemaining };
    },
    async confirmCode({ operationId, careUnit, reference, code }) {
      const sent = known(reference);
      const { kind, appointmentId, comment } = sent;
      if (sent.isOver) throw new ConnectorError('code_expired', 'Too late');
      if (sent.attemptsRemaining === 0) throw new ConnectorError('code_locked', 'Too often');
      if (code !== String(sent.code)) {
        sent.attemptsRemaining -= 1;
        throw new ConnectorError('code_incorrect', 'Wrong', { attemptsRemaining: sent.attemptsRemaining });
      }
      const change = kind === 'confirm' ? { kind, appointmentId } : { kind, appointmentId, comment };
      return only(await changeAppointments({ operationId, careUnit, changes: [change] }));
    },
  };
}

const gateway = await startGateway({
  connectors: [
    anotherConnector((connector, emr) => {
      let other = failable(connector);
      if (emr.startsWith('no-hold')) other = unableToHold(other);
      if (emr === 'own-codes') other = sendingCodes(other);
      if (emr.endsWith('one-by-one')) other = withoutTransactions(other);
      if (emr === 'three-at-once') other = withThreeAtOnce(other);
      return other;
    }),
  ],
  configure: (demo) =>
    [
      { id: 'no-hold', like: 'sandbox-se', policies: {} },
      { id: 'no-hold-uk', like: 'sandbox-uk', policies: { booking_confirmation: 'code' as const } },
      {
        id: 'own-codes',
        like: 'sandbox-uk',
        policies: { booking_confirmation: 'code' as const, cancellation_confirmation: 'code' as const },
      },
      { id: 'one-by-one', like: 'sandbox-no', policies: {} },
      { id: 'three-at-once', like: 'sandbox-no', policies: {} },
      { id: 'no-hold-one-by-one', like: 'sandbox-se', policies: {} },
      { id: 'se-one-by-one', like: 'sandbox-se', policies: {} },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());

const idsIn = (appointments: readonly Appointment[]) => appointments.map(({ id }) => id);
const at = ({ start, end }: Slot) => ({ start, end });
const nextMonth = () => new Date(Date.now() + 20 * 86_400_000);

function expectRefusal({ status, body }: Told | ToldMany, expected: number, reason: string): void {
  expect({ status, reason: body.reason }).toEqual({ status: expected, reason });
}

async function bookEach(slots: readonly Slot[], more: Parameters<typeof book>[1]): Promise<Appointment[]> {
  const booked: Appointment[] = [];
  for (const slot of slots) booked.push(await book(gateway, { ...more, slot }));
  return booked;
}

describe('an EHR that cannot hold a time', () => {
  const path = careUnitPath('no-hold', 'sodermalm');
  const careUnit = careUnitOf(gateway, path);
  const isFree = async (slot: Slot) => {
    const resourceId = slot.resource_id.replace('emr_id:', '');
    const slots = await freeSlots(gateway, { careUnit: path, resourceId, from: new Date(slot.start), days: 1 });
    return slots.some(({ start }) => start === slot.start);
  };
  const inEhr = async (patientId: string) =>
    (await gateway.ehr('no-hold').appointments()).filter((it) => it.patientId === patientId);

  test('is told of a booking when the code has come, and the id stays', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const {
      status,
      headers,
      body: draft,
    } = await careUnit.create({
      ...creationBody(slot),
      patient_id: 'p-4',
      comment: 'old',
    });
    expect(status).toBe(201);
    expect(headers.location).toBe(`${path}/appointments/${draft.id}`);
    expect(draft).toMatchObject({
      status: 'awaiting_confirmation',
      ...at(slot),
      patient_id: 'emr_id:p-4',
      comment: 'old',
      confirmation: { kind: 'booking', channel: 'sms', attempts_remaining: 5 },
      replaces_id: null,
    });
    expect(await inEhr('p-4')).toEqual([]);
    const code = await codeFor(gateway, draft.id);
    expect(await careUnit.get(draft.id)).toMatchObject({ id: draft.id, status: 'awaiting_confirmation' });
    for (const query of ['patient_id=p-4', 'patient_id=p-4&status=awaiting_confirmation&resource_id=r-1']) {
      expect(idsIn(await careUnit.list(query))).toEqual([draft.id]);
    }
    expect(await careUnit.confirm(draft.id, wrongCodes(code, 1)[0] ?? '')).toMatchObject({
      status: 400,
      body: { attempts_remaining: 4 },
    });
    const { body: booked } = await careUnit.confirm(draft.id, code);
    expect(booked).toEqual({ ...draft, status: 'booked', confirmation: null });
    const [row, ...more] = await inEhr('p-4');
    expect(row).toMatchObject({ state: 'booked' });
    expect(more).toEqual([]);
    expect(row?.id).not.toBe(draft.id);
    expect(await careUnit.get(draft.id)).toEqual(booked);
    expect(await isFree(slot)).toBe(false);
    const overlapping = new URLSearchParams(at(slot));
    for (const query of ['patient_id=p-4', 'patient_id=p-4&status=booked', `patient_id=p-4&${overlapping}`]) {
      expect(await careUnit.list(query)).toEqual([booked]);
    }
    expect(await careUnit.list('patient_id=p-4&status=awaiting_confirmation&status=cancelled')).toEqual([]);
  });

  test('knows the booking by its id in every later change', async () => {
    const draft = await book(gateway, { careUnit: path, patientId: 'p-5' });
    const code = await codeFor(gateway, draft.id);
    const { body: booked } = await careUnit.confirm(draft.id, code);
    expect(await careUnit.confirm(draft.id, code)).toMatchObject({ status: 200, body: booked });
    expectRefusal(await careUnit.confirm(draft.id, wrongCodes(code, 1)[0] ?? ''), 409, 'confirmation_not_pending');

    const to = await freeSlot(gateway, { careUnit: path, resourceId: 'r-2' });
    const moved = { ...booked, ...at(to), resource_id: 'emr_id:r-2', comment: 'x' };
    expect(await careUnit.change(draft.id, { ...at(to), resource_id: 'r-2', comment: 'x' })).toMatchObject({
      status: 200,
      body: moved,
    });
    expect(await careUnit.changeMany([draft.id], { comment: 'y' })).toMatchObject({
      status: 200,
      body: { appointments: [{ ...moved, comment: 'y' }] },
    });
    const later = await freeSlot(gateway, { careUnit: path, resourceId: 'r-2', from: nextMonth() });
    expect(await careUnit.changeMany([draft.id], at(later))).toMatchObject({
      status: 200,
      body: { appointments: [{ id: draft.id, ...at(later) }] },
    });
    const { body: cancelled } = await careUnit.cancel(draft.id, { comment: 'z' });
    expect(cancelled).toEqual({ ...moved, ...at(later), status: 'cancelled', comment: 'z' });
    expect(await careUnit.get(draft.id)).toEqual(cancelled);
    expect(await careUnit.list('patient_id=p-5')).toEqual([cancelled]);
    expect(await careUnit.confirm(draft.id, code)).toMatchObject({ status: 200, body: cancelled });
    expect(await inEhr('p-5')).toHaveLength(1);
  });

  test('finds the time gone when the code comes: 400, and the appointment is cancelled', async () => {
    const slot = await freeSlot(gateway, { careUnit: path, resourceId: 'r-3' });
    const [draft, faster] = [
      await book(gateway, { careUnit: path, slot, patientId: 'p-6' }),
      await book(gateway, { careUnit: path, slot, patientId: 'p-7' }),
    ];
    const code = await codeFor(gateway, draft.id);
    expect(await careUnit.confirm(faster.id, await codeFor(gateway, faster.id))).toMatchObject({ status: 200 });
    expectRefusal(await careUnit.confirm(draft.id, code), 400, 'time_slot_unavailable');
    const gone = { ...draft, status: 'cancelled', confirmation: null };
    expect(await careUnit.get(draft.id)).toEqual(gone);
    expect(await careUnit.list('patient_id=p-6')).toEqual([gone]);
    expectRefusal(await careUnit.confirm(draft.id, code), 409, 'confirmation_not_pending');
    expect(await careUnit.cancel(draft.id)).toMatchObject({ status: 200, body: gone });
    expect(await inEhr('p-6')).toEqual([]);
    expect(await careUnit.get(faster.id)).toMatchObject({ status: 'booked' });
  });

  test('refuses a draft of a time that is taken', async () => {
    const booked = await bookByCode(gateway, { careUnit: path });
    const refused = await careUnit.create(creationBody({ ...booked }));
    expectRefusal(refused, 400, 'time_slot_unavailable');
    expect(refused.body.errors).toMatchObject([{ pointer: '/start_time' }]);
    const mute = { ...creationBody(await freeSlot(gateway, { careUnit: path })), patient_id: 'p-20' };
    expectRefusal(await careUnit.create(mute), 409, 'no_contact_channel');
  });

  test('is never told of a draft that is given up or runs out', async () => {
    const draft = await book(gateway, { careUnit: path, patientId: 'p-8', comment: 'old' });
    const code = await codeFor(gateway, draft.id);
    const { body: given } = await careUnit.cancel(draft.id, { comment: 'why' });
    expect(given).toEqual({ ...draft, status: 'cancelled', comment: 'why', confirmation: null });
    expect(await careUnit.get(draft.id)).toEqual(given);
    expectRefusal(await careUnit.confirm(draft.id, code), 409, 'confirmation_not_pending');
    expectRefusal(await careUnit.change(draft.id, { comment: 'x' }), 409, 'appointment_cancelled');

    const late = await book(gateway, { careUnit: path, patientId: 'p-8' });
    const lateCode = await codeFor(gateway, late.id);
    expectRefusal(await careUnit.change(late.id, { comment: 'x' }), 409, 'appointment_awaiting_confirmation');
    await runOut(gateway, late);
    expect(await careUnit.get(late.id)).toEqual({ ...late, status: 'cancelled', confirmation: null });
    expectRefusal(await careUnit.confirm(late.id, lateCode), 409, 'confirmation_expired');
    expectRefusal(await careUnit.resend(late.id), 409, 'confirmation_expired');
    expect(new Set(idsIn(await careUnit.list('patient_id=p-8&status=cancelled')))).toEqual(
      new Set([draft.id, late.id]),
    );
    expect(await careUnit.list('patient_id=p-8&status=awaiting_confirmation&status=booked')).toEqual([]);
    expect(await inEhr('p-8')).toEqual([]);
  });

  test('takes a fresh code for a draft', async () => {
    const draft = await book(gateway, { careUnit: path });
    await codeFor(gateway, draft.id);
    await age(gateway, confirmationOf(draft).id, 31);
    expect(await careUnit.resend(draft.id)).toMatchObject({ status: 202, body: { id: draft.id } });
    expect(await careUnit.confirm(draft.id, await codeFor(gateway, draft.id, 2))).toMatchObject({
      status: 200,
      body: { id: draft.id, status: 'booked' },
    });
  });

  test('lists drafts and bookings page by page, by start and id, each once', async () => {
    const patientId = 'p-9';
    // Nothing else is booked so late.
    const from = new Date(Date.now() + 40 * 86_400_000);
    const all: Appointment[] = [];
    // Of each time one with every resource: some are only drafts, some booked, some cancelled.
    const times = await freeSlots(gateway, { careUnit: path, from, limit: 3 });
    for (const [index, time] of times.entries()) {
      for (const [step, resource] of ['r-1', 'r-2', 'r-3', 'r-4'].entries()) {
        const slot = { ...time, resource_id: `emr_id:${resource}` };
        const draft = await book(gateway, { careUnit: path, slot, patientId });
        if (step === 3) await careUnit.cancel(draft.id);
        else if ((index + step) % 3 !== 0) await careUnit.confirm(draft.id, await codeFor(gateway, draft.id));
        all.push(await careUnit.get(draft.id));
      }
    }
    all.sort((a, b) => Date.parse(a.start) - Date.parse(b.start) || (a.id < b.id ? -1 : 1));
    const told = all.map((it) => [it.id, it.status]);
    const range = new URLSearchParams({ start: from.toISOString(), end: times.at(-1)?.end ?? '' }).toString();
    for (const query of [`patient_id=${patientId}`, range, `patient_id=${patientId}&${range}`]) {
      for (const limit of [1, 2, 5, 100]) {
        const pages = await pagesOf<Appointment>(
          gateway,
          `${path}/appointments?${query}&limit=${limit}`,
          'appointments',
        );
        expect(pages.flat().map((it) => [it.id, it.status])).toEqual(told);
        expect(pages.every((page) => page.length <= limit)).toBe(true);
      }
    }
    for (const status of ['booked', 'awaiting_confirmation', 'cancelled']) {
      for (const resource of ['r-1', 'r-2', 'r-4']) {
        const query = `patient_id=${patientId}&resource_id=${resource}&${range}&status=${status}&limit=1`;
        const pages = await pagesOf<Appointment>(gateway, `${path}/appointments?${query}`, 'appointments');
        const expected = all.filter((it) => it.status === status && it.resource_id === `emr_id:${resource}`);
        expect(idsIn(pages.flat())).toEqual(idsIn(expected));
      }
    }
  });

  test('takes many that await one code, also some of them', async () => {
    const slots = await freeRun(gateway, 4, { careUnit: path, resourceId: 'r-4' });
    const [first, , , last] = slots as [Slot, Slot, Slot, Slot];
    const mine = await bookByCode(gateway, { careUnit: path, slot: first, patientId: 'p-10' });
    const { body } = await careUnit.changeMany([mine.id], { start: first.start, end: last.end });
    const [kept, ...drafts] = body.appointments as [Appointment, Appointment, Appointment, Appointment];
    expect(kept).toEqual(mine);
    const [a, b, c] = drafts as [Appointment, Appointment, Appointment];
    expect(new Set(drafts.map((it) => confirmationOf(it).id)).size).toBe(1);
    const code = await codeFor(gateway, a.id);
    const booked = (it: Appointment) => ({ ...it, status: 'booked', confirmation: null });
    expect(await careUnit.confirm(b.id, code)).toMatchObject({ status: 200, body: booked(b) });
    expect(await careUnit.confirmMany([c.id, b.id, a.id], code)).toMatchObject({
      status: 200,
      body: { appointments: [booked(c), booked(b), booked(a)] },
    });
    expect(await careUnit.confirmMany([a.id, b.id, c.id], code)).toMatchObject({
      status: 200,
      body: { appointments: [booked(a), booked(b), booked(c)] },
    });
    expect(await careUnit.list('patient_id=p-10')).toEqual([kept, booked(a), booked(b), booked(c)]);
    expect(await inEhr('p-10')).toHaveLength(4);
  });

  test('has dry runs', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const look = () => careUnit.create(creationBody(slot), '?dry_run=true');
    expect(await look()).toMatchObject({
      status: 200,
      body: {
        id: null,
        status: 'awaiting_confirmation',
        change: 'created',
        confirmation: { id: null, expires_at: null, delivery: null, attempts_remaining: 5 },
      },
    });
    await bookByCode(gateway, { careUnit: path, slot });
    expectRefusal(await look(), 400, 'time_slot_unavailable');
  });

  test('cancels in two steps what it knows by another id', async () => {
    const there = careUnitPath('no-hold-uk', 'riverside');
    const { get, cancel, confirm, list } = careUnitOf(gateway, there);
    const booked = await bookByCode(gateway, { careUnit: there, patientId: 'p-4' });
    const { body: view } = await cancel(booked.id, { comment: 'why' });
    expect(view).toMatchObject({ status: 'awaiting_confirmation', replaces_id: booked.id });
    expect((await cancel(booked.id)).body.id).toBe(view.id);
    expect(await get(booked.id)).toEqual(booked);
    expect(await list('patient_id=p-4')).toEqual([booked]);
    const code = await codeFor(gateway, view.id);
    expectRefusal(await confirm(booked.id, code), 409, 'confirmation_not_pending');
    expect(await confirm(view.id, code)).toMatchObject({
      status: 200,
      body: { id: view.id, status: 'cancelled', replaces_id: booked.id },
    });
    expect(await get(booked.id)).toEqual({ ...booked, status: 'cancelled', comment: 'why' });
    expect(idsIn(await list('patient_id=p-4'))).toEqual([booked.id]);
  });
});

// Medplum's router, where it stands for the EHR, has no transactions.
describe.skipIf(inject('ehrKind') === 'medplum')('an EHR whose transactions take three changes', () => {
  const path = careUnitPath('three-at-once', 'oslo-sentrum');
  const careUnit = careUnitOf(gateway, path);
  const bookFour = async () =>
    bookEach(await freeRun(gateway, 4, { careUnit: path, resourceId: 'r-1' }), { careUnit: path, comment: 'old' });
  const withThird = (booked: readonly Appointment[]) => booked.map((it) => ({ ...it, resource_id: 'emr_id:r-3' }));

  test('does three in one, and four one after the other', async () => {
    const booked = await bookFour();
    const three = booked.slice(1);
    calls = 0;
    expect(await careUnit.changeMany(idsIn(three), { resource_id: 'r-3' })).toMatchObject({
      status: 200,
      body: { appointments: withThird(three) },
    });
    expect(calls).toBe(1);
    calls = 0;
    expect(await careUnit.changeMany(idsIn(booked), { resource_id: 'r-1', comment: 'new' })).toMatchObject({
      status: 200,
      body: { appointments: booked.map((it) => ({ ...it, comment: 'new' })) },
    });
    expect(calls).toBe(4);
  });

  test('puts back what it did when a later one of four fails', async () => {
    const booked = await bookFour();
    fail(3, 'rejected');
    expectRefusal(await careUnit.changeMany(idsIn(booked), { resource_id: 'r-3' }), 502, 'ehr_rejected');
    expect(calls).toBe(5);
    expect(await careUnit.getAll(idsIn(booked))).toEqual(booked);
  });
});

describe('an EHR without transactions', () => {
  const path = careUnitPath('one-by-one', 'oslo-sentrum');
  const careUnit = careUnitOf(gateway, path);

  test('is asked for one change after the other, and the answer is as anywhere', async () => {
    const slots = await freeRun(gateway, 3, { careUnit: path, resourceId: 'r-1' });
    const booked = await bookEach(slots, { careUnit: path, comment: 'old' });
    const ids = idsIn(booked).toReversed();
    calls = 0;
    const moved = await careUnit.changeMany(ids, { resource_id: 'r-2' });
    expect(moved.status).toBe(200);
    expect(moved.body.appointments).toEqual(booked.toReversed().map((it) => ({ ...it, resource_id: 'emr_id:r-2' })));
    expect(calls).toBe(3);
    const cancelled = await careUnit.changeMany(ids, { status: 'cancelled', comment: 'all' });
    expect(cancelled.body.appointments.map(({ id, status, comment }) => [id, status, comment])).toEqual(
      ids.map((id) => [id, 'cancelled', 'all']),
    );
  });

  test('is checked before: what is refused asks for nothing', async () => {
    const [s1, s2] = (await freeRun(gateway, 2, { careUnit: path, resourceId: 'r-3', from: nextMonth() })) as [
      Slot,
      Slot,
    ];
    const [a, b] = (await bookEach([s1, s2], { careUnit: path })) as [Appointment, Appointment];
    await book(gateway, { careUnit: path, slot: { ...s2, resource_id: 'emr_id:r-4' } });
    calls = 0;
    expectRefusal(await careUnit.changeMany([a.id, b.id], { resource_id: 'r-4' }), 400, 'time_slot_unavailable');
    expectRefusal(await careUnit.changeMany([a.id, 'nothing'], { status: 'cancelled' }), 400, 'appointment_not_found');
    expect(calls).toBe(0);
    expect(await careUnit.getAll([a.id, b.id])).toEqual([a, b]);
  });

  test.each([
    ['rejected', 502, 'ehr_rejected'],
    ['unavailable', 503, 'ehr_unavailable'],
    ['time_slot_unavailable', 400, 'time_slot_unavailable'],
    ['appointment_cancelled', 409, 'appointment_cancelled'],
  ] as const)('is put back as it was when a later change fails: %s', async (kind, status, reason) => {
    const slots = await freeRun(gateway, 3, { careUnit: path, resourceId: 'r-3' });
    const booked = await bookEach(slots, { careUnit: path, comment: 'old' });
    for (const call of [1, 2, 3]) {
      failing = new Map();
      fail(call, kind);
      expectRefusal(await careUnit.changeMany(idsIn(booked), { resource_id: 'r-4', comment: 'new' }), status, reason);
      expect(calls).toBe(call + (call - 1));
      expect(await careUnit.getAll(idsIn(booked))).toEqual(booked);
    }
  });

  test.each([
    ['refuses, which puts everything back', 'rejected', false, 502],
    ['gives no answer before it is done', 'outcome_unknown', false, 504],
    ['gives no answer after it is done', 'outcome_unknown', true, 504],
  ] as const)('does all of it on a retry with the key when a later change %s', async (_, kind, after, status) => {
    const slots = await freeRun(gateway, 3, { careUnit: path, resourceId: 'r-2', from: nextMonth() });
    const ids = idsIn(await bookEach(slots, { careUnit: path }));
    const headers = { 'idempotency-key': randomUUID() };
    const ask = () =>
      gateway.request<ToldMany['body']>('PATCH', `${path}/appointments`, {
        body: { ids, resource_id: 'r-1' },
        headers,
      });
    calls = 0;
    fail(2, kind, { after });
    expect(await ask()).toMatchObject({ status });
    failing = new Map();
    const { body } = await ask();
    expect(body.appointments.map(({ id, resource_id }) => [id, resource_id])).toEqual(
      ids.map((id) => [id, 'emr_id:r-1']),
    );
    for (const id of ids) expect(await careUnit.get(id)).toMatchObject({ resource_id: 'emr_id:r-1', status: 'booked' });
    expect(await careUnit.changeMany(ids, { status: 'cancelled' })).toMatchObject({ status: 200 });
  });

  test('is put back when a reschedule fails: moved back, and what was created is given up', async () => {
    const slots = await freeRun(gateway, 5, { careUnit: path, resourceId: 'r-4' });
    const [s1, s2, s3, s4, s5] = slots as [Slot, Slot, Slot, Slot, Slot];
    const booked = await bookEach([s1, s2], { careUnit: path, patientId: 'p-9' });
    const free = async () =>
      (await freeSlots(gateway, { careUnit: path, resourceId: 'r-4' })).map(({ start }) => start);
    const before = await free();
    for (const call of [1, 2, 3, 4]) {
      failing = new Map();
      fail(call, 'rejected');
      const range = { start: s2.start, end: s5.end, comment: 'never' };
      expectRefusal(await careUnit.changeMany(idsIn(booked), range), 502, 'ehr_rejected');
      expect(await careUnit.getAll(idsIn(booked))).toEqual(booked);
      expect(await free()).toEqual(before);
      expect(await careUnit.list('patient_id=p-9&status=booked')).toEqual(booked);
    }
    failing = new Map();
    const { body } = await careUnit.changeMany(idsIn(booked), { start: s2.start, end: s5.end });
    expect(body.appointments.map(({ start, status }) => [start, status])).toEqual(
      [s2, s3, s4, s5].map(({ start }) => [start, 'booked']),
    );
    const shorter = await careUnit.changeMany(idsIn(body.appointments), at(s3));
    expect(shorter.body.appointments.map(({ start, status }) => [start, status])).toEqual([
      [s3.start, 'booked'],
      [s2.start, 'cancelled'],
      [s4.start, 'cancelled'],
      [s5.start, 'cancelled'],
    ]);
  });

  test('frees the time of what a reschedule cancels before others are moved there', async () => {
    const slots = await freeRun(gateway, 4, { careUnit: path, resourceId: 'r-1' });
    const [s1, , s3, s4] = slots as [Slot, Slot, Slot, Slot];
    const first = await book(gateway, { careUnit: path, slot: s1 });
    const { id } = await book(gateway, { careUnit: path, slot: s3 });
    const { body: hour } = await careUnit.change(id, { start: s3.start, end: s4.end });
    const { status, body } = await careUnit.changeMany([first.id, hour.id], at(s3));
    expect(status).toBe(200);
    expect(body.appointments).toEqual([
      { ...first, ...at(s3) },
      { ...hour, status: 'cancelled' },
    ]);
  });

  test('lets one appointment take the time that another one leaves', async () => {
    const slots = await freeRun(gateway, 4, { careUnit: path, resourceId: 'r-2' });
    const [s1, s2, s3, s4] = slots as [Slot, Slot, Slot, Slot];
    const hours: Appointment[] = [];
    for (const [from, until] of [
      [s1, s2],
      [s3, s4],
    ] as const) {
      const { id } = await book(gateway, { careUnit: path, slot: from });
      hours.push((await careUnit.change(id, { start: from.start, end: until.end })).body);
    }
    const { status, body } = await careUnit.changeMany(idsIn(hours), { start: s3.start, end: s4.end });
    expect(status).toBe(200);
    expect(body.appointments).toEqual([
      { ...hours[0], ...at(s3) },
      { ...hours[1], ...at(s4) },
    ]);
  });

  test('that cannot be put back is told as it is: the outcome of every id', async () => {
    const slots = await freeRun(gateway, 3, { careUnit: path, resourceId: 'r-3' });
    const booked = await bookEach(slots, { careUnit: path });
    const ids = idsIn(booked);
    fail(3, 'rejected');
    // Changes are taken back from the last to the first.
    fail(5, 'unavailable');
    const answer = await careUnit.changeMany(ids, { resource_id: 'r-4' });
    expectRefusal(answer, 502, 'partially_applied');
    expect(answer.body.errors.map(({ id, pointer, reason }) => [id, pointer, reason])).toEqual(
      ids.map((id, index) => [id, `/ids/${index}`, 'partially_applied']),
    );
    const [changed, ...others] = answer.body.errors.map(({ detail }) => detail);
    expect(others).not.toContain(changed);
    expect((await careUnit.getAll(ids)).map(({ resource_id }) => resource_id)).toEqual([
      'emr_id:r-4',
      'emr_id:r-3',
      'emr_id:r-3',
    ]);
  });

  test('says where in the request an id stands, in whatever order it is answered', async () => {
    const slots = await freeRun(gateway, 3, { careUnit: path, resourceId: 'r-1', from: nextMonth() });
    const [first, second, third] = slots as [Slot, Slot, Slot];
    const [a, b] = (await bookEach([first, second], { careUnit: path })) as [Appointment, Appointment];
    fail(2, 'rejected');
    fail(3, 'rejected');
    const answer = await careUnit.changeMany([a.id, b.id], { start: second.start, end: third.end, comment: 'new' });
    expectRefusal(answer, 502, 'partially_applied');
    expect(answer.body.errors.map(({ id, pointer }) => [id, pointer])).toEqual([
      [b.id, '/ids/1'],
      [a.id, '/ids/0'],
    ]);
  });

  describe('and a gateway that is killed', () => {
    const underKey = (key: string, body: object) =>
      gateway.request<ToldMany['body']>('PATCH', `${path}/appointments`, { body, headers: { 'idempotency-key': key } });
    const withoutWrites = () =>
      eventually(async () => expect(await rowsOf(gateway, `SELECT FROM writes WHERE emr = 'one-by-one'`)).toEqual([]));

    test.each([
      ['before it undoes anything', 4],
      ['when some of it is undone', 5],
    ])('%s: it is undone to the end, and done anew for whoever asks again', async (_, callOfDeath) => {
      const slots = await freeRun(gateway, 3, { careUnit: path, resourceId: 'r-1', from: nextMonth() });
      const booked = await bookEach(slots, { careUnit: path, comment: 'old' });
      const body = { ids: idsIn(booked), resource_id: 'r-2', comment: 'new' };
      const key = randomUUID();
      const { promise: silentUntil, resolve } = Promise.withResolvers<void>();
      fail(3, 'rejected');
      fail(callOfDeath, 'unavailable', { silentUntil });
      const answer = underKey(key, body);
      await eventually(() => expect(calls).toBe(callOfDeath));
      failing = new Map();
      await abandonWrites(gateway, 'one-by-one');
      await withoutWrites();
      expect(await careUnit.getAll(body.ids)).toEqual(booked);
      resolve();
      await answer;
      const again = await underKey(key, body);
      expect(again.status).toBe(200);
      expect(again.body.appointments).toEqual(
        booked.map((it) => ({ ...it, resource_id: 'emr_id:r-2', comment: 'new' })),
      );
      expect(await careUnit.getAll(body.ids)).toEqual(again.body.appointments);
      expect(await careUnit.changeMany(body.ids, { status: 'cancelled' })).toMatchObject({ status: 200 });
    });

    test('between two changes, of which the second one fails later: both are as they were', async () => {
      const slots = await freeRun(gateway, 2, { careUnit: path, resourceId: 'r-3', from: nextMonth() });
      const booked = await bookEach(slots, { careUnit: path, comment: 'old' });
      const { promise: silentUntil, resolve } = Promise.withResolvers<void>();
      fail(2, 'unavailable', { silentUntil });
      const answer = careUnit.changeMany(idsIn(booked), { resource_id: 'r-4', comment: 'new' });
      await eventually(() => expect(calls).toBe(2));
      failing = new Map();
      fail(2, 'rejected');
      await abandonWrites(gateway, 'one-by-one');
      await withoutWrites();
      expect(calls).toBe(3);
      expect(await careUnit.getAll(idsIn(booked))).toEqual(booked);
      resolve();
      await answer;
    });
  });

  describe('and drafts of one code', () => {
    const there = careUnitPath('no-hold-one-by-one', 'sodermalm');
    const { changeMany, confirm, confirmMany, getAll } = careUnitOf(gateway, there);

    async function drafts(resourceId: string): Promise<{ readonly ids: string[]; readonly code: string }> {
      const slots = await freeRun(gateway, 3, { careUnit: there, resourceId, from: nextMonth() });
      const [first, , last] = slots as [Slot, Slot, Slot];
      const mine = await bookByCode(gateway, { careUnit: there, slot: first });
      const { body } = await changeMany([mine.id], { start: first.start, end: last.end });
      const ids = idsIn(body.appointments.slice(1));
      return { ids, code: await codeFor(gateway, ids[0] ?? '') };
    }

    test('books both after a confirmation that was undone', async () => {
      const { ids, code } = await drafts('r-1');
      fail(2, 'rejected');
      expectRefusal(await confirmMany(ids, code), 502, 'ehr_rejected');
      failing = new Map();
      const { status, body } = await confirmMany(ids, code);
      expect(status).toBe(200);
      expect(body.appointments.map((it) => it.status)).toEqual(['booked', 'booked']);
      expect(await getAll(ids)).toEqual(body.appointments);
    });

    test('lets nobody confirm one of them while it is not known whether both are booked', async () => {
      const { ids, code } = await drafts('r-2');
      const [one = ''] = ids;
      const { promise: silentUntil, resolve } = Promise.withResolvers<void>();
      fail(2, 'outcome_unknown', { after: true, silentUntil });
      const both = confirmMany(ids, code);
      await eventually(() => expect(calls).toBe(2));
      failing = new Map();
      expectRefusal(await confirm(one, code), 409, 'idempotency_in_progress');
      resolve();
      expectRefusal(await both, 504, 'outcome_unknown');
      await eventually(async () =>
        expect((await getAll(ids)).map((it) => [it.status, it.confirmation])).toEqual(ids.map(() => ['booked', null])),
      );
      expect(await confirm(one, code)).toMatchObject({ status: 200, body: { id: one, status: 'booked' } });
    });
  });

  test('cannot take a cancellation back', async () => {
    const booked = await bookEach(await freeSlots(gateway, { careUnit: path, limit: 2 }), { careUnit: path });
    const [a, b] = booked as [Appointment, Appointment];
    fail(1, 'unavailable');
    expectRefusal(await careUnit.changeMany([a.id, b.id], { status: 'cancelled' }), 503, 'ehr_unavailable');
    expect(await careUnit.getAll([a.id, b.id])).toEqual([a, b]);
    failing = new Map();
    fail(2, 'rejected');
    const answer = await careUnit.changeMany([a.id, b.id], { status: 'cancelled' });
    expectRefusal(answer, 502, 'partially_applied');
    expect(answer.body.errors.map(({ id }) => id)).toEqual([a.id, b.id]);
    expect((await careUnit.getAll([a.id, b.id])).map(({ status }) => status)).toEqual(['cancelled', 'booked']);
  });

  test('names the ids that the caller knows', async () => {
    const there = careUnitPath('no-hold-one-by-one', 'sodermalm');
    const { changeMany, getAll } = careUnitOf(gateway, there);
    const a = await bookByCode(gateway, { careUnit: there, resourceId: 'r-1' });
    const b = await bookByCode(gateway, { careUnit: there, resourceId: 'r-1' });
    fail(2, 'rejected');
    fail(3, 'rejected');
    const answer = await changeMany([a.id, b.id], { resource_id: 'r-2' });
    expectRefusal(answer, 502, 'partially_applied');
    expect(answer.body.errors.map(({ id }) => id)).toEqual([a.id, b.id]);
    expect((await getAll([a.id, b.id])).map(({ resource_id }) => resource_id)).toEqual(['emr_id:r-2', 'emr_id:r-1']);
  });

  test('confirms many one by one', async () => {
    for (const emr of ['se-one-by-one', 'no-hold-one-by-one']) {
      const there = careUnitPath(emr, 'sodermalm');
      const { changeMany, confirmMany, getAll } = careUnitOf(gateway, there);
      const slots = await freeRun(gateway, 3, { careUnit: there, resourceId: 'r-3' });
      const [first, , last] = slots as [Slot, Slot, Slot];
      const mine = await bookByCode(gateway, { careUnit: there, slot: first });
      const { body } = await changeMany([mine.id], { start: first.start, end: last.end });
      const waiting = idsIn(body.appointments.slice(1)).toReversed();
      const code = await codeFor(gateway, body.appointments[1]?.id ?? '');
      const { status, body: confirmed } = await confirmMany(waiting, code);
      expect(status).toBe(200);
      expect(confirmed.appointments.map((it) => [it.id, it.status])).toEqual(waiting.map((id) => [id, 'booked']));
      expect(await getAll(waiting)).toEqual(confirmed.appointments);
    }
  });
});

describe('an EHR whose writes fail', () => {
  const norway = careUnitOf(gateway, careUnitPath('sandbox-no', 'oslo-sentrum'));
  const swedish = careUnitPath('sandbox-se', 'sodermalm');
  const sweden = careUnitOf(gateway, swedish);
  const british = careUnitPath('sandbox-uk', 'riverside');
  const uk = careUnitOf(gateway, british);

  const failures = [
    ['unavailable', 503, 'ehr_unavailable'],
    ['rejected', 502, 'ehr_rejected'],
    // Of a write, a time-out leaves open whether it was done.
    ['timeout', 504, 'outcome_unknown'],
    ['outcome_unknown', 504, 'outcome_unknown'],
  ] as const;

  describe.each(failures)('%s', (kind, status, reason) => {
    const expectFailure = (answer: Told | ToldMany) => {
      expectRefusal(answer, status, reason);
      expect(answer.body).toMatchObject({ origin: 'ehr' });
      if (kind === 'unavailable') expect(answer.headers['retry-after']).toBe('7');
      failing = new Map();
    };
    const failOnce = () => {
      failing = new Map();
      fail(1, kind, kind === 'unavailable' ? { retryAfterSeconds: 7 } : {});
    };

    test('changes nothing', async () => {
      const slot = await freeSlot(gateway);
      failOnce();
      expectFailure(await norway.create(creationBody(slot)));
      expect((await freeSlots(gateway)).map(({ start }) => start)).toContain(slot.start);

      const [a, b] = (await bookEach(await freeSlots(gateway, { limit: 2 }), {})) as [Appointment, Appointment];
      const ids = [a.id, b.id];
      for (const body of [{ comment: 'x' }, { status: 'cancelled' }] as const) {
        failOnce();
        expectFailure(await norway.change(a.id, body));
        failOnce();
        expectFailure(await norway.changeMany(ids, body));
      }
      const to = await freeSlot(gateway, { from: nextMonth() });
      failOnce();
      expectFailure(await norway.changeMany(ids, at(to)));
      expect(await norway.getAll(ids)).toEqual([a, b]);

      const held = await freeSlot(gateway, { careUnit: swedish });
      failOnce();
      expectFailure(await sweden.create({ ...creationBody(held), patient_id: 'p-11' }));
      expect(await sweden.list('patient_id=p-11')).toEqual([]);
    });

    test('during a confirmation leaves the code as it was', async () => {
      const held = await book(gateway, { careUnit: swedish });
      const original = await book(gateway, { careUnit: british });
      const { body: view } = await uk.cancel(original.id);
      for (const [careUnit, awaiting, confirmed] of [
        [sweden, held, 'booked'],
        [uk, view, 'cancelled'],
      ] as const) {
        const code = await codeFor(gateway, awaiting.id);
        failOnce();
        expectFailure(await careUnit.confirm(awaiting.id, code));
        const pending = { ...confirmationOf(awaiting), delivery: expect.stringMatching(/^(queued|sent)$/) };
        expect(await careUnit.get(awaiting.id)).toEqual({ ...awaiting, confirmation: pending });
        await eventually(async () => {
          const rows = await rowsOf(gateway, `SELECT state FROM confirmation_items WHERE appointment_id = $1`, [
            awaiting.id,
          ]);
          expect(rows).toEqual([{ state: 'pending' }]);
        });
        expect(await careUnit.confirm(awaiting.id, wrongCodes(code, 1)[0] ?? '')).toMatchObject({
          status: 400,
          body: { attempts_remaining: 4 },
        });
        expect(await careUnit.confirm(awaiting.id, code)).toMatchObject({ status: 200, body: { status: confirmed } });
      }
    });
  });

  test('without a word on when to come back is told with one all the same', async () => {
    const slot = await freeSlot(gateway);
    fail(1, 'unavailable');
    const answer = await norway.create(creationBody(slot));
    expectRefusal(answer, 503, 'ehr_unavailable');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('but has done it finds it confirmed in the end, once', async () => {
    const held = await book(gateway, { careUnit: swedish });
    const code = await codeFor(gateway, held.id);
    fail(1, 'outcome_unknown', { after: true });
    expectRefusal(await sweden.confirm(held.id, code), 504, 'outcome_unknown');
    await eventually(async () => expect(await sweden.get(held.id)).toMatchObject({ status: 'booked' }));
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: { id: held.id, status: 'booked' } });
  });
});

test('a hold that has run out is given up as soon as the EHR takes it, and no code confirms it meanwhile', async () => {
  const careUnit = careUnitOf(gateway, careUnitPath('sandbox-se', 'sodermalm'));
  const held = await book(gateway, { careUnit: careUnitPath('sandbox-se', 'sodermalm') });
  const code = await codeFor(gateway, held.id);
  const { id } = confirmationOf(held);
  const setExpiry = (time: string) =>
    rowsOf(gateway, `UPDATE confirmations SET expires_at = clock_timestamp() + interval '${time}' WHERE id = $1`, [id]);
  const expectState = (state: string, inEhr: string) =>
    eventually(async () => {
      expect(await rowsOf(gateway, 'SELECT state FROM confirmation_items WHERE confirmation_id = $1', [id])).toEqual([
        { state },
      ]);
      const standing = await gateway.ehr('sandbox-se').appointments();
      expect(standing.find((it) => it.id === held.id)).toMatchObject({ state: inEhr });
    });
  for (let call = 1; call <= 100; call++) fail(call, 'unavailable');
  await setExpiry('0 seconds');
  await expectState('expiring', 'held');
  expect(await careUnit.get(held.id)).toMatchObject({ status: 'cancelled', confirmation: null });
  // Not even where somebody turns the clock back.
  await setExpiry('1 minute');
  expectRefusal(await careUnit.confirm(held.id, code), 409, 'confirmation_expired');
  expectRefusal(await careUnit.resend(held.id), 409, 'confirmation_expired');
  failing = new Map();
  await setExpiry('0 seconds');
  await expectState('expired', 'cancelled');
});

describe('an EHR that sends and checks codes itself', () => {
  const path = careUnitPath('own-codes', 'riverside');
  const careUnit = careUnitOf(gateway, path);

  const messagesOfOurs = () => rowsOf(gateway, `SELECT FROM messages WHERE emr = 'own-codes'`);
  const sentFor = (id: string) => {
    const sent = ehrCodes.get(id);
    if (!sent) throw new Error('The EHR has sent no code');
    return sent;
  };
  const bookByEhrCode = async () => {
    const held = await book(gateway, { careUnit: path, comment: 'old' });
    const { status, body } = await careUnit.confirm(held.id, '111111');
    expect(status).toBe(200);
    return body;
  };

  test('books with its code, of which the gateway sends none', async () => {
    const slot = await freeSlot(gateway, { careUnit: path });
    const held = await book(gateway, { careUnit: path, slot });
    expect(held).toMatchObject({
      status: 'awaiting_confirmation',
      confirmation: { kind: 'booking', channel: 'sms', delivery: 'sent', attempts_remaining: 3 },
    });
    expect(await careUnit.get(held.id)).toEqual(held);
    expect(await careUnit.list('patient_id=p-3&status=awaiting_confirmation')).toContainEqual(held);
    expect((await freeSlots(gateway, { careUnit: path })).map(({ start }) => start)).not.toContain(slot.start);
    const { status, body } = await careUnit.confirm(held.id, '111111');
    expect(status).toBe(200);
    expect(body).toEqual({ ...held, status: 'booked', confirmation: null });
    expect(await careUnit.get(held.id)).toEqual(body);
    expect(await careUnit.confirm(held.id, '111111')).toMatchObject({ status: 200, body });
    expectRefusal(await careUnit.confirm(held.id, '222222'), 409, 'confirmation_not_pending');
    expect(await messagesOfOurs()).toEqual([]);
  });

  test('says itself that a code is wrong, and how often one may still try', async () => {
    const held = await book(gateway, { careUnit: path });
    for (const attempts_remaining of [2, 1, 0]) {
      expect(await careUnit.confirm(held.id, '999999')).toMatchObject({
        status: 400,
        body: { reason: 'confirmation_code_incorrect', attempts_remaining },
      });
    }
    expectRefusal(await careUnit.confirm(held.id, '111111'), 409, 'confirmation_locked');
    expect(await careUnit.get(held.id)).toMatchObject({ status: 'awaiting_confirmation' });
    // Given up it needs no code.
    expect(await careUnit.cancel(held.id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  });

  test('says itself that a code has run out', async () => {
    const held = await book(gateway, { careUnit: path });
    sentFor(held.id).isOver = true;
    expectRefusal(await careUnit.confirm(held.id, '111111'), 409, 'confirmation_expired');
  });

  test('cancels with its code under a NEW id', async () => {
    const booked = await bookByEhrCode();
    const { body: view } = await careUnit.cancel(booked.id, { comment: 'why' });
    expect(view).toEqual({
      ...booked,
      id: view.id,
      status: 'awaiting_confirmation',
      replaces_id: booked.id,
      confirmation: expect.objectContaining({ kind: 'cancellation', channel: 'email', delivery: 'sent' }),
    });
    expect(view.id).not.toBe(booked.id);
    expect(await careUnit.get(booked.id)).toEqual(booked);
    expect((await careUnit.cancel(booked.id)).body.id).toBe(view.id);
    expect(await careUnit.confirm(view.id, '999999')).toMatchObject({ status: 400, body: { attempts_remaining: 2 } });
    expectRefusal(await careUnit.confirm(booked.id, '333333'), 409, 'confirmation_not_pending');
    expect(await careUnit.confirm(view.id, '111111')).toMatchObject({
      status: 200,
      body: { id: view.id, status: 'cancelled', comment: 'why', replaces_id: booked.id },
    });
    expect(await careUnit.get(booked.id)).toEqual({ ...booked, status: 'cancelled', comment: 'why' });
    expect(await messagesOfOurs()).toEqual([]);
  });

  test('sends a fresh code when it is asked to', async () => {
    const held = await book(gateway, { careUnit: path });
    expectRefusal(await careUnit.resend(held.id), 429, 'rate_limited');
    await age(gateway, confirmationOf(held).id, 31);
    expect(await careUnit.resend(held.id)).toMatchObject({
      status: 202,
      body: { id: held.id, confirmation: { channel: 'email', delivery: 'sent', attempts_remaining: 3 } },
    });
    expect(await careUnit.confirm(held.id, '111111')).toMatchObject({ status: 400, body: { attempts_remaining: 2 } });
    expect(await careUnit.confirm(held.id, '222222')).toMatchObject({ status: 200, body: { status: 'booked' } });
    expect(await messagesOfOurs()).toEqual([]);
  });

  test('has one code for one appointment, and a dry run', async () => {
    const a = await bookByEhrCode();
    const b = await bookByEhrCode();
    expectRefusal(await careUnit.changeMany([a.id, b.id], { status: 'cancelled' }), 501, 'operation_unsupported');
    expect(await careUnit.getAll([a.id, b.id])).toEqual([a, b]);
    const count = ehrCodes.size;
    const slot = await freeSlot(gateway, { careUnit: path });
    expect(await careUnit.create(creationBody(slot), '?dry_run=true')).toMatchObject({
      status: 200,
      body: { id: null, status: 'awaiting_confirmation', change: 'created' },
    });
    expect(await careUnit.change(a.id, { status: 'cancelled' }, '?dry_run=true')).toMatchObject({
      status: 200,
      body: { id: null, status: 'awaiting_confirmation', replaces_id: a.id, change: 'cancelled' },
    });
    expect(ehrCodes.size).toBe(count);
  });
});
