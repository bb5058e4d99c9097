import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../database/database.ts';
import { childClient } from '../processes/child-client.ts';
import { startChild } from '../processes/child-gateway.ts';
import { verifyAudit } from '../requests/audit.ts';
import type { Appointment } from '../requests/bookings.ts';
import { eventually } from '../requests/codes.ts';
import type { EventPage } from '../requests/events.ts';
import { startReceiver, verify } from '../requests/webhook-receiver.ts';
import { readFacts, restoreDump, setupOf } from './kept-database.ts';

/** Each version of which a dump is kept. */
test.each(['0.1.0'])('a gateway goes on with the database of version %s', async (version) => {
  const facts = await readFacts(version);
  const setup = setupOf(version, facts);
  const folder = await mkdtemp(join(inject('runFolder'), 'upgrade-'));
  const { database, url = '', dispose } = await createTestDatabase('postgresql', 'empty');
  await restoreDump(version, url);
  const before = await verifyAudit(database, setup);
  const gateway = await startChild({ dataDir: join(folder, 'data'), databaseUrl: url, setup });
  const receiver = await startReceiver();
  onTestFinished(async () => {
    await gateway.kill();
    await receiver.close();
    await dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const { send, write } = childClient(() => gateway);
  const get = async <Body>(path: string) => (await send<Body>({ method: 'GET', path })).body;

  // The same appointments, under the same ids.
  for (const { request, body } of [facts.booking, facts.cancellation, facts.confirmation]) {
    const collection = request.path.replace(/(?<=\/appointments)\/.*/, '');
    // A later version may show more fields.
    expect(await get(`${collection}/${body.id}`)).toMatchObject(body);
  }
  const taken = await gateway.send({ ...facts.booking.request, headers: { 'idempotency-key': 'another' } });
  expect([taken?.status, taken?.body]).toMatchObject([400, { reason: 'time_slot_unavailable' }]);

  // A repeated key gets the stored response.
  for (const { request, status, body } of [facts.booking, facts.cancellation, facts.confirmation]) {
    const repeated = await send(request);
    expect([repeated.status, repeated.body]).toEqual([status, body]);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
  }

  // The code that the patient has got before confirms the booking, and a write that was cut off is
  // found in the EHR.
  const { awaiting, unfinished } = facts;
  const confirmed = await send<Appointment>({
    method: 'PATCH',
    path: `${awaiting.request.path}/${awaiting.body.id}`,
    body: { confirmation: { code: awaiting.code } },
  });
  expect(confirmed.body).toMatchObject({ id: awaiting.body.id, status: 'booked' });
  const completed = await write(unfinished);
  expect(await write(unfinished)).toEqual(completed);
  expect(await get(`${unfinished.path}/${completed.id}`)).toMatchObject({ status: 'booked' });

  // The client that the database knows has its secret, and its rights.
  const { id, secret } = facts.stored_client;
  const asStored = { 'x-service-client-id': id, 'x-service-client-secret': secret };
  const path = `${facts.booking.request.path}/${facts.booking.body.id}`;
  expect((await gateway.send({ method: 'GET', path, headers: asStored }))?.status).toBe(200);
  expect((await gateway.send({ ...facts.booking.request, headers: asStored }))?.status).toBe(403);

  // Events go on where they were, and the waiting deliveries are made, with the old secret.
  const endpoint = `/api/webhook-endpoints/${facts.webhook_endpoint.id}`;
  await send({ method: 'PATCH', path: endpoint, body: { url: receiver.url } });
  const wanted = await eventually(async () => {
    const { events } = await get<EventPage>('/api/events');
    const found = events.map(({ type, data }) => [type.replace('appointment.', ''), data.appointment_id]);
    expect(found.slice(0, 7)).toEqual([
      ['booked', facts.booking.body.id],
      ['booked', facts.cancellation.body.id],
      ['updated', facts.cancellation.body.id],
      ['cancelled', facts.cancellation.body.id],
      ['awaiting_confirmation', facts.confirmation.body.id],
      ['booked', facts.confirmation.body.id],
      ['awaiting_confirmation', awaiting.body.id],
    ]);
    // A background job may have completed the write before the code was entered.
    expect(found.slice(7).sort()).toEqual([completed.id, awaiting.body.id].map((it) => ['booked', it]).sort());
    return events.map((event) => event.id).sort();
  });
  await eventually(() =>
    expect(
      receiver
        .accepted()
        .map((event) => event.id)
        .sort(),
    ).toEqual(wanted),
  );
  for (const received of receiver.received) verify(received, facts.webhook_endpoint.secret);

  // The audit trail has its old chains, unchanged, and new ones.
  await eventually(async () => {
    const after = await verifyAudit(database, setup);
    expect(after.map(({ fault }) => fault)).toEqual(after.map(() => null));
    const entries = new Map(after.map((chain) => [chain.chainId, chain.entries]));
    for (const chain of before) expect(entries.get(chain.chainId)).toBeGreaterThanOrEqual(chain.entries);
    expect(after.length).toBeGreaterThan(before.length);
  });
});
