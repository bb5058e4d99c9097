import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from './database/database.ts';
import { type ChildGateway, startChild } from './processes/child-gateway.ts';
import { freePort } from './processes/free-port.ts';
import { writeQuickDemo } from './processes/quick-demo.ts';
import { BookingLoad } from './requests/booking-load.ts';
import { eventually } from './requests/codes.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-workers-'));
const testDatabase = await createTestDatabase('postgresql');
const operationsPort = await twoFreePorts();
const setup = await writeQuickDemo(folder, { http: { operations_port: operationsPort } });
afterAll(async () => {
  await testDatabase.dispose();
  await rm(folder, { recursive: true, force: true });
});

/** The first of two ports that follow each other. */
async function twoFreePorts(): Promise<number> {
  for (;;) {
    const first = await freePort();
    if ((await freePort()) === first + 1) return first;
  }
}

async function startWorkers(variables: Readonly<Record<string, string>> = {}) {
  const dataDir = join(folder, 'data');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const gateway = await startChild({
    dataDir,
    databaseUrl: testDatabase.url,
    setup,
    variables: { CROSSWARD_WORKERS: '2', ...variables },
  });
  onTestFinished(() => gateway.kill());
  return gateway;
}

/** Process ids of all workers so far. */
function workersOf({ logLines }: ChildGateway): number[] {
  return logLines.flatMap((line) => /"worker_pid":(\d+),"msg":"worker is ready"/.exec(line)?.[1] ?? []).map(Number);
}

/** Process ids of the workers that have logged requests to routes that start with `path`. */
function servedBy({ logLines }: ChildGateway, path = '/'): Set<number> {
  return new Set(
    logLines.filter((line) => line.includes(`"route":"${path}`)).map((line) => Number(/"pid":(\d+)/.exec(line)?.[1])),
  );
}

/** Any worker may respond, because the request opens a connection of its own. */
async function getOnNewConnection(url: string, headers: Readonly<Record<string, string>> = {}) {
  const [response] = (await once(get(url, { agent: false, headers }), 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, body };
}

/** `/metrics` or `/health` of one worker. */
async function getFrom(worker: number, path: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${operationsPort + worker}${path}`);
  return { status: response.status, text: await response.text() };
}

/** The value of the first metric that starts like this. */
async function metricOf(worker: number, start: string): Promise<number> {
  const { text } = await getFrom(worker, '/metrics');
  const line = text.split('\n').find((it) => it.startsWith(start));
  return Number(line?.split(' ').at(-1));
}

test('a worker that is killed under load is replaced, and no booking is lost or doubled', async () => {
  const gateway = await startWorkers();
  const [killed = 0, other = 0] = workersOf(gateway);
  expect(gateway.logLines.filter((line) => line.includes('Crossward is listening'))).toHaveLength(1);
  const load = await BookingLoad.start(gateway);
  await load.progress(20);
  // The kernel chooses a process for each connection.
  await eventually(async () => {
    await getOnNewConnection(gateway.address);
    expect(servedBy(gateway)).toEqual(new Set([killed, other]));
  });

  process.kill(killed, 'SIGKILL');
  await eventually(() => expect(workersOf(gateway)).toHaveLength(3));
  await load.progress(20);
  await load.stop();
  await load.verify(testDatabase.database);

  await eventually(async () => {
    await getOnNewConnection(gateway.address);
    expect(servedBy(gateway)).toContain(workersOf(gateway)[2]);
  });
});

test('each worker reports its health and metrics at a port of its own, and none on the public one', async () => {
  const gateway = await startWorkers();
  for (const path of ['/metrics', '/health/live', '/health/ready']) {
    expect((await getOnNewConnection(gateway.address + path)).status).toBe(404);
    for (const worker of [0, 1]) expect((await getFrom(worker, path)).status).toBe(200);
  }
  expect((await getFrom(0, '/api/emrs')).status).toBe(404);

  const requests = 'crossward_http_request_duration_seconds_count{method="GET",route="/api/emrs"';
  const served = async (worker: number) => (await metricOf(worker, requests)) || 0;
  let sent = 0;
  await eventually(async () => {
    await getOnNewConnection(`${gateway.address}/api/emrs`, gateway.credentials);
    sent++;
    expect(await served(0)).toBeGreaterThan(0);
    expect(await served(1)).toBeGreaterThan(0);
  });
  const first = await served(0);
  expect(first + (await served(1))).toBe(sent);

  process.kill(workersOf(gateway)[1] ?? 0, 'SIGKILL');
  await eventually(async () => expect(await served(1)).toBe(0));
  expect(await served(0)).toBe(first);
});

test('SIGTERM stops all workers after their current requests', async () => {
  const gateway = await startWorkers();
  const { hostname, port } = new URL(gateway.address);
  const body = JSON.stringify({ patient_id: 'p-3' });
  const requests = Array.from({ length: 4 }, () => {
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    let response = '';
    socket.on('data', (text) => {
      response += text;
    });
    const headers = { ...gateway.credentials, host: hostname, expect: '100-continue', 'content-length': body.length };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `POST /api/emrs/sandbox-no/care-units/oslo-sentrum/appointments HTTP/1.1\r\n` +
        `content-type: application/json\r\n${lines.join('')}\r\n`,
    );
    return { socket, response: () => response };
  });
  for (const { response } of requests) await eventually(() => expect(response()).toContain('100 Continue'));
  process.kill(gateway.pid, 'SIGTERM');
  const stopping = () => gateway.logLines.filter((line) => line.includes('stopping after the current requests'));
  await eventually(() => expect(stopping()).toHaveLength(2));
  for (const { socket } of requests) socket.write(body);
  for (const { response } of requests) await eventually(() => expect(response()).toContain('"request_invalid"'));
  await gateway.ended;
  expect(gateway.exitCode()).toBe(0);
});

test('SIGTERM lets all workers wait for proxies, and a second signal ends the wait', async () => {
  const draining = await writeQuickDemo(await mkdtemp(join(folder, 'draining-')), {
    http: { operations_port: operationsPort, drain_seconds: 300 },
  });
  const gateway = await startWorkers({ CROSSWARD_CONFIG: draining.variables.CROSSWARD_CONFIG ?? '' });
  process.kill(gateway.pid, 'SIGTERM');
  for (const worker of [0, 1]) {
    await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${operationsPort + worker}/health/ready`);
      expect([response.status, await response.json()]).toMatchObject([503, { status: 'stopping' }]);
    });
  }
  expect((await gateway.send({ method: 'GET', path: '/api/emrs' }))?.status).toBe(401);
  // Signals within half a second are one.
  await setTimeout(600);
  process.kill(gateway.pid, 'SIGTERM');
  await gateway.ended;
  expect(gateway.exitCode()).toBe(0);
});

test('workers stop when the process that started them is killed', async () => {
  const gateway = await startWorkers();
  process.kill(gateway.pid, 'SIGKILL');
  // They hold its output open until they end.
  await gateway.ended;
  const stopped = gateway.logLines.filter((line) => line.includes('stopping after the current requests'));
  expect(stopped).toHaveLength(2);
});

test('a second gateway does not share the port', async () => {
  const gateway = await startWorkers();
  const { port } = new URL(gateway.address);
  await expect(startWorkers({ PORT: port })).rejects.toThrow(`PORT: ${port} on 127.0.0.1 is in use by another process`);
});

test('ports for operations must not include that of the interface', async () => {
  await expect(startWorkers({ PORT: String(operationsPort + 1) })).rejects.toThrow(
    `http.operations_port: 2 workers use the ports ${operationsPort} to ${operationsPort + 1}, but PORT is ${operationsPort + 1}`,
  );
});

test('a mistake in the configuration is reported once and ends the process', async () => {
  await expect(startWorkers({ CROSSWARD_CONFIG: join(folder, 'missing.yaml') })).rejects.toThrow(
    /^(?!.*Crossward cannot start.*Crossward cannot start).*Crossward cannot start\.\n.*missing\.yaml: no such file/s,
  );
});

test('the process ends with an error when no worker can be started', async () => {
  const gateway = await startWorkers();
  await writeFile(setup.variables.CROSSWARD_CONFIG ?? '', 'emrs: 7');
  for (const pid of workersOf(gateway)) process.kill(pid, 'SIGKILL');
  await gateway.ended;
  expect(gateway.exitCode()).toBe(1);
  expect(gateway.logLines.at(-1)).toContain('workers end before they are ready');
});
