import { describe, expect, test } from 'vitest';
import { startFake } from './fake.ts';
import { everybody, openServer, people, range } from './published-servers.ts';
import { north, openConnector, settingsFor } from './subject.ts';

const error = (severity = 'error', code = 'exception') => ({
  resourceType: 'OperationOutcome',
  issue: [{ severity, code, diagnostics: 'Tolvan Tolvansson 191212121212' }],
});
const ok = people.find(({ id }) => id === 'ok');

const isSearch = (method: string, path: string) =>
  path.endsWith('/_search') || (method === 'GET' && /^\/(Appointment|Slot|Patient)$/.test(path));

/** Entries of a list of status 200 that says that the search has failed. */
const failures: readonly [string, readonly object[]][] = [
  ['an error alone', [{ resource: error() }]],
  ['an error alone, as an outcome', [{ resource: error('fatal', 'processing'), search: { mode: 'outcome' } }]],
  ['a warning and an error', [{ resource: error('warning', 'incomplete') }, { resource: error() }]],
  ['an error beside a match', [{ resource: ok }, { resource: error(), search: { mode: 'outcome' } }]],
];

describe.each(failures)('a list with %s', (_, entry) => {
  const body = { resourceType: 'Bundle', type: 'searchset', entry };
  const failed = { kind: 'rejected', message: expect.not.stringContaining('Tolvan') };

  test('is an error, and no empty list', async () => {
    const { server, connector, ofPatient, ofResource, times, resources } = await openServer({});
    expect(await resources()).toEqual(['d1']);
    server.misbehave = ({ method, path }) => (isSearch(method, path) ? { status: 200, body } : undefined);
    await expect(ofPatient('p1')).rejects.toMatchObject(failed);
    await expect(ofResource('d1')).rejects.toMatchObject(failed);
    await expect(times()).rejects.toMatchObject(failed);
    for (const birthDate of ['1980-02-03', '1980-02-04']) {
      const search = connector.searchPatients?.({ familyName: 'Vik', birthDate, limit: 10 });
      await expect(search).rejects.toMatchObject(failed);
    }
    for (const value of ['9449305552', '9990000018']) {
      await expect(connector.findPatient?.({ type: 'nhs_number', value })).rejects.toMatchObject(failed);
    }
    const changes = connector.listAppointmentChanges?.bind(connector);
    const { next = '' } = (await changes?.({ careUnits: [everybody], limit: 10 })) ?? {};
    await expect(changes?.({ careUnits: [everybody], after: next, limit: 10 })).rejects.toMatchObject(failed);
  });

  test('creates nobody and books nothing', async () => {
    const server = await startFake({ data: { days: 7 } });
    const connector = await openConnector(settingsFor(server.url, { identifier_lists: false }));
    const [slot] =
      (await connector.listTimeSlots?.({ careUnit: north, ...range, resourceIds: ['r-1'], limit: 1 })) ?? [];
    if (!slot) throw new Error('No free slot');
    const before = server.store.all('Patient').length;
    server.misbehave = ({ method, path }) => (isSearch(method, path) ? { status: 200, body } : undefined);
    const creating = connector.createPatient?.({
      operationId: '0b8f2f0e-6a3b-4c0e-9c37-6d1a3c1f0001',
      careUnit: north,
      identifier: { type: 'se_personal_number', value: '197010632393' },
      givenName: 'Nora',
      familyName: 'Vik',
      birthDate: '1970-10-03',
      gender: null,
      phone: null,
      email: null,
      address: null,
    });
    await expect(creating).rejects.toMatchObject(failed);
    const booking = connector.changeAppointments?.({
      operationId: '0b8f2f0e-6a3b-4c0e-9c37-6d1a3c1f0002',
      careUnit: north,
      changes: [{ kind: 'create', patientId: 'p-1', comment: null, holdUntil: null, ...slot }],
    });
    await expect(booking).rejects.toMatchObject({ message: expect.not.stringContaining('Tolvan') });
    expect(server.store.all('Patient')).toHaveLength(before);
    expect(server.store.all('Appointment')).toEqual([]);
  });
});

test('a list with a warning alone is empty', async () => {
  const { server, ofPatient, connector } = await openServer({});
  const entry = [{ resource: error('warning', 'incomplete'), search: { mode: 'outcome' } }];
  const body = { resourceType: 'Bundle', type: 'searchset', entry };
  server.misbehave = ({ method, path }) => (isSearch(method, path) ? { status: 200, body } : undefined);
  expect(await ofPatient('p1')).toEqual([]);
  expect(await connector.findPatient?.({ type: 'nhs_number', value: '9449305552' })).toBeNull();
});
