import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { type Content, sealContent } from '../../server/src/messages/content.ts';
import { createKeyRing } from '../../server/src/secrets/key-ring.ts';
import { createTestDatabase } from '../database/database.ts';
import { childClient } from '../processes/child-client.ts';
import { startChild } from '../processes/child-gateway.ts';
import { verifyAudit } from '../requests/audit.ts';
import type { Appointment } from '../requests/bookings.ts';
import { eventually } from '../requests/codes.ts';
import type { EventPage } from '../requests/events.ts';
import { startReceiver, verify } from '../requests/webhook-receiver.ts';
import { readFacts, restoreDump, setupOf } from './kept-database.ts';

interface Mailbox {
  readonly messages: readonly { readonly appointment_id: string }[];
}

const json = { accept: 'application/json' };

/** Queues messages as version 0.1.0 did, by jobs of pg-boss. Returns the ids of their appointments. */
async function queueMessages(url: string, secretKey: string): Promise<readonly string[]> {
  const keys = createKeyRing([Buffer.from(secretKey, 'base64')]);
  const content: Content = {
    kind: 'booking',
    to: '+46700000123',
    language: 'sv',
    clinicName: 'Hospital',
    timeZone: 'Europe/Stockholm',
    pageUrl: null,
    code: '739158',
    firstStart: new Date('2035-03-15T09:00:00Z'),
    count: 1,
  };
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const states = ['created', 'retry', 'active'] as const;
  for (const state of states) {
    const owner = { id: randomUUID(), emr: 'hospital' };
    await client.query(
      `INSERT INTO public.messages (id, confirmation_id, sequence, emr, care_unit_id, channel, first_appointment_id,
         sealed_content, expires_at)
       VALUES ($1, gen_random_uuid(), 1, $2, 'ward', 'sms', $3, $4, now() + interval '1 hour')`,
      [owner.id, owner.emr, `a-${state}`, sealContent(keys, owner, content)],
    );
    await client.query(
      `INSERT INTO pgboss.job (name, data, state, retry_count, started_on)
       VALUES ('messages', jsonb_build_object('messageId', $1::text), $2, $3, $4)`,
      [owner.id, state, state === 'retry' ? 2 : 0, state === 'created' ? null : new Date(Date.now() - 30_000)],
    );
  }
  await client.end();
  return states.map((state) => `a-${state}`);
}

/** Each version of which a dump is kept. */
test.each(['0.1.0'])('a gateway goes on with the database of version %s', async (version) => {
  const facts = await readFacts(version);
  const setup = setupOf(version, facts);
  const folder = await mkdtemp(join(inject('runFolder'), 'upgrade-'));
  const { database, url = '', dispose } = await createTestDatabase('postgresql', 'empty');
  await restoreDump(version, url);
  const queued = await queueMessages(url, facts.secret_key);
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

  // Messages that were queued, or under way when the gateway was killed, are sent.
  await eventually(async () => {
    const { messages } = (await send<Mailbox>({ method: 'GET', path: '/demo/messages', headers: json })).body;
    expect(messages.map((it) => it.appointment_id)).toEqual(expect.arrayContaining([...queued]));
  });

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
