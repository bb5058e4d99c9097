import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { createTestDatabase } from '../database/database.ts';
import { type Endpoint, startReceiver } from '../requests/webhook-receiver.ts';
import { childClient } from './child-client.ts';
import { startChild } from './child-gateway.ts';
import { writeQuickDemo } from './quick-demo.ts';

/**
 * A gateway on PostgreSQL that a test kills and starts again, and a receiver of all its events.
 *
 * @param webhooks settings beside those that permit the receiver's address
 */
export async function startKillableGateway(webhooks: object = {}) {
  const folder = await mkdtemp(join(inject('runFolder'), 'webhooks-'));
  const { url: databaseUrl, database, dispose } = await createTestDatabase('postgresql');
  const receiver = await startReceiver();
  const permitted = { allow_private_addresses: true, allow_http: true };
  const setup = await writeQuickDemo(folder, { webhooks: { ...permitted, ...webhooks } });
  const start = () => startChild({ dataDir: join(folder, 'data'), databaseUrl, setup });
  let child = await start();
  onTestFinished(async () => {
    await child.kill();
    await receiver.close();
    await dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const client = childClient(() => child);
  const body = { url: receiver.url };
  const { body: endpoint } = await client.send<Endpoint>({ method: 'POST', path: '/api/webhook-endpoints', body });
  return {
    client,
    receiver,
    endpoint,
    kill: () => child.kill(),
    async restart() {
      child = await start();
    },
    /** Runs a statement in the gateway's database. */
    async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
      const connection = await database.pool.connect();
      try {
        return (await connection.query<Row>(text, [...values])).rows;
      } finally {
        connection.release();
      }
    },
  };
}
