import { afterEach, describe, expect, test } from 'vitest';
import { type FakeServer, startFake } from '../fake/server.ts';
import { refreshed } from '../src/directory/refreshed.ts';
import type { FhirResource } from '../src/fhir.ts';
import { north, openConnector, settingsFor } from './subject.ts';

const servers: FakeServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

test("only the schedules of the care unit's resources are read", async () => {
  const server = await startFake({ data: { days: 1 } });
  servers.push(server);
  for (let index = 0; index < 3000; index++) {
    const actor = [{ reference: `Practitioner/foreign-${index}` }];
    server.store.save({ resourceType: 'Schedule', id: `foreign-${index}`, actor } as FhirResource);
  }
  const connector = await openConnector(settingsFor(server.url));
  server.seen.splice(0);
  expect(await connector.listResources?.(north)).toHaveLength(4);
  expect(server.seen.length).toBeLessThanOrEqual(8);
});

test.each(['/Location', '/Device'])('if the server rejects a search of %s, all of them are read', async (path) => {
  const server = await startFake({ data: { days: 1 } });
  servers.push(server);
  server.misbehave = (request) =>
    request.path === path && !request.query.includes('_id') ? { status: 400 } : undefined;
  const connector = await openConnector(settingsFor(server.url));
  expect(await connector.listResources?.(north)).toHaveLength(4);
});

describe('a refresh', () => {
  function kept(lifetime: number) {
    const loads: { resolve(value: string): void; reject(error: Error): void }[] = [];
    const clock = { now: 0 };
    const load = () => new Promise<string>((resolve, reject) => loads.push({ resolve, reject }));
    return { loads, clock, get: refreshed(load, lifetime, () => clock.now).get };
  }

  test('serves all callers that wait for it', async () => {
    const { loads, get } = kept(1000);
    const waiting = [get('a'), get('a'), get('a')];
    loads[0]?.resolve('first');
    expect(await Promise.all(waiting)).toEqual(['first', 'first', 'first']);
    expect(loads).toHaveLength(1);
  });

  test('runs in the background while callers get the previous value', async () => {
    const { loads, clock, get } = kept(1000);
    const first = get('a');
    loads[0]?.resolve('first');
    await first;
    clock.now = 1000;
    expect(await get('a')).toBe('first');
    expect(await get('a')).toBe('first');
    expect(loads).toHaveLength(2);
    loads[1]?.resolve('second');
    await expect.poll(() => get('a')).toBe('second');
    expect(loads).toHaveLength(2);
  });

  test('that fails keeps the previous value, and the next caller starts another', async () => {
    const { loads, clock, get } = kept(1000);
    const first = get('a');
    loads[0]?.resolve('first');
    await first;
    clock.now = 1000;
    expect(await get('a')).toBe('first');
    loads[1]?.reject(new Error('down'));
    await expect.poll(async () => [await get('a'), loads.length]).toEqual(['first', 3]);
  });

  test('blocks callers if the previous value is too old', async () => {
    const { loads, clock, get } = kept(1000);
    const first = get('a');
    loads[0]?.resolve('first');
    await first;
    clock.now = 10_000;
    const second = get('a');
    loads[1]?.resolve('second');
    expect(await second).toBe('second');
  });
});
