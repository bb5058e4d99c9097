import type { TimeSlot, TimeSlotQuery } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import { currentContext, within } from '../context/work-context.ts';
import { createTurns } from './guard/turns.ts';
import { createSlotSearches } from './slot-searches.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
const tomorrow = Date.now() + dayMilliseconds;
const query: TimeSlotQuery = {
  careUnit: { id: 'north', timeZone: 'Europe/Oslo' },
  start: new Date(tomorrow),
  end: new Date(tomorrow + dayMilliseconds),
  limit: 100,
};

function slot(resourceId: string, start = tomorrow): TimeSlot {
  return { start: new Date(start), end: new Date(start + 60_000), resourceId, healthcareServiceId: 'consultation' };
}

/** Searches in an EHR that responds when the test says so. */
function slowEhr({ concurrency = 10 } = {}) {
  const calls: PromiseWithResolvers<readonly TimeSlot[]>[] = [];
  const call = () => {
    const started = Promise.withResolvers<readonly TimeSlot[]>();
    calls.push(started);
    return started.promise;
  };
  const turns = createTurns({ concurrency, queue: 100, queueTimeoutMs: 60_000 });
  const searches = createSlotSearches((search) => turns(currentContext().clientId, search, () => new Error('busy')));
  const findAs = (client: string, wanted: Partial<TimeSlotQuery> = {}) =>
    within({ clientId: client }, () => searches.find({ ...query, ...wanted }, call));
  return { calls, findAs, forget: searches.forget };
}

describe('identical searches', () => {
  test('share a call that the EHR is processing, across clients', async () => {
    const { calls, findAs } = slowEhr();
    const found = [findAs('a'), findAs('a'), findAs('b'), findAs('c')];
    expect(calls).toHaveLength(1);
    calls[0]?.resolve([slot('r-1')]);
    for (const slots of await Promise.all(found)) expect(slots).toEqual([slot('r-1')]);
  });

  test('are sent again when the call has ended', async () => {
    const { calls, findAs } = slowEhr();
    const first = findAs('a');
    calls[0]?.resolve([slot('r-1')]);
    await first;
    const second = findAs('a');
    expect(calls).toHaveLength(2);
    calls[1]?.resolve([]);
    expect(await second).toEqual([]);
  });

  test('get the error of their call, which is not kept', async () => {
    const { calls, findAs } = slowEhr();
    const found = [findAs('a'), findAs('b')];
    calls[0]?.reject(new Error('down'));
    for (const result of await Promise.allSettled(found)) expect(result).toMatchObject({ status: 'rejected' });
    const again = findAs('a');
    calls[1]?.resolve([slot('r-1')]);
    expect(await again).toEqual([slot('r-1')]);
  });

  test.each<[string, Partial<TimeSlotQuery>]>([
    ['care unit', { careUnit: { id: 'south', timeZone: 'Europe/Oslo' } }],
    ['start', { start: new Date(tomorrow + 1) }],
    ['end', { end: new Date(tomorrow + dayMilliseconds - 1) }],
    ['resource', { resourceIds: ['r-1'] }],
    ['service', { healthcareServiceIds: ['consultation'] }],
    ['position', { after: slot('r-1') }],
    ['limit', { limit: 101 }],
  ])('have the same %s', (_, other) => {
    const { calls, findAs } = slowEhr();
    void findAs('a');
    void findAs('a', other);
    expect(calls).toHaveLength(2);
  });
});

describe('a queued search', () => {
  test('is shared within its client, and does not keep another client waiting', async () => {
    const { calls, findAs } = slowEhr({ concurrency: 1 });
    // Client a has the only turn and two searches in the queue.
    const first = findAs('a', { limit: 1 });
    const second = findAs('a', { limit: 2 });
    const queued = [findAs('a'), findAs('a')];
    const other = findAs('b');
    expect(calls).toHaveLength(1);
    calls[0]?.resolve([]);
    await first;
    // The turn goes to client b, whose search is the one that client a has queued third.
    await expect.poll(() => calls.length).toBe(2);
    calls[1]?.resolve([slot('r-1')]);
    expect(await other).toEqual([slot('r-1')]);
    await expect.poll(() => calls.length).toBe(3);
    calls[2]?.resolve([]);
    await second;
    await expect.poll(() => calls.length).toBe(4);
    calls[3]?.resolve([slot('r-2')]);
    expect(await Promise.all(queued)).toEqual([[slot('r-2')], [slot('r-2')]]);
  });

  test('that gets its turn while the EHR processes the same search shares that call', async () => {
    const { calls, findAs } = slowEhr({ concurrency: 2 });
    const others = [findAs('a', { limit: 1 }), findAs('a', { limit: 2 })];
    const found = [findAs('a'), findAs('b')];
    calls[0]?.resolve([]);
    await expect.poll(() => calls.length).toBe(3);
    calls[1]?.resolve([]);
    await Promise.all(others);
    calls[2]?.resolve([slot('r-1')]);
    expect(await Promise.all(found)).toEqual([[slot('r-1')], [slot('r-1')]]);
    expect(calls).toHaveLength(3);
  });
});

describe('after a write', () => {
  test('a search does not share a call that began before', async () => {
    const { calls, findAs, forget } = slowEhr();
    const before = findAs('a');
    forget();
    const after = findAs('a');
    expect(calls).toHaveLength(2);
    calls[1]?.resolve([]);
    calls[0]?.resolve([slot('r-1')]);
    expect([await before, await after]).toEqual([[slot('r-1')], []]);
  });
});
