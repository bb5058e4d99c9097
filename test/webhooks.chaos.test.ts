import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { oslo, type Slot } from './bookings.ts';
import { type ChildRequest, startChild } from './child-gateway.ts';
import { eventually } from './codes.ts';
import { createTestDatabase } from './database.ts';
import type { EventPage } from './events.ts';
import { writeQuickDemo } from './quick-demo.ts';
import { type Endpoint, startReceiver, status, verify } from './webhook-receiver.ts';

const kills = 4;
const dayMilliseconds = 24 * 60 * 60 * 1000;

test('gateways that are killed while they book and deliver lose no event and no order', async () => {
  const folder = await mkdtemp(join(inject('runFolder'), 'webhooks-'));
  const database = await createTestDatabase('postgresql');
  const receiver = await startReceiver();
  const webhooks = {
    allow_private_addresses: true,
    allow_http: true,
    timeout_ms: 1_000,
    // More than a busy machine needs: a delivery that is given up would count as lost.
    retry_seconds: Array.from({ length: 50 }, (_, attempt) => (attempt < 2 ? 0 : 1)),
  };
  const setup = await writeQuickDemo(folder, { webhooks });
  const start = () => startChild({ dataDir: join(folder, 'data'), databaseUrl: database.url, setup });
  let child = await start();
  onTestFinished(async () => {
    await child.kill();
    await receiver.close();
    await database.dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const { secret } = (
    await sent<Endpoint>({ method: 'POST', path: '/api/webhook-endpoints', body: { url: receiver.url } })
  ).body;
  // Every third request is received, but not acknowledged.
  let requests = 0;
  receiver.behave((response, event, request) => {
    requests++;
    if (requests % 3 === 0) response.destroy();
    else status(200)(response, event, request);
  });

  async function sent<Body>(request: ChildRequest) {
    const response = await child.send<Body>(request);
    if (!response || response.status >= 300) throw new Error(`Failed: ${response?.text}`);
    return response;
  }

  /** Sends a write until it gets a response, as a client does. */
  async function write(request: ChildRequest): Promise<{ readonly id: string }> {
    for (;;) {
      const response = await child.send<{ id: string; reason?: string }>(request).catch(() => undefined);
      if (response && response.status < 300) return response.body;
      const reasons = ['outcome_unknown', 'idempotency_in_progress', 'overloaded', 'ehr_unavailable'];
      if (response && !reasons.includes(response.body.reason ?? '')) throw new Error(response.text);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const from = new Date(Date.now() + 7 * dayMilliseconds);
  const query = new URLSearchParams({
    start: from.toISOString(),
    end: new Date(from.getTime() + 28 * dayMilliseconds).toISOString(),
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
    limit: '60',
  });
  const { timeslots } = (await sent<{ timeslots: Slot[] }>({ method: 'GET', path: `${oslo}/timeslots?${query}` })).body;
  /** Books a time directly in the EHR. */
  async function bookByStaff(id: string, slot: Slot | undefined): Promise<void> {
    const client = await database.database.pool.connect();
    await client.query(
      `INSERT INTO sandbox.appointments (emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state)
       VALUES ('sandbox-no', $1, 'oslo-sentrum', 'p-2', $2, 'consultation', $3, $4, 'booked')`,
      [id, slot?.resource_id, slot?.start, slot?.end],
    );
    client.release();
    byStaff.push(id);
  }
  const byStaff: string[] = [];
  let isOver = false;
  const booked: string[] = [];
  const load = Promise.all(
    [0, 1, 2, 3].map(async (worker) => {
      for (let index = worker; !isOver && index < timeslots.length - kills; index += 4) {
        const slot = timeslots[index];
        if (!slot) return;
        const { id } = await write({
          method: 'POST',
          path: `${oslo}/appointments`,
          headers: { 'idempotency-key': `book ${index}` },
          body: {
            patient_id: 'p-3',
            resource_id: slot.resource_id,
            healthcare_service_id: slot.healthcare_service_id,
            start_time: slot.start,
            end_time: slot.end,
          },
        });
        const path = `${oslo}/appointments/${id}`;
        const headers = { 'idempotency-key': `cancel ${index}` };
        await write({ method: 'PATCH', path, headers, body: { status: 'cancelled' } });
        booked.push(id);
      }
    }),
  );
  for (let kill = 1; kill <= kills; kill++) {
    const before = receiver.received.length;
    await eventually(() => expect(receiver.received.length).toBeGreaterThan(before + 2));
    await child.kill();
    await bookByStaff(`by-staff-${kill}`, timeslots.at(-kill));
    child = await start();
  }
  isOver = true;
  await load;

  const wanted = ['appointment.booked', 'appointment.cancelled'];
  await eventually(() => {
    const byAppointment = Map.groupBy(receiver.accepted(), ({ data }) => data.appointment_id);
    for (const id of booked) expect(byAppointment.get(id)?.map(({ type }) => type)).toEqual(wanted);
    for (const id of byStaff) expect(byAppointment.get(id)?.map(({ type }) => type)).toEqual(['appointment.booked']);
  });
  for (const request of receiver.received) verify(request, secret);
  const polled = (await sent<EventPage>({ method: 'GET', path: '/api/events?limit=500' })).body.events;
  expect(polled).toHaveLength(2 * booked.length + byStaff.length);
  expect(booked.length).toBeGreaterThan(kills);
});
