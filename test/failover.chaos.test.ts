import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../server/src/db/database.ts';
import { connectTimeout } from './database/database.ts';
import { createRunFolder, startPostgres } from './database/embedded-postgres.ts';
import { type PostgresPair, startPostgresPair, waitingForTheirWrite } from './database/postgres-pair.ts';
import { type ChildSetup, startChild } from './processes/child-gateway.ts';
import { writeQuickDemo } from './processes/quick-demo.ts';
import { verifyAudit } from './requests/audit.ts';
import { BookingLoad } from './requests/booking-load.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-failover-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function startOn(databaseUrl: string) {
  const dataDir = await mkdtemp(join(folder, 'gateway-'));
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const setup = await writeQuickDemo(dataDir);
  const gateway = await startChild({ dataDir, databaseUrl, setup });
  onTestFinished(() => gateway.kill());
  return { gateway, setup };
}

test.each([
  ['is killed', async (pair: PostgresPair) => pair.killPrimary()],
  ['no longer responds', (pair: PostgresPair) => pair.freezePrimary()],
])(
  'no acknowledged booking, code or key is lost or doubled when the primary %s and the standby is promoted',
  async (name, fail) => {
    const pair = await startPostgresPair();
    onTestFinished(() => pair.stop());
    const { gateway, setup } = await startOn(pair.url);
    const load = await BookingLoad.start(gateway);
    await load.progress(30);

    await fail(pair);
    const promotedAt = performance.now();
    await pair.promote();
    await load.progress(1);
    const seconds = (performance.now() - promotedAt) / 1000;
    await load.progress(30);
    await load.stop();
    process.stdout.write(
      `primary ${name}: first booking ${seconds.toFixed(1)} s after promotion began ${JSON.stringify(load.counts)}\n`,
    );

    await verify(load, pair.url, setup);
  },
);

/** The gateway stays. PostgreSQL loses what it had not written, and starts again (PostgreSQL, `restart_after_crash`). */
test('no acknowledged booking, code or key is lost or doubled when PostgreSQL crashes again and again', async () => {
  const runFolder = await createRunFolder();
  const { url, stop } = await startPostgres(runFolder, { settings: waitingForTheirWrite });
  onTestFinished(async () => {
    await stop();
    await rm(runFolder, { recursive: true, force: true });
  });
  const { gateway, setup } = await startOn(url);
  const load = await BookingLoad.start(gateway);
  for (let crash = 0; crash < 6; crash++) {
    await load.progress(15);
    process.kill(await oneConnection(url), 'SIGKILL');
  }
  await load.progress(15);
  await load.stop();
  process.stdout.write(`PostgreSQL crashed six times ${JSON.stringify(load.counts)}\n`);
  await verify(load, url, setup);
});

async function verify(load: BookingLoad, databaseUrl: string, setup: ChildSetup): Promise<void> {
  const database = await openDatabase({ databaseUrl, dataDir: '', connectTimeout });
  onTestFinished(() => database.close());
  await load.verify(database);
  expect(await verifyAudit(database, setup)).toMatchObject([{ fault: null }]);
}

/** The process of one connection of the gateway. The whole server crashes if it is killed. */
async function oneConnection(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client
    .query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`,
    )
    .finally(() => client.end());
  if (!rows[0]) throw new Error('The gateway has no connection');
  return rows[0].pid;
}
