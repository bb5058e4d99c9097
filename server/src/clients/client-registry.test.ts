import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hashSecret } from '../config/configuration.ts';
import { createClientRegistry, hashOfSecret } from './client-registry.ts';
import type { StoredClient, StoredClients } from './read-clients.ts';

const start = new Date('2030-03-15T09:00:00Z');
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

const emrs = [{ id: 'clinic', name: 'Clinic', care_units: [{ id: 'ward', name: 'Ward' }] }];

function stored(id: string, secrets: StoredClient['secrets']): StoredClient {
  const isRevoked = secrets.length === 0;
  return {
    id,
    name: id,
    scopes: ['patients:read'],
    grants: [{ emr: 'clinic' }],
    returnUrls: [],
    secrets,
    keys: undefined,
    isRevoked,
    isProven: true,
  };
}

const valid = (secret: string) => ({ hash: hashOfSecret(secret), expiresAt: null });

function registryOf(read: () => Promise<StoredClients | undefined>) {
  const client = { id: 'app', name: 'App', scopes: [], grants: [], secrets: [{ sha256: hashSecret('of the file') }] };
  return createClientRegistry({ configured: { emrs, clients: [client] }, read });
}

test('a previous secret ends at its time, without another reading', async () => {
  const previous = { hash: hashOfSecret('previous'), expiresAt: new Date(start.getTime() + 60_000) };
  const registry = registryOf(async () => ({
    revision: '1',
    clients: [stored('site', [valid('current'), previous])],
  }));
  await registry.refresh();
  expect(registry.authenticate('site', 'previous')?.id).toBe('site');
  vi.advanceTimersByTime(59_999);
  expect(registry.authenticate('site', 'previous')?.id).toBe('site');
  vi.advanceTimersByTime(1);
  expect(registry.authenticate('site', 'previous')).toBeUndefined();
  expect(registry.authenticate('site', 'current')?.grants.get('clinic')).toEqual(new Set(['ward']));
  expect(registry.authenticate('site', 'other')).toBeUndefined();
});

test('a revoked client may do nothing, and its id may still be logged', async () => {
  const registry = registryOf(async () => ({ revision: '1', clients: [stored('site', [])] }));
  await registry.refresh();
  expect(registry.authenticate('site', '')).toBeUndefined();
  expect(registry.find('site')).toBeUndefined();
  expect([registry.has('site'), registry.has('other')]).toEqual([true, false]);
});

test('a client of the configuration file is used in place of a stored one with its id', async () => {
  const registry = registryOf(async () => ({ revision: '1', clients: [stored('app', [valid('stored')])] }));
  await registry.refresh();
  expect(registry.authenticate('app', 'stored')).toBeUndefined();
  expect(registry.authenticate('app', 'of the file')?.id).toBe('app');
  expect(registry.overridden()).toEqual(['app']);
});

test('a reading that ends after a later one does not bring a revoked client back', async () => {
  const late = Promise.withResolvers<StoredClients>();
  const readings = [late.promise, Promise.resolve({ revision: '2', clients: [stored('site', [])] })];
  const registry = registryOf(async () => readings.shift());
  const first = registry.refresh();
  await registry.refresh();
  late.resolve({ revision: '1', clients: [stored('site', [valid('secret')])] });
  await first;
  expect(registry.authenticate('site', 'secret')).toBeUndefined();
});

test('clients keep working while they cannot be read', async () => {
  const readings = [Promise.resolve({ revision: '1', clients: [stored('site', [valid('secret')])] })];
  const registry = registryOf(() => readings.shift() ?? Promise.reject(new Error('no database')));
  await registry.refresh();
  await expect(registry.refresh()).rejects.toThrow('no database');
  expect(registry.authenticate('site', 'secret')?.id).toBe('site');
});
