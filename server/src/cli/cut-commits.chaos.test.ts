import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { insertFailedMessage, insertWrite } from '../../../test/database/stuck-rows.ts';
import { startPostgresProxy } from '../../../test/postgres-proxy/postgres-proxy.ts';
import { createOperator } from '../console/accounts/operators.ts';
import { startSession } from '../console/sign-in/sessions.ts';
import { createDb } from '../db/kysely.ts';
import { pauseEhr, readPauses, resumeEhr } from '../ehr/pauses.ts';
import { requireKnownKeys } from '../secret-keys/require-known-keys.ts';
import { createKeyRing, keyIdentity } from '../secrets/key-ring.ts';
import { crossward } from './test-support.ts';

const { database, url, dispose } = await createTestDatabase('postgresql');
afterAll(() => dispose());
const db = createDb(database);
const [key, retired] = [randomBytes(32), randomBytes(32)];
await requireKnownKeys(db, [retired]);
await requireKnownKeys(db, [key, retired]);

beforeEach(() => {
  vi.stubEnv('DATABASE_URL', url);
  vi.stubEnv('CROSSWARD_SECRET_KEY', key.toString('base64'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

let names = 0;
async function account(): Promise<string> {
  const name = `operator-${++names}`;
  await createOperator(db, createKeyRing([key]), { name, role: 'view', password: 'a long password' });
  return name;
}

const rowOf = (id: string) => () => db.selectFrom('stored_emrs').selectAll().where('id', '=', id).execute();

/** An EHR as `emr add` and `emr change` read it. */
function definitionOf(id: string, name: string): string {
  const careUnit = { id: 'main', name: 'Main', time_zone: 'Europe/Oslo', language: 'nb' };
  return JSON.stringify({ id, name, connector: 'sandbox', settings: { country: 'NO' }, care_units: [careUnit] });
}

async function draft(): Promise<string> {
  const id = `clinic-${++names}`;
  const added = await crossward('emr add --from - --no-check --draft', definitionOf(id, 'Clinic'));
  expect(added).toMatchObject({ code: 0 });
  return id;
}

/**
 * Prepares what a command changes. Returns the words of the command, what says whether the change was made, and the standard
 * input.
 */
const commands: Record<string, () => Promise<readonly [string, () => Promise<unknown>, string?]>> = {
  'emr add': async () => {
    const id = `clinic-${++names}`;
    return ['emr add --from - --no-check', rowOf(id), definitionOf(id, 'Clinic')];
  },
  'emr change': async () => {
    const id = await draft();
    return ['emr change --from - --no-check', rowOf(id), definitionOf(id, 'Renamed')];
  },
  'emr open': async () => {
    const id = await draft();
    return [`emr open ${id} --no-check`, rowOf(id)];
  },
  'emr remove': async () => {
    const id = await draft();
    return [`emr remove ${id}`, rowOf(id)];
  },
  'operators create': async () => {
    const name = `operator-${++names}`;
    return [`operators create ${name} --role view`, () => operatorsWith(name)];
  },
  'operators reset': async () => {
    const name = await account();
    return [`operators reset ${name}`, () => operatorsWith(name)];
  },
  'operators role': async () => {
    const name = await account();
    return [`operators role ${name} --role admin`, () => operatorsWith(name)];
  },
  'operators disable': async () => {
    const name = await account();
    return [`operators disable ${name}`, () => operatorsWith(name)];
  },
  'operators end-sessions': async () => {
    const name = await account();
    const { id } = await db.selectFrom('operators').select('id').where('name', '=', name).executeTakeFirstOrThrow();
    await startSession(db, createKeyRing([key]), { operatorId: id, name, role: 'view', hours: 12 });
    const sessions = () => db.selectFrom('operator_sessions').select('created_at').where('name', '=', name).execute();
    return [`operators end-sessions ${name}`, sessions];
  },
  'messages retry': async () => {
    const id = await insertFailedMessage(database, `a-${++names}`);
    const state = () => db.selectFrom('messages').select('state').where('id', '=', id).execute();
    return [`messages retry ${id}`, state];
  },
  'emr pause': async () => {
    await resumeEhr(db, 'sandbox-no');
    return ['emr pause sandbox-no', () => readPauses(db)];
  },
  'emr resume': async () => {
    await pauseEhr(db, 'sandbox-se', null);
    return ['emr resume sandbox-se', () => readPauses(db)];
  },
  'operations retry': async () => {
    const id = await insertWrite(database, 'suspended');
    const state = () => db.selectFrom('operations').select('suspended_at').where('id', '=', id).execute();
    return [`operations retry ${id}`, state];
  },
  'operations drop': async () => {
    const id = await insertWrite(database, 'suspended');
    const found = () => db.selectFrom('operations').select('id').where('id', '=', id).execute();
    return [`operations drop ${id} --yes`, found];
  },
  'secret-keys retire': async () => {
    const { id } = keyIdentity(retired);
    await db.updateTable('secret_keys').set({ retired_at: null }).where('id', '=', id).execute();
    const state = () => db.selectFrom('secret_keys').select('retired_at').where('id', '=', id).execute();
    return [`secret-keys retire ${id}`, state];
  },
};

const operatorsWith = (name: string) =>
  db.selectFrom('operators').select(['role', 'disabled_at', 'sealed_totp_secret']).where('name', '=', name).execute();

test.each(Object.keys(commands).flatMap((command) => [[command, 'before'] as const, [command, 'after'] as const]))(
  '%s whose connection breaks %s COMMIT is told as unknown, and can be repeated',
  async (command, kind) => {
    const [words, look, input = 'another password\n'] = (await commands[command]?.()) ?? ['', () => Promise.resolve()];
    const atFirst = await look();
    const proxy = await startPostgresProxy(url ?? '');
    onTestFinished(() => proxy.close());
    vi.stubEnv('DATABASE_URL', proxy.url);
    const failed = proxy.cutNext({ kind });
    const { code, stdout, stderr } = await crossward(words, input);
    await failed.settled;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('The outcome is unknown');
    const afterwards = await look();
    if (kind === 'before') expect(afterwards).toEqual(atFirst);
    else expect(afterwards).not.toEqual(atFirst);
    // A retry makes what was not made, and otherwise says so or makes it again.
    const repeated = await crossward(words, input);
    expect(repeated.stderr).not.toContain('The outcome is unknown');
    if (kind === 'before') expect(repeated.code).toBe(0);
    expect(await look()).not.toEqual(atFirst);
  },
);
