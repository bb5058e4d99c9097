import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from './database/database.ts';
import { startChild } from './processes/child-gateway.ts';
import { writeQuickDemo } from './processes/quick-demo.ts';
import { startRoundRobinProxy } from './processes/round-robin-proxy.ts';
import { verifyAudit } from './requests/audit.ts';
import { BookingLoad } from './requests/booking-load.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-gateways-'));
const { database, url, dispose } = await createTestDatabase('postgresql');
afterAll(async () => {
  await dispose();
  await rm(folder, { recursive: true, force: true });
});

test('three gateways behind a proxy lose and double no booking when one is killed', async () => {
  const setup = await writeQuickDemo(folder);
  const start = async () => startChild({ dataDir: await mkdtemp(join(folder, 'gateway-')), databaseUrl: url, setup });
  const gateways = await Promise.all([start(), start(), start()]);
  onTestFinished(async () => void (await Promise.all(gateways.map((gateway) => gateway.kill()))));
  const proxy = await startRoundRobinProxy(gateways.map(({ address }) => address));
  onTestFinished(() => proxy.close());

  const load = await BookingLoad.start({ address: proxy.address, credentials: gateways[0].credentials });
  await load.progress(30);
  await gateways[1].kill();
  await load.progress(30);
  await load.stop();
  await load.verify(database);
  const chains = await verifyAudit(database, setup);
  expect(chains).toMatchObject(gateways.map(() => ({ fault: null })));
  expect(Math.min(...chains.map(({ entries }) => entries))).toBeGreaterThan(0);
});
