import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { childClient } from '../processes/child-client.ts';
import { type ChildGateway, startChild } from '../processes/child-gateway.ts';
import { freePort } from '../processes/free-port.ts';
import { writeQuickDemo } from '../processes/quick-demo.ts';
import { type RoundRobinProxy, startRoundRobinProxy } from '../processes/round-robin-proxy.ts';
import { eventually } from '../requests/codes.ts';
import { startSteadyLoad } from '../requests/steady-load.ts';
import { require, whatIsMissing } from './tools.ts';

const caddyfile = fileURLToPath(new URL('../../deploy/Caddyfile', import.meta.url));
/** Two machines, which have the same ports. */
const hosts = ['127.0.0.1', '127.0.0.2'] as const;
const perSecond = 50;

/**
 * Two gateways, each restarted in turn while callers send requests. The drain is long and is ended by a second signal, once the
 * proxy sends nothing to the gateway any more: how late a busy machine looks says nothing about the gateway.
 */
describe('restarts of two gateways in turn', () => {
  let database: TestDatabase;
  let start: (turn: number) => Promise<ChildGateway>;
  let operationsPort: number;
  let port: number;
  const gateways: ChildGateway[] = [];

  beforeAll(async () => {
    const folder = await mkdtemp(join(inject('runFolder'), 'restarts-'));
    database = await createTestDatabase('postgresql');
    operationsPort = await freePort();
    port = await freePort();
    const setup = await writeQuickDemo(folder, { http: { operations_port: operationsPort, drain_seconds: 120 } });
    start = async (turn) => {
      const variables = { PORT: `${port}`, HOST: hosts[turn % 2] ?? '' };
      const dataDir = join(folder, 'data');
      return await startChild({ dataDir, databaseUrl: database.url, setup, variables });
    };
    for (const turn of [0, 1]) gateways.push(await start(turn));
  });
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await database.dispose();
  });

  /** What became of the callers' requests. */
  async function restartUnderLoad(
    address: string,
    restarts: number,
  ): Promise<{ sent: number; failures: readonly string[] }> {
    const [gateway] = gateways;
    if (!gateway) return expect.unreachable('No gateway');
    const slots = await childClient(() => gateway).freeSlots(50);
    const load = startSteadyLoad({ address, credentials: gateway.credentials }, slots, perSecond);
    for (let turn = 0; turn < restarts; turn++) {
      const old = gateways[turn % 2];
      if (!old) return expect.unreachable('No gateway');
      for (const each of gateways) await eventually(async () => expect(requestsTo(each)).toBeGreaterThan(0));
      await load.progress(perSecond);
      process.kill(old.pid, 'SIGTERM');
      let before: number;
      do {
        before = requestsTo(old);
        await load.progress(perSecond);
        // The one that stops may be the slower one, and still have requests, which are not in its log yet.
        await load.settled();
      } while (requestsTo(old) > before);
      process.kill(old.pid, 'SIGTERM');
      await old.ended;
      expect(old.exitCode()).toBe(0);
      gateways[turn % 2] = await start(turn);
    }
    await load.progress(2 * perSecond);
    return await load.stop();
  }

  test('behind Caddy with its file, ten times, no request fails', async (context) => {
    require(whatIsMissing('caddy'), context);
    const site = `http://127.0.0.1:${await freePort()}`;
    const caddy = await startCaddy(site, {
      GATEWAY: hosts.map((host) => `${host}:${port}`).join(' '),
      HEALTH_PORT: `${operationsPort}`,
    });
    try {
      const { sent, failures } = await restartUnderLoad(site, 10);
      expect(failures).toEqual([]);
      expect(sent).toBeGreaterThan(10 * perSecond);
    } finally {
      caddy.kill('SIGKILL');
    }
  });

  test('behind a proxy that only asks /health/ready each second, four times, no request fails', async () => {
    let proxy: RoundRobinProxy | undefined;
    try {
      proxy = await startRoundRobinProxy(
        hosts.map((host) => `http://${host}:${port}`),
        { healthPort: operationsPort },
      );
      const { sent, failures } = await restartUnderLoad(proxy.address, 4);
      expect(failures).toEqual([]);
      expect(sent).toBeGreaterThan(4 * perSecond);
    } finally {
      await proxy?.close();
    }
  });
});

function requestsTo({ logLines }: ChildGateway): number {
  return logLines.filter((line) => line.includes('"msg":"request"')).length;
}

async function startCaddy(site: string, variables: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const home = await mkdtemp(join(inject('runFolder'), 'caddy-'));
  const config = join(home, 'Caddyfile');
  // How slow a busy machine answers a check says nothing about the gateway, and this Caddy sends a POST to nobody else then.
  const patient = (await readFile(caddyfile, 'utf8')).replace(/health_timeout \d+s/, 'health_timeout 60s');
  expect(patient).toContain('health_timeout 60s');
  await writeFile(config, patient);
  const caddy = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', config], {
    env: { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, SITE: site, ...variables },
    stdio: 'ignore',
  });
  await once(caddy, 'spawn');
  await eventually(async () => expect((await fetch(`${site}/api/emrs`)).status).toBe(401));
  return caddy;
}
