import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import { createKeyRing, type KeyRing } from '../secrets/key-ring.ts';
import { openOutcome, openPlan } from './stored-write.ts';
import { type WriteRequest, write } from './write.ts';
import { type Decide, plannedWrite, type WriteKind, type WriteServices } from './write-kind.ts';

/* What is stored under an `Idempotency-Key`, and what a later request with it makes of it. */

let testDatabase: TestDatabase;
let db: Db;
beforeAll(async () => {
  testDatabase = await createTestDatabase('postgresql');
  db = createDb(testDatabase.database);
});
afterAll(() => testDatabase.dispose());

const lost = new Error('no answer');
const unavailable = new Problem('ehr_unavailable');

interface Sent {
  readonly key: string;
  readonly keys: KeyRing;
  readonly content?: string;
  readonly plan?: object;
  readonly decide?: Decide;
  /** What the EHR does. Default: makes the write. */
  readonly fails?: Error;
}

/** A request to an EHR that finds no write by id, shows nothing of one, and settles nothing. */
async function send({ key, keys, content = 'content', plan = {}, decide, fails }: Sent): Promise<object> {
  const kind: Partial<WriteKind<object, unknown>> = {
    name: 'test',
    callsEhr: () => true,
    patientsOf: () => [],
    findsById: () => false,
    perform: async () => {
      if (fails) throw fails;
    },
    lookUp: async () => 'nothing',
    hasRecords: () => false,
    respond: () => ({ body: { is: 'made' } }),
  };
  const ehr = {
    id: 'ehr',
    isOpen: true,
    times: { callSeconds: 10, settlingSeconds: 0, giveUpSeconds: 600 },
    capabilities: {},
    offers: () => false,
    careUnits: new Map([['ward', { id: 'ward' }]]),
  };
  const services = {
    db,
    keys,
    liveTokens: new Set(),
    ehrs: new Map([['ehr', ehr]]),
    kinds: new Map([['test', kind]]),
  } as unknown as WriteServices;
  const request = {
    clientId: 'app',
    requestId: 'request',
    ehr,
    careUnit: { id: 'ward' },
    keyed: { key, fingerprints: [content] },
    plan: async () => plannedWrite(kind as WriteKind<object, unknown>, plan, decide),
    begin: async () => undefined,
  } as unknown as WriteRequest;
  return write(services, request).then(({ body }) => body);
}

test('a plan that is monitored stays if the plan of a retry is refused when it is decided', async () => {
  const keys = createKeyRing([randomBytes(32)]);
  const key = randomUUID();
  await expect(send({ key, keys, plan: { is: 'sent' }, fails: lost })).rejects.toMatchObject({
    reason: 'outcome_unknown',
  });
  const refusal = new Problem('confirmation_expired');
  const refused = send({ key, keys, plan: { is: 'refused' }, decide: async () => refusal });
  await expect(refused).rejects.toBe(refusal);
  const row = await db
    .selectFrom('operations')
    .selectAll()
    .where('idempotency_key_hash', '=', keys.hashes('idempotency-key', key)[0])
    .executeTakeFirstOrThrow();
  expect(row).toMatchObject({ state: 'done', lease_token: null, next_attempt_at: expect.any(Date) });
  expect(openPlan(keys, 'app', row.id, row.sealed_plan as Buffer)).toEqual({ is: 'sent' });
  const about = { clientId: 'app', keyHash: row.idempotency_key_hash };
  expect(openOutcome(keys, about, row.sealed_response as Buffer)).toMatchObject({ reason: 'confirmation_expired' });
});

/** The key is hashed with the older secret key, and what is stored under it last is encrypted with the newer one. */
async function storedUnderNewerKey(fails?: Error) {
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const key = randomUUID();
  await expect(send({ key, keys: createKeyRing([older]), fails: unavailable })).rejects.toBe(unavailable);
  const last = send({ key, keys: createKeyRing([newer, older]), ...(fails ? { fails } : {}) });
  await (fails ? expect(last).rejects.toMatchObject({ reason: 'outcome_unknown' }) : last);
  return { key, keys: createKeyRing([older]) };
}

const unreadable = { reason: 'outcome_unknown', origin: 'gateway', retryable: false };

test('a response under an unknown secret key is an unknown outcome, and other content a reused key', async () => {
  const stored = await storedUnderNewerKey();
  await expect(send(stored)).rejects.toMatchObject(unreadable);
  await expect(send({ ...stored, content: 'other' })).rejects.toMatchObject({ reason: 'idempotency_key_reused' });
});

test('an interrupted write whose plan is under an unknown secret key is an unknown outcome', async () => {
  const stored = await storedUnderNewerKey(lost);
  await expect(send(stored)).rejects.toMatchObject(unreadable);
  await expect(send({ ...stored, content: 'other' })).rejects.toMatchObject({ reason: 'idempotency_key_reused' });
});
