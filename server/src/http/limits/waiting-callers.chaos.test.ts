import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject, type TestContext, test } from 'vitest';
import { createTestDatabase } from '../../../../test/database/database.ts';
import { bookingOf, childClient } from '../../../../test/processes/child-client.ts';
import { type ChildGateway, isStopped, startChild } from '../../../../test/processes/child-gateway.ts';
import { writeQuickDemo } from '../../../../test/processes/quick-demo.ts';
import { oslo, type Slot } from '../../../../test/requests/bookings.ts';
import { eventually } from '../../../../test/requests/codes.ts';
import { newKey } from '../../../../test/requests/idempotency-keys.ts';

async function startGateway({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, http: object = {}) {
  const folder = await mkdtemp(join(inject('runFolder'), 'waiting-'));
  const { url: databaseUrl, dispose } = await createTestDatabase('postgresql');
  const setup = await writeQuickDemo(folder, { http });
  const child = await startChild({ dataDir: join(folder, 'data'), databaseUrl, setup });
  onTestFinished(async () => {
    await child.kill();
    await dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const client = childClient(() => child);
  const [slot, other] = await client.freeSlots(2);
  if (!slot || !other) return expect.unreachable('No free slots');
  return {
    child,
    client,
    slot,
    other,
    async freeze() {
      process.kill(child.pid, 'SIGSTOP');
      await eventually(async () => expect(await isStopped(child)).toBe(true));
    },
    wake: () => process.kill(child.pid, 'SIGCONT'),
    /** Starts of the patient's appointments. */
    async booked(): Promise<readonly string[]> {
      const path = `${oslo}/appointments?patient_id=p-3`;
      const { body } = await client.send<{ appointments: { start: string }[] }>({ method: 'GET', path });
      return body.appointments.map(({ start }) => start);
    },
  };
}

/** Opens a connection that has carried a request. */
async function open({ address, credentials }: ChildGateway): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /api/emrs HTTP/1.1\r\nhost: x\r\n${headersOf(credentials)}\r\n\r\n`);
  await once(socket, 'data');
  return socket;
}

function headersOf(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n');
}

/** Sends a booking without a key, as far as the kernel of the other side. */
async function book(socket: Socket, { credentials }: ChildGateway, slot: Slot): Promise<void> {
  const { path, body } = bookingOf(slot, newKey());
  const text = JSON.stringify(body);
  const headers = { host: 'x', ...credentials, 'content-type': 'application/json', 'content-length': `${text.length}` };
  await new Promise((resolve) =>
    socket.write(`POST ${path} HTTP/1.1\r\n${headersOf(headers)}\r\n\r\n${text}`, resolve),
  );
}

/** The bytes of a connection that have arrived and that the gateway has not read (`rx_queue` of `/proc/net/tcp`). */
async function unreadBytes({ address }: ChildGateway, { localPort }: Socket): Promise<number> {
  const portInHex = (port: number) => `:${port.toString(16).padStart(4, '0').toUpperCase()}`;
  const connections = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const [, , , , queues] =
    connections.find(
      ([, local, remote]) =>
        local?.endsWith(portInHex(Number(new URL(address).port))) && remote?.endsWith(portInHex(localPort ?? 0)),
    ) ?? [];
  return Number.parseInt(queues?.split(':')[1] ?? '', 16);
}

// Each has a gateway of its own, and most wait while it is frozen.
describe.concurrent('a frozen gateway', () => {
  test.for(['a connection that was open before', 'a new connection'])(
    'a booking whose caller gave up while the gateway was frozen is not made: %s',
    async (kind, context) => {
      const { child, client, slot, other, freeze, wake, booked } = await startGateway(context);
      const { hostname, port } = new URL(child.address);
      const earlier = await open(child);
      await freeze();
      const socket = kind === 'a new connection' ? connect(Number(port), hostname) : earlier;
      await book(socket, child, slot);
      await new Promise<void>((resolve) => socket.end(resolve));
      wake();
      // The caller looked, saw nothing, and asked again.
      await client.write(bookingOf(other, newKey()));
      const ended = (line: string) => line.includes('"create_appointment"') && line.includes('"msg":"request"');
      await eventually(async () => expect(child.logLines.filter(ended)).toHaveLength(2));
      expect(await booked()).toEqual([other.start]);
    },
  );

  test('a booking that lay unread for longer than ten seconds is not begun, also if its connection is open', async (context) => {
    const { child, client, slot, freeze, wake, booked } = await startGateway(context);
    const socket = await open(child);
    await freeze();
    await book(socket, child, slot);
    await setTimeout(11_000);
    const response = once(socket, 'data');
    wake();
    const text = String(await response);
    expect(text).toMatch(/^HTTP\/1.1 503 /);
    expect(text).toMatch(/\r\nretry-after: [1-9]/i);
    expect(text).toContain('"reason":"overloaded"');
    expect(await booked()).toEqual([]);
    await client.write(bookingOf(slot, newKey()));
    expect(await booked()).toEqual([slot.start]);
  });

  test('requests of which a part lay unread for too long can be repeated', async (context) => {
    const { child, client, freeze, wake } = await startGateway(context, { request_timeout_seconds: 10 });
    const [headless, bodyless] = [await open(child), await open(child)];
    headless.write('GET /api/emrs HTTP/1.1\r\nhost: x\r\n');
    bodyless.write(
      `POST /api/webhook-endpoints HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n${headersOf(child.credentials)}\r\n\r\n`,
    );
    for (const socket of [headless, bodyless])
      await eventually(async () => expect(await unreadBytes(child, socket)).toBe(0));
    // By then the gateway has parsed what it has read.
    await client.freeSlots(1);
    await freeze();
    headless.write(`${headersOf(child.credentials)}\r\n\r\n`);
    bodyless.write('{}');
    await setTimeout(11_000);
    const responses = Promise.all(
      [headless, bodyless].map((socket) =>
        once(
          socket.on('error', () => undefined),
          'data',
        ),
      ),
    );
    wake();
    for (const response of await responses) {
      expect(String(response)).toMatch(/^HTTP\/1.1 503 .*retry-after: 1\r\n.*"reason":"overloaded"/is);
    }
  });
});
