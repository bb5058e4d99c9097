import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createDb } from '../server/src/db/kysely.ts';
import { createTestDatabase } from './database/database.ts';
import { type ChildGateway, startChild } from './processes/child-gateway.ts';
import { writeQuickDemo } from './processes/quick-demo.ts';
import { BookingLoad } from './requests/booking-load.ts';
import { eventually } from './requests/codes.ts';
import { sessionOf } from './requests/console.ts';

const folder = await mkdtemp(join(tmpdir(), 'crossward-workers-'));
const testDatabase = await createTestDatabase('postgresql');
const setup = await writeQuickDemo(folder);
afterAll(async () => {
  await testDatabase.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function startWorkers(variables: Readonly<Record<string, string>> = {}) {
  const dataDir = join(folder, 'data');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const gateway = await startChild({
    dataDir,
    databaseUrl: testDatabase.url,
    setup,
    bundled: true,
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

async function metric(gateway: ChildGateway, start: string): Promise<number> {
  const text = await (await fetch(`${gateway.address}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(start))
      ?.split(' ')
      .at(-1),
  );
}

test('a worker that is killed under load is replaced, and no booking is lost or doubled', async () => {
  const gateway = await startWorkers();
  const [killed = 0, other = 0] = workersOf(gateway);
  expect(gateway.logLines.filter((line) => line.includes('Crossward is listening'))).toHaveLength(1);
  const load = await BookingLoad.start(gateway);
  await load.progress(20);
  await eventually(() => expect(servedBy(gateway)).toEqual(new Set([killed, other])));
  const booked = 'crossward_http_request_duration_seconds_count{method="POST"';
  const before = await metric(gateway, booked);
  expect(before).toBeGreaterThan(0);

  process.kill(killed, 'SIGKILL');
  await eventually(() => expect(workersOf(gateway)).toHaveLength(3));
  await load.progress(20);
  await load.stop();
  await load.verify(testDatabase.database);

  expect(await metric(gateway, 'crossward_workers_ready')).toBe(2);
  expect(await metric(gateway, 'crossward_workers_ended_total')).toBe(1);
  // The counts of the worker that was killed are still included.
  expect(await metric(gateway, booked)).toBeGreaterThan(before);
  // Both read the same database, so this is no sum.
  // A metric is left out while the database takes long to respond.
  await eventually(async () =>
    expect(await metric(gateway, 'crossward_operations_suspended{emr="sandbox-no"}')).toBe(0),
  );
  await eventually(async () => {
    await getOnNewConnection(`${gateway.address}/health/live`);
    expect(servedBy(gateway)).toContain(workersOf(gateway)[2]);
  });
});

/** The calls to an EHR in the last hour, as any worker shows them. */
async function shownCalls(gateway: ChildGateway, cookie: string): Promise<number> {
  const { body: page } = await getOnNewConnection(`${gateway.address}/console`, { host: 'localhost:1', cookie });
  expect(page).toContain('as seen by all 2 workers of this gateway');
  return Number(/<code>sandbox-uk<\/code>.*?<dt>Calls<\/dt><dd>(\d+)/s.exec(page)?.[1]);
}

test('the overview of the console adds up what all workers have seen', async () => {
  const file = JSON.parse(await readFile(setup.variables.CROSSWARD_CONFIG ?? '', 'utf8'));
  const path = join(folder, 'console.yaml');
  const console = { url: 'http://localhost:1', local_accounts: true };
  await writeFile(path, JSON.stringify({ ...file, console }));
  const gateway = await startWorkers({ CROSSWARD_CONFIG: path });
  const cookie = `crossward-console=${await sessionOf(createDb(testDatabase.database), 'kari', 'view')}`;
  const before = await eventually(() => shownCalls(gateway, cookie));
  const patient = `${gateway.address}/api/emrs/sandbox-uk/care-units/riverside/patients/p-1`;
  let calls = 0;
  // One worker may accept all of a few connections.
  await eventually(async () => {
    const reads = Array.from({ length: 10 }, () => getOnNewConnection(patient, gateway.credentials));
    for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
    calls += reads.length;
    expect(servedBy(gateway, '/api/').size).toBe(2);
  });
  // Each worker shows the calls of both.
  for (let count = 0; count < 4; count++)
    expect((await eventually(() => shownCalls(gateway, cookie))) - before).toBeGreaterThanOrEqual(calls);
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
