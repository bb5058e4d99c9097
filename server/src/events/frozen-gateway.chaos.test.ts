import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { bookingOf, childClient } from '../../../test/processes/child-client.ts';
import { type ChildGateway, isStopped, startChild } from '../../../test/processes/child-gateway.ts';
import type { Preload } from '../../../test/processes/preloads.ts';
import { writeQuickDemo } from '../../../test/processes/quick-demo.ts';
import { eventually } from '../../../test/requests/codes.ts';
import type { EventPage } from '../../../test/requests/events.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';
import { startReceiver } from '../../../test/requests/webhook-receiver.ts';

/** Two gateways on one database, of which one freezes after a statement, and a receiver of all events. */
async function gatewaysThatFreeze(freezeAt: string) {
  const folder = await mkdtemp(join(inject('runFolder'), 'frozen-'));
  const { url: databaseUrl, dispose } = await createTestDatabase('postgresql');
  const receiver = await startReceiver();
  const children: ChildGateway[] = [];
  onTestFinished(async () => {
    await Promise.all(children.map((child) => child.kill()));
    await receiver.close();
    await dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const setup = await writeQuickDemo(folder, { webhooks: { allow_private_addresses: true, allow_http: true } });
  const start = async (options: { preload?: Preload; variables?: Record<string, string> } = {}) => {
    const dataDir = await mkdtemp(join(folder, 'gateway-'));
    const child = await startChild({ dataDir, databaseUrl, setup, ...options });
    children.push(child);
    return child;
  };
  const live = await start();
  const client = childClient(() => live);
  const body = { url: receiver.url };
  await client.send({ method: 'POST', path: '/api/webhook-endpoints', body });
  const freezing = await start({
    preload: 'freeze-at',
    variables: { FREEZE_AT: freezeAt },
  });
  return { client, receiver, live, freezing };
}

test.each([
  ['publishes events', 'AS placed'],
  ['stores changes in an EHR', 'UPDATE ehr_change_feeds SET cursor'],
  ['reports changes in an EHR', 'SELECT change.* FROM ehr_changes'],
] as const)('a gateway that freezes while it %s does not stop the events', async (_, statement) => {
  const { client, receiver, live, freezing } = await gatewaysThatFreeze(statement);
  const slots = await client.freeSlots(50);
  let booked = 0;
  // Staff cancel the bookings of this patient, so that there are changes in the EHR to report.
  const book = () => {
    const { body, ...request } = bookingOf(slots[booked++] ?? expect.unreachable('No free slot'), newKey());
    return client.write({ ...request, body: { ...Object(body), patient_id: 'p-staff' } });
  };
  // The other gateway rests, so that this one does the work.
  while (!(await isStopped(freezing))) {
    await book();
    process.kill(live.pid, 'SIGSTOP');
    await vi
      .waitFor(async () => expect(await isStopped(freezing)).toBe(true), { timeout: 5_000 })
      .catch(() => undefined);
    process.kill(live.pid, 'SIGCONT');
  }
  const frozenAt = performance.now();
  const { id } = await book();
  await eventually(async () => {
    const { body } = await client.send<EventPage>({ method: 'GET', path: '/api/events?limit=500' });
    expect(body.events.map(({ data }) => data.appointment_id)).toContain(id);
    expect(receiver.accepted().map(({ data }) => data.appointment_id)).toContain(id);
  });
  // Less than PostgreSQL takes to end an idle transaction or a statement that waits.
  expect(performance.now() - frozenAt).toBeLessThan(20_000);
  expect(await isStopped(freezing)).toBe(true);
});
