import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { type ChildGateway, startChild } from '../../../test/processes/child-gateway.ts';
import { type Appointment, creationBody, oslo, type Slot } from '../../../test/requests/bookings.ts';

/* Only one process uses the embedded database, so the next start can release the leases of a killed process. */

const folder = await mkdtemp(join(inject('runFolder'), 'leases-'));
const start = () => startChild({ dataDir: join(folder, 'data'), preload: 'kill-at' });
let child: ChildGateway = await start();
afterAll(async () => {
  await child.kill();
  await rm(folder, { recursive: true, force: true });
});

type Body = Appointment & { readonly timeslots: Slot[] };

async function slots(): Promise<[Slot, Slot]> {
  const begin = Date.now() + 7 * 24 * 60 * 60 * 1000;
  const query = new URLSearchParams({
    start: new Date(begin).toISOString(),
    end: new Date(begin + 14 * 24 * 60 * 60 * 1000).toISOString(),
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
  });
  const response = await child.send<Body>({ method: 'GET', path: `${oslo}/timeslots?${query}` });
  return response?.body.timeslots.slice(0, 2) as [Slot, Slot];
}

function book(slot: Slot, key: string, killAt?: string) {
  const headers = { 'idempotency-key': key, ...(killAt === undefined ? {} : { 'x-kill-at': killAt }) };
  return child.send<Body>({ method: 'POST', path: `${oslo}/appointments`, body: creationBody(slot), headers });
}

test('a retry after a restart does not wait for the old lease', async () => {
  const [one, another] = await slots();
  const counted = await book(one, randomUUID(), 'count');
  const statements: string[] = JSON.parse(decodeURIComponent(counted?.headers.get('x-statements') ?? '[]'));
  // The plan is stored, and the EHR is called next.
  const stored = statements.findIndex((text) => /^\s*with planned as/i.test(text)) + 1;
  expect(stored).toBeGreaterThan(0);
  const key = randomUUID();
  expect(await book(another, key, `after ${stored}`)).toBeUndefined();
  child = await start();
  const retry = await book(another, key);
  expect(retry?.status).toBe(201);
  const { headers, body } = (await book(another, key)) ?? {};
  expect(headers?.get('idempotency-replayed')).toBe('true');
  expect(body?.id).toBe(retry?.body.id);
});
