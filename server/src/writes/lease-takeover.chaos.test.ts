import type { Connector } from '@crossward/connector-kit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from '../../../test/gateway/gateway.ts';
import { withQuickRecovery } from '../../../test/gateway/recovery.ts';
import { freeSlot, type Slot } from '../../../test/requests/bookings.ts';
import { eventually, rowsOf, unfinishedOperations } from '../../../test/requests/codes.ts';
import { creation, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

/** Two gateways share a database. If one hangs, the other takes over its write after the lease expires. */

/** The step in which the first gateway hangs. */
let hangsAt: 'before the EHR performs the write' | 'after the EHR has performed the write';
let called: PromiseWithResolvers<void>;
let gate: PromiseWithResolvers<void>;

function hangingAt(connector: Connector): Connector {
  return {
    ...connector,
    async changeAppointments(write) {
      if (hangsAt === 'before the EHR performs the write') await hang();
      const done = (await connector.changeAppointments?.(write)) ?? [];
      if (hangsAt === 'after the EHR has performed the write') await hang();
      return done;
    },
  };
}

function hang(): Promise<void> {
  called.resolve();
  return gate.promise;
}

let first: Gateway;
let second: Gateway;
beforeEach(async () => {
  called = Promise.withResolvers();
  gate = Promise.withResolvers();
  first = await startGateway({
    connectors: [wrapConnector(hangingAt)],
    configure: (demo) => withQuickRecovery(demo, { timeout_ms: 600_000 }),
  });
  second = await startGateway({ beside: first });
});
afterEach(async () => {
  await second.close();
  await first.close();
});

async function expireLeases(): Promise<void> {
  await rowsOf(
    first,
    'UPDATE operations SET lease_expires_at = now(), next_attempt_at = now() WHERE lease_expires_at > now()',
  );
}

/** A booking in which the first gateway hangs and that the second one has finished. */
async function takenOver(slot: Slot, key?: string) {
  const response = keysOf(first).send(creation(slot), key);
  await called.promise;
  // The background jobs of the first gateway have stopped; only this request continues.
  await first.deps.stop();
  expect(await unfinishedOperations(second)).toHaveLength(1);
  await expireLeases();
  await eventually(async () => expect(await unfinishedOperations(second)).toEqual([]));
  return response;
}

test.each(['before the EHR performs the write', 'after the EHR has performed the write'] as const)(
  'the first gateway hangs %s: one booking is made, and its late response is outcome_unknown',
  async (where) => {
    hangsAt = where;
    const slot = await freeSlot(first);
    const key = newKey();
    const late = takenOver(slot, key);
    const { at, send } = keysOf(second);
    await eventually(async () => expect(await at(slot)).toHaveLength(1));
    await eventually(async () =>
      expect((await send(creation(slot), key)).headers['idempotency-replayed']).toBe('true'),
    );
    gate.resolve();
    expectProblem(await late, 504, 'outcome_unknown');
    const booked = await at(slot);
    expect(booked).toEqual([{ id: (await send(creation(slot), key)).body.id, state: 'booked' }]);
  },
);

test('an operation without a key is not performed by the other gateway; what the EHR makes late is recorded', async () => {
  hangsAt = 'before the EHR performs the write';
  const slot = await freeSlot(first);
  const late = takenOver(slot);
  await eventually(async () =>
    expect(await rowsOf(second, "SELECT id FROM operations WHERE state = 'done'")).toHaveLength(1),
  );
  expect(await keysOf(second).at(slot)).toEqual([]);
  gate.resolve();
  expectProblem(await late, 504, 'outcome_unknown');
  const [booked] = await keysOf(second).at(slot);
  expect(booked).toMatchObject({ state: 'booked' });
  await eventually(async () =>
    expect(await rowsOf(second, "SELECT subject FROM events WHERE type = 'appointment.booked'")).toEqual([
      { subject: booked?.id },
    ]),
  );
});

test('a retry through the other gateway is told the rest of the lease, one through the same gateway a second', async () => {
  hangsAt = 'before the EHR performs the write';
  const slot = await freeSlot(first);
  const key = newKey();
  const response = keysOf(first).send(creation(slot), key);
  await called.promise;
  const retryAfter = async (gateway: Gateway) => {
    const { status, headers } = await keysOf(gateway).send(creation(slot), key);
    expect(status).toBe(409);
    return Number(headers['retry-after']);
  };
  expect(await retryAfter(first)).toBe(1);
  const [operation] = await rowsOf<{ rest: number }>(
    first,
    'SELECT extract(epoch FROM lease_expires_at - now())::float8 AS rest FROM operations',
  );
  const told = await retryAfter(second);
  expect(told).toBeGreaterThan(60);
  expect(told).toBeLessThanOrEqual(Math.ceil(operation?.rest ?? 0));
  gate.resolve();
  expect((await response).status).toBe(201);
});
