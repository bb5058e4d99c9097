import { randomBytes } from 'node:crypto';
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ChildGateway, ChildSetup } from '../processes/child-gateway.ts';

const path = '/api/emrs/training/care-units/ward-1/appointments';

/** The client of `deploy/crossward.yaml`, and the secrets that a gateway with this configuration needs. */
export function exampleSetup(): ChildSetup {
  const secret = randomBytes(32).toString('base64');
  return {
    client: { id: 'booking-app', secret },
    variables: { BOOKING_APP_SECRET: secret, CROSSWARD_SECRET_KEY: randomBytes(32).toString('base64') },
  };
}

/**
 * Writes `deploy/crossward.yaml` to a folder, with another port for health and metrics, and a gateway that stops without waiting
 * for proxies. Returns its path.
 */
export async function exampleConfiguration(folder: string, operationsPort: number): Promise<string> {
  const text = await readFile(new URL('../../deploy/crossward.yaml', import.meta.url), 'utf8');
  const path = join(folder, `crossward-${operationsPort}.yaml`);
  await writeFile(
    path,
    text.replace('operations_port: 9090', `operations_port: ${operationsPort}\n  drain_seconds: 0`),
    { mode: 0o644 },
  );
  return path;
}

/** A booking in the ward of `deploy/crossward.yaml`. */
function bookingAt(hour: number) {
  const time = (minute: string) => `2030-03-15T${String(hour).padStart(2, '0')}:${minute}:00`;
  return {
    patient_id: 'p-3',
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
    start_time: time('00'),
    end_time: time('30'),
  };
}

export async function bookAt(gateway: ChildGateway, hour: number): Promise<void> {
  const booked = await gateway.send({ method: 'POST', path, body: bookingAt(hour) });
  expect([booked?.status, booked?.body]).toMatchObject([201, { status: 'booked' }]);
}

/**
 * Sends half of a booking, SIGTERM, and the other half.
 *
 * @param pid the gateway's process
 * @returns the response: 201 if the gateway completes the requests in progress
 */
export async function bookWhileItStops(gateway: ChildGateway, pid: number, hour: number): Promise<string> {
  const { hostname, port } = new URL(gateway.address);
  const socket = connect({ host: hostname, port: Number(port) });
  let response = '';
  socket.setEncoding('utf8').on('data', (text) => {
    response += text;
  });
  const closed = new Promise<void>((resolve, reject) => socket.once('close', () => resolve()).once('error', reject));
  const body = JSON.stringify(bookingAt(hour));
  const headers = {
    host: 'gateway',
    'content-type': 'application/json',
    'content-length': String(body.length),
    expect: '100-continue',
    ...gateway.credentials,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  // The gateway has read the head.
  await expect.poll(() => response).toContain('100 Continue');
  socket.write(body.slice(0, 10));
  process.kill(pid, 'SIGTERM');
  await expect.poll(() => gateway.logLines.join('\n')).toContain('stopping after the current requests');
  socket.write(body.slice(10));
  await closed;
  return response;
}

/** The first process of Node.js among a process and those below it. */
export async function nodeProcessOf(pid: number): Promise<number> {
  const [first] = await nodeProcessesOf(pid);
  if (first === undefined) throw new Error('No process of Node.js.');
  return first;
}

/** The processes of Node.js among a process and those below it, parents first. */
export async function nodeProcessesOf(pid: number): Promise<number[]> {
  const found = [];
  for (const id of await family(pid)) {
    const program = await readlink(`/proc/${id}/exe`).catch(() => '');
    if (/\/node$/.test(program)) found.push(id);
  }
  return found;
}

/** A process and those below it, parents first. */
async function family(pid: number): Promise<number[]> {
  const below = await children(pid);
  return [pid, ...(await Promise.all(below.map(family))).flat()];
}

async function children(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

/** Fields of `/proc/<pid>/status`, such as `Uid` and `CapEff`. */
export async function statusOf(pid: number): Promise<Readonly<Record<string, string>>> {
  const lines = (await readFile(`/proc/${pid}/status`, 'utf8')).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2)));
}
