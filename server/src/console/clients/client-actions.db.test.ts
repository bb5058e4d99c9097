import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { createClientRegistry, openClientRegistry } from '../../clients/client-registry.ts';
import { findUnaccepted, listClients, missingPart } from '../../clients/list-clients.ts';
import { readClients } from '../../clients/read-clients.ts';
import type { ClientFacts } from '../../config/schema/schema.ts';
import { createDb } from '../../db/kysely.ts';
import { createKeyRing } from '../../secrets/key-ring.ts';
import { acceptAsOperator, createClient, revokeAsOperator, rotateClient, updateAsOperator } from './client-actions.ts';

const { database, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
const db = createDb(database);
const emrs = [{ id: 'clinic', name: 'Clinic', care_units: [{ id: 'ward', name: 'Ward' }] }];
const configured = { emrs, clients: [{ id: 'of-the-file', name: 'Of the file', scopes: [], grants: [] }] };
const keys = createKeyRing([randomBytes(32)]);
const administration = { db, keys, configured };
const registry = createClientRegistry({
  configured: { emrs, clients: [] },
  read: (known) => readClients(db, keys, known),
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const facts = (id: string): ClientFacts => ({ id, scopes: ['patients:read'], grants: [{ emr: 'clinic' }] });

async function create(id: string): Promise<string> {
  const created = await createClient(administration, facts(id));
  if (!('secret' in created) || created.secret === undefined) throw new Error(JSON.stringify(created));
  return created.secret;
}

async function rotate(id: string, hours: number): Promise<string> {
  const rotated = await rotateClient(administration, { id }, hours);
  if (!('secret' in rotated)) throw new Error(JSON.stringify(rotated));
  return rotated.secret;
}

async function validOf(id: string, secrets: readonly string[]): Promise<readonly boolean[]> {
  await registry.refresh();
  return secrets.map((secret) => registry.authenticate(id, secret) !== undefined);
}

test('a rotation keeps each previous secret until its own end, or ends all without an overlap', async () => {
  const first = await create('overlap');
  const second = await rotate('overlap', 24);
  expect(await validOf('overlap', [first, second])).toEqual([true, true]);
  const third = await rotate('overlap', 1);
  expect(await validOf('overlap', [first, second, third])).toEqual([true, true, true]);
  vi.setSystemTime(Date.now() + 2 * 3_600_000);
  expect(await validOf('overlap', [first, second, third])).toEqual([true, false, true]);
  const fourth = await rotate('overlap', 0);
  expect(await validOf('overlap', [first, third, fourth])).toEqual([false, false, true]);
});

test('beyond five previous secrets, a rotation ends the one that it replaces', async () => {
  const secrets = [await create('often')];
  while (secrets.length < 8) secrets.push(await rotate('often', 24));
  expect(await validOf('often', secrets)).toEqual([true, true, true, true, true, false, false, true]);
  vi.setSystemTime(Date.now() + 25 * 3_600_000);
  expect(await validOf('often', secrets)).toEqual([false, false, false, false, false, false, false, true]);
});

test('rotations at the same time end no secret', async () => {
  const first = await create('concurrent');
  const rotations = await Promise.all(Array.from({ length: 4 }, () => rotate('concurrent', 24)));
  const valid = await validOf('concurrent', [first, ...rotations]);
  expect(valid).toEqual([true, true, true, true, true]);
});

test('of two clients with the same id, created at the same time, one exists', async () => {
  const created = await Promise.all([1, 2].map(() => createClient(administration, facts('twice'))));
  expect(created).toContainEqual({ secret: expect.stringMatching(/^[\w-]{43}$/) });
  expect(created).toContainEqual({ rejection: 'taken' });
});

test('an id of the configuration file or of a revoked client is not used, and what cannot be changed stays', async () => {
  await create('revoked');
  expect(await revokeAsOperator(administration, { id: 'revoked' })).toBe('done');
  expect(await createClient(administration, facts('revoked'))).toEqual({ rejection: 'taken' });
  expect(await createClient(administration, facts('of-the-file'))).toEqual({ rejection: 'configured' });
  for (const [id, rejection] of [
    ['revoked', 'revoked'],
    ['of-the-file', 'configured'],
    ['nowhere', 'unknown'],
  ] as const) {
    expect(await rotateClient(administration, { id }, 24)).toEqual({ rejection });
    expect(await updateAsOperator(administration, { id }, { name: 'New' })).toEqual({ rejection });
    expect(await revokeAsOperator(administration, { id })).toEqual({ rejection });
  }
});

test('a form for an older version changes nothing, such as a rotation that is sent again', async () => {
  const first = await create('reload');
  const sent = () => rotateClient(administration, { id: 'reload', version: 1 }, 24);
  const rotated = await Promise.all(Array.from({ length: 4 }, sent));
  const secrets = rotated.flatMap((it) => ('secret' in it ? it.secret : []));
  expect(secrets).toHaveLength(1);
  expect(await sent()).toEqual({ rejection: 'outdated' });
  expect(await validOf('reload', [first, ...secrets])).toEqual([true, true]);
});

test('a change, its entry in the activity list and its effect come together or not at all', async () => {
  const first = await create('atomic');
  await registry.refresh();
  await sql`ALTER TABLE operator_activity RENAME TO activity_elsewhere`.execute(db);
  await expect(rotateClient(administration, { id: 'atomic' }, 0)).rejects.toThrow();
  await expect(createClient(administration, facts('half'))).rejects.toThrow();
  await sql`ALTER TABLE activity_elsewhere RENAME TO operator_activity`.execute(db);
  expect(await validOf('atomic', [first])).toEqual([true]);
  expect((await listClients(db, configured)).map(({ id }) => id)).not.toContain('half');
});

test('clients are read again only after a change, and grants that the configuration lacks give no access', async () => {
  await create('granted');
  const before = await readClients(db, keys, undefined);
  expect(await readClients(db, keys, before?.revision)).toBeUndefined();
  await updateAsOperator(
    {
      ...administration,
      configured: {
        ...configured,
        emrs: [...emrs, { id: 'old', name: 'Old', care_units: [{ id: 'east', name: 'East' }] }],
      },
    },
    { id: 'granted' },
    {
      grants: [{ emr: 'clinic' }, { emr: 'old', care_units: ['east'] }],
    },
  );
  expect(await readClients(db, keys, before?.revision)).toMatchObject({
    revision: expect.not.stringMatching(before?.revision ?? ''),
  });
  await registry.refresh();
  expect([...(registry.find('granted')?.grants.keys() ?? [])]).toEqual(['clinic']);
  const listed = (await listClients(db, configured)).find(({ id }) => id === 'granted');
  expect(listed?.grants.map((grant) => [grant.emr, missingPart(grant)])).toEqual([
    ['clinic', undefined],
    ['old', 'EHR'],
  ]);
});

test('previous secrets end if a gateway of the previous release ends the one that it knows', async () => {
  const secrets = [await create('older'), await rotate('older', 24), await rotate('older', 24)];
  await sql`UPDATE clients SET previous_secret_hash = NULL, previous_secret_created_at = NULL,
    previous_secret_expires_at = NULL WHERE id = 'older'`.execute(db);
  // What another version has changed, an operator accepts.
  const state = (await findUnaccepted(db, configured, 'older'))?.state ?? '';
  expect(await acceptAsOperator(administration, { id: 'older', state })).toBe('done');
  await updateAsOperator(administration, { id: 'older' }, { name: 'Older' });
  expect(await validOf('older', secrets)).toEqual([false, false, true]);
});

test('a stored client that the configuration file overrides can be revoked, and that of the file stays', async () => {
  const secret = await create('both');
  const both = { id: 'both', name: 'Both', scopes: [], grants: [] };
  const withBoth = { ...administration, configured: { emrs, clients: [both] } };
  await sql`INSERT INTO webhook_endpoints (id, client_id, sealed_url, sealed_secret)
    VALUES (gen_random_uuid(), 'both', '', '')`.execute(db);
  expect(await updateAsOperator(withBoth, { id: 'both' }, { name: 'New' })).toEqual({ rejection: 'configured' });
  expect(await revokeAsOperator(withBoth, { id: 'both' })).toBe('overridden one done');
  expect(await validOf('both', [secret])).toEqual([false]);
  expect((await listClients(db, withBoth.configured)).map(({ source, state }) => [source, state])).toContainEqual([
    'operators',
    'revoked',
  ]);
  const endpoints = await db.selectFrom('webhook_endpoints').select('disabled_reason').execute();
  expect(endpoints).toEqual([{ disabled_reason: null }]);
  expect(await revokeAsOperator(withBoth, { id: 'both' })).toEqual({ rejection: 'configured' });
  expect(await revokeAsOperator(administration, { id: 'of-the-file' })).toEqual({ rejection: 'configured' });
});

test('a stored client is overridden once the configuration file has its id, and the log says so at the start', async () => {
  const secret = await create('later');
  const later = { id: 'later', name: 'Later', scopes: [], grants: [], secrets: [] };
  const listed = (await listClients(db, { emrs, clients: [later] })).filter(({ id }) => id === 'later');
  expect(listed.map(({ source, state }) => [source, state])).toEqual([
    ['configuration file', 'active'],
    ['operators', 'overridden'],
  ]);
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const opened = await openClientRegistry({ emrs, clients: [later] }, db, keys, log);
  expect(opened.authenticate('later', secret)).toBeUndefined();
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 40, client_id: 'later', msg: expect.stringContaining('stored client not used') }),
  ]);
});
