import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../fake/server.ts';
import type { FhirAppointment } from '../src/fhir.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

/** An appointment that was booked for `p-1`; the staff then add two patients and a practitioner. */
async function start(options: FakeOptions) {
  const server = await startFake({ data: { days: 14 }, ...options });
  const connector = await openConnector(settingsFor(server.url));
  const [slot, other] = await freeSlots(connector, 2);
  const [made] = await write(connector, [creation(slot)]);
  const id = made?.id ?? '';
  const inEhr = () => server.store.get(`Appointment/${id}`) as unknown as FhirAppointment;
  const added = ['Patient/p-2', 'Patient/p-3', 'Practitioner/r-2'];
  const participant = [
    ...(inEhr().participant ?? []),
    ...added.map((reference) => ({ actor: { reference }, status: 'accepted' })),
  ];
  server.store.save({ ...inEhr(), participant } as FhirAppointment);
  const statusOf = (patientId: string) =>
    inEhr().participant?.find(({ actor }) => actor?.reference === `Patient/${patientId}`)?.status;
  const list = (query: object) => connector.listAppointments?.({ careUnit: north, limit: 10, ...query });
  return { server, connector, slot, other, id, inEhr, statusOf, list };
}

describe.each([
  ['transaction', {}],
  ['slot_claim', { transactions: 'none' }],
  ['slot_claim, by PATCH', { transactions: 'none', patchOnly: true }],
] as const)('in mode %s, an appointment of several patients', (_, options) => {
  test('is listed for each patient and each practitioner', async () => {
    const { connector, id, list } = await start(options);
    const ids = [id, `${id}_p-2`, `${id}_p-3`];
    for (const [index, patientId] of ['p-1', 'p-2', 'p-3'].entries()) {
      expect(await list({ patientId })).toMatchObject([
        { id: ids[index], patientId, state: 'booked', resourceId: 'r-1' },
      ]);
    }
    for (const resourceId of ['r-1', 'r-2']) {
      const listed = await list({ resourceId });
      expect(listed?.map((it) => it.id)).toEqual(ids);
      expect(new Set(listed?.map((it) => it.resourceId))).toEqual(new Set([resourceId]));
    }
    const found = await connector.findAppointments?.(north, [...ids, `${id}_p-1`, `${id}_p-4`]);
    expect(found?.map(({ id: it, patientId }) => [it, patientId])).toEqual([
      [ids[0], 'p-1'],
      [ids[1], 'p-2'],
      [ids[2], 'p-3'],
      [`${id}_p-1`, 'p-1'],
    ]);
  });

  test.each([0, 1, 2])('is cancelled for one patient, number %i, and stays for the others', async (place) => {
    const { connector, slot, id, inEhr, statusOf, list } = await start(options);
    const patients = ['p-1', 'p-2', 'p-3'];
    const patientId = patients[place] as string;
    const appointmentId = place === 0 ? id : `${id}_${patientId}`;
    const operationId = randomUUID();
    const changes = [{ kind: 'cancel', appointmentId, comment: 'ill' }] as const;
    const [cancelled] = await write(connector, changes, operationId);
    expect(cancelled).toMatchObject({ id: appointmentId, patientId, state: 'cancelled', comment: 'as written' });
    expect(await connector.findOperation?.(north, operationId)).toEqual([cancelled]);
    expect(await write(connector, changes, operationId)).toEqual([cancelled]);
    expect(await write(connector, changes)).toEqual([cancelled]);
    expect(inEhr()).toMatchObject({ status: 'booked', comment: 'as written' });
    for (const other of patients) {
      expect(statusOf(other)).toBe(other === patientId ? 'declined' : 'accepted');
      expect(await list({ patientId: other })).toMatchObject([{ state: other === patientId ? 'cancelled' : 'booked' }]);
    }
    expect((await freeSlots(connector, 1))[0]).not.toEqual(slot);
  });

  test('is cancelled when its last patient cancels', async () => {
    const { connector, slot, id, inEhr } = await start(options);
    for (const appointmentId of [`${id}_p-2`, id, `${id}_p-3`]) {
      const [cancelled] = await write(connector, [{ kind: 'cancel', appointmentId }]);
      expect(cancelled).toMatchObject({ id: appointmentId, state: 'cancelled' });
    }
    expect(inEhr().status).toBe('cancelled');
    expect((await freeSlots(connector, 1))[0]).toEqual(slot);
  });

  test('cannot be moved for one of its patients', async () => {
    const { connector, other, id, inEhr } = await start(options);
    const before = inEhr();
    const update = {
      kind: 'update',
      appointmentId: `${id}_p-2`,
      time: { start: other.start, end: other.end },
    } as const;
    await expect(write(connector, [update])).rejects.toMatchObject({ kind: 'unsupported' });
    expect(inEhr()).toEqual(before);
  });
});

test('several patients of an appointment are cancelled in one write', async () => {
  const { connector, id, statusOf } = await start({});
  const operationId = randomUUID();
  const ids = [`${id}_p-3`, id];
  const cancelled = await write(
    connector,
    ids.map((appointmentId) => ({ kind: 'cancel', appointmentId })),
    operationId,
  );
  expect(cancelled.map((it) => [it.id, it.state])).toEqual(ids.map((it) => [it, 'cancelled']));
  expect(await connector.findOperation?.(north, operationId)).toEqual(cancelled);
  expect(['p-1', 'p-2', 'p-3'].map(statusOf)).toEqual(['declined', 'accepted', 'declined']);
});
