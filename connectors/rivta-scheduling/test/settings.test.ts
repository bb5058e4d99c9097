import type { Connector } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import { patients } from '../fake/data-set.ts';
import { careUnit, idOf, type Opened, openConnector, probe } from './subject.ts';
import { withFake } from './with-fake.ts';

const lists = {
  resources: [
    { id: 'SE2321000000-P002', name: 'Björn', healthcare_services: ['besok', 'other'] },
    { id: 'rum-SE2321000000-1NRD', name: 'Rum 1', kind: 'room' as const },
  ],
  healthcare_services: [{ id: 'besok', name: 'Besök', duration_minutes: 30 }],
};

test.each<[string, NonNullable<Opened['settings']>, readonly string[], boolean]>([
  ['everything', {}, ['create', 'update', 'cancel'], true],
  [
    'no bookings',
    { operations: ['GetAvailableTimeslots', 'CancelBooking', 'GetAllPerformers', 'GetAllTimeTypes'] },
    ['cancel'],
    true,
  ],
  ['no search', { operations: ['MakeBooking', 'UpdateBooking', 'GetAllPerformers', 'GetAllTimeTypes'] }, [], false],
])('a producer with %s', async (_, settings, changes, searches) => {
  const { connector } = await withFake({ settings });
  expect(connector.capabilities.changes).toEqual(changes);
  expect([connector.listTimeSlots !== undefined, connector.changeAppointments !== undefined]).toEqual([
    searches,
    changes.length > 0,
  ]);
  expect(connector).not.toHaveProperty('findPatient');
  expect(connector).not.toHaveProperty('listMedicalNotes');
});

test('without a number for searches, the settings must list resources and services, and searches need a patient', async () => {
  const { fake } = await withFake();
  const settings = { search_subject: undefined } as unknown as NonNullable<Opened['settings']>;
  await expect(openConnector(fake, { settings })).rejects.toMatchObject({ kind: 'rejected' });
  const connector: Connector = await openConnector(fake, { settings, units: lists });
  expect(connector.capabilities.slotsByPatient).toBe('required');
  const query = { careUnit, start: new Date(), end: new Date(Date.now() + 3 * 86_400_000), limit: 10 };
  await expect(connector.listTimeSlots?.(query)).rejects.toMatchObject({ kind: 'unsupported' });
  const slots = await connector.listTimeSlots?.({ ...query, patientId: idOf(patients.first) });
  expect(new Set(slots?.map(({ resourceId }) => resourceId))).toEqual(new Set(['SE2321000000-P002']));
  expect(fake.log.some(({ operation }) => operation.startsWith('GetAll'))).toBe(false);
  expect(await connector.listResources?.(careUnit)).toEqual([
    {
      id: 'SE2321000000-P002',
      identifiers: [
        { type: 'emr_id', value: 'SE2321000000-P002' },
        { type: 'hsa_id', value: 'SE2321000000-P002' },
      ],
      kind: 'practitioner',
      name: 'Björn',
      healthcareServiceIds: ['besok'],
    },
    {
      id: 'rum-SE2321000000-1NRD',
      identifiers: [{ type: 'emr_id', value: 'rum-SE2321000000-1NRD' }],
      kind: 'room',
      name: 'Rum 1',
      healthcareServiceIds: ['besok'],
    },
  ]);
});

test('resources and services are read once for a minute, for all callers', async () => {
  const { fake, connector } = await withFake();
  await Promise.all([connector.listResources?.(careUnit), connector.listHealthcareServices?.(careUnit)]);
  await connector.listResources?.(careUnit);
  expect(fake.log.map(({ operation }) => operation)).toEqual(['GetAllTimeTypes', 'GetAllPerformers']);
});

test('settings of a care unit without its HSA id are rejected', async () => {
  const { fake } = await withFake();
  const units = { healthcare_facility: '' };
  await expect(openConnector(fake, { units })).rejects.toMatchObject({ kind: 'rejected' });
});

test('a producer that allows one request a second says when to come again', async () => {
  const { connector } = await withFake({ fake: { requestsPerSecond: 1 } });
  expect(connector.capabilities.requestsPerSecond).toBe(1);
  const list = () => connector.listAppointments?.({ careUnit, patientId: idOf(patients.first), limit: 1 });
  const outcomes = await Promise.allSettled([list(), list(), list()]);
  expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
});

test('the probe asks about each care unit, for the synthetic number only', async () => {
  const { fake } = await withFake();
  const { findings, recommendedSettings } = await probe(fake);
  expect(findings.map(({ name, status }) => `${status} ${name}`)).toEqual([
    'ok bookings of norr',
    'ok resources and services of norr',
    'ok time slots of norr',
    'ok bookings of soder',
    'ok resources and services of soder',
    'ok time slots of soder',
  ]);
  expect(findings[2]?.detail).toMatch(
    /^[1-9]\d* free time slots .*, [1-9]\d* of them of resources or services that are not/,
  );
  expect(recommendedSettings).toEqual({});
  expect(new Set(fake.log.map(({ operation }) => operation))).not.toContain('MakeBooking');
  for (const { request } of fake.log) expect(request).not.toContain(patients.first);
});

test('the probe names the error of the platform', async () => {
  const { fake } = await withFake();
  fake.mishaps.set('GetSubjectOfCareSchedule', [{ fault: 'VP007 Authorization missing' }]);
  const { findings } = await probe(fake);
  expect(findings[0]).toMatchObject({ status: 'problem', detail: expect.stringContaining('VP007') });
});
