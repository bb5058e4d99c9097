import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createDb } from '../db/kysely.ts';
import { requireKnownKeys } from '../secret-keys/require-known-keys.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { findEndpoint } from '../webhooks/endpoint-store.ts';
import { crossward } from './test-support.ts';

const { database, url, dispose } = await createTestDatabase('postgresql');
const folder = await mkdtemp(join(tmpdir(), 'crossward-webhooks-'));
afterAll(async () => {
  await dispose();
  await rm(folder, { recursive: true, force: true });
});
const db = createDb(database);
const key = randomBytes(32);
const keys = createKeyRing([key]);
await requireKnownKeys(db, [key]);
const config = join(folder, 'crossward.yaml');
await writeFile(
  config,
  `emrs:
  - id: local
    name: Local
    connector: sandbox
    settings: { country: "NO" }
    care_units: [{ id: c, name: C, time_zone: Europe/Oslo, language: nb }]
clients:
  - { id: clinic, secrets: [{ env: NOT_SET }], scopes: ["webhooks:manage"], grants: [{ emr: local }] }
  - { id: reader, secrets: [{ env: NOT_SET }], scopes: ["appointments:read"], grants: [{ emr: local }] }
webhooks: { max_endpoints: 1 }
`,
);
beforeEach(() => {
  vi.stubEnv('DATABASE_URL', url);
  vi.stubEnv('CROSSWARD_CONFIG', config);
  vi.stubEnv('CROSSWARD_SECRET_KEY', key.toString('base64'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const secretIn = (text: string) => /^whsec_\S+$/m.exec(text)?.[0];
const create = 'webhooks create --client clinic --url';
const where = 'https://hooks.clinic.example/kanari';

test('an endpoint is created under the rules of the API, changed, and gets a new secret, and each is recorded', async () => {
  const wrong = [
    [`${create} http://hooks.clinic.example`, 1, 'The URL must begin with https://.'],
    [`${create} https://127.0.0.1`, 1, 'The URL has a loopback, private or link-local address.'],
    [
      `${create} ${where} --events nothing`,
      2,
      '--events has an unknown type: nothing. Known types: appointment.booked,',
    ],
    [`webhooks create --client reader --url ${where}`, 2, 'it lacks the scope webhooks:manage.'],
    [`webhooks create --client nobody --url ${where}`, 2, 'No active client has this id.'],
  ] as const;
  for (const [words, code, stderr] of wrong) {
    expect(await crossward(words)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(stderr) });
  }
  const created = await crossward(`${create} - --events appointment.booked`, `${where}\n`);
  expect([created.code, created.stdout]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)]);
  const [, id = ''] = /The endpoint (\S{36}) is created/.exec(created.stderr) ?? [];
  const endpoint = await findEndpoint(db, keys, 'clinic', id);
  expect(endpoint).toMatchObject({ url: where, secret: secretIn(created.stdout), eventTypes: ['appointment.booked'] });
  const limit = await crossward(`${create} ${where}`);
  expect([limit.code, limit.stderr]).toEqual([1, expect.stringContaining('as many webhook endpoints as')]);

  expect(await crossward(`webhooks change ${id} --url ${where}/2 --events all`)).toMatchObject({ code: 0 });
  expect(await crossward(`webhooks change ${id}`)).toMatchObject({ code: 2, stderr: 'Set --url or --events.\n' });
  const rotated = await crossward(`webhooks rotate ${id} --overlap-seconds 60`);
  expect(await findEndpoint(db, keys, 'clinic', id)).toMatchObject({
    url: `${where}/2`,
    eventTypes: null,
    secret: secretIn(rotated.stdout),
    previousSecrets: [{ secret: endpoint?.secret }],
  });
  expect(await crossward(`webhooks rotate ${id} --overlap-seconds 1w`)).toMatchObject({ code: 2 });
  await db.updateTable('webhook_endpoints').set({ sealed_proof: null }).execute();
  expect(await crossward(`webhooks rotate ${id}`)).toMatchObject({ code: 1 });
  expect(await crossward(`webhooks accept ${id} --client reader`)).toMatchObject({ code: 1 });
  expect(await crossward(`webhooks accept ${id} --client clinic`)).toMatchObject({ code: 0 });
  expect(await findEndpoint(db, keys, 'clinic', id)).toMatchObject({ url: `${where}/2` });
  expect(await crossward(`webhooks disable ${id}`)).toMatchObject({ code: 0 });
  expect(await crossward(`webhooks delete ${id}`)).toMatchObject({ code: 0 });
  for (const words of [`change ${id} --events all`, `rotate ${id}`, `delete ${id}`, `rotate x`])
    expect(await crossward(`webhooks ${words}`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has this id/),
    });

  const activity = await db.selectFrom('operator_activity').selectAll().orderBy('id').execute();
  expect(activity.map(({ operator_name, action, target }) => `${operator_name}: ${action} ${target}`)).toEqual(
    ['create', 'change', 'secret_rotate', 'accept', 'disable', 'delete'].map(
      (it) => `command line: webhook_${it} ${id}`,
    ),
  );
});
