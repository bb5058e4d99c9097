import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { FhirAppointment } from '../src/fhir.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

async function booked(ids: readonly string[]) {
  const server = await startFake({ data: { days: 14 } });
  const connector = await openConnector(settingsFor(server.url));
  const slots = await Promise.all(ids.map(async (id) => (await freeSlots(connector, 1, id))[0]));
  const operationId = randomUUID();
  const changes = slots.map((slot) => creation(slot));
  const made = await write(connector, changes, operationId);
  expect(await connector.findOperation?.(north, operationId)).toEqual(made);
  return { server, operationId, made };
}

test('a write is found after the roles of its appointments were removed, because they name the location', async () => {
  const { server, operationId, made } = await booked(['r-1', 'r-2']);
  server.store.remove('PractitionerRole/role-2');
  const later = await openConnector(settingsFor(server.url));
  expect(await later.findOperation?.(north, operationId)).toEqual(made);
});

test.each([
  ['all', ['r-2']],
  ['some', ['r-1', 'r-2']],
] as const)('the outcome of a write is unknown if staff moved %s of its appointments elsewhere', async (_, ids) => {
  const { server, operationId, made } = await booked(ids);
  const appointment = server.store.get(`Appointment/${made.at(-1)?.id}`) as FhirAppointment;
  const participant = appointment.participant?.map((it) =>
    it.actor?.reference === 'Location/north' ? { ...it, actor: { reference: 'Location/south' } } : it,
  );
  server.store.save({ ...appointment, participant } as FhirAppointment);
  const later = await openConnector(settingsFor(server.url));
  await expect(later.findOperation?.(north, operationId)).rejects.toMatchObject({ kind: 'outcome_unknown' });
  expect(await later.findOperation?.(north, randomUUID())).toBeNull();
});
