import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import type { ConfiguredAccess } from '../server/src/config/configuration.ts';
import type { ConfigurationFile } from '../server/src/config/schema/schema.ts';
import { createClient } from '../server/src/console/clients/client-actions.ts';
import { addEmr, changeEmr } from '../server/src/console/ehrs/emr-actions.ts';
import { createDb } from '../server/src/db/kysely.ts';
import { readStoredEmrs } from '../server/src/ehr/stored/stored-emrs.ts';
import { createKeyRing } from '../server/src/secrets/key-ring.ts';
import { createTestDatabase } from './database/database.ts';
import { type ChildGateway, startChild } from './processes/child-gateway.ts';
import { freePort } from './processes/free-port.ts';
import { mountConfiguration } from './processes/mounted-configuration.ts';
import { startRoundRobinProxy } from './processes/round-robin-proxy.ts';
import { BookingLoad } from './requests/booking-load.ts';
import { eventually } from './requests/codes.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-reloads-'));
const { database, url, dispose } = await createTestDatabase('postgresql');
afterAll(async () => {
  await dispose();
  await rm(folder, { recursive: true, force: true });
});

const reloads = Number(process.env.RELOADS ?? 48);
// Each takes a second or two.
vi.setConfig({ testTimeout: Math.max(300_000, reloads * 10_000) });
/** Every twelfth is left to the gateways, which see that the file has changed. The others come with a signal. */
const isSeen = (version: number) => version % 12 === 0;

const { setup, first, publish } = await mountConfiguration(folder);
const db = createDb(database);
const keys = createKeyRing([Buffer.from(setup.variables.CROSSWARD_SECRET_KEY ?? '', 'base64')]);

/** An EHR of the database, with another name in each version. */
const storedOf = (version: number) => ({ ...first.emrs[0], id: 'stored', name: `stored, version ${version}` });

/** Stores the EHR, and makes a client for it. Returns the client's headers. */
async function storeEhr(): Promise<Readonly<Record<string, string>>> {
  const id = 'site-of-stored';
  expect(await addEmr({ db, keys }, { id: 'stored', definition: storedOf(0), isOpen: true }, {})).toBeUndefined();
  const created = await createClient(
    { db, keys, configured: { emrs: [storedOf(0)], clients: [] } as unknown as ConfiguredAccess },
    { id, name: 'Site', scopes: ['appointments:read'], grants: [{ emr: 'stored' }], return_urls: [] },
  );
  if (!('secret' in created) || !created.secret) throw new Error('No client');
  return { 'x-service-client-id': id, 'x-service-client-secret': created.secret };
}

async function changeStored(version: number): Promise<void> {
  const [stored] = (await readStoredEmrs(db, keys)).emrs;
  const facts = { id: 'stored', definition: storedOf(version), isOpen: true, version: stored?.version ?? '' };
  expect(await changeEmr({ db, keys }, facts, {}, false)).toBeUndefined();
}

/** Another name in each version, a new connection to another EHR, and an EHR that comes and goes. */
function fileOf(version: number): ConfigurationFile {
  const emrs = first.emrs.map((emr, index) => ({
    ...emr,
    name: `${emr.id}, version ${version}`,
    ...(index === version % first.emrs.length && {
      connection: { ...emr.connection, concurrency: 10 + (version % 900) },
    }),
  }));
  const [norway] = emrs;
  if (!norway || version % 5 !== 0) return { ...first, emrs };
  const clients = first.clients.map((client) => ({ ...client, grants: [...client.grants, { emr: 'more' }] }));
  return { ...first, emrs: [...emrs, { ...norway, id: 'more' }], clients };
}

function withEhr(file: ConfigurationFile, url: string): ConfigurationFile {
  const [norway] = file.emrs;
  if (!norway) throw new Error('The demo has EHRs');
  const connection = { allow_private_addresses: true };
  const settings = { base_url: url };
  return { ...file, emrs: [...file.emrs, { ...norway, id: 'silent', connector: 'fhir-r4', settings, connection }] };
}

/** A FHIR server that accepts connections and never answers. `asked` ends when one has come. */
async function startSilentEhr(): Promise<{ readonly url: string; readonly asked: Promise<unknown> }> {
  const server = createServer().listen(0, '127.0.0.1');
  const asked = once(server, 'connection');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function namesOf(gateway: ChildGateway, headers = {}): Promise<readonly string[]> {
  const response = await gateway.send<{ emrs: { name: string }[] }>({ method: 'GET', path: '/api/emrs', headers });
  return response?.body.emrs.map(({ name }) => name) ?? [];
}

test('two gateways whose files and stored EHRs change again and again lose, double and reject no booking', async () => {
  const ports = [await freePort(), await freePort()];
  const start = async (port = 0) =>
    startChild({
      dataDir: await mkdtemp(join(folder, 'gateway-')),
      databaseUrl: url,
      setup,
      variables: { PORT: String(port) },
    });
  const gateways = await Promise.all(ports.map(start));
  onTestFinished(async () => void (await Promise.all(gateways.map((gateway) => gateway.kill()))));
  const proxy = await startRoundRobinProxy(gateways.map(({ address }) => address));
  onTestFinished(() => proxy.close());
  const target = { address: proxy.address, credentials: gateways[0]?.credentials ?? {} };
  const siteOfStored = await storeEhr();
  // Two bookings for each change, and as many that nobody waits for.
  const pace =
    reloads > 100 ? { pauseMilliseconds: 1_000, slots: 4 * reloads } : { pauseMilliseconds: 300, slots: 1_000 };
  const load = await BookingLoad.start(target, { clients: 4, ...pace });

  async function reload(version: number): Promise<void> {
    if (version % 7 === 0) {
      await publish('emrs: [');
      for (const { pid } of gateways) process.kill(pid, 'SIGHUP');
    }
    await changeStored(version);
    await publish(fileOf(version));
    if (!isSeen(version)) for (const { pid } of gateways) process.kill(pid, 'SIGHUP');
    const isUsed = async (gateway: ChildGateway) => {
      expect(await namesOf(gateway)).toContain(`sandbox-no, version ${version}`);
      expect(await namesOf(gateway, siteOfStored)).toEqual([`stored, version ${version}`]);
    };
    await eventually(() => Promise.all(gateways.map(isUsed)));
  }

  for (let version = 1; version <= reloads; version++) {
    await reload(version);
    await load.progress(2);
  }
  // A busy machine stands still for seconds.
  expect.soft([...load.reasons].filter((reason) => reason !== 'overloaded')).toEqual([]);
  expect.soft([...load.faults]).toEqual([]);

  // One is killed while it opens a connection that the file names, and starts with the next file.
  const silent = await startSilentEhr();
  await publish(withEhr(fileOf(reloads + 1), silent.url));
  process.kill(gateways[1]?.pid ?? 0, 'SIGHUP');
  await silent.asked;
  await gateways[1]?.kill();
  gateways[1] = await start(ports[1]);
  await reload(reloads + 2);
  await load.progress(10);
  await load.stop();
  await load.verify(database);
  for (const { logLines } of gateways)
    expect(logLines.filter((line) => /"level":[56]0/.test(line) && !/configuration file not used/.test(line))).toEqual(
      [],
    );
});
