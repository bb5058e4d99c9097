import { randomUUID } from 'node:crypto';
import type {
  Appointment,
  AppointmentCancellation,
  AppointmentChange,
  AppointmentCreation,
  AppointmentUpdate,
  CareUnit,
  Connector,
  TimeSlot,
} from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { afterAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { sandboxConnector } from './connector.ts';

const careUnit = { id: 'north', timeZone: 'Europe/Oslo' };
const south = { id: 'south', timeZone: 'Europe/Oslo' };
const { database, dispose } = await createTestDatabase();
afterAll(dispose);

interface Where {
  readonly operationId: string;
  readonly careUnit: CareUnit;
}
type Creation = Omit<AppointmentCreation, 'kind' | 'holdUntil'> & Where;
type Update = Omit<AppointmentUpdate, 'kind'> & Where;
type Cancellation = Omit<AppointmentCancellation, 'kind'> & Where;

/** A sandbox with one method per kind of change. */
async function open(emr: string) {
  const connector = (await sandboxConnector.open({
    emr,
    settings: { country: 'NO' },
    careUnits: [careUnit, south],
    http: plainHttp(),
    now: () => new Date(),
    database: database.pool,
  })) as Required<Connector>;
  const one = async ({ operationId, careUnit: unit }: Where, change: AppointmentChange): Promise<Appointment> => {
    const [appointment] = await connector.changeAppointments({ operationId, careUnit: unit, changes: [change] });
    if (!appointment) throw new Error('No appointment returned');
    return appointment;
  };
  return {
    ...connector,
    createAppointment: (write: Creation) => one(write, { ...write, kind: 'create', holdUntil: null }),
    updateAppointment: (write: Update) => one(write, { ...write, kind: 'update' }),
    cancelAppointment: (write: Cancellation) => one(write, { ...write, kind: 'cancel' }),
  };
}
const ehr = await open('here');
const otherEhr = await open('there');

async function freeSlots(limit = 1, resourceIds = ['r-1']): Promise<readonly TimeSlot[]> {
  const start = new Date(Date.now() + 7 * 86_400_000);
  const end = new Date(start.getTime() + 60 * 86_400_000);
  return await ehr.listTimeSlots({ careUnit, start, end, resourceIds, healthcareServiceIds: ['consultation'], limit });
}

async function creation() {
  const [slot] = await freeSlots();
  if (!slot) throw new Error('No free slot');
  return { operationId: randomUUID(), careUnit, patientId: 'p-1', comment: 'as written', ...slot };
}

const all = (): Promise<readonly Appointment[]> => ehr.listAppointments({ careUnit, resourceId: 'r-1', limit: 1000 });

describe('a repeated operation id', () => {
  test('books once', async () => {
    const write = await creation();
    const first = await ehr.createAppointment(write);
    const count = (await all()).length;
    expect(await ehr.createAppointment(write)).toEqual(first);
    expect(await ehr.createAppointment({ ...write, comment: 'other' })).toEqual(first);
    expect(await all()).toHaveLength(count);
  });

  test('books once for concurrent writes', async () => {
    for (let round = 0; round < 3; round++) {
      const write = await creation();
      const count = (await all()).length;
      const responses = await Promise.all(Array.from({ length: 12 }, () => ehr.createAppointment(write)));
      expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
      expect(await all()).toHaveLength(count + 1);
    }
  });

  test('moves or cancels once and returns the current appointment', async () => {
    const { id: appointmentId } = await ehr.createAppointment(await creation());
    const [a, b] = (await freeSlots(2)) as [TimeSlot, TimeSlot];
    const move = {
      operationId: randomUUID(),
      careUnit,
      appointmentId,
      time: { start: a.start, end: a.end },
    };
    expect(await ehr.updateAppointment(move)).toMatchObject({ start: a.start });
    const second = { ...move, operationId: randomUUID(), time: { start: b.start, end: b.end } };
    await ehr.updateAppointment(second);
    expect(await ehr.updateAppointment(move)).toMatchObject({ id: appointmentId, start: b.start });
    const cancellation = { operationId: randomUUID(), careUnit, appointmentId, comment: 'why' };
    const cancelled = await ehr.cancelAppointment(cancellation);
    expect(cancelled).toMatchObject({ state: 'cancelled', comment: 'why' });
    expect(await ehr.cancelAppointment(cancellation)).toEqual(cancelled);
    expect(await ehr.updateAppointment(second)).toEqual(cancelled);
  });

  test('is independent for each EHR', async () => {
    const write = await creation();
    const here = await ehr.createAppointment(write);
    const there = await otherEhr.createAppointment(write);
    expect(there.id).not.toBe(here.id);
  });

  test('can be reused after a rejected write', async () => {
    const taken = await creation();
    await ehr.createAppointment(taken);
    const operationId = randomUUID();
    await expect(ehr.createAppointment({ ...taken, operationId })).rejects.toMatchObject({
      kind: 'time_slot_unavailable',
    });
    expect(await ehr.createAppointment({ ...(await creation()), operationId })).toMatchObject({ state: 'booked' });
  });
});

describe('a write with an unknown id', () => {
  test.each([
    ['patient_not_found', { patientId: 'p-21' }],
    ['resource_not_found', { resourceId: 'r-6' }],
    ['resource_not_found', { resourceId: 'nobody' }],
    ['healthcare_service_not_found', { healthcareServiceId: 'surgery' }],
    ['time_slot_unavailable', { resourceId: 'r-5' }],
  ])('throws %s', async (kind, change) => {
    const write = await creation();
    const count = (await all()).length;
    await expect(ehr.createAppointment({ ...write, ...change })).rejects.toMatchObject({ kind });
    expect(await all()).toHaveLength(count);
  });

  test('throws appointment_not_found, also for an appointment of another care unit', async () => {
    const { id } = await ehr.createAppointment(await creation());
    for (const [unit, appointmentId] of [
      [careUnit, randomUUID()],
      [south, id],
    ] as const) {
      const write = { operationId: randomUUID(), careUnit: unit, appointmentId };
      await expect(ehr.cancelAppointment(write)).rejects.toMatchObject({ kind: 'appointment_not_found' });
      await expect(ehr.updateAppointment({ ...write, comment: 'x' })).rejects.toMatchObject({
        kind: 'appointment_not_found',
      });
    }
  });
});

test('an expired hold frees its time for the next booking', async () => {
  const write = await creation();
  const held = await ehr.createAppointment(write);
  // Release the client before calling the EHR: the pool may have only one connection.
  const holdUntil = async (interval: string) => {
    const client = await database.pool.connect();
    const sql = `UPDATE sandbox.appointments
      SET state = 'held', held_until = clock_timestamp() + $2::interval WHERE id = $1`;
    await client.query(sql, [held.id, interval]).finally(() => client.release());
  };
  const again = { ...write, operationId: randomUUID() };
  await holdUntil('1 hour');
  await expect(ehr.createAppointment(again)).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  await holdUntil('-1 second');
  expect((await freeSlots(1))[0]?.start).toEqual(write.start);
  expect(await ehr.createAppointment(again)).toMatchObject({ state: 'booked' });
  expect(await ehr.findAppointments(careUnit, [held.id])).toMatchObject([{ state: 'cancelled', heldUntil: null }]);
});
