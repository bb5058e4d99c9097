import { randomBytes } from 'node:crypto';
import { type Capabilities, type Connector, type ConnectorContext, ConnectorError } from '@crossward/connector-kit';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { eventually } from '../../../test/requests/codes.ts';
import { Secret } from '../config/environment/secret.ts';
import { demoConfigurationPath } from '../config/file/demo.ts';
import { loadEmr } from '../config/file/load.ts';
import type { ConnectionSettings } from '../config/schema/connection.ts';
import { createDb } from '../db/kysely.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { connectors } from './connectors.ts';
import { createEhrMetrics } from './guard/metrics.ts';
import { serve } from './guard/test-servers.ts';
import { createPauses } from './pauses.ts';
import { openEhrs } from './registry.ts';

const { database, dispose } = await createTestDatabase();
afterAll(() => dispose());
const capabilities = { patientIdentifierTypes: [], resourceIdentifierTypes: [], changes: [], transactions: false };

/** A connection whose connector has no tables and finds patients like this. */
async function connect(
  findPatient: (context: ConnectorContext<unknown>) => Promise<null>,
  {
    more = {},
    claims = {},
    asked = { open: async () => undefined, describe: async () => undefined },
  }: {
    more?: Partial<ConnectionSettings>;
    claims?: Partial<Capabilities>;
    asked?: Record<'open' | 'describe', (settings: unknown) => Promise<void>>;
  } = {},
) {
  const { emr } = await loadEmr({ path: demoConfigurationPath, connectors, environment: {} }, () => 'sandbox-no');
  const module = {
    name: 'own-transport',
    settingsSchema: {},
    async open(context: ConnectorContext<unknown>) {
      await asked.open(context.settings);
      return {
        capabilities: { ...capabilities, ...claims },
        findPatient: () => findPatient(context),
      } as unknown as Connector;
    },
    async describe(context: ConnectorContext<unknown>) {
      await asked.describe(context.settings);
      return {};
    },
  };
  const connection = { ...emr.connection, allow_private_addresses: true, retries: 0, ...more };
  const metrics = new Registry();
  const configured = { ...emr, connector: module.name, connection };
  const ehrs = await openEhrs({ emrs: [configured] }, [module], {
    database: database.pool,
    db: createDb(database),
    keys: createKeyRing([randomBytes(32)]),
    metrics: createEhrMetrics(metrics),
    pauses: createPauses(createDb(database), () => new Date()),
    now: () => new Date(),
    log: pino({ level: 'silent' }),
  });
  const [ehr] = ehrs.registry.values();
  if (!ehr) throw new Error('No connection');
  onTestFinished(() => ehrs.close());
  const find = () => ehr.call('findPatient', { type: 'emr_id', value: 'p-1' });
  const rateLimit = async () => {
    const { values } = (await metrics.getSingleMetric('crossward_ehr_request_rate_limit')?.get()) ?? { values: [] };
    return values.map(({ value }) => value);
  };
  const prepare = (
    next: Partial<Omit<typeof configured, 'settings'>> & { settings?: unknown },
    stored?: ReadonlySet<string>,
  ) => ehrs.prepare([{ ...configured, ...next } as typeof configured], [module], stored);
  /** Makes another configuration of the EHR the one in use. */
  const change = async (next: Parameters<typeof prepare>[0]) => {
    const prepared = await prepare(next);
    prepared.apply();
    return prepared;
  };
  /** Prepares the configuration that is in use, as a file has it that is read again. */
  const prepareAgain = () => ehrs.prepare([structuredClone(configured)], [module]);
  return {
    ehr,
    ehrs,
    configured,
    prepare,
    prepareAgain,
    change,
    find,
    rateLimit,
    failures: emr.connection.breaker.failures,
  };
}

test('the calls of a plug-in that does not use the gateway’s HTTP client count for the breaker', async () => {
  let isDown = false;
  const { ehr, find, failures } = await connect(async () => {
    if (isDown) throw new ConnectorError('unavailable', 'down');
    return null;
  });
  await find();
  expect(ehr.health().lastSuccessAt).not.toBeNull();
  isDown = true;
  for (let count = 0; count < failures; count++)
    await expect(find()).rejects.toMatchObject({ reason: 'ehr_unavailable' });
  expect(ehr.health().breaker).toBe('open');
});

test('a connector that has used the HTTP client is answered from memory if it sends nothing', async () => {
  const server = await serve((_request, response) => void response.end('fine'));
  let isKnown = false;
  const { ehr, find, failures } = await connect(async ({ http }) => {
    if (isKnown) throw new ConnectorError('unavailable', 'Known to be down');
    await http.send({ method: 'GET', url: server.url, repeatable: true });
    return null;
  });
  await find();
  isKnown = true;
  for (let count = 0; count < failures; count++)
    await expect(find()).rejects.toMatchObject({ reason: 'ehr_unavailable' });
  expect(ehr.health().breaker).toBe('closed');
});

test.each([
  ['nothing', {}, {}, []],
  ['what the connector says', { requestsPerSecond: 2 }, {}, [2]],
  ['the configuration', { requestsPerSecond: 2 }, { requests_per_second: 30 }, [30]],
])('the rate of requests is limited by %s', async (_, claims, more, expected) => {
  const { rateLimit } = await connect(async () => null, { claims, more });
  expect(await rateLimit()).toEqual(expected);
});

test('gateways with one database take turns with a rate that is never exceeded', async () => {
  let requests = 0;
  const server = await serve((_request, response) => {
    requests++;
    response.end('fine');
  });
  const connection = () =>
    connect(
      async ({ http }) => {
        await http.send({ method: 'GET', url: server.url, repeatable: true });
        return null;
      },
      { more: { requests_per_second: 0.1, timeout_ms: 500 } },
    );
  const [one, other] = [await connection(), await connection()];
  await one.find();
  await expect(other.find()).rejects.toMatchObject({ reason: 'ehr_unavailable' });
  expect(requests).toBe(1);
});

test('work that began on a connection ends on it, and it is closed when the gateway stops', async () => {
  const held: (() => void)[] = [];
  const server = await serve((_request, response, count) => {
    if (count === 1) held.push(() => response.end('fine'));
    else response.end('fine');
  });
  const { ehr, ehrs, configured, change, find } = await connect(async ({ http }) => {
    await http.send({ method: 'GET', url: server.url, repeatable: false });
    return null;
  });
  const begun = find();
  await vi.waitFor(() => expect(held).toHaveLength(1));
  expect(await change({ connection: { ...configured.connection, concurrency: 3 } })).toMatchObject({
    reconnected: ['sandbox-no'],
    notOpen: [],
  });
  const [next] = ehrs.registry.values();
  expect(next).not.toBe(ehr);
  expect(await next?.call('findPatient', { type: 'emr_id', value: 'p-1' })).toBeNull();
  held[0]?.();
  expect(await begun).toBeNull();
  // The same request goes on with further calls.
  expect(await find()).toBeNull();
  expect(server.open()).toBeGreaterThan(0);
  await ehrs.close();
  await expect(find()).rejects.toMatchObject({ reason: 'ehr_unavailable' });
});

test('other names of the EHR and its care units leave the connection as it is', async () => {
  const { ehrs, configured, change, find } = await connect(async () => null);
  await find();
  const careUnits = configured.care_units.map((careUnit) => ({ ...careUnit, name: 'Other' }));
  expect(await change({ name: 'Other', care_units: careUnits })).toMatchObject({ reconnected: [] });
  const [next] = ehrs.registry.values();
  expect([next?.name, next?.careUnits.get('oslo-sentrum')?.name]).toEqual(['Other', 'Other']);
  expect(next?.health().lastSuccessAt).not.toBeNull();
});

test('what is kept for the connection of an EHR outlasts a change of others', async () => {
  const { ehr, ehrs, configured, prepareAgain, change } = await connect(async () => null);
  (await prepareAgain()).apply();
  expect(ehrs.registry.get(configured.id)).toBe(ehr);
  await change({ name: 'Another name' });
  expect(ehrs.registry.get(configured.id)).not.toBe(ehr);
});

test('a secret that is another one gives a new connection', async () => {
  const { change } = await connect(async () => null);
  await change({ settings: { token: new Secret('one') } });
  expect(await change({ settings: { token: new Secret('one') } })).toMatchObject({ reconnected: [] });
  expect(await change({ settings: { token: new Secret('other') } })).toMatchObject({ reconnected: ['sandbox-no'] });
});

test('a new connection is open when the EHR has said what it is, or when it is put to use', async () => {
  const described: unknown[] = [];
  const { ehrs, configured, prepare, find } = await connect(async () => null, {
    asked: {
      open: async () => undefined,
      async describe(settings) {
        described.push(settings);
        if (settings === 'mistyped') throw new ConnectorError('unavailable', 'Nobody is there');
      },
    },
  });
  expect(described).toEqual([]);
  expect(await prepare({ settings: 'right' })).toMatchObject({ notOpen: [] });
  const change = await prepare({ settings: 'mistyped' });
  expect(change.notOpen).toEqual([{ emr: configured.id, detail: undefined }]);
  expect(described).toEqual(['right', 'mistyped']);
  expect(await find()).toBeNull();
  change.apply();
  await vi.waitFor(() => expect(ehrs.registry.get(configured.id)?.isOpen).toBe(true), 10_000);
});

test('an EHR that refuses the new settings is not asked at each attempt: it could lock the user', async () => {
  let [opened, described] = [0, 0];
  const { prepare } = await connect(async () => null, {
    asked: {
      async open() {
        opened++;
      },
      async describe() {
        described++;
        throw new ConnectorError('rejected', 'Wrong password');
      },
    },
  });
  expect((await prepare({ settings: 'mistyped' })).notOpen).toHaveLength(1);
  await vi.waitFor(() => expect(opened).toBeGreaterThan(2), 10_000);
  expect((await prepare({ settings: 'mistyped' })).notOpen).toHaveLength(1);
  expect(described).toBe(1);
});

test('a connection that opens slowly is used when the same change is prepared again', async () => {
  const opening: { settings: unknown; end: () => void }[] = [];
  const { ehrs, configured, prepare } = await connect(async () => null, {
    asked: {
      async open(settings) {
        if (typeof settings !== 'string') return;
        const { promise, resolve } = Promise.withResolvers<void>();
        opening.push({ settings, end: resolve });
        await promise;
      },
      describe: async () => undefined,
    },
  });
  expect((await prepare({ settings: 'slow' })).notOpen).toHaveLength(1);
  opening[0]?.end();
  const ready = await eventually(async () => {
    const change = await prepare({ settings: 'slow' });
    expect(change.notOpen).toEqual([]);
    return change;
  });
  expect(opening.map(({ settings }) => settings)).toEqual(['slow']);
  ready.apply();
  expect(ehrs.registry.get(configured.id)?.isOpen).toBe(true);
});

test('a change of a stored EHR that is silent goes on opening, and delays no other for long', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const open = vi.fn(async (settings: unknown) => {
    if (settings === 'silent') await promise;
  });
  const { configured, prepare } = await connect(async () => null, { asked: { open, describe: async () => undefined } });
  const stored = new Set([configured.id]);
  const timers = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => void timers.mockRestore());
  const change = await prepare({ settings: 'silent' }, stored);
  expect(change).toMatchObject({ isOpening: true, unused: [], reconnected: [] });
  expect(timers.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(500);
  expect(timers.mock.calls.map(([, milliseconds]) => milliseconds)).not.toContain(5000);
  resolve();
  await eventually(async () =>
    expect(await prepare({ settings: 'silent' }, stored)).toMatchObject({
      isOpening: false,
      reconnected: [configured.id],
    }),
  );
  expect(open).toHaveBeenCalledTimes(2);
});

test('a change that cannot be made leaves everything as it is', async () => {
  const { ehrs, configured, ehr, find } = await connect(async () => null);
  const broken = { name: 'broken', settingsSchema: {}, open: async () => undefined as unknown as Connector };
  const next = [
    { ...configured, name: 'Other' },
    { ...configured, id: 'broken', connector: 'broken' },
  ];
  const module = { ...broken, name: configured.connector };
  await expect(ehrs.prepare(next, [module, broken])).rejects.toThrow(/must return an object with "capabilities"/);
  expect([...ehrs.registry.values()]).toEqual([ehr]);
  expect(await find()).toBeNull();
});

test('an EHR with another server or another time zone has another source, and one with another name has not', async () => {
  const { ehrs, configured, change } = await connect(async () => null);
  const source = () => ehrs.registry.get(configured.id)?.source;
  const sources = [source()];
  const careUnits = configured.care_units.map((unit) => ({ ...unit, time_zone: 'Asia/Tokyo' }));
  for (const next of [
    { name: 'Another' },
    { settings: { base_url: 'https://other.example' } },
    { care_units: careUnits },
  ]) {
    await change(next);
    sources.push(source());
  }
  expect(sources[1]).toBe(sources[0]);
  expect(new Set(sources).size).toBe(3);
});
