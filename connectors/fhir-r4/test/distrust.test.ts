import { plainHttp } from '@crossward/connector-kit/conformance';
import { afterEach, describe, expect, test } from 'vitest';
import { startMedplum } from '../counterparts/medplum.ts';
import { type FakeOptions, type FakeServer, startFake } from '../fake/server.ts';
import { proveIfMatch, proveTransactions } from '../src/booking/probe.ts';
import { createFhirClient } from '../src/client.ts';
import { fhirR4Connector } from '../src/connector.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { noDatabase, north, openConnector, settingsFor, south } from './subject.ts';

const servers: Pick<FakeServer, 'close'>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(options: FakeOptions) {
  const server = await startFake({ ...options, data: { days: 14 } });
  servers.push(server);
  const authorizer = { headers: async () => ({}) };
  const client = createFhirClient({ baseUrl: server.url, http: plainHttp(), authorizer, preferStrict: false });
  return { server, client };
}

describe('a server that', () => {
  test.each([
    ['runs transactions whole', {}, 'held'],
    ['runs transactions as batches', { transactions: 'as_batch' }, 'broken'],
    ['does not roll back', { transactions: 'without_rollback' }, 'broken'],
  ] as const)('%s is seen through, and nothing of the trial is left', async (_, options, proof) => {
    const { server, client } = await start(options);
    expect(await proveTransactions(client, 'urn:crossward:operation')).toBe(proof);
    expect(server.store.all('Appointment')).toHaveLength(0);
  });

  test.each([
    [true, 'held'],
    [false, 'broken'],
  ] as const)('heeds If-Match: %s', async (heedsIfMatch, proof) => {
    const { client } = await start({ heedsIfMatch });
    expect(await proveIfMatch(client)).toBe(proof);
  });

  test('does half of transactions is booked in by slot claims, or refused when it must not be', async () => {
    const { server } = await start({ transactions: 'as_batch' });
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.transactions).toBe(false);
    const settings = settingsFor(server.url, { booking: { mode: 'transaction' } });
    await expect(openConnector(settings)).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('heeds nothing is not booked in', async () => {
    const { server } = await start({ transactions: 'none', heedsIfMatch: false });
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.changes).toEqual([]);
    expect(connector.changeAppointments).toBeUndefined();
  });

  test.each([401, 403, 405])('lets nobody write slots, and says so by %i, is only read in', async (status) => {
    const { server } = await start({});
    server.misbehave = ({ method }) => (method === 'GET' ? undefined : { status });
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.changes).toEqual([]);
    for (const mode of ['transaction', 'slot_claim'] as const) {
      const settings = settingsFor(server.url, { booking: { mode } });
      await expect(openConnector(settings)).rejects.toMatchObject({ kind: 'rejected' });
    }
  });

  test('lets nobody write schedules, and has no slots yet, is booked in', async () => {
    const { server } = await start({});
    for (const { id } of server.store.all('Slot')) server.store.remove(`Slot/${id}`);
    server.misbehave = ({ method }) => (method === 'GET' ? undefined : { status: 403 });
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.changes).toContain('create');
  });

  test('turns out to run batches is undone and refused', async () => {
    const { server } = await start({ transactions: 'as_batch' });
    const settings = settingsFor(server.url, { booking: { mode: 'transaction', probe: false } });
    const connector = await openConnector(settings);
    const [slot] = await freeSlots(connector, 1);
    // So that everybody has seen the slot free when the first transaction is done.
    server.misbehave = ({ path }) => (path === '/' ? { delayMilliseconds: 200 } : undefined);
    const racers = await Promise.allSettled(
      Array.from({ length: 20 }, () => write(connector, [creation(slot as never)])),
    );
    const booked = server.store.all('Appointment').filter(({ status }) => status === 'booked');
    const won = racers.filter(({ status }) => status === 'fulfilled');
    expect(booked).toHaveLength(won.length);
    expect(won.length).toBeLessThanOrEqual(1);
    await expect(write(connector, [creation(slot as never)])).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('is Medplum in memory does not roll back', async () => {
    const server = await startMedplum({ data: { days: 3 } });
    servers.push(server);
    const connector = await openConnector(settingsFor(server.url));
    expect(connector.capabilities.transactions).toBe(false);
  });
});

describe('a probe', () => {
  const probe = (settings: FhirSettings) =>
    fhirR4Connector.probe?.({
      emr: 'fhir',
      settings,
      careUnits: [north, south],
      http: plainHttp(),
      database: noDatabase,
    });

  test('tells what was seen', async () => {
    const { server } = await start({ transactions: 'as_batch', requiresServiceType: true });
    const report = await probe(settingsFor(server.url));
    const findings = Object.fromEntries(report?.findings.map(({ name, status }) => [name, status]) ?? []);
    expect(findings).toMatchObject({
      CapabilityStatement: 'ok',
      'transactions are atomic': 'warning',
      'If-Match is heeded': 'ok',
      booking: 'ok',
      'care unit north': 'ok',
    });
    expect(report?.recommendedSettings).toEqual({ slots: { require_service_type: true } });
    expect(server.store.all('Appointment')).toHaveLength(0);
  });

  test('of a server that lets nobody write slots tells that', async () => {
    const { server } = await start({});
    server.misbehave = ({ method }) => (method === 'GET' ? undefined : { status: 403 });
    const report = await probe(settingsFor(server.url));
    const findings = Object.fromEntries(report?.findings.map(({ name, status }) => [name, status]) ?? []);
    expect(findings).toMatchObject({
      'transactions are atomic': 'warning',
      'If-Match is heeded': 'warning',
      booking: 'warning',
      'care unit north': 'ok',
    });
  });

  test('of a server that shows only some of its resources tells which are missing', async () => {
    const { server } = await start({});
    server.misbehave = ({ path }) => (path === '/PractitionerRole' ? { status: 403 } : undefined);
    const report = await probe(settingsFor(server.url));
    const detail = expect.stringContaining('403 for PractitionerRole');
    expect(report?.findings).toContainEqual({ name: 'care unit north', status: 'problem', detail });
  });

  test('of a server that is not there tells that', async () => {
    const report = await probe(settingsFor('http://127.0.0.1:9'));
    expect(report?.findings).toMatchObject([{ name: 'CapabilityStatement', status: 'problem' }]);
  });
});
