import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { crossward } from '../../server/src/cli/test-support.ts';
import { type Database, openDatabase } from '../../server/src/db/database.ts';
import { createTestDatabase } from '../database/database.ts';
import { backUp, createCluster, createRunFolder, startServer } from '../database/embedded-postgres.ts';
import { bookingOf, changeOf, childClient } from '../processes/child-client.ts';
import { type ChildGateway, type ChildRequest, type ChildSetup, startChild } from '../processes/child-gateway.ts';
import { writeQuickDemo } from '../processes/quick-demo.ts';
import { verifyAudit } from '../requests/audit.ts';
import { type Appointment, creationBody, type Slot, sodermalm } from '../requests/bookings.ts';
import { eventually } from '../requests/codes.ts';

/** A gateway that is stopped and started again on the same or another database, and its client. */
async function startDrill(first: string) {
  const folder = await mkdtemp(join(inject('runFolder'), 'drill-'));
  const setup = await writeQuickDemo(folder);
  const start = (databaseUrl: string, variables = {}) =>
    startChild({ dataDir: join(folder, 'data'), databaseUrl, setup, variables });
  let gateway: ChildGateway = await start(first);
  onTestFinished(async () => {
    await gateway.kill();
    await rm(folder, { recursive: true, force: true });
  });
  const client = childClient(() => gateway);
  return {
    ...client,
    setup,
    kill: () => gateway.kill(),
    async restart(databaseUrl: string, variables: Readonly<Record<string, string>> = {}) {
      await gateway.kill();
      gateway = await start(databaseUrl, variables);
    },
    /** Books with a code. Returns the request, its response and the code. */
    async bookByCode(patient_id: string): Promise<{ request: ChildRequest; body: Appointment; code: string }> {
      const from = new Date(Date.now() + 7 * 86_400_000).toISOString();
      const to = new Date(Date.now() + 35 * 86_400_000).toISOString();
      const query = new URLSearchParams({ start: from, end: to, healthcare_service_id: 'consultation', limit: '1' });
      const path = `${sodermalm}/timeslots?${query}&resource_id=r-1`;
      const { timeslots } = (await client.send<{ timeslots: Slot[] }>({ method: 'GET', path })).body;
      const [slot] = timeslots;
      if (!slot) throw new Error('No free slot');
      const request = {
        method: 'POST',
        path: `${sodermalm}/appointments`,
        headers: { 'idempotency-key': `code for ${patient_id}` },
        body: { ...creationBody(slot), patient_id },
      };
      const { body } = await client.send<Appointment>(request);
      const code = await eventually(async () => {
        const mailbox = await client.send<{ messages: { appointment_id: string; text: string }[] }>({
          method: 'GET',
          path: '/demo/messages',
          headers: { accept: 'application/json' },
        });
        const message = mailbox.body.messages.find(({ appointment_id }) => appointment_id === body.id);
        return /\b\d{6}\b/.exec(message?.text ?? '')?.[0] ?? expect.unreachable();
      });
      return { request, body, code };
    },
    /** The stored response of a key, unchanged. */
    async expectReplayed(request: ChildRequest, body: unknown) {
      const repeated = await client.send(request);
      expect(repeated.body).toEqual(body);
      expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    },
  };
}

/** Verifies the audit trail when all of it is linked. */
async function expectIntact(database: Database, setup: ChildSetup): Promise<void> {
  await eventually(async () => {
    const found = await verifyAudit(database, setup);
    expect(found.length).toBeGreaterThan(0);
    expect(found.map(({ fault }) => fault)).toEqual(found.map(() => null));
  });
}

test('a backup of a database in use is restored elsewhere: same ids, keys are replayed, the audit trail is intact', async () => {
  const [from, to] = [await createRunFolder(), await createRunFolder()];
  const cluster = await createCluster(from);
  const server = await startServer(cluster);
  const urlOf = (url: string) => Object.assign(new URL(url), { pathname: 'crossward' }).href;
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query('CREATE DATABASE crossward');
  await admin.end();
  const { send, write, freeSlots, setup, kill, restart, bookByCode, expectReplayed } = await startDrill(
    urlOf(server.url),
  );
  const slots = await freeSlots(60);
  const [first, ...others] = slots.map((slot, index) => bookingOf(slot, `key ${index}`));
  if (!first) throw new Error('No free slot');
  const booked = (await send<Appointment>(first)).body;
  const held = await bookByCode('p-3');
  const writing = Promise.all(others.map((request) => write(request).catch(() => undefined)));
  const copy = await backUp(cluster, server, to);
  await writing;
  await kill();
  await server.stop();

  const elsewhere = await startServer(copy);
  const database = await openDatabase({ databaseUrl: urlOf(elsewhere.url), dataDir: '' });
  onTestFinished(async () => {
    await database.close();
    await elsewhere.stop();
    await Promise.all([from, to].map((it) => rm(it, { recursive: true, force: true })));
  });
  await restart(urlOf(elsewhere.url));
  const path = `${first.path}/${booked.id}`;
  expect((await send({ method: 'GET', path })).body).toEqual(booked);
  await send(changeOf(booked.id, 'after', { comment: 'restored' }));
  const confirmation = { confirmation: { code: held.code } };
  const confirmed = await send<Appointment>({
    method: 'PATCH',
    path: `${held.request.path}/${held.body.id}`,
    body: confirmation,
  });
  expect(confirmed.body.status).toBe('booked');
  // What was booked after the copy is booked again with its key, and nothing twice.
  const ids = await Promise.all(others.map(async (request) => (await write(request)).id));
  expect(new Set([booked.id, ...ids]).size).toBe(slots.length);
  await expectReplayed(held.request, held.body);
  await expectReplayed(first, booked);
  await expectIntact(database, setup);
});

test('a new secret key reads what the old one has encrypted, and the audit trail', async () => {
  const { url = '', database, dispose } = await createTestDatabase('postgresql');
  onTestFinished(dispose);
  const { send, setup, restart, bookByCode, expectReplayed } = await startDrill(url);
  const held = await bookByCode('p-3');
  const key = randomBytes(32).toString('base64');
  const variables = {
    CROSSWARD_SECRET_KEY: key,
    CROSSWARD_PREVIOUS_SECRET_KEYS: setup.variables.CROSSWARD_SECRET_KEY ?? '',
  };
  await restart(url, variables);
  await expectReplayed(held.request, held.body);
  const confirmed = await send<Appointment>({
    method: 'PATCH',
    path: `${held.request.path}/${held.body.id}`,
    body: { confirmation: { code: held.code } },
  });
  expect(confirmed.body.status).toBe('booked');
  // The new key alone is enough to verify.
  await expectIntact(database, { ...setup, variables: { ...setup.variables, ...variables } });
});

test('an erased patient leaves codes to others, keys that are replayed, and an intact audit trail', async () => {
  const { url = '', database, dispose } = await createTestDatabase('postgresql');
  onTestFinished(dispose);
  const { send, setup, bookByCode, expectReplayed } = await startDrill(url);
  const [mine, theirs] = [await bookByCode('p-3'), await bookByCode('p-4')];
  const confirm = ({ request, body, code }: typeof mine) =>
    send<Appointment>({ method: 'PATCH', path: `${request.path}/${body.id}`, body: { confirmation: { code } } });
  await confirm(mine);
  vi.stubEnv('DATABASE_URL', url);
  vi.stubEnv('CROSSWARD_SECRET_KEY', setup.variables.CROSSWARD_SECRET_KEY);
  onTestFinished(() => void vi.unstubAllEnvs());
  const erased = await crossward('patient erase --emr sandbox-se --patient - --yes --json', 'p-3');
  expect(JSON.parse(erased.stdout)).toMatchObject({
    erased: true,
    removed: { confirmations: 1, messages: 1 },
    kept: { stored_responses: 1 },
  });
  expect((await confirm(theirs)).body.status).toBe('booked');
  await expectReplayed(mine.request, mine.body);
  await expectIntact(database, setup);
});
