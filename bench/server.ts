// Started by http.ts in a separate process: the gateway, and a bare Fastify server as a baseline.
import { randomBytes } from 'node:crypto';
import { devNull } from 'node:os';
import Fastify from 'fastify';
import { destination, pino } from 'pino';
import { hashSecret } from '../server/src/config/configuration.ts';
import { demoConfigurationPath } from '../server/src/config/demo.ts';
import { loadConfiguration } from '../server/src/config/load.ts';
import { scopes } from '../server/src/config/schema.ts';
import { openDatabase } from '../server/src/db/database.ts';
import { createDeps } from '../server/src/deps.ts';
import { connectors } from '../server/src/ehr/connectors.ts';
import { buildApp } from '../server/src/http/app.ts';

/** Message to the parent process when the server is listening. */
export interface Ready {
  readonly gateway: string;
  readonly bare: string;
  readonly credentials: Readonly<Record<string, string>>;
}

const [databaseUrl = '', dataDir = ''] = process.argv.slice(2);
const secret = randomBytes(32).toString('base64url');
const database = await openDatabase({ databaseUrl, dataDir });

const demo = await loadConfiguration({ path: demoConfigurationPath, connectors, environment: {} });
const client = {
  id: 'bench',
  name: 'Bench',
  secrets: [{ sha256: hashSecret(secret) }],
  scopes: [...scopes],
  grants: demo.emrs.map((emr) => ({ emr: emr.id, care_units: emr.care_units.map(({ id }) => id) })),
};
const deps = await createDeps({
  configuration: { ...demo, clients: [client], limits: { ...demo.limits, requests_per_minute: 100_000_000 } },
  database,
  secretKeys: [randomBytes(32)],
  log: pino({ level: 'info' }, destination({ dest: devNull, sync: false })),
});
const app = await buildApp(deps);

const bare = Fastify();
bare.get('/route', async () => ({ status: 'ok' }));
bare.get('/statement/:id', async (request) => {
  const { id } = request.params as { id: string };
  const connection = await database.pool.connect();
  try {
    const { rows } = await connection.query('SELECT * FROM sandbox.appointments WHERE id = $1', [id]);
    return rows[0];
  } finally {
    connection.release();
  }
});

const ready: Ready = {
  gateway: await app.listen({ host: '127.0.0.1', port: 0 }),
  bare: await bare.listen({ host: '127.0.0.1', port: 0 }),
  credentials: { 'x-service-client-id': client.id, 'x-service-client-secret': secret },
};
process.send?.(ready);

process.once('disconnect', async () => {
  await Promise.all([app.close(), bare.close()]);
  await deps.stop();
  await database.close();
});
