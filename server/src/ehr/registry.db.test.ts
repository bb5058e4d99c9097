import { randomBytes } from 'node:crypto';
import { type Capabilities, type Connector, type ConnectorContext, ConnectorError } from '@crossward/connector-kit';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
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
  { more = {}, claims = {} }: { more?: Partial<ConnectionSettings>; claims?: Partial<Capabilities> } = {},
) {
  const { emr } = await loadEmr({ path: demoConfigurationPath, connectors, environment: {} }, () => 'sandbox-no');
  const module = {
    name: 'own-transport',
    settingsSchema: {},
    open: async (context: ConnectorContext<unknown>) =>
      ({
        capabilities: { ...capabilities, ...claims },
        findPatient: () => findPatient(context),
      }) as unknown as Connector,
  };
  const connection = { ...emr.connection, allow_private_addresses: true, retries: 0, ...more };
  const metrics = new Registry();
  const ehrs = await openEhrs({ emrs: [{ ...emr, connector: module.name, connection }] }, [module], {
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
  return { ehr, find, rateLimit, failures: emr.connection.breaker.failures };
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
