import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError } from '@crossward/connector-kit';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { withQuickRecovery } from '../../../test/gateway/recovery.ts';
import {
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  oslo,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  backdateCode,
  codeFor,
  codeIn,
  confirmationOf,
  messages,
  messagesAbout,
  rowsOf,
  runBackgroundJobs,
  unfinishedOperations,
} from '../../../test/requests/codes.ts';
import {
  type AppointmentResponse,
  change,
  creation,
  expectReplayed,
  type Failure,
  keysOf,
  newKey,
  type Sent,
  wrapFailing,
} from '../../../test/requests/idempotency-keys.ts';
import type { Configuration } from '../config/configuration.ts';

const failures: Failure[] = [];
afterEach(() => {
  expect(failures.splice(0)).toEqual([]);
});

// No write counts as not made while a test looks at its write.
const configure = (demo: Configuration) => withQuickRecovery(demo, { settling_seconds: 60 });
const gateway = await startGateway({ connectors: [wrapFailing(failures)], configure });
afterAll(() => gateway.close());

const { send, stored, at } = keysOf(gateway);

/** Repeats the request while another one is in progress. */
async function settled(request: Sent, key: string): Promise<AppointmentResponse> {
  for (;;) {
    const response = await send(request, key);
    if (response.status !== 409 || response.body.reason !== 'idempotency_in_progress') return response;
    expect(response.headers['retry-after']).toBe('1');
    await sleep(20);
  }
}

describe('nothing is stored under the key of', () => {
  test('a request that fails authentication or authorisation', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    const { id } = gateway.credentials('everything');
    expect((await send({ ...creation(slot), client: { id, secret: 'wrong' } }, key)).status).toBe(401);
    expect((await send({ ...creation(slot), client: 'appointments:read' }, key)).status).toBe(403);
    const first = await send(creation(slot), key);
    expect(first.status).toBe(201);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
  });

  test('a booking in the past or a code before it is due', async () => {
    const waiting = await book(gateway, { careUnit: sodermalm });
    await messagesAbout(gateway, waiting.id);
    const key = newKey();
    const request: Sent = { method: 'POST', path: `${sodermalm}/appointments/${waiting.id}/confirmation` };
    for (let round = 0; round < 2; round++) {
      const early = await send(request, key);
      expect(early).toMatchObject({ status: 429, body: { reason: 'rate_limited' } });
      expect(early.headers['idempotency-replayed']).toBeUndefined();
    }
    await backdateCode(gateway, confirmationOf(waiting).id, 60);
    const first = await send(request, key);
    expect(first.status).toBe(202);
    expectReplayed(await send(request, key), first);
  });

  test('a body that is nested too deeply', async () => {
    const key = newKey();
    const slot = await freeSlot(gateway);
    const nested = { ...creation(slot), body: `{"comment":${'['.repeat(50_000)}1${']'.repeat(50_000)}}` };
    for (let round = 0; round < 2; round++) {
      const { status, body, headers } = await send(nested, key);
      expect([status, body.reason, headers['idempotency-replayed']]).toEqual([400, 'request_invalid', undefined]);
    }
    expect((await send(creation(slot), key)).status).toBe(201);
  });

  test('a dry run', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    const dry = { ...creation(slot), path: `${oslo}/appointments?dry_run=true` };
    for (let round = 0; round < 2; round++) {
      const { status, headers } = await send(dry, key);
      expect([status, headers['idempotency-replayed']]).toEqual([200, undefined]);
    }
    const invalid = { ...dry, body: { ...creationBody(slot), resource_id: 1 } };
    expect(await send(invalid, key)).toMatchObject({ status: 400, body: { reason: 'request_invalid' } });
    const first = await send(creation(slot), key);
    expect(first.status).toBe(201);
    const after = await send(dry, key);
    expect(after).toMatchObject({ status: 400, body: { reason: 'time_slot_unavailable' } });
    expectReplayed(await send(creation(slot), key), first);
  });
});

test('a key expires after a day', async () => {
  const [first, second] = (await consecutiveSlots(gateway, 2)) as [Slot, Slot];
  const key = newKey();
  const { body } = await send(creation(first), key);
  const rows = await rowsOf<{ id: string }>(gateway, 'SELECT id FROM operations ORDER BY created_at DESC LIMIT 1');
  const backdate = (interval: string) =>
    rowsOf(gateway, `UPDATE operations SET created_at = created_at - interval '${interval}' WHERE id = $1`, [
      rows[0]?.id,
    ]);
  await backdate('23 hours 59 minutes');
  expect((await send(creation(first), key)).headers['idempotency-replayed']).toBe('true');
  expect((await send(creation(second), key)).status).toBe(422);
  await backdate('1 minute');
  const other = await send(creation(second), key);
  expect(other.status).toBe(201);
  expect(other.headers['idempotency-replayed']).toBeUndefined();
  expect(other.body.id).not.toBe(body.id);
  expectReplayed(await send(creation(second), key), other);
});

describe('a retry after a failure finishes the operation', () => {
  const errors: [string, Failure['when'], Error, number][] = [
    ['EHR unavailable', 'before', new ConnectorError('unavailable', 'down'), 503],
    ['outcome unknown, not performed', 'before', new ConnectorError('outcome_unknown', '?'), 504],
    ['outcome unknown, performed', 'after', new ConnectorError('outcome_unknown', '?'), 504],
    ['unexpected error before the write', 'before', new TypeError('oh'), 504],
    ['unexpected error after the write', 'after', new TypeError('oh'), 504],
  ];

  test.each(errors)('a booking: %s', { tags: 'every-ehr' }, async (_, when, error, status) => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    failures.push({ when, error });
    const failed = await send(creation(slot), key);
    expect(failed.status).toBe(status);
    const first = await settled(creation(slot), key);
    expect(first.status).toBe(201);
    expectReplayed(await send(creation(slot), key), {
      ...first,
      headers: { ...first.headers, 'idempotency-replayed': undefined },
    } as AppointmentResponse);
    expect(await at(slot)).toEqual([{ id: first.body.id, state: 'booked' }]);
  });

  test('a retry after several lost responses finishes it', async () => {
    const slot = await freeSlot(gateway);
    const key = newKey();
    failures.push({ when: 'after', error: new ConnectorError('outcome_unknown', '?') });
    expect((await send(creation(slot), key)).status).toBe(504);
    for (let round = 0; round < 2; round++) {
      failures.push({ when: 'after', error: new ConnectorError('outcome_unknown', '?') });
      // Background recovery may hold the lease, meet the failure instead, or have finished.
      expect([504, 409, 201]).toContain((await send(creation(slot), key)).status);
    }
    failures.splice(0);
    const first = await settled(creation(slot), key);
    expect(first.status).toBe(201);
    expect(await at(slot)).toEqual([{ id: first.body.id, state: 'booked' }]);
  });

  test.each(errors)('a booking by code: %s', async (_, when, error, status) => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const key = newKey();
    const before = (await messages(gateway)).length;
    failures.push({ when, error });
    expect((await send(creation(slot, sodermalm), key)).status).toBe(status);
    const first = await settled(creation(slot, sodermalm), key);
    expect(first).toMatchObject({ status: 201, body: { status: 'awaiting_confirmation' } });
    const [message, ...more] = await messagesAbout(gateway, first.body.id);
    expect(more).toEqual([]);
    expect(await messages(gateway)).toHaveLength(before + 1);
    expect(await at(slot, 'sandbox-se')).toEqual([{ id: first.body.id, state: 'held' }]);
    const confirmed = await send(
      change(first.body.id, { confirmation: { code: codeIn(message) } }, sodermalm),
      undefined,
    );
    expect(confirmed.body.status).toBe('booked');
  });

  test.each(errors)('a confirmation: %s', async (_, when, error, status) => {
    const waiting = await book(gateway, { careUnit: sodermalm });
    const key = newKey();
    const request = change(waiting.id, { confirmation: { code: await codeFor(gateway, waiting.id) } }, sodermalm);
    failures.push({ when, error });
    expect((await send(request, key)).status).toBe(status);
    const first = await settled(request, key);
    expect(first).toMatchObject({ status: 200, body: { id: waiting.id, status: 'booked' } });
    expect((await stored(waiting.id, sodermalm)).status).toBe('booked');
  });

  test.each(errors)('a cancellation: %s', async (_, when, error, status) => {
    const { id } = await book(gateway);
    const key = newKey();
    failures.push({ when, error });
    expect((await send(change(id, { status: 'cancelled' }), key)).status).toBe(status);
    expect(await settled(change(id, { status: 'cancelled' }), key)).toMatchObject({
      status: 200,
      body: { id, status: 'cancelled' },
    });
  });

  test('without a key, a performed write is recorded, and a hold without a response is released', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const before = (await messages(gateway)).length;
    failures.push({ when: 'after', error: new ConnectorError('outcome_unknown', '?') });
    expect((await send(creation(slot, sodermalm), undefined)).status).toBe(504);
    // In any state: background recovery may already have released it.
    const made = (await gateway.ehr('sandbox-se').appointments()).filter(
      (it) => it.start.getTime() === Date.parse(slot.start),
    );
    expect(made).toHaveLength(1);
    await expect.poll(() => at(slot, 'sandbox-se')).toEqual([]);
    await expect.poll(() => unfinishedOperations(gateway)).toEqual([]);
    expect(await messages(gateway)).toHaveLength(before);
  });

  test('a retry during recovery is not blocked', async () => {
    const slots = await consecutiveSlots(gateway, 8, { careUnit: sodermalm, resourceId: 'r-2' });
    const before = (await messages(gateway)).length;
    const keys = slots.map(newKey);
    const sendAll = (how: typeof send) =>
      Promise.all(slots.map((slot, index) => how(creation(slot, sodermalm), keys[index] ?? '')));
    failures.push(...slots.map(() => ({ when: 'after' as const, error: new ConnectorError('outcome_unknown', '?') })));
    expect((await sendAll(send)).map(({ status }) => status)).toEqual(slots.map(() => 504));
    const [ends] = await Promise.all([
      sendAll((request, key) => settled(request, key ?? '')),
      runBackgroundJobs(gateway),
      runBackgroundJobs(gateway),
    ]);
    for (const [index, { status, body }] of ends.entries()) {
      expect(status).toBe(201);
      expect(await at(slots[index] as Slot, 'sandbox-se')).toEqual([{ id: body.id, state: 'held' }]);
      expect(await messagesAbout(gateway, body.id)).toHaveLength(1);
    }
    expect(await messages(gateway)).toHaveLength(before + slots.length);
  });
});

test('keys, requests and responses are not stored in plain text', async () => {
  const canaries = {
    key: 'kanari-key-51b7',
    comment: 'kanari-comment-90aa',
    header: 'kanari-header-77ce',
    patient: '15859000026',
  };
  const slot = await freeSlot(gateway);
  const first = await send(
    {
      ...creation(slot),
      body: { ...creationBody(slot), patient_id: 'header:x-patient', comment: canaries.comment },
      headers: { 'x-patient': `no_personal_number:${canaries.patient}` },
    },
    canaries.key,
  );
  expect(first.status).toBe(201);
  const rejection = await send(
    {
      ...creation(slot),
      body: { ...creationBody(slot), patient_id: 'header:x-patient', comment: canaries.comment },
      headers: { 'x-patient': canaries.header },
    },
    `${canaries.key} again`,
  );
  expect(rejection.status).toBe(400);
  const { id } = await book(gateway);
  failures.push({ when: 'before', error: new ConnectorError('outcome_unknown', '?') });
  const failing = change(id, { comment: canaries.comment });
  expect((await send(failing, `${canaries.key} once more`)).status).toBe(504);
  const dump = await dumpOf();
  expect(dump.get('public.operations')).toMatch(/done/);
  expect(dump.get('public.operations')).toMatch(/pending/);
  for (const [table, text] of dump) {
    // The sandbox's tables belong to an EHR, which stores comments in plain text.
    const isEhr = table.startsWith('sandbox.');
    for (const [name, canary] of Object.entries(canaries)) {
      if (isEhr && name === 'comment') continue;
      for (const it of [
        canary,
        Buffer.from(canary).toString('hex'),
        Buffer.from(canary).toString('base64').slice(0, -4),
      ]) {
        expect({ table, name, found: text.includes(it) }).toEqual({ table, name, found: false });
      }
    }
  }
  const logged = gateway.logLines.join('\n');
  for (const canary of Object.values(canaries)) expect(logged).not.toContain(canary);
  expect((await settled(failing, `${canaries.key} once more`)).status).toBe(200);
});

/** Every row of every table, as text. */
async function dumpOf(): Promise<ReadonlyMap<string, string>> {
  const tables = await rowsOf<{ name: string }>(
    gateway,
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`,
  );
  const dump = new Map<string, string>();
  for (const { name } of tables) {
    const rows = await rowsOf<{ row: string }>(gateway, `SELECT it::text AS row FROM ${name} it`);
    dump.set(name, rows.map(({ row }) => row).join('\n'));
  }
  return dump;
}
