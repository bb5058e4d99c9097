import { plainHttp } from '@crossward/connector-kit/conformance';
import { describe, expect, test } from 'vitest';
import { startMedplum } from '../counterparts/medplum.ts';
import { healthcareServices } from '../fake/data-set.ts';
import type { FakeOptions } from '../fake/server.ts';
import { proveIfMatch } from '../src/booking/slot-claim/slot-claim-booking.ts';
import { proveTransactions } from '../src/booking/transaction/transaction-proof.ts';
import type { FhirResource } from '../src/fhir.ts';
import { createFhirClient } from '../src/server/create.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, probeServer, settingsFor, south } from './subject.ts';

async function start(options: FakeOptions) {
  const server = await startFake({ ...options, data: { days: 14 } });
  const authorizer = { headers: async () => ({}) };
  const client = createFhirClient({
    baseUrl: server.url,
    http: plainHttp(),
    authorizer,
    preferStrict: false,
    now: () => new Date(),
  });
  return { server, client };
}

describe('a server', () => {
  test.each([
    ['runs atomic transactions', {}, 'held'],
    ['runs atomic transactions and validates them', { validates: true }, 'held'],
    ['runs transactions as batches', { transactions: 'as_batch' }, 'broken'],
    ['stops a failed transaction without rollback', { transactions: 'without_rollback' }, 'broken'],
    ['runs batches and drops identifiers', { transactions: 'as_batch', dropsIdentifiers: true }, 'broken'],
    [
      'runs batches, drops identifiers and returns absolute locations',
      { transactions: 'as_batch', dropsIdentifiers: true, absoluteLocations: true },
      'broken',
    ],
  ] as const)('that %s is detected, and the proof leaves nothing in the server', async (_, options, proof) => {
    const { server, client } = await start(options);
    expect(await proveTransactions(client)).toBe(proof);
    expect(server.store.all('Appointment')).toHaveLength(0);
  });

  test.each([
    [true, 'held'],
    [false, 'broken'],
  ] as const)('that evaluates If-Match (%s) passes or fails the proof', async (heedsIfMatch, proof) => {
    const { client } = await start({ heedsIfMatch });
    expect(await proveIfMatch(client)).toBe(proof);
  });

  test('that rejects a wrong version with 400 passes the proofs if it accepts the right version', async () => {
    const { server, client } = await start({ lostClaimStatus: 400 });
    expect(await proveIfMatch(client)).toBe('held');
    expect(await proveTransactions(client)).toBe('held');
    expect(server.store.all('Appointment')).toHaveLength(0);
  });

  test('that rejects every write with 400 proves nothing', async () => {
    const { server, client } = await start({});
    server.misbehave = ({ method }) => (method === 'GET' ? undefined : { status: 400 });
    expect(await proveIfMatch(client)).toBe('unproven');
    expect(await proveTransactions(client)).toBe('unproven');
  });

  test('that executes transactions as batches is booked with slot claims, and cannot be opened in mode `transaction`', async () => {
    const { server } = await start({ transactions: 'as_batch' });
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.transactions).toBe(false);
    const settings = settingsFor(server.url, { booking: { mode: 'transaction' } });
    await expect(openConnector(settings)).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('without transactions and If-Match is read-only', async () => {
    const { server } = await start({ transactions: 'none', heedsIfMatch: false });
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.changes).toEqual([]);
    expect(connector.changeAppointments).toBeUndefined();
  });

  test.each([401, 403, 405])('that rejects writes of slots with %i is read-only', async (status) => {
    const { server } = await start({});
    server.misbehave = ({ method }) => (method === 'GET' ? undefined : { status });
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.changes).toEqual([]);
    for (const mode of ['transaction', 'slot_claim'] as const) {
      const settings = settingsFor(server.url, { booking: { mode } });
      await expect(openConnector(settings)).rejects.toMatchObject({ kind: 'rejected' });
    }
  });

  test('that rejects writes and has no slots yet can be booked', async () => {
    const { server } = await start({});
    for (const { id } of server.store.all('Slot')) server.store.remove(`Slot/${id}`);
    server.misbehave = ({ method }) => (method === 'GET' ? undefined : { status: 403 });
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.changes).toContain('create');
  });

  test('that executes transactions as batches and is not probed has one appointment per success, and rejects later bookings', async () => {
    const { server } = await start({ transactions: 'as_batch' });
    const settings = settingsFor(server.url, { booking: { mode: 'transaction', probe: false } });
    const connector = await openConnector(settings);
    const [slot] = await freeSlots(connector, 1);
    // The delay makes all callers see the slot as free before the first transaction is done.
    server.misbehave = ({ path }) => (path === '/' ? { delayMilliseconds: 200 } : undefined);
    const racers = await Promise.allSettled(Array.from({ length: 20 }, () => write(connector, [creation(slot)])));
    const booked = server.store.all('Appointment').filter(({ status }) => status === 'booked');
    const won = racers.filter(({ status }) => status === 'fulfilled');
    expect(booked).toHaveLength(won.length);
    expect(won.length).toBeLessThanOrEqual(1);
    await expect(write(connector, [creation(slot)])).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('that is Medplum in memory fails the proof of atomic transactions', async () => {
    const server = await startMedplum({ data: { days: 3 } });
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.transactions).toBe(false);
  });
});

describe('a probe', () => {
  const withoutServices = (url: string): FhirSettings => {
    const { healthcare_services: _, ...settings } = settingsFor(url);
    return settings;
  };

  test('reports each check, with recommended settings', async () => {
    const { server } = await start({ transactions: 'as_batch', requiresServiceType: true });
    const report = await probeServer(settingsFor(server.url));
    const findings = Object.fromEntries(report.findings.map(({ name, status }) => [name, status]));
    expect(findings).toMatchObject({
      CapabilityStatement: 'ok',
      clock: 'ok',
      'transactions are atomic': 'warning',
      'If-Match is heeded': 'ok',
      booking: 'ok',
      'care unit north': 'ok',
    });
    expect(report.recommendedSettings).toEqual({ slots: { require_service_type: true } });
    expect(server.store.all('Appointment')).toHaveLength(0);
  });

  test.each([
    [-10, /(599|60[01]) seconds behind ours/],
    [10, /(599|60[01]) seconds ahead of ours/],
  ])('warns of a clock that differs by %d minutes', async (minutes, words) => {
    const { server } = await start({ clockAheadMilliseconds: minutes * 60_000 });
    const report = await probeServer(settingsFor(server.url));
    const clock = report.findings.find(({ name }) => name === 'clock');
    expect(clock).toMatchObject({ status: 'warning', detail: expect.stringMatching(words) });
  });

  test.each([
    [{ status: 400 }, 'warning', '0 free slots in the next week. A search with fewer parameters was rejected'],
    [{ status: 503 }, 'problem', 'Slots cannot be searched for: The EHR responded with 503'],
  ] as const)('does not report a search that failed with %o as an empty search', async (...given) => {
    const [fault, status, detail] = given;
    const { server } = await start({});
    const isPlain = (query: string) => query.includes('start=') && !query.includes('service-type=');
    server.misbehave = ({ path, query }) => (path === '/Slot' && isPlain(query) ? fault : undefined);
    for (const slot of server.store.all('Slot')) server.store.remove(`Slot/${slot.id}`);
    const report = await probeServer(settingsFor(server.url));
    const finding = report.findings.find(({ name }) => name === 'care unit north');
    expect(finding).toMatchObject({ status, detail: expect.stringContaining(detail) });
    expect(report.recommendedSettings).toEqual({});
  });

  describe('searches for the types of numbers', () => {
    const allTypes = (url: string, more: Partial<FhirSettings> = {}): FhirSettings => {
      const { base_url, healthcare_services } = settingsFor(url);
      return { base_url, ...(healthcare_services ? { healthcare_services } : {}), ...more };
    };
    const numbersIn = (report: Awaited<ReturnType<typeof probeServer>>) =>
      report.findings.filter(({ name }) => name.startsWith('numbers')).map(({ status, detail }) => [status, detail]);

    test('recommends the types that they find', async () => {
      const { server } = await start({});
      const report = await probeServer(allTypes(server.url));
      expect(numbersIn(report)).toEqual([
        ['ok', 'Seen: se_personal_number. Nobody has: no_personal_number, nhs_number.'],
        ['ok', 'Seen: se_personal_number, hsa_id. Nobody has: no_personal_number.'],
      ]);
      expect(report.recommendedSettings).toEqual({
        patient_identifier_types: ['se_personal_number'],
        resource_identifier_types: ['se_personal_number', 'hsa_id'],
      });
    });

    test('names no missing types if the server ignores the search by identifier', async () => {
      const { server } = await start({});
      const entry = server.store.all('Patient').map((resource) => ({ resource }));
      const allPatients = { resourceType: 'Bundle', type: 'searchset', entry };
      server.misbehave = ({ path, query }) =>
        path === '/Patient' && query.includes('identifier=') ? { status: 200, body: allPatients } : undefined;
      const report = await probeServer(allTypes(server.url));
      expect(numbersIn(report)?.[0]).toEqual(['ok', 'Seen: se_personal_number.']);
      expect(report.recommendedSettings).not.toHaveProperty('patient_identifier_types');
    });

    test.each([
      ['rejects the search', { status: 400 }, {}],
      ['uses other systems', undefined, { se_personal_number: ['urn:other'], hsa_id: ['urn:other'] }],
    ])('recommends nothing if the server %s', async (_, fault, identifier_systems) => {
      const { server } = await start({});
      server.misbehave = ({ query }) => (query.includes('identifier=') ? fault : undefined);
      const report = await probeServer(allTypes(server.url, { identifier_systems }));
      const detail = 'None was found. If the server has some, add their systems to identifier_systems.';
      expect(numbersIn(report)).toEqual(Array(2).fill(['untried', detail]));
      expect(report.recommendedSettings).toEqual({});
    });
  });

  test('recommends the services of schedules and slots if the server has no HealthcareService', async () => {
    const { server } = await start({});
    const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString();
    const slot = server.store.all('Slot').find(({ start }) => String(start) > tomorrow);
    const coding = [{ system: 'http://snomed.info/sct', code: '11429006', display: 'Consultation' }, { code: 'c' }];
    server.store.save({ ...slot, serviceType: [{ coding }, { text: 'not coded' }] } as FhirResource);
    const report = await probeServer(withoutServices(server.url));
    expect(report.findings).toContainEqual({
      name: 'healthcare services',
      status: 'warning',
      detail: expect.stringContaining('Name them in healthcare_services'),
    });
    const system = 'https://ehr.example/service-types';
    const recommended = {
      healthcare_services: [
        { id: 'consultation', name: 'consultation', service_types: [{ system, code: 'consultation' }] },
        { id: 'vaccination', name: 'vaccination', service_types: [{ system, code: 'vaccination' }] },
        {
          id: '11429006',
          name: 'Consultation',
          service_types: [{ system: 'http://snomed.info/sct', code: '11429006' }, { code: 'c' }],
        },
      ],
    };
    expect(report.recommendedSettings).toEqual(recommended);

    const again = await probeServer(settingsFor(server.url, recommended));
    expect(again.findings.map(({ status }) => status)).not.toContain('warning');
    expect(again.recommendedSettings).toEqual({});
  });

  test('recommends the services of all care units', async () => {
    const { server } = await start({});
    const tomorrow = new Date(Date.now() + 24 * 60 * 60 * 1000).toISOString();
    const slots = server.store.all('Slot').filter(({ start }) => String(start) > tomorrow);
    for (const schedule of server.store.all('Schedule')) {
      const { serviceType: _, ...untyped } = schedule;
      server.store.save(untyped as FhirResource);
    }
    for (const name of ['r-1', 'r-3']) {
      const slot = slots.find(({ id }) => id?.startsWith(`slot-${name}-`));
      server.store.save({ ...slot, serviceType: [{ coding: [{ code: `of-${name}` }] }] } as FhirResource);
    }
    const report = await probeServer(withoutServices(server.url));
    const ids = ['of-r-1', 'of-r-3'];
    expect(report.recommendedSettings).toEqual({
      healthcare_services: ids.map((code) => ({ id: code, name: code, service_types: [{ code }] })),
    });
  });

  test('keeps the configured services, and adds those of resources without services', async () => {
    const { server } = await start({});
    const healthcare_services = healthcareServices.filter(({ id }) => id === 'vaccination');
    const report = await probeServer(settingsFor(server.url, { healthcare_services }));
    const careUnits = report.findings.filter(({ name }) => name.startsWith('care unit'));
    expect(careUnits).toMatchObject([
      { name: 'care unit north', status: 'ok' },
      { name: 'care unit south', status: 'ok' },
      {
        name: 'care unit north',
        status: 'warning',
        detail: expect.stringContaining('Resource device_scanner-1 cannot'),
      },
      { name: 'care unit north', status: 'warning', detail: expect.stringContaining('Resource r-2') },
      { name: 'care unit south', status: 'warning', detail: expect.stringContaining('Resource r-3') },
    ]);
    const service_types = [{ system: 'https://ehr.example/service-types', code: 'consultation' }];
    expect(report.recommendedSettings).toEqual({
      healthcare_services: [...healthcare_services, { id: 'consultation', name: 'consultation', service_types }],
    });
  });

  test('reads only the schedules of its care units, and distinguishes equal codes of different systems', async () => {
    const { server } = await start({});
    const elsewhere = { resourceType: 'Schedule', id: 'elsewhere', actor: [{ reference: 'Practitioner/r-9' }] };
    server.store.save({ ...elsewhere, serviceType: [{ coding: [{ code: 'surgery' }] }] } as FhirResource);
    const other = { coding: [{ system: 'urn:other', code: 'consultation' }] };
    server.store.save({ ...server.store.get('Schedule/schedule-r-3'), serviceType: [other] } as FhirResource);
    const { recommendedSettings } = await probeServer(withoutServices(server.url));
    const system = 'https://ehr.example/service-types';
    expect(recommendedSettings).toEqual({
      healthcare_services: [
        { id: 'consultation', name: 'consultation', service_types: [{ system, code: 'consultation' }] },
        { id: 'vaccination', name: 'vaccination', service_types: [{ system, code: 'vaccination' }] },
        { id: 'consultation-2', name: 'consultation', service_types: [{ system: 'urn:other', code: 'consultation' }] },
      ],
    });
    const connector = await openConnector(settingsFor(server.url, recommendedSettings));
    for (const careUnit of [north, south]) {
      const resources = (await connector.listResources?.(careUnit)) ?? [];
      expect(resources.length).toBeGreaterThan(0);
      for (const { healthcareServiceIds } of resources) expect(healthcareServiceIds).not.toEqual([]);
    }
  });

  test('recommends one service for all resources if schedules and slots name none', async () => {
    const { server } = await start({});
    for (const schedule of server.store.all('Schedule')) {
      const { serviceType: _, ...untyped } = schedule;
      server.store.save(untyped as FhirResource);
    }
    const report = await probeServer(withoutServices(server.url));
    const recommended = { healthcare_services: [{ id: 'visit', name: 'Visit' }] };
    expect(report.recommendedSettings).toEqual(recommended);
    const connector = await openConnector(settingsFor(server.url, recommended));
    const resources = await connector.listResources?.(north);
    expect(resources?.map(({ healthcareServiceIds }) => healthcareServiceIds)).toEqual(Array(4).fill(['visit']));
  });

  test('of a server that rejects writes warns of each proof and of booking', async () => {
    const { server } = await start({});
    server.misbehave = ({ method }) => (method === 'GET' ? undefined : { status: 403 });
    const report = await probeServer(settingsFor(server.url));
    const findings = Object.fromEntries(report.findings.map(({ name, status }) => [name, status]));
    expect(findings).toMatchObject({
      'transactions are atomic': 'warning',
      'If-Match is heeded': 'warning',
      booking: 'warning',
      'care unit north': 'ok',
    });
  });

  test('names the resource type that the server does not allow to be read', async () => {
    const { server } = await start({});
    server.misbehave = ({ path }) => (path === '/PractitionerRole' ? { status: 403 } : undefined);
    const report = await probeServer(settingsFor(server.url));
    const detail = expect.stringContaining('403 for PractitionerRole');
    expect(report.findings).toContainEqual({ name: 'care unit north', status: 'problem', detail });
  });

  test('of a server that cannot be reached reports a problem', async () => {
    const report = await probeServer(settingsFor('http://127.0.0.1:9'));
    expect(report.findings).toMatchObject([{ name: 'CapabilityStatement', status: 'problem' }]);
  });
});

describe('a server that takes a list of numbers for one', () => {
  test('is found out, and searched for one at a time then', async () => {
    const server = await startFake({ data: { days: 7 }, takesIdentifierListsForOne: true });
    const { findings, recommendedSettings } = await probeServer(settingsFor(server.url));
    expect(findings).toContainEqual(expect.objectContaining({ name: 'lists of numbers', status: 'problem' }));
    expect(recommendedSettings).toMatchObject({ identifier_lists: false });
    const number = { type: 'se_personal_number', value: '197010632391' } as const;
    const misled = await openConnector(settingsFor(server.url));
    expect(await misled.findPatient?.(number)).toBeNull();
    const connector = await openConnector(settingsFor(server.url, { identifier_lists: false }));
    expect(await connector.findPatient?.(number)).toMatchObject({ id: 'p-2' });
    const before = server.store.all('Patient').length;
    const made = await connector.createPatient?.({
      operationId: '00000000-0000-4000-8000-000000000001',
      careUnit: north,
      identifier: number,
      givenName: 'Ljus',
      familyName: 'Provberg',
      birthDate: '1970-10-03',
      gender: null,
      phone: null,
      email: null,
      address: null,
    });
    expect(made).toMatchObject({ isNew: false, patient: { id: 'p-2' } });
    expect(server.store.all('Patient')).toHaveLength(before);
  });

  test('and one that knows lists, or rejects them, is fine', async () => {
    for (const rejects of [false, true]) {
      const server = await startFake({ data: { days: 7 } });
      server.misbehave = ({ path, body }) =>
        rejects && path.endsWith('_search') && body.includes('%2C') ? { status: 400 } : undefined;
      const { findings, recommendedSettings } = await probeServer(settingsFor(server.url));
      expect(findings).toContainEqual(expect.objectContaining({ name: 'lists of numbers', status: 'ok' }));
      expect(recommendedSettings).not.toHaveProperty('identifier_lists');
    }
  });
});
