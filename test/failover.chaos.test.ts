import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../server/src/db/database.ts';
import { connectTimeout } from './database/database.ts';
import { type PostgresPair, startPostgresPair } from './database/postgres-pair.ts';
import { startChild } from './processes/child-gateway.ts';
import { writeQuickDemo } from './processes/quick-demo.ts';
import { verifyAudit } from './requests/audit.ts';
import { BookingLoad } from './requests/booking-load.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-failover-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function startOn(pair: PostgresPair) {
  const dataDir = await mkdtemp(join(folder, 'gateway-'));
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const setup = await writeQuickDemo(dataDir);
  const gateway = await startChild({ dataDir, databaseUrl: pair.url, setup });
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
    const { gateway, setup } = await startOn(pair);
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

    const database = await openDatabase({ databaseUrl: pair.url, dataDir: '', connectTimeout });
    onTestFinished(() => database.close());
    await load.verify(database);
    expect(await verifyAudit(database, setup)).toMatchObject([{ fault: null }]);
  },
);
