import { afterAll, describe, expect, test } from 'vitest';
import type { GatewayResponse, Problem } from './gateway/gateway.ts';
import { startGateways } from './gateway/several-gateways.ts';
import {
  type Appointment,
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  freeSlots,
  oslo,
  type Slot,
} from './requests/bookings.ts';

const gateway = await startGateways(3, { databaseKind: 'postgresql' });
afterAll(async () => {
  await assertNoOverlap();
  await gateway.close();
});

async function rows<Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = await gateway.database.pool.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    client.release();
  }
}

async function assertNoOverlap(): Promise<void> {
  const overlapping = await rows(`
    SELECT a.id, b.id FROM sandbox.appointments a JOIN sandbox.appointments b
      ON a.emr = b.emr AND a.resource_id = b.resource_id AND a.id < b.id
      AND a.starts_at < b.ends_at AND b.starts_at < a.ends_at
    WHERE a.state <> 'cancelled' AND b.state <> 'cancelled'`);
  expect(overlapping).toEqual([]);
}

/** All appointments that overlap the time, except cancelled ones. */
function rowsAt({ start, end, resource_id }: Slot, last: Slot | undefined = undefined) {
  return rows<{ id: string }>(
    `SELECT id FROM sandbox.appointments
     WHERE emr = 'sandbox-no' AND resource_id = $1 AND starts_at < $3 AND ends_at > $2 AND state <> 'cancelled'`,
    [resource_id.replace('emr_id:', ''), new Date(start), new Date(last?.end ?? end)],
  );
}

const create = (body: object) => gateway.request<Appointment & Problem>('POST', `${oslo}/appointments`, { body });
const change = (id: string, body: object) =>
  gateway.request<Appointment & Problem>('PATCH', `${oslo}/appointments/${id}`, { body });

function split(responses: readonly GatewayResponse<Appointment & Problem>[], success: number) {
  const won = responses.filter(({ status }) => status === success);
  const lost = responses.filter(({ status }) => status !== success);
  for (const { status, body } of lost) {
    expect({ status, reason: body.reason }).toEqual({ status: 400, reason: 'time_slot_unavailable' });
  }
  return { won, lost };
}

describe('fifty concurrent bookings of one slot', () => {
  test.each([1, 2, 3, 4, 5])('exactly one succeeds, round %i', async (round) => {
    const slot = await freeSlot(gateway);
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        create({
          ...creationBody(slot),
          patient_id: round % 2 ? 'p-3' : `p-${(index % 20) + 1}`,
          healthcare_service_id: index % 2 ? 'consultation' : 'vaccination',
        }),
      ),
    );
    const { won, lost } = split(responses, 201);
    expect([won.length, lost.length]).toEqual([1, 49]);
    expect(await rowsAt(slot)).toEqual([{ id: won[0]?.body.id }]);
  });
});

test('overlapping bookings of two slots exclude each other', async () => {
  for (let round = 0; round < 5; round++) {
    const run = await consecutiveSlots(gateway, 4, { resourceId: 'r-2' });
    const pairs = [0, 1, 2].map((index) => [run[index], run[index + 1]] as [Slot, Slot]);
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const [first, last] = pairs[index % 3] as [Slot, Slot];
        return create(creationBody(first, last));
      }),
    );
    const { won } = split(responses, 201);
    const starts = won.map(({ body }) => body.start).toSorted();
    // Either the middle pair succeeds, or one or both of the outer pairs.
    expect(starts.length).toBeGreaterThanOrEqual(1);
    const middle = pairs[1]?.[0].start ?? '';
    expect(starts.includes(middle) ? starts : [middle]).toEqual([middle]);
    expect(new Set(starts).size).toBe(starts.length);
    expect(await rowsAt(run[0] as Slot, run[3])).toHaveLength(starts.length);
  }
});

test('concurrent bookings of one and several slots never share a slot', async () => {
  const run = await consecutiveSlots(gateway, 8, { resourceId: 'r-3' });
  const responses = await Promise.all(
    run.flatMap((_, from) =>
      run.slice(from).map((__, length) => create(creationBody(run[from] as Slot, run[from + length] as Slot))),
    ),
  );
  const { won } = split(responses, 201);
  const taken = won.flatMap(({ body }) =>
    run.filter((slot) => slot.start >= body.start && slot.end <= body.end).map((slot) => slot.start),
  );
  expect(taken.length).toBe(new Set(taken).size);
  expect(await rowsAt(run[0] as Slot, run.at(-1))).toHaveLength(won.length);
});

describe('moves', () => {
  test('concurrent moves and bookings of one time: exactly one succeeds', async () => {
    for (let round = 0; round < 3; round++) {
      const movers: Appointment[] = [];
      for (const slot of await freeSlots(gateway, { resourceId: 'r-4', limit: 15 }))
        movers.push(await book(gateway, { slot }));
      const target = await freeSlot(gateway, { resourceId: round % 2 ? 'r-1' : 'r-4' });
      const before = new Map(movers.map((it) => [it.id, it]));
      const [moves, bookings] = await Promise.all([
        Promise.all(
          movers.map(({ id }) => change(id, { start: target.start, end: target.end, resource_id: target.resource_id })),
        ),
        Promise.all(Array.from({ length: 15 }, () => create(creationBody(target)))),
      ]);
      const moved = split(moves, 200).won;
      const booked = split(bookings, 201).won;
      expect(moved.length + booked.length).toBe(1);
      expect(await rowsAt(target)).toEqual([{ id: [...moved, ...booked][0]?.body.id }]);
      for (const { id } of movers) {
        if (moved.some(({ body }) => body.id === id)) continue;
        const { body } = await gateway.request<Appointment>('GET', `${oslo}/appointments/${id}`);
        expect(body).toEqual(before.get(id));
      }
    }
  });

  test('moves that swap times do not deadlock', async () => {
    const free = new Set((await freeSlots(gateway, { resourceId: 'r-2' })).map(({ start }) => start));
    const inBoth = (await freeSlots(gateway, { resourceId: 'r-1' })).filter(({ start }) => free.has(start));
    const [a, b] = inBoth as [Slot, Slot];
    const onFirst = await book(gateway, { slot: a });
    const onSecond = await book(gateway, { slot: { ...b, resource_id: 'emr_id:r-2' } });
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const resource = index % 4 < 2 ? 'r-1' : 'r-2';
        const target = index % 3 ? a : b;
        return change(index % 2 ? onFirst.id : onSecond.id, {
          start: target.start,
          end: target.end,
          resource_id: resource,
        });
      }),
    );
    split(responses, 200);
  });

  test('concurrent moves of one appointment leave it at one of the times', async () => {
    const mine = await book(gateway, { resourceId: 'r-1' });
    const targets = await freeSlots(gateway, { resourceId: 'r-1', limit: 20 });
    const responses = await Promise.all(targets.map(({ start, end }) => change(mine.id, { start, end })));
    expect(split(responses, 200).won).toHaveLength(20);
    const { body } = await gateway.request<Appointment>('GET', `${oslo}/appointments/${mine.id}`);
    expect(targets.map(({ start }) => start)).toContain(body.start);
    const free = (await freeSlots(gateway, { resourceId: 'r-1' })).map(({ start }) => start);
    expect(targets.filter(({ start }) => !free.includes(start)).map(({ start }) => start)).toEqual([body.start]);
  });

  test('moves concurrent with a cancellation leave the appointment cancelled', async () => {
    for (let round = 0; round < 5; round++) {
      const mine = await book(gateway, { resourceId: 'r-1' });
      const targets = await freeSlots(gateway, { resourceId: 'r-1', limit: 10 });
      const [moves, cancellations] = await Promise.all([
        Promise.all(targets.map(({ start, end }) => change(mine.id, { start, end }))),
        Promise.all(Array.from({ length: 5 }, () => change(mine.id, { status: 'cancelled' }))),
      ]);
      for (const { status, body } of moves) {
        expect(status === 200 || (status === 409 && body.reason === 'appointment_cancelled')).toBe(true);
      }
      for (const { status, body } of cancellations) expect([status, body.status]).toEqual([200, 'cancelled']);
      const { body } = await gateway.request<Appointment>('GET', `${oslo}/appointments/${mine.id}`);
      expect(body.status).toBe('cancelled');
    }
  });
});

test('a time cancelled during fifty concurrent bookings is booked at most once', async () => {
  const slot = await freeSlot(gateway);
  const { id } = await book(gateway, { slot });
  const [cancelled, bookings] = await Promise.all([
    change(id, { status: 'cancelled' }),
    Promise.all(Array.from({ length: 50 }, () => create(creationBody(slot)))),
  ]);
  expect(cancelled.status).toBe(200);
  const { won } = split(bookings, 201);
  expect(won.length).toBeLessThanOrEqual(1);
  expect(await rowsAt(slot)).toHaveLength(won.length);
});
