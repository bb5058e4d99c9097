import { expect, test } from 'vitest';
import { batchedAcrossCareUnits, batchedLookUps } from './batched-look-ups.ts';
import { ConnectorError } from './errors.ts';
import type { Appointment } from './records.ts';

const [north, south] = ['north', 'south'].map((id) => ({ id, timeZone: 'Europe/Oslo' })) as [
  { id: string; timeZone: string },
  { id: string; timeZone: string },
];

/** An EHR in which each care unit has the appointments `{care unit}-1` to `{care unit}-9`. */
function lookUps() {
  const calls: (readonly [string, ...string[]])[] = [];
  const find = batchedLookUps(async ({ id: careUnitId }, ids) => {
    calls.push([careUnitId, ...ids]);
    if (ids.includes('broken')) throw new ConnectorError('rejected', 'One appointment is broken');
    if (ids.includes('down')) throw new ConnectorError('unavailable', 'The EHR is down');
    return ids.filter((id) => id.startsWith(careUnitId)).map((id) => ({ id, careUnitId }) as Appointment);
  }, 500);
  return { calls, find };
}

const idsOf = (appointments: readonly Appointment[]) => appointments.map(({ id }) => id);

test('look-ups of the same turn are one call for each care unit, and each gets its own appointments', async () => {
  const { calls, find } = lookUps();
  const found = await Promise.all([
    find(north, ['north-1']),
    find(north, ['north-2', 'north-1', 'south-1', 'north-2']),
    find(south, ['south-1']),
    find(south, ['north-1']),
    find(north, []),
  ]);
  expect(found.map(idsOf)).toEqual([['north-1'], ['north-2', 'north-1'], ['south-1'], [], []]);
  expect(calls).toEqual([
    ['north', 'north-1', 'north-2', 'south-1'],
    ['south', 'south-1', 'north-1'],
  ]);
});

test('a look-up that begins after another has been sent is a call of its own', async () => {
  const { calls, find } = lookUps();
  await find(north, ['north-1']);
  await find(north, ['north-1']);
  expect(calls).toHaveLength(2);
});

test('a rejection goes only to the look-up that it concerns', async () => {
  const { find } = lookUps();
  const results = await Promise.allSettled([
    find(north, ['broken']),
    find(north, ['north-1']),
    find(south, ['south-1']),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
});

test('an outage goes to the look-ups of its call, which are not repeated', async () => {
  const { calls, find } = lookUps();
  const results = await Promise.allSettled([find(north, ['down']), find(north, ['north-1']), find(south, ['south-1'])]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(calls).toHaveLength(2);
  expect(idsOf(await find(north, ['north-1']))).toEqual(['north-1']);
});

test('a call has a limited number of ids', async () => {
  const { calls, find } = lookUps();
  const ids = (prefix: string) => Array.from({ length: 100 }, (_, n) => `north-${prefix}-${n}`);
  const found = await Promise.all([...'abcdefgh'].map((prefix) => find(north, ids(prefix))));
  expect(found.map((it) => it.length)).toEqual(Array(8).fill(100));
  expect(calls.map((call) => call.length - 1)).toEqual([500, 300]);
});

test('look-ups of all care units are one call where ids tell care units apart, and none sees those of another', async () => {
  const calls: (readonly string[])[] = [];
  const find = batchedAcrossCareUnits(async (ids) => {
    calls.push(ids);
    return ids.map((id) => ({ id, careUnitId: id.split('-')[0] }) as Appointment);
  }, 500);
  const found = await Promise.all([
    find(north, ['north-1', 'south-1']),
    find(south, ['south-1']),
    find(south, ['north-1']),
  ]);
  expect(found.map(idsOf)).toEqual([['north-1'], ['south-1'], []]);
  expect(calls).toEqual([['north-1', 'south-1']]);
});
