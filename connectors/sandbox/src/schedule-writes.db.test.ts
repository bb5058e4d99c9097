import { randomUUID } from 'node:crypto';
import type { Connector } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { sandboxSubject } from '../test/conformance-subject.ts';

const { database, dispose } = await createTestDatabase();
afterAll(dispose);
const { careUnit, ...subject } = await sandboxSubject('sandbox', database.pool);
const connector = subject.connector as Required<Connector>;

const day = 24 * 60 * 60 * 1000;

async function heldSlot(hold: { minutes: number }) {
  const [slot] = await connector.listTimeSlots({
    careUnit,
    start: new Date(Date.now() + 7 * day),
    end: new Date(Date.now() + 14 * day),
    resourceIds: ['r-1'],
    healthcareServiceIds: ['consultation'],
    limit: 1,
  });
  if (!slot) throw new Error('No free slot');
  const holdUntil = new Date(Date.now() + hold.minutes * 60_000);
  const creation = { kind: 'create', patientId: 'p-1', comment: null, holdUntil, ...slot } as const;
  const [held] = await connector.changeAppointments({ operationId: randomUUID(), careUnit, changes: [creation] });
  if (!held) throw new Error('No hold');
  return { slot, id: held.id };
}

/** Takes the slot out of the schedule that has it. */
async function takeOut({ start, end }: { start: Date; end: Date }) {
  const [schedule] = await connector.listSchedules({ careUnit, resourceId: 'r-1', range: { start, end }, limit: 1 });
  if (!schedule) throw new Error('No schedule');
  const write = { operationId: randomUUID(), careUnit, resourceId: 'r-1', scheduleId: schedule.id };
  return connector.addScheduleException({ ...write, start, end });
}

function change(kind: 'confirm' | 'extend', appointmentId: string) {
  const holdUntil = new Date(Date.now() + 60_000);
  const changes = kind === 'confirm' ? [{ kind, appointmentId }] : [{ kind, appointmentId, holdUntil }];
  return connector.changeAppointments({ operationId: randomUUID(), careUnit, changes });
}

test('a hold is in the way of an exception until it expires', async () => {
  const { slot, id } = await heldSlot({ minutes: 10 });
  await expect(takeOut(slot)).rejects.toMatchObject({ kind: 'schedule_has_appointments', appointmentIds: [id] });
});

test('an expired hold cannot be confirmed when its slot was taken out', async () => {
  const { slot, id } = await heldSlot({ minutes: -1 });
  await takeOut(slot);
  await expect(change('confirm', id)).rejects.toMatchObject({ kind: 'time_slot_unavailable' });
  await expect(change('extend', id)).rejects.toMatchObject({ kind: 'appointment_not_held' });
});

test('an expired hold can be confirmed while its slot is there', async () => {
  const { id } = await heldSlot({ minutes: -1 });
  expect(await change('confirm', id)).toMatchObject([{ id, state: 'booked' }]);
});
